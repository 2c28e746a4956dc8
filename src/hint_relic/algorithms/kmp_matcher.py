"""Knuth-Morris-Pratt string matching: after a mismatch, go on with the longest border.

Phase 0 finds for each beginning P[:q+1] of the needle its longest proper border P[:pi[q]+1],
phase 1 reads the haystack. Where a border is empty the kernel says -1; the hints can't, so they
show 0 and raise a flag beside it: `is_reset` for an entry of `pi`, `k_reset` for `k`, `q_reset`
for `q`. An entry of `pi` not yet found points at itself, and in phase 0 `q_reset` is always 1.
Where there is no match, the head of the needle is marked.
"""

from __future__ import annotations

from .algorithm import Algorithm, Family, reads, returns, shows
from .arrays import places
from .inputs import ALPHABET, HAYSTACK
from .kernel import helper, kernel
from .record import link_strings, log_type, open_strings, tick

SPEC = {
    "string": reads("node", "mask"),
    "pos": reads("node", "scalar"),
    "key": reads("node", "categorical", ALPHABET),
    "match": returns("node", "mask_one"),
    "pred_h": shows("node", "pointer"),
    "pi": shows("node", "pointer"),
    "is_reset": shows("node", "mask"),
    "k": shows("node", "mask_one"),
    "k_reset": shows("graph", "mask"),
    "q": shows("node", "mask_one"),
    "q_reset": shows("graph", "mask"),
    "s": shows("node", "mask_one"),
    "i": shows("node", "mask_one"),
    "phase": shows("graph", "mask"),
}
Log = log_type(__name__, SPEC)


@helper
def record(log, n, pi, k, phase, q, s, i):
    t = tick(log.cursor)
    link_strings(n, log.pred_h[t])
    for j in range(n):
        log.pi[t, j] = j
    for j in range(pi.size):
        log.pi[t, n + j] = n + max(pi[j], 0)
        log.is_reset[t, n + j] = pi[j] < 0
    log.k[t], log.k_reset[t] = n + max(k, 0), k < 0
    log.q[t], log.q_reset[t] = n + max(q, 0), phase == 0 or q < 0
    log.s[t] = s
    log.i[t] = i
    log.phase[t] = phase


@helper
def prefix_function(log, n, P):
    m = P.size
    pi = places(m)
    pi[0] = k = -1
    record(log, n, pi, k, 0, min(1, m - 1), 0, 0)
    for q in range(1, m):
        while k >= 0 and P[k + 1] != P[q]:
            k = pi[k]
            record(log, n, pi, k, 0, q, 0, 0)
        if P[k + 1] == P[q]:
            k += 1
        pi[q] = k
        record(log, n, pi, k, 0, q, 0, 0)
    return pi, k


@kernel
def run(log, T, P):
    row = open_strings(log, T, P)
    n, m = T.size, P.size
    pi, k = prefix_function(log, n, P)
    q = -1
    for i in range(n):
        s = max(0, i - m + 1)
        record(log, n, pi, k, 1, q, s, i)
        while q >= 0 and P[q + 1] != T[i]:
            q = pi[q]
            record(log, n, pi, k, 1, q, s, i)
        if P[q + 1] == T[i]:
            q += 1
        if q == m - 1:
            log.match[row] = s
            return
    log.match[row] = n


ALGORITHM = Algorithm(
    name="kmp_matcher",
    title="Knuth-Morris-Pratt string matching",
    family=Family.STRINGS,
    spec=SPEC,
    inputs=HAYSTACK,
    run=run,
    log=Log,
    test_multiplier=64,
    static_hints=("pred_h",),
)
