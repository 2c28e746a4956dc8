"""What rooms over an array share: exchanging two items, and the order of items at rest."""

from __future__ import annotations

from .kernel import kernel


@kernel
def exchange(A, order, i, j):
    """Exchange two places of the array, and of the list of items that stand there."""
    A[i], A[j] = A[j], A[i]
    order[i], order[j] = order[j], order[i]


@kernel
def link_in_place(out):
    """Each item points at the item before it in the input; the first at itself."""
    out[0] = 0
    for i in range(1, out.size):
        out[i] = i - 1
