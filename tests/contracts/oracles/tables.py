"""Judges for dynamic programming: costs and lengths by plain recursion."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

MATCH, SHORTER_X, SHORTER_Y, MASKED = 0, 1, 2, -1


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9)


def matrix_chain(trace, p):
    """Every chain is split where that costs least. (0 stands where there is nothing to split.)

    This needs dimensions above 0: with a 0 the reference stops before all chains have a cost.
    """
    s, n = trace.outputs["s"], len(p)

    @cache
    def least(i, j):
        return min((split_at(least, i, j, k) for k in range(i, j)), default=0.0)

    @cache
    def chosen(i, j):
        return split_at(chosen, i, j, s[i, j]) if i < j else 0.0

    def split_at(cost, i, j, k):
        return cost(i, k) + cost(k + 1, j) + p[i - 1] * p[k] * p[j]

    for i in range(n):
        for j in range(n):
            assert i <= s[i, j] < j if 1 <= i < j else s[i, j] == 0
    for i in range(1, n):
        for j in range(i + 1, n):
            assert close(chosen(i, j), least(i, j))


def search_tree(trace, p, q):
    """Every range of keys has a root of least expected cost. (0 stands where there is no key.)"""
    root, n = trace.outputs["root"], len(q)

    def weight(i, j):
        return math.fsum(p[i:j]) + math.fsum(q[i : j + 1])

    @cache
    def least(i, j):
        return q[i] if i == j else min(rooted_at(least, i, j, r) for r in range(i, j))

    @cache
    def chosen(i, j):
        return q[i] if i == j else rooted_at(chosen, i, j, root[i, j])

    def rooted_at(cost, i, j, r):
        return cost(i, r) + cost(r + 1, j) + weight(i, j)

    for i in range(n):
        for j in range(n):
            assert i <= root[i, j] < j if i < j else root[i, j] == 0
    for i in range(n):
        for j in range(i + 1, n):
            assert close(chosen(i, j), least(i, j))


def longest_common_subsequence(trace, x, y):
    """Each cell says where its length comes from, and the walk from the last one finds a
    common subsequence of greatest length. The last step's `c` holds all lengths.
    """
    n, m = len(x), len(y)
    length = np.zeros((n + 1, m + 1), int)
    for i in range(n):
        for j in range(m):
            match = length[i, j] + 1 if x[i] == y[j] else 0
            length[i + 1, j + 1] = max(match, length[i, j + 1], length[i + 1, j])

    b, c = trace.outputs["b"], trace.hints["c"][-1]
    assert c[:n, n:].tolist() == length[1:, 1:].tolist()
    outside = np.ones((n + m, n + m), bool)
    outside[:n, n:] = False
    assert (b[outside] == MASKED).all()
    assert not c[outside].any()
    table = b[:n, n:]
    for i in range(n):
        for j in range(m):
            shorter_x, shorter_y = length[i, j + 1], length[i + 1, j]
            if x[i] == y[j]:
                assert table[i, j] == MATCH
            elif j == 0 or shorter_x >= shorter_y:  # nothing to the left, or no more there
                assert table[i, j] == SHORTER_X
            else:
                assert table[i, j] == SHORTER_Y

    i, j, found = n - 1, m - 1, 0
    while i >= 0 and j >= 0:
        found += table[i, j] == MATCH
        i, j = i - (table[i, j] != SHORTER_Y), j - (table[i, j] != SHORTER_X)
    assert found == length[n, m]
