"""Shortest paths in an acyclic graph: relax all edges, node by node in topological order.

Only what the source reaches is sorted (phase 0), so the source comes first; phase 1 then
walks down the order. The last node is never relaxed from: it can have no edge left. Its mark,
like any, is set when it is reached, and the walk's u, v and s_last stand still in phase 1.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import ids, write
from .depth_first import DID, FINISHED, advance, new_walk, put_first, record_walk, start
from .inputs import ROOTED_WEIGHTED_DAG
from .kernel import helper, kernel
from .record import log_type, open_rooted_graph

SPEC = {
    "pos": reads("node", "scalar"),
    "s": reads("node", "mask_one"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "pi": returns("node", "pointer"),
    "pi_h": shows("node", "pointer"),
    "d": shows("node", "scalar"),
    "mark": shows("node", "mask"),
    "topo_h": shows("node", "pointer"),
    "topo_head_h": shows("node", "mask_one"),
    "color": shows("node", "categorical", classes=3),
    "s_prev": shows("node", "pointer"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "s_last": shows("node", "mask_one"),
    "phase": shows("graph", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, walk, topo, head, pi, d, mark, phase):
    t = record_walk(log, walk)
    write(topo, log.topo_h[t])
    log.topo_head_h[t] = head
    write(pi, log.pi_h[t])
    write(d, log.d[t])
    write(mark, log.mark[t])
    log.phase[t] = phase


@kernel
def run(log, A, s):
    row = open_rooted_graph(log, A, s)
    n = A.shape[0]
    walk = new_walk(n, timed=False, meets=False)
    topo, head = ids(n), 0
    pi, d, mark = ids(n), np.zeros(n), np.zeros(n, np.int8)
    start(walk, s)
    record(log, walk, topo, head, pi, d, mark, 0)
    while advance(walk, A):
        if walk.at[DID] == FINISHED:
            head = put_first(topo, head, walk)
        record(log, walk, topo, head, pi, d, mark, 0)

    mark[s] = 1
    while topo[head] != head:
        record(log, walk, topo, head, pi, d, mark, 1)
        for v in range(n):
            if A[head, v] != 0:
                through = d[head] + A[head, v]
                if mark[v] == 0 or through < d[v]:
                    pi[v], d[v], mark[v] = head, through, 1
        head = topo[head]
    record(log, walk, topo, head, pi, d, mark, 1)
    write(pi, log.pi[row])


ALGORITHM = Algorithm(
    name="dag_shortest_paths",
    title="Shortest paths in a directed acyclic graph",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=ROOTED_WEIGHTED_DAG,
    run=run,
    log=Log,
    view=Augmentation.SUBGRAPH,
    contrasted=("pi_h", "topo_h", "color"),
)
