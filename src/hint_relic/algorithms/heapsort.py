"""Heapsort: build a max-heap, then move its top behind it again and again.

Hints mark items by where they stand after the exchange of a step, and `heap_size` marks the
heap's last item. As a top is extracted there is no largest child to show, and the reference
marks item 0 of the input, whatever stands at the top. It also heapifies the leaves.
"""

from __future__ import annotations

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import exchange, places
from .inputs import ARRAY
from .kernel import helper, kernel
from .record import heap_links, link, log_type, open_array, tick

BUILD, EXTRACT, RESTORE = 0, 1, 2

SPEC = {
    "pos": reads("node", "scalar"),
    "key": reads("node", "scalar"),
    "pred": returns("node", "should_be_permutation"),
    "pred_h": shows("node", "pointer"),
    "parent": shows("node", "pointer"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
    "largest": shows("node", "mask_one"),
    "heap_size": shows("node", "mask_one"),
    "phase": shows("graph", "categorical", classes=3),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, order, heap_size, i, j, largest, phase):
    t = tick(log.cursor)
    link(order, log.pred_h[t])
    heap_links(order, heap_size, log.parent[t])
    log.i[t] = order[i]
    log.j[t] = order[j]
    log.largest[t] = largest
    log.heap_size[t] = order[heap_size - 1]
    log.phase[t] = phase


@helper
def max_heapify(log, A, order, heap_size, i, phase, start):
    """Let the item at `start` sink to its place in the heap; `i` is only recorded."""
    j = start
    while True:
        left, right = 2 * j + 1, 2 * j + 2
        largest = j
        if left < heap_size and A[left] > A[j]:
            largest = left
        if right < heap_size and A[right] > A[largest]:
            largest = right
        exchange(A, order, j, largest)
        record(log, order, heap_size, i, j, order[largest], phase)
        if largest == j:
            break
        j = largest


@kernel
def run(log, key):
    row = open_array(log, key)
    n = key.size
    A, order = key.copy(), places(n)
    record(log, order, n, n - 1, n - 1, n - 1, BUILD)
    for i in range(n - 1, -1, -1):
        max_heapify(log, A, order, n, i, BUILD, i)
    for i in range(n - 1, 0, -1):
        exchange(A, order, 0, i)
        record(log, order, i, 0, i, 0, EXTRACT)
        max_heapify(log, A, order, i, i, RESTORE, 0)
    link(order, log.pred[row])


ALGORITHM = Algorithm(
    name="heapsort",
    title="Heapsort",
    family=Family.SORTING,
    spec=SPEC,
    inputs=ARRAY,
    run=run,
    log=Log,
    view=Augmentation.APPENDED,
    contrasted=("pred_h", "parent"),
)
