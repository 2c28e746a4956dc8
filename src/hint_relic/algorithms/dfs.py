"""Depth-first search: follow new edges as far as they lead, then turn back.

The hints show the search's stack at work; see `depth_first.py`, where the walk is.
"""

from __future__ import annotations

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import write
from .depth_first import WHITE, advance, new_walk, record_timed_walk, start
from .inputs import DIGRAPH
from .kernel import helper, kernel
from .record import log_type, open_graph

SPEC = {
    "pos": reads("node", "scalar"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "pi": returns("node", "pointer"),
    "pi_h": shows("node", "pointer"),
    "color": shows("node", "categorical", classes=3),
    "d": shows("node", "scalar"),
    "f": shows("node", "scalar"),
    "s_prev": shows("node", "pointer"),
    "s": shows("node", "mask_one"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "s_last": shows("node", "mask_one"),
    "time": shows("graph", "scalar"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, walk):
    t = record_timed_walk(log, walk)
    write(walk.pi, log.pi_h[t])


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    walk = new_walk(n, timed=True, meets=False)
    for s in range(n):
        if walk.color[s] == WHITE:
            start(walk, s)
            record(log, walk)
            while advance(walk, A):
                record(log, walk)
    write(walk.pi, log.pi[row])


ALGORITHM = Algorithm(
    name="dfs",
    title="Depth-first search",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=DIGRAPH,
    run=run,
    log=Log,
)
