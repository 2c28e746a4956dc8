"""Task scheduling: by falling weight, take each task whose deadline leaves a slot for it.

The reference gives every task taken the next slot, `t`, and looks only at whether that slot is
before the task's deadline; it doesn't move earlier tasks to make room, as Lawler's would.
Equal weights (which drawn inputs don't have) are taken in input order; the reference's order
among them depends on the processor.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import falling, link_in_place, write
from .inputs import TASKS
from .kernel import helper, kernel
from .record import SAMPLE, log_type, positions, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "d": reads("node", "scalar"),
    "w": reads("node", "scalar"),
    "selected": returns("node", "mask"),
    "pred_h": shows("node", "pointer"),
    "selected_h": shows("node", "mask"),
    "i": shows("node", "mask_one"),
    "t": shows("graph", "scalar"),
}
Log = log_type(__name__, SPEC)


@helper
def open_tasks(log, d, w):
    row = log.cursor[SAMPLE]
    positions(log.pos[row])
    write(d, log.d[row])
    write(w, log.w[row])
    return row


@helper
def record(log, selected, i, t):
    step = tick(log.cursor)
    link_in_place(log.pred_h[step])
    write(selected, log.selected_h[step])
    log.i[step] = i
    log.t[step] = t


@kernel
def run(log, d, w):
    row = open_tasks(log, d, w)
    selected = np.zeros(d.size, np.int8)
    record(log, selected, 0, 0)
    by_weight = falling(w)
    selected[by_weight[0]] = 1
    t = 1
    record(log, selected, by_weight[0], t)
    for rank in range(1, w.size):
        i = by_weight[rank]
        if t < d[i]:
            selected[i] = 1
            t += 1
        record(log, selected, i, t)
    write(selected, log.selected[row])


ALGORITHM = Algorithm(
    name="task_scheduling",
    title="Task scheduling",
    family=Family.GREEDY,
    spec=SPEC,
    inputs=TASKS,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
