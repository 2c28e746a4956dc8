"""Breadth-first search: all nodes within reach, one more step away each round.

The reference sweeps all edges in index order and tells an unreached node by its pointing at
itself, so a node's parent is its smallest neighbour among those reached in earlier rounds.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import equal, ids, write
from .inputs import ROOTED_GRAPH
from .kernel import helper, kernel
from .record import log_type, open_rooted_graph, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "s": reads("node", "mask_one"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "pi": returns("node", "pointer"),
    "reach_h": shows("node", "mask"),
    "pi_h": shows("node", "pointer"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, reach, pi):
    t = tick(log.cursor)
    write(reach, log.reach_h[t])
    write(pi, log.pi_h[t])


@kernel
def run(log, A, s):
    row = open_rooted_graph(log, A, s)
    n = A.shape[0]
    reach, before, pi = np.zeros(n, np.int8), np.zeros(n, np.int8), ids(n)
    reach[s] = 1
    while not equal(reach, before):
        write(reach, before)
        record(log, before, pi)
        for i in range(n):
            if before[i]:
                for j in range(n):
                    if A[i, j] > 0:
                        if pi[j] == j and j != s:
                            pi[j] = i
                        reach[j] = 1
    write(pi, log.pi[row])


ALGORITHM = Algorithm(
    name="bfs",
    title="Breadth-first search",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=ROOTED_GRAPH,
    run=run,
    log=Log,
    view=Augmentation.SUBGRAPH,
    contrasted=("pi_h",),
)
