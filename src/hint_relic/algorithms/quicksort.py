"""Quicksort: split the array around its last item, then sort the left part and the right."""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import places
from .inputs import ARRAY
from .kernel import kernel
from .partition import partition
from .record import link, log_type, open_array

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "pred": returns("node", "should_be_permutation"),
    "pred_h": shows("node", "pointer"),
    "p": shows("node", "mask_one"),
    "r": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@kernel
def run(log, key):
    row = open_array(log, key)
    A, order = key.copy(), places(key.size)
    parts, count = np.empty((key.size + 1, 2), np.int64), 1  # a stack of those left to sort
    parts[0, 0], parts[0, 1] = 0, key.size - 1
    while count > 0:
        count -= 1
        p, r = parts[count, 0], parts[count, 1]
        if p < r:
            q = partition(log, A, order, p, r, None)
            parts[count, 0], parts[count, 1] = q + 1, r
            parts[count + 1, 0], parts[count + 1, 1] = p, q - 1
            count += 2
    link(order, log.pred[row])


ALGORITHM = Algorithm(
    name="quicksort",
    title="Quicksort",
    family=Family.SORTING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    view=Augmentation.APPENDED,
    contrasted=("pred_h",),
)
