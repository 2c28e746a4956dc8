"""The paper's view for other graph algorithms: a random subgraph that nothing is joined to.

It is drawn as the inputs are and has larger ids, so whatever starts at a source never gets
there, and whatever takes all nodes in turn gets there last. Where edges are taken by weight the
new ones come last if they weigh more than every old one; they are spread evenly between the
heaviest of those and the largest weight that the law can give. With weights as drawn
(`ViewWeights.DRAWN`) the steps of such an algorithm are borrowed, as in views of bubble sort.
"""

from __future__ import annotations

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.kernel import helper
from ..algorithms.random import stream, uniform
from ..config import ViewConfig, ViewWeights
from ..types import Batch
from .parts import put_part, with_part
from .sizes import view_nodes

HEAVIEST = 1.0005  # the law's weights are the roots of u * v + 0.001, u and v below 1


def subgraph(
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
    n = batch.inputs["A"].shape[1]
    add = with_part(_add, algorithm.view_law)
    heavier = algorithm.by_weight and options.weights is ViewWeights.HEAVIER
    add(n, seeds, index, p, options.random_nodes, heavier, inputs["A"], nodes)
    return nodes, batch.lengths - np.int32(1)


@helper
def weigh_more(state, n, N, A):
    """Let all edges among the nodes n … N-1 weigh more than those before."""
    heaviest = 0.0
    for u in range(n):
        for v in range(n):
            heaviest = max(heaviest, A[u, v])
    for u in range(n, N):
        for v in range(u, N):
            if A[u, v] != 0.0:
                A[u, v] = A[v, u] = uniform(state, heaviest, HEAVIEST)


def _add(n, seeds, index, p, random_nodes, heavier, A, nodes):
    for sample in range(nodes.size):
        state = stream(seeds[sample], index[sample])
        N = nodes[sample] = view_nodes(state, n, A.shape[1], random_nodes)
        put_part(draw_part(state, N - n, p, 0)[0], n, A[sample])
        if heavier:
            weigh_more(state, n, N, A[sample])
