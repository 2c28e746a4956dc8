"""Prim's minimum spanning tree: keep adding the node nearest to the tree.

Only the source's component is spanned; all other nodes point at themselves.
"""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import write
from .inputs import ROOTED_WEIGHTED_GRAPH
from .kernel import helper, kernel
from .nearest_first import new_search, offer, record_search, take_nearest, waits
from .record import log_type, open_rooted_graph

SPEC = {
    "pos": reads("node", "scalar"),
    "s": reads("node", "mask_one"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "pi": returns("node", "pointer"),
    "pi_h": shows("node", "pointer"),
    "key": shows("node", "scalar"),
    "mark": shows("node", "mask"),
    "in_queue": shows("node", "mask"),
    "u": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, search, u):
    t = record_search(log, search, u)
    write(search.key, log.key[t])


@kernel
def run(log, A, s):
    row = open_rooted_graph(log, A, s)
    n = A.shape[0]
    search = new_search(n, s)
    record(log, search, s)
    while waits(search):
        u = take_nearest(search)
        for v in range(n):
            if A[u, v] != 0:
                offer(search, u, v, A[u, v])
        record(log, search, u)
    write(search.pi, log.pi[row])


ALGORITHM = Algorithm(
    name="mst_prim",
    title="Prim's minimum spanning tree",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=ROOTED_WEIGHTED_GRAPH,
    run=run,
    log=Log,
    view=Augmentation.SUBGRAPH,
    contrasted=("pi_h",),
)
