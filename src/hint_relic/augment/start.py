"""The first step's hints on a view, made from the input's without running the algorithm.

Old nodes and the edges among them show what they show on the input. A new node points at
itself; but in a list of the items in order (`pred_h`) at the one before it. All else is 0, but
for the edge hints that a room names (`Algorithm.starts`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.algorithm import Start
from ..spec import POINTERS, Field, Kind, Location, Stage, of_stage
from ..types import Batch

IN_ORDER = "pred_h"
Arrays = dict[str, np.ndarray]


def _row(inputs: Arrays) -> np.ndarray:
    return np.broadcast_to(np.arange(inputs["adj"].shape[1])[:, None], inputs["adj"].shape)


_EDGES: dict[Start, Callable[[Arrays], np.ndarray]] = {
    Start.ROW: _row,
    Start.WEIGHTS: lambda inputs: inputs["A"],
    Start.ADJACENCY: lambda inputs: inputs["adj"],
    Start.TRANSPOSED_ADJACENCY: lambda inputs: inputs["adj"].swapaxes(1, 2),
    Start.CANDIDATES: lambda inputs: inputs["adj"] - np.int8(1),
}


def first_step(algorithm: Algorithm, batch: Batch, inputs: Arrays, nodes: np.ndarray) -> Arrays:
    """The hints of step 0 on views whose old nodes come first."""
    n, most = int(batch.nodes[0]), inputs["pos"].shape[1]
    live = np.arange(most) < nodes[:, None]  # (samples, most)
    start = {}
    for name, field in of_stage(algorithm.spec, Stage.HINT).items():
        first = batch.hints[name][:, 0]
        if field.location is Location.GRAPH or field.kind is Kind.MASK_ONE:
            start[name] = first.copy()
        elif field.location is Location.NODE:
            start[name] = _on_nodes(name, field, live)
            start[name][:, :n] = first
        else:
            start[name] = np.zeros((len(live), most, most), field.dtype)
            if name in algorithm.starts:
                pairs = live[:, :, None] & live[:, None, :]
                np.copyto(start[name], _EDGES[algorithm.starts[name]](inputs), where=pairs)
            start[name][:, :n, :n] = first
    return start


def _on_nodes(name: str, field: Field, live: np.ndarray) -> np.ndarray:
    """What new nodes show."""
    if field.kind not in POINTERS:
        return np.zeros(live.shape, field.dtype)
    before = 1 if name == IN_ORDER else 0
    return np.where(live, np.arange(live.shape[1]) - before, 0).astype(field.dtype)
