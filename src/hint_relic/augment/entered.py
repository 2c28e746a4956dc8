"""The paper's view for depth-first walks: new nodes joined to a node as it is first entered.

A node is drawn among those that the first walk enters. It ends as its root is finished, or, by
the wider reading (`ViewWalk.SEARCH`), as all nodes are.
New nodes have larger ids and random edges among them, and each is joined to the node drawn: in
both directions in undirected graphs, by an edge *from* the new node in directed ones. Up to the
step at which the node turns grey the walk has not looked at its neighbours yet, and after it
old neighbours come first, so all steps up to that one are the same.
"""

from __future__ import annotations

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.depth_first import BLACK, GREY, WHITE
from ..algorithms.inputs import GRAPH
from ..algorithms.kernel import helper
from ..algorithms.random import integer, stream
from ..config import ViewConfig, ViewWalk
from ..types import Batch
from .parts import put_part, with_part
from .sizes import view_nodes

UNDIRECTED = (GRAPH,)


def entered_node(
    algorithm: Algorithm,
    batch: Batch,
    seeds: np.ndarray,
    index: np.ndarray,
    p: np.ndarray,
    options: ViewConfig,
    inputs: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Fill the inputs of the views; their numbers of nodes and the steps they are valid for."""
    nodes, until = np.empty((2, batch.samples), np.int32)
    joined = algorithm.inputs in UNDIRECTED
    hints = batch.hints["color"], batch.hints["s"], batch.lengths
    enter = with_part(_enter, algorithm.view_law)
    all_roots = options.walk is ViewWalk.SEARCH
    drawn = seeds, index, p, options.random_nodes
    enter(*hints, *drawn, all_roots, joined, inputs["A"], nodes, until)
    return nodes, until


@helper
def entries(color, root, length, all_roots):
    """The steps at which the first walk, or the first search, enters a node, and the nodes."""
    steps, entered = np.empty(color.shape[1], np.int64), np.empty(color.shape[1], np.int64)
    count = 0
    for t in range(1, length):
        done = np.all(color[t - 1] == BLACK) if all_roots else color[t - 1, root] == BLACK
        if done:
            break
        for v in range(color.shape[1]):
            if color[t - 1, v] == WHITE and color[t, v] == GREY:
                steps[count], entered[count] = t, v
                count += 1
    return steps[:count], entered[:count]


def _enter(color, s, lengths, seeds, index, p, random_nodes, all_roots, joined, A, nodes, until):
    n, most = color.shape[2], A.shape[1]
    for sample in range(lengths.size):
        state = stream(seeds[sample], index[sample])
        N = nodes[sample] = view_nodes(state, n, most, random_nodes)
        steps, entered = entries(color[sample], s[sample, 0], lengths[sample], all_roots)
        at = integer(state, steps.size)
        until[sample] = steps[at]
        put_part(draw_part(state, N - n, p, 0)[0], n, A[sample])
        for v in range(n, N):
            A[sample, v, entered[at]] = 1.0
            if joined:
                A[sample, entered[at], v] = 1.0
