"""Minimum: one pass over the array that keeps the smallest item so far."""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import link_in_place
from .inputs import ARRAY
from .kernel import helper, kernel
from .record import log_type, open_array, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "min": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "min_h": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, smallest, i):
    t = tick(log.cursor)
    link_in_place(log.pred_h[t])
    log.min_h[t] = smallest
    log.i[t] = i


@kernel
def run(log, key):
    row = open_array(log, key)
    smallest = 0
    record(log, smallest, 0)
    for i in range(1, key.size):
        if key[smallest] > key[i]:
            smallest = i
        record(log, smallest, i)
    log.min[row] = smallest


ALGORITHM = Algorithm(
    name="minimum",
    title="Minimum",
    family=Family.SEARCHING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    test_multiplier=64,
    static_hints=("pred_h",),
    view=Augmentation.APPENDED,
    contrasted=("pred_h",),
)
