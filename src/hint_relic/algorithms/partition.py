"""Partition, the walk that quicksort and quickselect share.

Items no greater than the last one, the pivot, are gathered in front; `i` is where the next of
them goes. Hints mark the items at places, not the places. A selection is after a rank, its
`target`, and shows three more hints; a sort has none and passes None, which Numba resolves as
it compiles.
"""

from __future__ import annotations

from .arrays import exchange
from .kernel import helper
from .record import link, tick


@helper
def record(log, order, p, r, i, j, pivot, rank, target):
    t = tick(log.cursor)
    link(order, log.pred_h[t])
    log.p[t] = order[p]
    log.r[t] = order[r]
    log.i[t] = order[i]
    log.j[t] = order[j]
    if target is not None:
        log.i_rank[t] = rank * 1.0 / order.size
        log.target[t] = target * 1.0 / order.size
        log.pivot[t] = order[pivot]


@helper
def partition(log, A, order, p, r, target):
    """Split the places p … r around their last item; where that item ends up."""
    x = A[r]
    i = p
    for j in range(p, r):
        if A[j] <= x:
            exchange(A, order, i, j)
            i += 1
        record(log, order, p, r, i, j, r, i, target)
    exchange(A, order, i, r)
    record(log, order, p, r, i, r, i, i - p, target)
    return i
