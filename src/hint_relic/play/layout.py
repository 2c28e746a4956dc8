"""Where nodes are drawn, as points of the unit square; arrays need none.

Always the same for the same input. Graphs stand on a circle, where no node hides another; those
with more nodes and few edges are laid out by forces (linked nodes pull, all nodes push).
"""

from __future__ import annotations

import numpy as np

from ..types import Trace

FEW = 12  # nodes up to which a circle is clear
SPARSE = 4.0  # links of a node, on average, up to which forces help
ROUNDS = 400
NEAREST = 0.6  # of the distance that nodes have on a grid


def layout(trace: Trace) -> np.ndarray | None:
    """(nodes, 2), y downwards; None for what is drawn as an array."""
    if "A" in trace.inputs:
        return graph(trace.inputs["A"] != 0)
    if {"x", "y"} <= trace.inputs.keys():
        return fitted(np.stack([trace.inputs["x"], -trace.inputs["y"]], axis=1))
    return None


def graph(edges: np.ndarray) -> np.ndarray:
    links = (edges | edges.T) & ~np.eye(len(edges), dtype=bool)
    if len(links) <= FEW or links.sum() > SPARSE * len(links):
        return circle(len(links))
    found = stretched(forces(links))
    gaps = np.linalg.norm(found[:, None] - found[None], axis=-1) + 2.0 * np.eye(len(found))
    return found if gaps.min() > NEAREST / (np.sqrt(len(found)) + 1.0) else circle(len(links))


def circle(n: int) -> np.ndarray:
    """Clockwise from the top."""
    angle = 2.0 * np.pi * np.arange(n) / n
    return 0.5 + 0.5 * np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def forces(links: np.ndarray) -> np.ndarray:
    n = len(links)
    at, apart = circle(n), 1.0 / np.sqrt(n)
    for reach in np.linspace(0.1, 0.002, ROUNDS):
        way = at[:, None] - at[None]  # (n, n, 2)
        distance = np.linalg.norm(way, axis=-1) + 1e-9
        push = apart**2 / distance - links * distance**2 / apart
        move = (way * (push / distance)[..., None]).sum(axis=1) + 0.5 * (0.5 - at)
        length = np.linalg.norm(move, axis=1, keepdims=True) + 1e-9
        at = at + move / length * np.minimum(length, reach)
    return at


def fitted(at: np.ndarray) -> np.ndarray:
    """Moved and scaled into the unit square, its proportions kept."""
    low, high = at.min(axis=0), at.max(axis=0)
    size = float((high - low).max()) or 1.0
    return 0.5 + (at - (low + high) / 2.0) / size


def stretched(at: np.ndarray) -> np.ndarray:
    """Moved and scaled to fill the unit square."""
    low, high = at.min(axis=0), at.max(axis=0)
    return (at - low) / np.where(high > low, high - low, 1.0)
