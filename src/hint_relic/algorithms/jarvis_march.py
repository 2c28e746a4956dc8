"""Jarvis' march: the convex hull, from the lowest point on, by taking the rightmost point next.

`endpoint` is the rightmost point seen from `last_point` so far. Each turn starts from point 0,
and the reference takes any point at all while `endpoint` is `last_point` itself. It stops at the
first point that is already in the hull.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import places, write
from .inputs import DISK
from .kernel import helper, kernel
from .plane import direction, lowest
from .record import link, log_type, open_points, tick

START, MARCH = 0, 1
PHASES = 2

SPEC = {
    "pos": reads("node", "scalar"),
    "x": reads("node", "scalar"),
    "y": reads("node", "scalar"),
    "in_hull": returns("node", "mask"),
    "pred_h": shows("node", "pointer"),
    "in_hull_h": shows("node", "mask"),
    "best": shows("node", "mask_one"),
    "last_point": shows("node", "mask_one"),
    "endpoint": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
    "phase": shows("graph", "categorical", PHASES),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, order, phase, in_hull, best, last, end, i):
    t = tick(log.cursor)
    link(order, log.pred_h[t])
    log.phase[t] = phase
    write(in_hull, log.in_hull_h[t])
    log.best[t] = best
    log.last_point[t] = last
    log.endpoint[t] = end
    log.i[t] = i


@helper
def further_right(x, y, last, end, i):
    return i != last and i != end and direction(x, y, last, end, i) >= 0.0


@kernel
def run(log, x, y):
    row = open_points(log, x, y)
    n = x.size
    order, in_hull = places(n), np.zeros(n, np.int8)
    record(log, order, START, in_hull, 0, 0, 0, 0)
    best = end = lowest(x, y)
    while in_hull[end] == 0:
        in_hull[end] = 1
        last, end = end, 0
        record(log, order, MARCH, in_hull, best, last, end, 0)
        for i in range(n):
            if end == last or further_right(x, y, last, end, i):
                end = i
            record(log, order, MARCH, in_hull, best, last, end, i)
    write(in_hull, log.in_hull[row])


ALGORITHM = Algorithm(
    name="jarvis_march",
    title="Jarvis' march",
    family=Family.GEOMETRY,
    spec=SPEC,
    inputs=DISK,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
