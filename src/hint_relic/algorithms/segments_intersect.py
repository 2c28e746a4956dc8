"""Segment intersection: do the segments from point 0 to 1 and from 2 to 3 meet?

For each point k, `dir` says on which side of the other segment's line from i to j it lies, and
`on_seg` whether it lies within that segment's bounding box. There are four nodes at every size.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import write
from .inputs import SEGMENTS
from .kernel import helper, kernel
from .plane import direction
from .record import log_type, open_points, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "x": reads("node", "scalar"),
    "y": reads("node", "scalar"),
    "intersect": returns("graph", "mask"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
    "k": shows("node", "mask_one"),
    "dir": shows("node", "scalar"),
    "on_seg": shows("node", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, i, j, k, dirs, on_seg):
    t = tick(log.cursor)
    log.i[t] = i
    log.j[t] = j
    log.k[t] = k
    write(dirs, log.dir[t])
    write(on_seg, log.on_seg[t])


@helper
def on_segment(x, y, i, j, k):
    """For a point k on the line through i and j: does it lie between them?"""
    return min(x[i], x[j]) <= x[k] <= max(x[i], x[j]) and min(y[i], y[j]) <= y[k] <= max(y[i], y[j])


@helper
def opposite(a, b):
    return (a > 0.0 and b < 0.0) or (a < 0.0 and b > 0.0)


@kernel
def run(log, x, y):
    row = open_points(log, x, y)
    dirs, on_seg = np.zeros(4), np.zeros(4, np.int8)
    record(log, 0, 0, 0, dirs, on_seg)
    for k in range(4):
        i, j = (2, 3) if k < 2 else (0, 1)
        dirs[k] = direction(x, y, i, j, k)
        on_seg[k] = on_segment(x, y, i, j, k)
        record(log, i, j, k, dirs, on_seg)
    crossing = opposite(dirs[0], dirs[1]) and opposite(dirs[2], dirs[3])
    for k in range(4):
        crossing = crossing or (dirs[k] == 0.0 and on_seg[k] == 1)
    log.intersect[row] = crossing


ALGORITHM = Algorithm(
    name="segments_intersect",
    title="Segment intersection",
    family=Family.GEOMETRY,
    spec=SPEC,
    inputs=SEGMENTS,
    run=run,
    log=Log,
    test_multiplier=64,
)
