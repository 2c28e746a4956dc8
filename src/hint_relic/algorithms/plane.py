"""What the geometric algorithms share: on which side of a line a point lies, and where to start."""

from __future__ import annotations

from .kernel import helper


@helper
def direction(x, y, i, j, k):
    """Positive where point k lies to the right of the line from i to j, 0 where it is on it."""
    return (x[k] - x[i]) * (y[j] - y[i]) - (x[j] - x[i]) * (y[k] - y[i])


@helper
def lowest(x, y):
    """The lowest point; of several, the leftmost."""
    best = 0
    for i in range(1, x.size):
        if y[i] < y[best] or (y[i] == y[best] and x[i] < x[best]):
            best = i
    return best
