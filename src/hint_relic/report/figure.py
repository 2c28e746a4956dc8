"""The table in one as a picture of its own, for a paper, a slide or a README: SVG, no script.

A line for each algorithm: the paper's baseline and its Hint-ReLIC hollow, ours filled, each with
its standard error. What has a colour has a shape, too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from ..paper import Published
from .cells import Score
from .final import Line, in_mean, lines, means
from .gather import Findings
from .markup import Markup, tag

WIDTH, LINE, GAP = 720, 21, 9
LEFT, RIGHT = 158, 128  # of the axis: names, and our scores as numbers
TOP, BOTTOM = 76, 40
TITLE = "Micro-F1 at n = 64, %, after training on n ≤ 16"

STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #0f172a }
.title { font-size: 15px; font-weight: 600 }
.mean { font-weight: 600 }
.small { font-size: 11px; fill: #64748b }
.end { text-anchor: end }
.middle { text-anchor: middle }
.ground { fill: #fff }
.grid { stroke: #e2e8f0 }
.gain { stroke: #cbd5e1; stroke-width: 3 }
.error { stroke-width: 1.4 }
.mark { stroke-width: 1.6 }
.baseline .mark { fill: #fff; stroke: #64748b }
.baseline .error { stroke: #64748b }
.method .mark { fill: #fff; stroke: #b45309 }
.method .error { stroke: #b45309 }
.ours .mark { fill: #1d4ed8; stroke: #1d4ed8 }
.ours .error { stroke: #1d4ed8 }
"""


class Amount(NamedTuple):
    mean: float
    stderr: float | None = None


class Told(NamedTuple):
    """What one line of the picture says; None is what nobody has measured."""

    title: str
    baseline: Amount | None
    method: Amount | None
    ours: Amount | None


class Axis(NamedTuple):
    low: float

    def __call__(self, score: float) -> float:
        wide = WIDTH - LEFT - RIGHT
        return round(LEFT + wide * (score - self.low) / (100.0 - self.low), 1)


def to_svg(findings: Findings) -> str:
    """All algorithms in one picture, those without a result with the paper's figures alone."""
    found = lines(findings)
    rows = list(_placed(found))
    told = [row for row, _ in rows]
    below = rows[-1][1] + LINE // 2 + 6
    height = below + BOTTOM
    axis = Axis(_lowest(told))
    parts = [
        tag("style", Markup(STYLE)),
        tag("rect", width=WIDTH, height=height, rx=6, class_="ground"),
        tag("text", TITLE, x=16, y=27, class_="title"),
        _legend(),
        _grid(axis, below),
        [_line(axis, row, y) for row, y in rows],
    ]
    picture = tag(
        "svg", parts, xmlns="http://www.w3.org/2000/svg", width=WIDTH, height=height,
        viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=_in_words(found),
    )  # fmt: skip
    return picture + "\n"


def _placed(found: list[Line]) -> Iterator[tuple[Told, int]]:
    """Each line with its height in the picture; groups stand apart, and the mean is the last."""
    y = TOP + LINE // 2
    yield _of(found[0]), y
    for before, line in pairwise(found):
        y += LINE + (GAP if before.row.group != line.row.group else 0)
        yield _of(line), y
    if taken := in_mean(found):
        columns = [[getattr(x, name) for x in taken] for name in ("baseline", "method", "score")]
        yield Told(f"mean of {len(taken)}", *map(_mean, columns)), y + LINE + GAP


def _of(line: Line) -> Told:
    return Told(line.row.title, *map(_amount, (line.baseline, line.method, line.score)))


def _amount(score: Score | Published | None) -> Amount | None:
    return None if score is None else Amount(score.mean, score.stderr)


def _mean(scores: list[Any]) -> Amount:
    return Amount(statistics.fmean(score.mean for score in scores))


def _lowest(told: list[Told]) -> float:
    """Where the axis starts: a round number below all that is drawn."""
    ends = [x.mean - (x.stderr or 0.0) for row in told for x in row[1:] if isinstance(x, Amount)]
    return max(0.0, 10.0 * math.floor(min(ends) / 10.0))


def _in_words(found: list[Line]) -> str:
    taken = in_mean(found)
    if not taken:
        return f"{TITLE}: the paper's figures"
    ours, baseline, method = means(taken, "score", "baseline", "method")
    return (
        f"{TITLE}. Means of {len(taken)} algorithms: ours {ours}, the paper's Hint-ReLIC {method}, "
        f"its baseline {baseline}"
    )


# --- its parts -----------------------------------------------------------------------------------


def _circle(x: float, y: float) -> Markup:
    return tag("circle", cx=x, cy=y, r=4, class_="mark")


def _diamond(x: float, y: float) -> Markup:
    return tag("path", d=f"M{x - 5:.1f} {y}l5 -5l5 5l-5 5z", class_="mark")


MARKS: dict[str, tuple[str, Callable[[float, float], Markup]]] = {
    "baseline": ("the paper's baseline", _circle),
    "method": ("the paper's Hint-ReLIC", _diamond),
    "ours": ("ours, mean ± standard error", _circle),
}


def _legend() -> list[Markup]:
    drawn, x = [], LEFT + 4
    for css, (label, shape) in MARKS.items():
        words = tag("text", label, x=x + 11, y=56)
        drawn.append(tag("g", shape(x, 52), words, class_=css))
        x += 30 + round(6.6 * len(label))
    return drawn


def _grid(axis: Axis, below: int) -> list[Markup]:
    step = 10 if axis.low >= 20 else 20
    drawn = []
    for value in range(int(axis.low), 101, step):
        x = axis(value)
        drawn.append(tag("line", x1=x, x2=x, y1=TOP - 6, y2=below, class_="grid"))
        drawn.append(tag("text", value, x=x, y=below + 18, class_="small middle"))
    return drawn


def _line(axis: Axis, told: Told, y: int) -> list[Markup]:
    named = {css: x for css in MARKS if (x := getattr(told, css)) is not None}
    bold = " mean" if told.title.startswith("mean of") else ""
    number, small = ("not run", " small") if told.ours is None else (_number(told.ours), bold)
    drawn = [
        tag("text", told.title, x=LEFT - 14, y=y + 4, class_=f"end{bold}"),
        tag("text", number, x=WIDTH - 16, y=y + 4, class_=f"end{small}"),
    ]
    if len(named) > 1:
        ends = [axis(x.mean) for x in named.values()]
        drawn.append(tag("line", x1=min(ends), x2=max(ends), y1=y, y2=y, class_="gain"))
    for css, x in named.items():
        drawn.append(tag("g", _error(axis, x, y), MARKS[css][1](axis(x.mean), y), class_=css))
    return drawn


def _error(axis: Axis, amount: Amount, y: int) -> Markup | None:
    if not amount.stderr:
        return None
    low, high = max(amount.mean - amount.stderr, axis.low), min(amount.mean + amount.stderr, 100.0)
    return tag("line", x1=axis(low), x2=axis(high), y1=y, y2=y, class_="error")


def _number(amount: Amount) -> str:
    return f"{amount.mean:.2f}" + (f" ± {amount.stderr:.2f}" if amount.stderr is not None else "")
