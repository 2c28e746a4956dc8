"""The paper's view for sorting and searching: random items appended to the array.

The view borrows the input's steps. Insertion sort and minimum do take them, and then go on;
the others, run on the view, would not. Nothing appended equals the item that is searched for.
"""

from __future__ import annotations

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.kernel import kernel
from ..algorithms.random import stream, uniform
from ..config import ViewConfig
from ..types import Batch
from .sizes import view_nodes


def appended(
    algorithm: Algorithm,
    batch: Batch,
    seeds: np.ndarray,
    index: np.ndarray,
    p: np.ndarray,
    options: ViewConfig,
    inputs: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Fill the inputs of the views; their numbers of nodes and the steps they are valid for."""
    nodes = np.empty(batch.samples, np.int32)
    target = batch.inputs.get("target", np.full(batch.samples, np.nan))
    n = batch.inputs["key"].shape[1]
    _append(n, seeds, index, options.random_nodes, target, inputs["key"], nodes)
    return nodes, batch.lengths - np.int32(1)


@kernel
def _append(n, seeds, index, random_nodes, target, key, nodes):
    for sample in range(nodes.size):
        state = stream(seeds[sample], index[sample])
        nodes[sample] = view_nodes(state, n, key.shape[1], random_nodes)
        for i in range(n, nodes[sample]):
            key[sample, i] = uniform(state, 0.0, 1.0)
            while key[sample, i] == target[sample]:
                key[sample, i] = uniform(state, 0.0, 1.0)
