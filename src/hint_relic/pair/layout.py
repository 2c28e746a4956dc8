"""Where the nodes of a picture are, and how lines run between them: a row, a circle or a plane.

The input's nodes stand where they stand in the view, so that one sees at once what is new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LINE = 16  # of text within a box
STEP = 52  # from one box to the next
RADIUS = 15  # of a node
GAP = 3  # between a node and an arrow
MARGIN = 26  # around a circle or a plane, for loops and marks

Point = tuple[float, float]
Link = tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Places of the view's nodes in a panel of this size, and the way "out" for loops."""

    width: float
    height: float
    places: list[Point]
    outward: list[Point]

    def path(self, v: int, u: int, bend: float = 0.0, gap: float = GAP) -> str:
        """A line between the rims of v and u, bent inwards by a share of its length."""
        (x, y), (X, Y) = self.places[v], self.places[u]
        if v == u:
            return self._loop(v, gap)
        length = float(np.hypot(X - x, Y - y)) or 1.0
        mx, my = (x + X) / 2, (y + Y) / 2
        inward = (Y - y) * (self.width / 2 - mx) - (X - x) * (self.height / 2 - my)
        side = bend if inward >= -1e-6 else -bend
        centre = mx + side * (Y - y), my - side * (X - x)
        reach = min(RADIUS + gap, 0.45 * length)
        x, y = _towards((x, y), centre, reach)
        X, Y = _towards((X, Y), centre, reach)
        return f"M{x:.1f} {y:.1f}Q{centre[0]:.1f} {centre[1]:.1f} {X:.1f} {Y:.1f}"

    def _loop(self, v: int, gap: float) -> str:
        (x, y), (dx, dy) = self.places[v], self.outward[v]
        r, far, wide = RADIUS + gap, RADIUS + 27, 15
        start = x + r * (0.8 * dx - 0.6 * dy), y + r * (0.8 * dy + 0.6 * dx)
        end = x + r * (0.8 * dx + 0.6 * dy), y + r * (0.8 * dy - 0.6 * dx)
        one = x + far * dx - wide * dy, y + far * dy + wide * dx
        two = x + far * dx + wide * dy, y + far * dy - wide * dx
        numbers = " ".join(f"{a:.1f} {b:.1f}" for a, b in (one, two, end))
        return f"M{start[0]:.1f} {start[1]:.1f}C{numbers}"


@dataclass(frozen=True)
class Row(Layout):
    """Boxes side by side, `box` high: lines are arcs above them, or below."""

    box: float

    def arc(self, v: int, u: int, side: int) -> str:
        """From v to u, above (side -1) or below (side 1)."""
        (x, y), (X, _) = self.places[v], self.places[u]
        y += side * (self.box / 2 + 3)
        tip = y + side * arc_height(abs(u - v)) * 4 / 3
        if v == u:
            x, wide = x + 5, 14
            ends = f"{x - 10 - wide:.1f} {tip:.1f} {x + wide:.1f} {tip:.1f} {x:.1f} {y:.1f}"
            return f"M{x - 10:.1f} {y:.1f}C{ends}"
        return f"M{x:.1f} {y:.1f}C{x:.1f} {tip:.1f} {X:.1f} {tip:.1f} {X:.1f} {y:.1f}"


def arc_height(steps: int) -> float:
    return 14.0 + 9.0 * min(steps, 14) ** 0.85


def _towards(start: Point, aim: Point, by: float) -> Point:
    dx, dy = aim[0] - start[0], aim[1] - start[1]
    length = float(np.hypot(dx, dy)) or 1.0
    return start[0] + by * dx / length, start[1] + by * dy / length


def circle(nodes: int) -> Layout:
    radius = max(135.0, nodes * 4 * RADIUS / (2 * np.pi))
    centre = radius + MARGIN + RADIUS
    angles = 2 * np.pi * np.arange(nodes) / nodes - np.pi / 2
    outward = [(float(np.cos(a)), float(np.sin(a))) for a in angles]
    places = [(centre + radius * x, centre + radius * y) for x, y in outward]
    return Layout(2 * centre, 2 * centre, places, outward)


def plane(x: np.ndarray, y: np.ndarray) -> Layout:
    side, edge = 340.0, MARGIN + RADIUS
    span = max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    left, top = edge + (x - x.min()) / span * side, edge + (y.max() - y) / span * side
    places = [(float(a), float(b)) for a, b in zip(left, top)]
    width, height = float(left.max()) + edge, float(top.max()) + edge
    return Layout(width, height, places, [(0.0, -1.0)] * len(places))


def row(nodes: int, values: int, above: list[Link], below: list[Link]) -> Row:
    """Boxes with so many lines of values, and room for arcs between the nodes of these links."""
    box = 22.0 + LINE * values
    high, low = (max((arc_height(abs(u - v)) for v, u in x), default=0.0) for x in (above, below))
    places = [(STEP * (k + 0.5), high + box / 2) for k in range(nodes)]
    return Row(STEP * nodes, high + box + low, places, [(0.0, -1.0)] * nodes, box)
