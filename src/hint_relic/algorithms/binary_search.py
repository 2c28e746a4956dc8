"""Binary search: halve the range in which the first item not below the target stands.

The range always holds an item, so a target above all items yields the last one.
"""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import link_in_place
from .inputs import SORTED_ARRAY
from .kernel import helper, kernel
from .record import log_type, open_array, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "target": reads("graph", "scalar"),
    "return": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "low": shows("node", "mask_one"),
    "high": shows("node", "mask_one"),
    "mid": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, low, high):
    t = tick(log.cursor)
    link_in_place(log.pred_h[t])
    log.low[t] = low
    log.high[t] = high
    log.mid[t] = (low + high) // 2


@kernel
def run(log, key, target):
    row = open_array(log, key)
    log.target[row] = target
    low, high = 0, key.size - 1
    record(log, low, high)
    while low < high:
        mid = (low + high) // 2
        if target <= key[mid]:
            high = mid
        else:
            low = mid + 1
        record(log, low, high)
    log.return_[row] = high


ALGORITHM = Algorithm(
    name="binary_search",
    title="Binary search",
    family=Family.SEARCHING,
    spec=SPEC,
    inputs=SORTED_ARRAY,
    run=run,
    log=Log,
    test_multiplier=64,
    static_hints=("pred_h",),
    view=Augmentation.APPENDED,
    contrasted=("pred_h",),
)
