"""Bellman-Ford's shortest paths: relax all edges at once, until no distance changes.

Each round relaxes from the distances that the last one left. Nodes out of reach have a
distance of 0, so `msk` tells which ones are reached.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import equal, ids, write
from .inputs import ROOTED_WEIGHTED_GRAPH
from .kernel import helper, kernel
from .record import log_type, open_rooted_graph, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "s": reads("node", "mask_one"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "pi": returns("node", "pointer"),
    "pi_h": shows("node", "pointer"),
    "d": shows("node", "scalar"),
    "msk": shows("node", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, pi, d, msk):
    t = tick(log.cursor)
    write(pi, log.pi_h[t])
    write(d, log.d[t])
    write(msk, log.msk[t])


@kernel
def run(log, A, s):
    row = open_rooted_graph(log, A, s)
    n = A.shape[0]
    pi, d, msk = ids(n), np.zeros(n), np.zeros(n, np.int8)
    before, known = np.zeros(n), np.zeros(n, np.int8)
    msk[s] = 1
    while True:
        record(log, pi, d, msk)
        write(d, before)
        write(msk, known)
        for u in range(n):
            if known[u]:
                for v in range(n):
                    if A[u, v] != 0:
                        through = before[u] + A[u, v]
                        if msk[v] == 0 or through < d[v]:
                            pi[v], d[v], msk[v] = u, through, 1
        if equal(d, before):
            break
    write(pi, log.pi[row])


ALGORITHM = Algorithm(
    name="bellman_ford",
    title="Bellman-Ford's shortest paths",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=ROOTED_WEIGHTED_GRAPH,
    run=run,
    log=Log,
    view=Augmentation.SUBGRAPH,
    contrasted=("pi_h",),
)
