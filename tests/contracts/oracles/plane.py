"""Judges for geometry: scipy's convex hull, and segments in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.spatial import ConvexHull

from .arrays import members


def hull(trace, x, y):
    """The corners of the convex hull. (No three points may lie on a line.)"""
    n = len(x)
    corners = range(n) if n < 3 else ConvexHull(np.stack([x, y], axis=1)).vertices
    assert members(trace.outputs["in_hull"]) == sorted(corners)


def segments(trace, x, y):
    """Do the segments from point 0 to 1 and from 2 to 3 have a point in common?"""
    points = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(x, y, strict=True)]
    assert trace.outputs["intersect"] == share_a_point(*points)


def share_a_point(a, b, c, d):
    """Solve a + t (b - a) = c + u (d - c), exactly."""
    r, s, between = minus(b, a), minus(d, c), minus(c, a)
    if cross(r, s) != 0:
        t, u = cross(between, s) / cross(r, s), cross(between, r) / cross(r, s)
        return 0 <= t <= 1 and 0 <= u <= 1
    if cross(between, r) != 0 or cross(between, s) != 0:
        return False  # parallel, on two lines
    return all(
        max(min(a[axis], b[axis]), min(c[axis], d[axis]))
        <= min(max(a[axis], b[axis]), max(c[axis], d[axis]))
        for axis in (0, 1)
    )


def minus(a, b):
    return a[0] - b[0], a[1] - b[1]


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]
