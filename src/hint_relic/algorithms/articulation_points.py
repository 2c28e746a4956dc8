"""Articulation points: the nodes without which a graph falls into more pieces.

One depth-first search finds them: a root with two children, or any other node with a child
whose subtree sees nothing earlier than the node. `child_cnt` counts in steps of 0.01.
Known neighbours are met, and recorded, anew each time the walk comes back to a node; an edge
from a node to itself is met too, except at a root.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import write
from .depth_first import (
    DESCENDED,
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
    "is_cut": returns("node", "mask"),
    "is_cut_h": shows("node", "mask"),
    "pi_h": shows("node", "pointer"),
    "color": shows("node", "categorical", classes=3),
    "d": shows("node", "scalar"),
    "f": shows("node", "scalar"),
    "low": shows("node", "scalar"),
    "child_cnt": shows("node", "scalar"),
    "s_prev": shows("node", "pointer"),
    "s": shows("node", "mask_one"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "s_last": shows("node", "mask_one"),
    "time": shows("graph", "scalar"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, walk, low, child_cnt, is_cut):
    t = record_timed_walk(log, walk)
    write(is_cut, log.is_cut_h[t])
    write(walk.pi, log.pi_h[t])
    write(low, log.low[t])
    write(child_cnt, log.child_cnt[t])


@helper
def cuts(u, walk, low, child_cnt):
    """Does the finished node u hold its subtrees together, or one of them and the rest?"""
    if walk.pi[u] == u:
        return child_cnt[u] > 0.01
    for v in range(low.size):  # noqa: SIM110 (kernels have no generators)
        if walk.pi[v] == u and low[v] >= walk.d[u]:
            return True
    return False


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    walk = new_walk(n, timed=True, meets=True)
    low, child_cnt, is_cut = np.zeros(n), np.zeros(n), np.zeros(n, np.int8)
    for s in range(n):
        if walk.color[s] == WHITE:
            start(walk, s)
            record(log, walk, low, child_cnt, is_cut)
            while advance(walk, A):
                u, did = walk.at[U], walk.at[DID]
                update_low(low, walk)
                if did == DESCENDED:
                    child_cnt[u] += 0.01
                elif did == FINISHED and cuts(u, walk, low, child_cnt):
                    is_cut[u] = 1
                record(log, walk, low, child_cnt, is_cut)
    write(is_cut, log.is_cut[row])


ALGORITHM = Algorithm(
    name="articulation_points",
    title="Articulation points",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=GRAPH,
    run=run,
    log=Log,
    sparse=True,
    view=Augmentation.ENTERED_NODE,
    contrasted=("pi_h",),
)
