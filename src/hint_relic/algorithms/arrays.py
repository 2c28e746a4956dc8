"""Arrays in kernels, without NumPy's help.

A NumPy function takes Numba from a quarter of a second (`arange`) to several (a sort, or the
assignment of one array to another) to compile, anew in every process that compiles a kernel
which calls it. A loop takes next to nothing, and the functions here are compiled once for all.
So kernels get memory from `np.zeros` and `np.empty` and do the rest by themselves.
"""

from __future__ import annotations

import numpy as np

from .kernel import helper


@helper
def write(values, out):
    """Copy a vector or a matrix; where both have one dtype it comes down to moving memory."""
    if values.ndim == 1:
        for i in range(values.size):
            out[i] = values[i]
    else:
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                out[i, j] = values[i, j]


@helper
def ids(n):
    """The numbers 0 … n-1, as pointers are stored: every node at itself."""
    out = np.empty(n, np.int32)
    for i in range(n):
        out[i] = i
    return out


@helper
def places(n):
    """The numbers 0 … n-1, to reckon with: every item in its place."""
    out = np.empty(n, np.int64)
    for i in range(n):
        out[i] = i
    return out


@helper
def equal(a, b):
    """Do two vectors, or two matrices, hold the same?"""
    if a.ndim == 1:
        for i in range(a.size):
            if a[i] != b[i]:
                return False
    else:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] != b[i, j]:
                    return False
    return True


@helper
def sort(values):
    """Shell's sort, in place."""
    gap = 1
    while gap < values.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, values.size):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@helper
def argsort(values):
    """The places of the items, the least item first; of equal ones, the first in place."""
    order = places(values.size)
    gap = 1
    while gap < values.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, values.size):
            place = order[i]
            value = values[place]
            j = i
            while j >= gap:
                before = order[j - gap]
                if values[before] < value or (values[before] == value and before < place):
                    break
                order[j] = before
                j -= gap
            order[j] = place
        gap //= 3
    return order


@helper
def falling(values):
    """The same, the greatest item first."""
    negative = np.empty(values.size)
    for i in range(values.size):
        negative[i] = -values[i]
    return argsort(negative)


@helper
def exchange(A, order, i, j):
    """Exchange two places of the array, and of the list of items that stand there."""
    A[i], A[j] = A[j], A[i]
    order[i], order[j] = order[j], order[i]


@helper
def link_in_place(out):
    """Each item points at the item before it in the input; the first at itself."""
    out[0] = 0
    for i in range(1, out.size):
        out[i] = i - 1
