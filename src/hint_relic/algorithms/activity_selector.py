"""Activity selection: by finishing time, take each activity that starts after the last taken.

`m` marks the activity looked at and `k` the one taken last. The first step shows item 0 as
both, before anything is looked at. Equal finishing times (which drawn inputs don't have) are
taken in input order; the reference's order among them depends on the processor.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import link_in_place
from .inputs import INTERVALS
from .kernel import kernel
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


@kernel
def open_activities(log, s, f):
    row = log.cursor[SAMPLE]
    positions(log.pos[row])
    log.s[row] = s
    log.f[row] = f
    return row


@kernel
def record(log, selected, m, k):
    t = tick(log)
    link_in_place(log.pred_h[t])
    log.selected_h[t] = selected
    log.m[t] = m
    log.k[t] = k


@kernel
def run(log, s, f):
    row = open_activities(log, s, f)
    selected = np.zeros(s.size, np.int8)
    record(log, selected, 0, 0)
    by_finish = np.argsort(f, kind="mergesort")
    k = by_finish[0]
    selected[k] = 1
    record(log, selected, k, k)
    for m in by_finish[1:]:
        if s[m] >= f[k]:
            selected[m] = 1
            k = m
        record(log, selected, m, k)
    log.selected[row] = selected


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
