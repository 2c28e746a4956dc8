"""The paper's view for other graph algorithms: a random subgraph that nothing is joined to.

It is drawn as the inputs are and has larger ids, so whatever starts at a source never gets
there, and whatever takes all nodes in turn gets there last. Kruskal takes edges by weight. So
that the new ones come last they must weigh more than every old one; they are spread evenly
between the heaviest of those and the largest weight that the law can give.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.inputs import SPARSE_WEIGHTED_GRAPH, Inputs
from ..algorithms.kernel import kernel
from ..algorithms.random import stream, uniform
from ..algorithms.writing import write
from ..types import Batch
from .compile import specialised
from .parts import new_part
from .sizes import view_nodes

TAKEN_BY_WEIGHT = (SPARSE_WEIGHTED_GRAPH,)  # Kruskal's inputs
HEAVIEST = 1.0005  # the law's weights are the roots of u * v + 0.001, u and v below 1


def subgraph(
    algorithm: Algorithm,
    batch: Batch,
    seeds: np.ndarray,
    index: np.ndarray,
    p: np.ndarray,
    random_nodes: bool,
    inputs: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Fill the inputs of the views; their numbers of nodes and the steps they are valid for."""
    nodes = np.empty(batch.samples, np.int32)
    heavier = algorithm.inputs in TAKEN_BY_WEIGHT
    n = batch.inputs["A"].shape[1]
    _loop(algorithm.inputs)(n, seeds, index, p, random_nodes, heavier, inputs["A"], nodes)
    return nodes, batch.lengths - np.int32(1)


@kernel
def weigh_more(state, A, n):
    """Let all edges among the nodes from n on weigh more than those before."""
    heaviest = A[:n, :n].max()
    for u in range(n, A.shape[0]):
        for v in range(u, A.shape[0]):
            if A[u, v] != 0.0:
                A[u, v] = A[v, u] = uniform(state, heaviest, HEAVIEST)


def _add(n, seeds, index, p, random_nodes, heavier, A, nodes):
    for sample in range(nodes.size):
        state = stream(seeds[sample], index[sample])
        N = nodes[sample] = view_nodes(state, n, A.shape[1], random_nodes)
        write(draw_part(state, N - n, p, 0)[0], A[sample, n:N, n:N])
        if heavier:
            weigh_more(state, A[sample, :N, :N], n)


@cache
def _loop(law: Inputs):
    part = new_part(law)
    return specialised(_add, part.fast.__name__, draw_part=part.fast)
