"""Kadane's maximum subarray: one pass that knows the best sum ending at each item.

`i` and `j` bound the subarray at hand and `sum` adds it up; the best one so far stands beside.
"""

from __future__ import annotations

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import link_in_place
from .inputs import SIGNED_ARRAY
from .kernel import helper, kernel
from .record import log_type, open_array, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "start": returns("node", "mask_one"),
    "end": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "best_low": shows("node", "mask_one"),
    "best_high": shows("node", "mask_one"),
    "best_sum": shows("graph", "scalar"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
    "sum": shows("graph", "scalar"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, best_low, best_high, best_sum, i, j, total):
    t = tick(log.cursor)
    link_in_place(log.pred_h[t])
    log.best_low[t] = best_low
    log.best_high[t] = best_high
    log.best_sum[t] = best_sum
    log.i[t] = i
    log.j[t] = j
    log.sum[t] = total


@kernel
def run(log, key):
    row = open_array(log, key)
    best_low, best_high, best_sum = 0, 0, key[0]
    i, total = 0, key[0]
    record(log, best_low, best_high, best_sum, i, 0, total)
    for j in range(1, key.size):
        x = key[j]
        if total + x >= x:
            total += x
        else:
            i, total = j, x
        if total > best_sum:
            best_low, best_high, best_sum = i, j, total
        record(log, best_low, best_high, best_sum, i, j, total)
    log.start[row] = best_low
    log.end[row] = best_high


ALGORITHM = Algorithm(
    name="find_maximum_subarray_kadane",
    title="Maximum subarray (Kadane)",
    family=Family.DIVIDE_AND_CONQUER,
    spec=SPEC,
    inputs=SIGNED_ARRAY,
    run=run,
    log=Log,
    test_multiplier=32,
    static_hints=("pred_h",),
)
