"""Quickselect: find the median by splitting only the part that holds it.

`target` is the median's rank within the part p … r, as a share of the whole array. So is
`i_rank` once a part is split; while it is being split, the reference counts `i_rank` from the
start of the whole array instead.
"""

from __future__ import annotations

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import places
from .inputs import ARRAY
from .kernel import kernel
from .partition import partition
from .record import log_type, open_array

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "median": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "p": shows("node", "mask_one"),
    "r": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
    "i_rank": shows("graph", "scalar"),
    "target": shows("graph", "scalar"),
    "pivot": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@kernel
def run(log, key):
    row = open_array(log, key)
    n = key.size
    A, order = key.copy(), places(n)
    p, r, target = 0, n - 1, n // 2
    while True:
        q = partition(log, A, order, p, r, target)
        k = q - p
        if target == k:
            break
        if target < k:
            r = q - 1
        else:
            p = q + 1
            target -= k + 1
    log.median[row] = order[q]


ALGORITHM = Algorithm(
    name="quickselect",
    title="Quickselect",
    family=Family.SEARCHING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    test_multiplier=64,
)
