"""Reshaping batches: precision, room for steps and nodes, an axis for seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..spec import Spec
from ..types import Batch

T = TypeVar("T")


def map_arrays(function: Callable[[np.ndarray], np.ndarray], tree: T) -> T:
    """Apply a function to every array of named tuples and dicts."""
    if isinstance(tree, dict):
        return {k: map_arrays(function, v) for k, v in tree.items()}  # type: ignore[return-value]
    if isinstance(tree, tuple):
        return type(tree)(*(map_arrays(function, x) for x in tree))
    return function(tree)  # type: ignore[arg-type,return-value]


def single_precision(tree: T) -> T:
    return map_arrays(lambda x: x.astype(np.float32) if x.dtype == np.float64 else x, tree)


def by_seed(tree: T, seeds: int) -> T:
    """Split the sample axis into (seeds, samples of each)."""
    return map_arrays(lambda x: x.reshape(seeds, -1, *x.shape[1:]), tree)


def trim(batch: Batch) -> Batch:
    """Cut the step axis to the longest sample."""
    steps = int(batch.lengths.max())
    return batch._replace(hints={k: v[:, :steps] for k, v in batch.hints.items()})


def first_step(batch: Batch) -> Batch:
    """Leave of the hints what a network sees, which is those of step 0."""
    return batch._replace(hints={k: v[:, :1] for k, v in batch.hints.items()})


def with_steps(batch: Batch, room: int) -> Batch:
    """Cut or pad the step axis to `room`, or to as many more eighths of it as are needed."""
    most = int(batch.lengths.max())
    while room < most:
        room += max(1, room // 8)

    def fit(hint: np.ndarray) -> np.ndarray:
        short = room - hint.shape[1]
        if short <= 0:
            return np.ascontiguousarray(hint[:, :room])
        return np.pad(hint, [(0, 0), (0, short)] + [(0, 0)] * (hint.ndim - 2))

    return batch._replace(hints={k: fit(v) for k, v in batch.hints.items()})


def with_nodes(batch: Batch, spec: Spec, nodes: int) -> Batch:
    """Pad every node axis to `nodes`; the padding is dead (`batch.nodes` stays as it is)."""

    def fit(arrays: dict[str, Any], leading: int) -> dict[str, np.ndarray]:
        out = {}
        for name, array in arrays.items():
            axes = len(spec[name].shape(1))
            widths = [(0, 0)] * leading + [(0, nodes - n) for n in array.shape[leading:]]
            out[name] = np.pad(array, widths) if axes else array
        return out

    return batch._replace(
        inputs=fit(batch.inputs, 1), hints=fit(batch.hints, 2), outputs=fit(batch.outputs, 1)
    )
