"""Judges for sorting, searching, the maximum subarray and the greedy algorithms."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def order_of(pred):
    """The items from first to last, each pointing at the one before and the first at itself."""
    n = len(pred)
    (first,) = np.flatnonzero(pred == np.arange(n))
    after = {int(p): i for i, p in enumerate(pred) if i != first}
    assert len(after) == n - 1, "two items point at the same one"
    order = [int(first)]
    while order[-1] in after:
        order.append(after.pop(order[-1]))
    assert len(order) == n, "the items form more than one chain"
    return order


def members(mask):
    """The items that a mask holds."""
    assert np.isin(mask, (0, 1)).all()
    return np.flatnonzero(mask).tolist()


def stable_order(trace, key):
    """Sorted, items of equal keys in the order of the input."""
    assert order_of(trace.outputs["pred"]) == np.argsort(key, kind="stable").tolist()


def some_order(trace, key):
    """Sorted, items of equal keys in any order."""
    assert key[order_of(trace.outputs["pred"])].tolist() == np.sort(key).tolist()


def first_minimum(trace, key):
    assert trace.outputs["min"] == np.argmin(key)


def first_not_below(trace, key, target):
    """The first item not below the target; where all are, the last item."""
    assert trace.outputs["return"] == min(np.searchsorted(key, target, "left"), len(key) - 1)


def median(trace, key):
    """An item of rank n // 2, counted from 0: the upper one of two middle items."""
    assert key[trace.outputs["median"]] == np.sort(key)[len(key) // 2]


def best_subarray(trace, key):
    """No (non-empty) subarray has a greater sum than the one from start to end."""
    start, end = int(trace.outputs["start"]), int(trace.outputs["end"])
    assert start <= end
    sums = [math.fsum(key[i:j]) for i, j in combinations(range(len(key) + 1), 2)]
    assert math.isclose(math.fsum(key[start : end + 1]), max(sums), rel_tol=0.0, abs_tol=1e-12)


def most_activities(trace, s, f):
    """No two activities overlap, and no choice of more of them does without overlaps.

    This needs activities that take time: with empty ones the greedy choice can be beaten.
    """
    chosen = members(trace.outputs["selected"])
    for a, b in combinations(chosen, 2):
        assert s[a] >= f[b] or s[b] >= f[a]
    best: dict[int, int] = {}  # the most activities that end with this one
    for i in np.argsort(f, kind="stable"):
        best[i] = 1 + max((best[j] for j in best if f[j] <= s[i]), default=0)
    assert len(chosen) == max(best.values())


def heaviest_tasks_first(trace, d, w):
    """The reference's greedy choice, which is not Lawler's and so not always the heaviest.

    By falling weight, each task is taken if the next slot ends by its deadline. (Lawler's would
    also take a task that fits once earlier ones are moved.) What it takes can be scheduled, and
    weighs no more than the heaviest set that can.
    """
    taken: list[int] = []
    for i in sorted(range(len(w)), key=lambda i: -w[i]):
        if len(taken) + 1 <= d[i]:
            taken.append(i)
    assert members(trace.outputs["selected"]) == sorted(taken)
    assert _schedulable(d[taken])
    heaviest: list[int] = []  # Lawler: the sets that can be scheduled are a matroid
    for i in sorted(range(len(w)), key=lambda i: -w[i]):
        if _schedulable(d[[*heaviest, i]]):
            heaviest.append(i)
    assert math.fsum(w[taken]) <= math.fsum(w[heaviest])


def _schedulable(deadlines):
    return all(slot <= d for slot, d in enumerate(sorted(deadlines), start=1))
