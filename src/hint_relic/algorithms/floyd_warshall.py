"""Floyd-Warshall's shortest paths between all pairs: let one more node be passed each round.

A node's distance to itself is not 0 where it has an edge to itself, but that edge's weight
or that of a shorter round trip. Pairs out of reach have a distance of 0, and `msk` tells them
apart; a pair's pointer starts at its first node even so.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, Start, reads, returns, shows
from .arrays import write
from .inputs import WEIGHTED_GRAPH
from .kernel import helper, kernel
from .record import log_type, open_graph, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "Pi": returns("edge", "pointer"),
    "Pi_h": shows("edge", "pointer"),
    "D": shows("edge", "scalar"),
    "msk": shows("edge", "mask"),
    "k": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, Pi, D, msk, k):
    t = tick(log.cursor)
    write(Pi, log.Pi_h[t])
    write(D, log.D[t])
    write(msk, log.msk[t])
    log.k[t] = k


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    Pi, D, msk = np.empty((n, n), np.int32), A.copy(), log.adj[row].copy()
    for i in range(n):
        Pi[i] = i
    for k in range(n):
        record(log, Pi, D, msk, k)
        from_k = D[k].copy()
        for i in range(n):
            if msk[i, k]:
                to_k = D[i, k]
                for j in range(n):
                    if msk[k, j]:
                        through = to_k + from_k[j]
                        if msk[i, j] == 0 or through < D[i, j]:
                            Pi[i, j], D[i, j], msk[i, j] = Pi[k, j], through, 1
    write(Pi, log.Pi[row])


ALGORITHM = Algorithm(
    name="floyd_warshall",
    title="Floyd-Warshall's all-pairs shortest paths",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=WEIGHTED_GRAPH,
    run=run,
    log=Log,
    view=Augmentation.SUBGRAPH,
    contrasted=("Pi_h",),
    starts={"Pi_h": Start.ROW, "D": Start.WEIGHTS, "msk": Start.ADJACENCY},
)
