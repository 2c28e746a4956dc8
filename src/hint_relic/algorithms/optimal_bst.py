"""Optimal binary search tree: the one of least expected search cost, for longer and longer ranges.

Key i is looked for with probability p[i], the gap before it with q[i]. e[i, j] is the cost of the
best tree over keys i to j-1, w[i, j] their total probability, root[i, j] its root. There is one
gap more than keys: size n has n+1 nodes and the input `p` ends in a 0. The reference's infinity
is 1e9, and `root` is 0 wherever there is no tree.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import places, write
from .inputs import WEIGHTS
from .kernel import helper, kernel
from .record import SAMPLE, link, log_type, positions, tick

INFINITY = 1e9

SPEC = {
    "pos": reads("node", "scalar"),
    "p": reads("node", "scalar"),
    "q": reads("node", "scalar"),
    "root": returns("edge", "pointer"),
    "pred_h": shows("node", "pointer"),
    "root_h": shows("edge", "pointer"),
    "e": shows("edge", "scalar"),
    "w": shows("edge", "scalar"),
    "msk": shows("edge", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, order, root, e, w, msk):
    t = tick(log.cursor)
    link(order, log.pred_h[t])
    write(root, log.root_h[t])
    write(e, log.e[t])
    write(w, log.w[t])
    write(msk, log.msk[t])


@kernel
def run(log, p, q):
    row = log.cursor[SAMPLE]
    positions(log.pos[row])
    write(p, log.p[row])
    write(q, log.q[row])
    n = q.size
    order = places(n)
    root, msk = np.zeros((n, n), np.int32), np.zeros((n, n), np.int8)
    e, w = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        e[i, i] = w[i, i] = q[i]
        msk[i, i] = 1
    record(log, order, root, e, w, msk)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            e[i, j] = INFINITY
            w[i, j] = w[i, j - 1] + p[j - 1] + q[j]
            for r in range(i, j):
                t = e[i, r] + e[r + 1, j] + w[i, j]
                if t < e[i, j]:
                    e[i, j] = t
                    root[i, j] = r
            msk[i, j] = 1
        record(log, order, root, e, w, msk)
    write(root, log.root[row])


ALGORITHM = Algorithm(
    name="optimal_bst",
    title="Optimal binary search tree",
    family=Family.DYNAMIC_PROGRAMMING,
    spec=SPEC,
    inputs=WEIGHTS,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
