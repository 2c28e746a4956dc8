"""Longest common subsequence: its length c[i, j] for the strings' beginnings up to x[i] and y[j].

b[i, j] says where the length comes from: 0 from both strings one shorter (a match), 1 from x one
shorter, 2 from y one shorter. The tables stand in the edges from the first string's nodes to the
second's; all other edges are masked. The reference fills all cells at once from the lengths of
the round before until no length changes, so at first `b_h` shows a match where nothing is known
yet; and in the first row a cell without any match before it gets 1, though nothing is above it.
"""

from __future__ import annotations

import numpy as np

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import equal, write
from .inputs import ALPHABET, TWO_STRINGS
from .kernel import helper, kernel
from .record import link_strings, log_type, open_strings, tick

MATCH, SHORTER_X, SHORTER_Y = 0, 1, 2
MASKED = -1
CLASSES = 4  # the last one is only ever masked

SPEC = {
    "string": reads("node", "mask"),
    "pos": reads("node", "scalar"),
    "key": reads("node", "categorical", ALPHABET),
    "b": returns("edge", "categorical", CLASSES),
    "pred_h": shows("node", "pointer"),
    "b_h": shows("edge", "categorical", CLASSES),
    "c": shows("edge", "scalar"),
}
Log = log_type(__name__, SPEC)


@helper
def between_strings(values, out):
    """Write what holds of pairs of letters, one of either string."""
    n, m = values.shape
    for i in range(n):
        for j in range(m):
            out[i, n + j] = values[i, j]


@helper
def record_choices(b, out):
    out[:] = MASKED
    between_strings(b, out)


@helper
def record(log, b, c):
    t, n = tick(log.cursor), b.shape[0]
    link_strings(n, log.pred_h[t])
    record_choices(b, log.b_h[t])
    between_strings(c, log.c[t])


@kernel
def run(log, x, y):
    row = open_strings(log, x, y)
    n, m = x.size, y.size
    b, c, before = np.zeros((n, m), np.int8), np.zeros((n, m)), np.empty((n, m))
    for i in range(n):
        c[i, 0] = x[i] == y[0] or (i > 0 and c[i - 1, 0] == 1.0)
        b[i, 0] = MATCH if x[i] == y[0] else SHORTER_X
    for j in range(1, m):
        c[0, j] = x[0] == y[j] or c[0, j - 1] == 1.0
        b[0, j] = MATCH if x[0] == y[j] else SHORTER_Y if c[0, j] == 1.0 else SHORTER_X
    while True:
        write(c, before)
        record(log, b, before)
        for i in range(1, n):
            for j in range(1, m):
                if x[i] == y[j]:
                    c[i, j] = before[i - 1, j - 1] + 1.0
                    b[i, j] = MATCH
                elif before[i - 1, j] >= before[i, j - 1]:
                    c[i, j] = before[i - 1, j]
                    b[i, j] = SHORTER_X
                else:
                    c[i, j] = before[i, j - 1]
                    b[i, j] = SHORTER_Y
        if equal(c, before):
            break
    record_choices(b, log.b[row])


ALGORITHM = Algorithm(
    name="lcs_length",
    title="Longest common subsequence",
    family=Family.DYNAMIC_PROGRAMMING,
    spec=SPEC,
    inputs=TWO_STRINGS,
    run=run,
    log=Log,
    static_hints=("pred_h",),
)
