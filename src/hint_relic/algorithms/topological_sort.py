"""Topological sort: a depth-first search puts each node it finishes before all earlier ones.

The order is a linked list: each node points at its successor, the last at itself, and
`topo_head` is the first. The walk keeps no times, so only its roots are entered in a step of
their own.
"""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import ids, write
from .depth_first import (
    DID,
    FINISHED,
    WHITE,
    S,
    advance,
    new_walk,
    put_first,
    record_walk,
    start,
)
from .inputs import DAG
from .kernel import helper, kernel
from .record import log_type, open_graph

SPEC = {
    "pos": reads("node", "scalar"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "topo": returns("node", "pointer"),
    "topo_head": returns("node", "mask_one"),
    "topo_h": shows("node", "pointer"),
    "topo_head_h": shows("node", "mask_one"),
    "color": shows("node", "categorical", classes=3),
    "s_prev": shows("node", "pointer"),
    "s": shows("node", "mask_one"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "s_last": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, walk, topo, head):
    t = record_walk(log, walk)
    log.s[t] = walk.at[S]
    write(topo, log.topo_h[t])
    log.topo_head_h[t] = head


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    walk = new_walk(n, timed=False, meets=False)
    topo, head = ids(n), 0
    for s in range(n):
        if walk.color[s] == WHITE:
            start(walk, s)
            record(log, walk, topo, head)
            while advance(walk, A):
                if walk.at[DID] == FINISHED:
                    head = put_first(topo, head, walk)
                record(log, walk, topo, head)
    write(topo, log.topo[row])
    log.topo_head[row] = head


ALGORITHM = Algorithm(
    name="topological_sort",
    title="Topological sort",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=DAG,
    run=run,
    log=Log,
    view=Augmentation.ENTERED_NODE,
    contrasted=("topo_h", "color", "s_prev"),
)
