"""Maximum: one pass over the array that keeps the largest item so far.

A skeleton to copy: an algorithm that is not in the package. Import this file and it can be
traced, trained, augmented, evaluated and called like the built-in ones.
"""

from __future__ import annotations

from hint_relic.algorithms import Algorithm, Family, register
from hint_relic.algorithms.algorithm import reads, returns, shows
from hint_relic.algorithms.arrays import link_in_place
from hint_relic.algorithms.inputs import ARRAY
from hint_relic.algorithms.kernel import helper, kernel
from hint_relic.algorithms.record import log_type, open_array, tick

# 1. What it reads, shows at each step, and returns. Every spec has "pos".
SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "max": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "max_h": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)  # must be called Log


# 2. Recording a step: ask for the next row, and write down all that the spec shows.
@helper
def record(log, largest, i):
    t = tick(log.cursor)
    link_in_place(log.pred_h[t])
    log.max_h[t] = largest
    log.i[t] = i


# 3. The algorithm itself, as in the textbook. The first step is recorded before anything is
#    done: a network is given that one, and predicts the others.
@kernel
def run(log, key):
    row = open_array(log, key)
    largest = 0
    record(log, largest, 0)
    for i in range(1, key.size):
        if key[i] > key[largest]:
            largest = i
        record(log, largest, i)
    log.max[row] = largest


# 4. Every other fact about it, and the one line that makes it known.
ALGORITHM = Algorithm(
    name="maximum",
    title="Maximum",
    family=Family.SEARCHING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
register(ALGORITHM)
