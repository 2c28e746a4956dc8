"""Bridges: the edges without which a graph falls into more pieces.

One depth-first search finds them: the edges to a child whose subtree sees nothing as early
as the node. Pairs of nodes without an edge are masked (-1); the diagonal never is, edge or
not. As in `articulation_points.py`, known neighbours are met anew at each return to a node.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, Start, reads, returns, shows
from .arrays import write
from .depth_first import (
    DID,
    FINISHED,
    WHITE,
    U,
    advance,
    new_walk,
    record_timed_walk,
    start,
    update_low,
)
from .inputs import GRAPH
from .kernel import helper, kernel
from .record import log_type, open_graph

SPEC = {
    "pos": reads("node", "scalar"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "is_bridge": returns("edge", "mask"),
    "is_bridge_h": shows("edge", "mask"),
    "pi_h": shows("node", "pointer"),
    "color": shows("node", "categorical", classes=3),
    "d": shows("node", "scalar"),
    "f": shows("node", "scalar"),
    "low": shows("node", "scalar"),
    "s_prev": shows("node", "pointer"),
    "s": shows("node", "mask_one"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "s_last": shows("node", "mask_one"),
    "time": shows("graph", "scalar"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, walk, low, is_bridge):
    t = record_timed_walk(log, walk)
    write(is_bridge, log.is_bridge_h[t])
    write(walk.pi, log.pi_h[t])
    write(low, log.low[t])


@helper
def candidates(adj):
    """0 where there is an edge, -1 (not to be scored) elsewhere."""
    out = np.empty(adj.shape, np.int8)
    for i in range(adj.shape[0]):
        for j in range(adj.shape[1]):
            out[i, j] = adj[i, j] - 1
    return out


@helper
def mark_bridges(u, walk, low, is_bridge):
    """Mark the bridges from the finished node u down."""
    for v in range(low.size):
        if walk.pi[v] == u and low[v] > walk.d[u]:
            is_bridge[u, v] = is_bridge[v, u] = 1


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    walk = new_walk(n, timed=True, meets=True)
    low, is_bridge = np.zeros(n), candidates(log.adj[row])
    for s in range(n):
        if walk.color[s] == WHITE:
            start(walk, s)
            record(log, walk, low, is_bridge)
            while advance(walk, A):
                update_low(low, walk)
                if walk.at[DID] == FINISHED:
                    mark_bridges(walk.at[U], walk, low, is_bridge)
                record(log, walk, low, is_bridge)
    write(is_bridge, log.is_bridge[row])


ALGORITHM = Algorithm(
    name="bridges",
    title="Bridges",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=GRAPH,
    run=run,
    log=Log,
    sparse=True,
    view=Augmentation.ENTERED_NODE,
    contrasted=("pi_h",),
    starts={"is_bridge_h": Start.CANDIDATES},
)
