"""Strongly connected components, Kosaraju's way: two depth-first searches.

The second follows the edges backwards and takes its roots in order of falling finishing
times; a node's component is the root it is reached from. The clock runs on through both
searches, finishing times are overwritten by the second, and discovery times by it only at its
roots, for any other node has one already and is not entered again.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, Start, reads, returns, shows
from .arrays import falling, ids, write
from .depth_first import WHITE, U, advance, new_walk, record_timed_walk, start
from .inputs import COMMUNITY_GRAPH, DIGRAPH
from .kernel import helper, kernel
from .record import edges, log_type, open_graph

SPEC = {
    "pos": reads("node", "scalar"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "scc_id": returns("node", "pointer"),
    "scc_id_h": shows("node", "pointer"),
    "A_t": shows("edge", "mask"),
    "color": shows("node", "categorical", classes=3),
    "d": shows("node", "scalar"),
    "f": shows("node", "scalar"),
    "s_prev": shows("node", "pointer"),
    "s": shows("node", "mask_one"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "s_last": shows("node", "mask_one"),
    "time": shows("graph", "scalar"),
    "phase": shows("graph", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, walk, scc_id, A_t, phase):
    t = record_timed_walk(log, walk)
    write(scc_id, log.scc_id_h[t])
    write(A_t, log.A_t[t])
    log.phase[t] = phase


@helper
def transposed(A):
    out = np.empty(A.shape)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[j, i] = A[i, j]
    return out


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    walk = new_walk(n, timed=True, meets=False)
    scc_id, backwards, A_t = ids(n), transposed(A), np.empty((n, n), np.int8)
    edges(n, backwards, A_t)
    for s in range(n):
        if walk.color[s] == WHITE:
            start(walk, s)
            record(log, walk, scc_id, A_t, 0)
            while advance(walk, A):
                record(log, walk, scc_id, A_t, 0)

    walk.color[:] = WHITE
    for s in falling(walk.f):
        if walk.color[s] == WHITE:
            start(walk, s)
            record(log, walk, scc_id, A_t, 1)
            while advance(walk, backwards):
                scc_id[walk.at[U]] = s
                record(log, walk, scc_id, A_t, 1)
    write(scc_id, log.scc_id[row])


ALGORITHM = Algorithm(
    name="strongly_connected_components",
    title="Strongly connected components",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=COMMUNITY_GRAPH,
    run=run,
    log=Log,
    view=Augmentation.ENTERED_NODE,
    contrasted=("scc_id_h", "color", "s_prev"),
    part=DIGRAPH,  # communities need four nodes; fewer are joined as nodes of one are
    starts={"A_t": Start.TRANSPOSED_ADJACENCY},
)
