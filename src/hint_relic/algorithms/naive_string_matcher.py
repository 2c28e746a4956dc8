"""Naive string matching: at each shift of the needle, compare until a letter differs.

`s` marks the shift, `i` and `j` the letters compared, in the haystack and in the needle. The
search stops at the first match; where there is none, the head of the needle is marked (the
reference means to do so, but fails there).
"""

from __future__ import annotations

from .algorithm import Algorithm, Family, reads, returns, shows
from .inputs import ALPHABET, HAYSTACK
from .kernel import helper, kernel
from .record import link_strings, log_type, open_strings, tick

SPEC = {
    "string": reads("node", "mask"),
    "pos": reads("node", "scalar"),
    "key": reads("node", "categorical", ALPHABET),
    "match": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "s": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
    "j": shows("node", "mask_one"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, n, s, j):
    t = tick(log.cursor)
    link_strings(n, log.pred_h[t])
    log.s[t] = s
    log.i[t] = s + j
    log.j[t] = n + j


@kernel
def run(log, T, P):
    row = open_strings(log, T, P)
    n, m = T.size, P.size
    for s in range(n - m + 1):
        j = 0
        record(log, n, s, j)
        while T[s + j] == P[j]:
            if j == m - 1:
                log.match[row] = s
                return
            j += 1
            record(log, n, s, j)
    log.match[row] = n


ALGORITHM = Algorithm(
    name="naive_string_matcher",
    title="Naive string matching",
    family=Family.STRINGS,
    spec=SPEC,
    inputs=HAYSTACK,
    run=run,
    log=Log,
    test_multiplier=64,
    static_hints=("pred_h",),
)
