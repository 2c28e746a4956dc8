"""Where nodes are drawn, as points of the unit square; arrays need none."""

from __future__ import annotations

import numpy as np

from ..types import Trace


def layout(trace: Trace) -> np.ndarray | None:
    """(nodes, 2), y downwards; None for what is drawn as an array.

    Graphs stand on a circle: no node hides another, and there is room for words outside.
    """
    if "A" in trace.inputs:
        return circle(trace.nodes)
    if {"x", "y"} <= trace.inputs.keys():
        return fitted(np.stack([trace.inputs["x"], -trace.inputs["y"]], axis=1))
    return None


def circle(n: int) -> np.ndarray:
    """Clockwise from the top."""
    angle = 2.0 * np.pi * np.arange(n) / n
    return 0.5 + 0.5 * np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def fitted(at: np.ndarray) -> np.ndarray:
    """Moved and scaled into the unit square, its proportions kept."""
    low, high = at.min(axis=0), at.max(axis=0)
    size = float((high - low).max()) or 1.0
    return 0.5 + (at - (low + high) / 2.0) / size
