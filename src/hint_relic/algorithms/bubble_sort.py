"""Bubble sort: sweep from the right and let the smallest item left rise to the front.

`i` and `j` mark the items that stand at these places after the exchange, not the places.
"""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import exchange, places
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
    log.i[t] = order[i]
    log.j[t] = order[j]


@kernel
def run(log, key):
    row = open_array(log, key)
    n = key.size
    A, order = key.copy(), places(n)
    record(log, order, 0, 0)
    for i in range(n - 1):
        for j in range(n - 1, i, -1):
            if A[j] < A[j - 1]:
                exchange(A, order, j, j - 1)
            record(log, order, i, j)
    link(order, log.pred[row])


ALGORITHM = Algorithm(
    name="bubble_sort",
    title="Bubble sort",
    family=Family.SORTING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    view=Augmentation.APPENDED,
    contrasted=("pred_h",),
)
