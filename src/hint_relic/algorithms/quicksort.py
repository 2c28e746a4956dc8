"""Quicksort: split the array around its last item, then sort the left part and the right."""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
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
    A, order = key.copy(), np.arange(key.size)
    parts = [(0, key.size - 1)]
    while len(parts) > 0:
        p, r = parts.pop()
        if p < r:
            q = partition(log, A, order, p, r, None)
            parts.append((q + 1, r))
            parts.append((p, q - 1))
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
