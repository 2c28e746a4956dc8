"""Insertion sort: take each item in turn and move it left to its place.

`i` marks the item that made room last (the reference keeps it in `stor_pos`), not an index.
"""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import places
from .inputs import ARRAY
from .kernel import helper, kernel
from .record import link, log_type, open_array, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "pred": returns("node", "should_be_permutation"),
    "pred_h": shows("node", "pointer"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, order, i, j):
    t = tick(log.cursor)
    link(order, log.pred_h[t])
    log.i[t] = i
    log.j[t] = j


@kernel
def run(log, key):
    row = open_array(log, key)
    A, order = key.copy(), places(key.size)
    record(log, order, 0, 0)
    for j in range(1, A.size):
        x = A[j]
        i = j - 1
        while i >= 0 and A[i] > x:
            A[i + 1] = A[i]
            order[i + 1] = order[i]
            i -= 1
        A[i + 1] = x
        moved = order[i + 1]
        order[i + 1] = j
        record(log, order, moved, j)
    link(order, log.pred[row])


ALGORITHM = Algorithm(
    name="insertion_sort",
    title="Insertion sort",
    family=Family.SORTING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    view=Augmentation.APPENDED,
    contrasted=("pred_h",),
)
