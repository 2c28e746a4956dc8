"""Graham scan: the convex hull, from the points in order of their angle around the lowest one.

Each point is pushed on a stack once those that it makes a right turn with are popped; `stack_prev`
points at the one below. The reference tests no point before the third, never returns when points
on a line with the lowest empty its stack (here the lowest is never popped), and leaves the order
of equal angles to NumPy's sort (here the smaller index comes first).
"""

from __future__ import annotations

import math

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import argsort, places, write
from .inputs import DISK
from .kernel import helper, kernel
from .plane import direction, lowest
from .record import log_type, open_points, tick

START, LOWEST, SORTED, POPPED, PUSHED = range(5)
PHASES = 5

SPEC = {
    "pos": reads("node", "scalar"),
    "x": reads("node", "scalar"),
    "y": reads("node", "scalar"),
    "in_hull": returns("node", "mask"),
    "best": shows("node", "mask_one"),
    "atans": shows("node", "scalar"),
    "in_hull_h": shows("node", "mask"),
    "stack_prev": shows("node", "pointer"),
    "last_stack": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
    "phase": shows("graph", "categorical", PHASES),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, phase, best, angle, in_hull, below, top, i):
    t = tick(log.cursor)
    log.phase[t] = phase
    log.best[t] = best
    write(angle, log.atans[t])
    write(in_hull, log.in_hull_h[t])
    write(below, log.stack_prev[t])
    log.last_stack[t] = top
    log.i[t] = i


@kernel
def run(log, x, y):
    row = open_points(log, x, y)
    n = x.size
    angle, in_hull, below = np.zeros(n), np.zeros(n, np.int8), places(n)
    record(log, START, 0, angle, in_hull, below, 0, 0)

    best = top = lowest(x, y)
    in_hull[best] = 1
    record(log, LOWEST, best, angle, in_hull, below, top, best)

    for i in range(n):
        angle[i] = math.atan2(y[i] - y[best], x[i] - x[best])
    angle[best] = -np.inf
    order = argsort(angle)
    angle[best] = 0.0
    record(log, SORTED, best, angle, in_hull, below, top, best)

    for rank in range(1, n):
        i = order[rank]
        while rank >= 3 and top != best and direction(x, y, below[top], top, i) >= 0.0:
            popped, top = top, below[top]
            below[popped] = popped
            in_hull[popped] = 0
            record(log, POPPED, best, angle, in_hull, below, top, i)
        in_hull[i] = 1
        below[i] = top
        top = i
        record(log, PUSHED, best, angle, in_hull, below, top, i)
    write(in_hull, log.in_hull[row])


ALGORITHM = Algorithm(
    name="graham_scan",
    title="Graham scan",
    family=Family.GEOMETRY,
    spec=SPEC,
    inputs=DISK,
    run=run,
    log=Log,
)
