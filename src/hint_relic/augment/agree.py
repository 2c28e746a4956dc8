"""For how many steps two runs agree on the nodes that they share.

A view shows a hint as the input does if values are equal on all old nodes (or the edges among
them, or the graph), where what points at a node points at its place. Numbers must be equal to
the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.kernel import helper, kernel
from ..spec import POINTERS, Kind, Location, Stage, of_stage

Hints = dict[str, np.ndarray]


def compared(algorithm: Algorithm) -> list[str]:
    """The hints that make up a step, the smallest first.

    Those that never change are no steps: the protocol makes them inputs, and the view has its
    own. They count where the paper contrasts them, though.
    """
    hints = of_stage(algorithm.spec, Stage.HINT)
    given = set(algorithm.static_hints) - set(algorithm.contrasted)
    names = [name for name in hints if name not in given]
    return sorted(names, key=lambda name: len(hints[name].shape(1)))


def agreement(
    algorithm: Algorithm,
    names: Iterable[str],
    ours: Hints,
    samples: np.ndarray,
    views: Hints,
    places: np.ndarray,
    steps: np.ndarray,
) -> np.ndarray:
    """The first steps, at most `steps`, in which view k and sample `samples[k]` agree.

    ours, views: name -> (samples, steps, ...), as in a batch.
    """
    agreed = steps.copy()
    for name in names:
        field = algorithm.spec[name]
        one = field.location is Location.GRAPH or field.kind is Kind.MASK_ONE
        points = field.kind in POINTERS or field.kind is Kind.MASK_ONE
        agree = _graphs if one else _nodes if field.location is Location.NODE else _edges
        agree(ours[name], samples, views[name], places, points, agreed)
    return agreed


@helper
def _shown(value, places, points):
    return places[int(value)] if points else value


@kernel
def _graphs(ours, samples, views, places, points, agreed):
    for k in range(samples.size):
        for t in range(agreed[k]):
            if _shown(ours[samples[k], t], places[k], points) != views[k, t]:
                agreed[k] = t
                break


@kernel
def _nodes(ours, samples, views, places, points, agreed):
    for k in range(samples.size):
        for t in range(agreed[k]):
            old, new = ours[samples[k], t], views[k, t]
            same = True
            for i in range(places.shape[1]):
                if _shown(old[i], places[k], points) != new[places[k, i]]:
                    same = False
                    break
            if not same:
                agreed[k] = t
                break


@kernel
def _edges(ours, samples, views, places, points, agreed):
    for k in range(samples.size):
        for t in range(agreed[k]):
            old, new = ours[samples[k], t], views[k, t]
            same = True
            for i in range(places.shape[1]):
                for j in range(places.shape[1]):
                    if _shown(old[i, j], places[k], points) != new[places[k, i], places[k, j]]:
                        same = False
                        break
                if not same:
                    break
            if not same:
                agreed[k] = t
                break
