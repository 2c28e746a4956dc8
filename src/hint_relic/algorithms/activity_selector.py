"""Activity selection: by finishing time, take each activity that starts after the last taken.

`m` marks the activity looked at and `k` the one taken last. The first step shows item 0 as
both, before anything is looked at. Equal finishing times (which drawn inputs don't have) are
taken in input order; the reference's order among them depends on the processor.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import argsort, link_in_place, write
from .inputs import INTERVALS
from .kernel import helper, kernel
from .record import SAMPLE, log_type, positions, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "s": reads("node", "scalar"),
    "f": reads("node", "scalar"),
    "selected": returns("node", "mask"),
    "pred_h": shows("node", "pointer"),
    "selected_h": shows("node", "mask"),
    "m": shows("node", "mask_one"),
    "k": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def open_activities(log, s, f):
    row = log.cursor[SAMPLE]
    positions(log.pos[row])
    write(s, log.s[row])
    write(f, log.f[row])
    return row


@helper
def record(log, selected, m, k):
    t = tick(log.cursor)
    link_in_place(log.pred_h[t])
    write(selected, log.selected_h[t])
    log.m[t] = m
    log.k[t] = k


@kernel
def run(log, s, f):
    row = open_activities(log, s, f)
    selected = np.zeros(s.size, np.int8)
    record(log, selected, 0, 0)
    by_finish = argsort(f)
    k = by_finish[0]
    selected[k] = 1
    record(log, selected, k, k)
    for rank in range(1, s.size):
        m = by_finish[rank]
        if s[m] >= f[k]:
            selected[m] = 1
            k = m
        record(log, selected, m, k)
    write(selected, log.selected[row])


ALGORITHM = Algorithm(
    name="activity_selector",
    title="Activity selection",
    family=Family.GREEDY,
    spec=SPEC,
    inputs=INTERVALS,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
