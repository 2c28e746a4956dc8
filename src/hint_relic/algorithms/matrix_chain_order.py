"""Matrix-chain order: the cheapest way to bracket a product of matrices.

Matrix i has p[i-1] rows and p[i] columns; m[i, j] is the cost of the product of matrices i to j
and s[i, j] the last matrix of its left factor. The reference doesn't go by length: each round it
splits every chain wherever both parts had a cost before the round, and goes on until no cost
changes. Row and column 0, and `s` wherever there is nothing to split, stay 0.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import equal, places, write
from .inputs import ARRAY
from .kernel import helper, kernel
from .record import SAMPLE, link, log_type, positions, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "p": reads("node", "scalar"),
    "s": returns("edge", "pointer"),
    "pred_h": shows("node", "pointer"),
    "m": shows("edge", "scalar"),
    "s_h": shows("edge", "pointer"),
    "msk": shows("edge", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, order, m, s, msk):
    t = tick(log.cursor)
    link(order, log.pred_h[t])
    write(m, log.m[t])
    write(s, log.s_h[t])
    write(msk, log.msk[t])


@helper
def sweep(p, before, known, changed, m, s, msk):
    """One round; returns the first column of each row that it changed.

    `changed` is the same of the round before: where that left both parts of a split as they
    were, the split can't have become better, and is skipped.
    """
    n = p.size
    first = places(n)
    for i in range(n):
        first[i] = n
    for i in range(1, n):
        for k in range(i, n - 1):
            if known[i, k]:
                left, pp = before[i, k], p[i - 1] * p[k]
                for j in range(k + 1 if changed[i] <= k else changed[k + 1], n):
                    q = left + before[k + 1, j] + pp * p[j]
                    if known[k + 1, j] and (q < m[i, j] or not msk[i, j]):
                        m[i, j], s[i, j], msk[i, j] = q, k, 1
                        first[i] = min(first[i], j)
    return first


@kernel
def run(log, p):
    row = log.cursor[SAMPLE]
    positions(log.pos[row])
    write(p, log.p[row])
    n = p.size
    m, s, msk = np.zeros((n, n)), np.zeros((n, n), np.int32), np.zeros((n, n), np.int8)
    before, known = np.empty((n, n)), np.empty((n, n), np.int8)
    for i in range(1, n):
        msk[i, i] = 1
    order = changed = places(n)  # at first, all that is known is new
    while True:
        write(m, before)
        write(msk, known)
        record(log, order, before, s, known)
        changed = sweep(p, before, known, changed, m, s, msk)
        if equal(m, before):
            break
    write(s, log.s[row])


ALGORITHM = Algorithm(
    name="matrix_chain_order",
    title="Matrix-chain order",
    family=Family.DYNAMIC_PROGRAMMING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
