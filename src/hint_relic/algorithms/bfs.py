"""Breadth-first search: all nodes within reach, one more step away each round.

The reference sweeps all edges in index order and tells an unreached node by its pointing at
itself, so a node's parent is its smallest neighbour among those reached in earlier rounds.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .inputs import ROOTED_GRAPH
from .kernel import kernel
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


@kernel
def record(log, reach, pi):
    t = tick(log)
    log.reach_h[t] = reach
    log.pi_h[t] = pi


@kernel
def run(log, A, s):
    row = open_rooted_graph(log, A, s)
    n = A.shape[0]
    reach, pi = np.zeros(n, np.int8), np.arange(n)
    reach[s] = 1
    while True:
        before = reach.copy()
        record(log, before, pi)
        for i in np.nonzero(before)[0]:
            for j in range(n):
                if A[i, j] > 0:
                    if pi[j] == j and j != s:
                        pi[j] = i
                    reach[j] = 1
        if np.all(reach == before):
            break
    log.pi[row] = pi


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
