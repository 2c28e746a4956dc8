"""Small SVG charts: bars that stretch with the page, curves as they were recorded."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from .cells import Curve
from .markup import Markup, join, tag

MOST_POINTS = 60  # of a curve; more are thinned, and the page says so


class Bar(NamedTuple):
    """A score in percent with its standard error, drawn full (ours) or hollow (the paper's)."""

    mean: float
    stderr: float | None
    css: str


BAR, GAP = 9, 5


def bars(rows: Sequence[Sequence[Bar | None]], label: str, css: str = "") -> Markup:
    """Bars from 0 to 100 below each other, as wide as the page lets them; None leaves a gap."""
    drawn, y = [], 1
    for pair in rows:
        for bar in pair:
            if bar is not None:
                drawn.append(_bar(bar, y))
            y += BAR + 1
        y += GAP
    return tag(
        "svg", _quarters(y), drawn,
        class_=f"bars {css}".strip(), width="100%", height=y, role="img", aria_label=label,
    )  # fmt: skip


def _quarters(height: int) -> list[Markup]:
    return [
        tag("line", x1=f"{x}%", x2=f"{x}%", y1=0, y2=height, class_="grid")
        for x in (0, 25, 50, 75, 100)
    ]


def _bar(bar: Bar, y: int) -> list[Markup]:
    parts = [tag("rect", x=0, y=y, width=f"{bar.mean:.2f}%", height=BAR, class_=bar.css)]
    if bar.stderr:
        low, high = max(0.0, bar.mean - bar.stderr), min(100.0, bar.mean + bar.stderr)
        middle = y + BAR / 2
        ends = {"x1": f"{low:.2f}%", "x2": f"{high:.2f}%", "y1": middle, "y2": middle}
        parts += [tag("line", class_=css, **ends) for css in ("halo", "whisker")]
    return parts


# --- curves ------------------------------------------------------------------------------------

WIDTH, HEIGHT = 300, 140
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 10, 26
LOWEST = (90.0, 80.0, 50.0, 0.0)  # where an axis of scores may start


class Frame(NamedTuple):
    """Where data lie in the picture."""

    last: float  # x runs from 0 to this
    low: float  # y from this
    top: float  # to this

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / (self.last or 1.0)

    def y(self, value: float) -> float:
        return (
            HEIGHT
            - BOTTOM
            - (HEIGHT - TOP - BOTTOM) * (value - self.low) / ((self.top - self.low) or 1.0)
        )


@cache
def _axes(frame: Frame, unit: str) -> Markup:
    """Lines and labels; most charts of a page share them."""
    lines, words = [], []
    for part in (0.0, 0.5, 1.0):
        value = frame.low + part * (frame.top - frame.low)
        y = round(frame.y(value), 1)
        lines.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        words.append(tag("text", _short(value), x=LEFT - 5, y=y + 4, class_="end"))
    bottom = HEIGHT - 7
    words.append(tag("text", "0", x=LEFT, y=bottom))
    right = f"{_short(frame.last)} {unit}"
    words.append(tag("text", right, x=WIDTH - RIGHT, y=bottom, class_="end"))
    return join([lines, words])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def thinned(curve: Curve) -> int:
    """Every how many-th recorded point is drawn."""
    return max(1, -(-max(len(curve.plain), len(curve.average)) // MOST_POINTS))


def learning(curve: Curve, last: float, label: str) -> Markup:
    """Plain and averaged weights over updates: the mean as a line, the seeds' range at each point.

    Lines only join what was recorded; nothing is drawn before the first point.
    """
    seen = [v for points in (curve.plain, curve.average) for p in points.values() for v in p]
    low = next(low for low in LOWEST if low <= min(seen))
    frame = Frame(last, low, 100.0)
    drawn = [
        _series(frame, points, every=thinned(curve), css=css)
        for css, points in (("plain", curve.plain), ("average", curve.average))
    ]
    return _picture([_axes(frame, "updates"), drawn], label)


def _series(frame: Frame, points: dict[int, tuple[float, ...]], every: int, css: str) -> Markup:
    steps = sorted(points)
    kept = steps[::-every][::-1]  # counted from the last, which is always there
    means = [(frame.x(step), frame.y(statistics.fmean(points[step]))) for step in kept]
    ranges = "".join(
        f"M{frame.x(s):.1f} {frame.y(min(points[s])):.1f}V{frame.y(max(points[s])):.1f}"
        for s in kept
        if min(points[s]) < max(points[s])
    )
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in means)
    return tag(
        "g",
        tag("path", d=ranges, class_="range") if ranges else None,
        tag("path", d=_line(means)) if len(means) > 1 else None,
        tag("path", d=dots, class_="dots") if dots else None,
        class_=css,
    )


def along(values: Sequence[float | None], label: str, *, error: bool) -> Markup:
    """The score of a hint at each step of the traces; broken where no trace is that long."""
    live = [value for value in values if value is not None]
    top = max(live, default=0.0) if error else 100.0
    frame = Frame(max(len(values) - 1, 1), 0.0, top)
    every = max(1, -(-len(values) // (4 * MOST_POINTS)))
    pieces: list[list[tuple[float, float]]] = [[]]
    for step in range(0, len(values), every):
        value = values[step]
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append((frame.x(step), frame.y(value if error else 100.0 * value)))
    path = "".join(_line(piece) + ("h0" if len(piece) == 1 else "") for piece in pieces if piece)
    drawn = tag("g", tag("path", d=path), class_="hint") if path else None
    return _picture([_axes(frame, "steps"), drawn], label)


def _line(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _picture(parts: list, label: str) -> Markup:
    box = f"0 0 {WIDTH} {HEIGHT}"
    return tag("svg", parts, class_="curve", viewBox=box, role="img", aria_label=label)
