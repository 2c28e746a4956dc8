"""The table in one: for each algorithm the run that validation prefers, beside what is published.

The runs of the paper's method and of `best` stand for election; where neither has a result, all
do. The highest score wins, at the largest size that all of them were scored at: that of the
weights which were tested, in validation while training, or in an evaluation of smaller sizes than
the test's that lies in the run folder. The test split and its kind choose nothing.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from ..config import Drawn
from ..paper import Elsewhere, Published, best_variant, elsewhere, published
from .cells import Cell, Score, State
from .compare import Mean, Verdict, judge, mean_of
from .gather import Findings
from .layout import Row, layout
from .markup import Markup, tag
from .tables import amount, filtered, frame, mark

METHODS = ("hint_relic", "best")
WEIGHTS = "best_average"
TEST_SIZE = 64  # what is as large chooses nothing
FRESH = 512  # samples drawn like the test split; it has 32 itself for most algorithms


@dataclass(frozen=True)
class Line:
    """An algorithm: our run (if there is one) and what is published.

    chosen_at: the size that told our runs apart, 0 for the training size; None where there was one.
    fresh: its score on fresh samples drawn like the test split.
    method, column: the paper's Hint-ReLIC, and the best of its columns, which is of `variant`.
    """

    row: Row
    cell: Cell | None
    chosen_at: int | None
    fresh: Score | None
    baseline: Published | None
    method: Published | None
    variant: str
    column: Published
    elsewhere: Elsewhere | None

    @property
    def score(self) -> Score | None:
        return self.cell.scores[WEIGHTS] if self.cell else None

    @property
    def fresh_of(self) -> str:
        """Of how many networks the fresh score is, where it is not of all."""
        if not (self.score and self.fresh) or len(self.fresh.seeds) >= len(self.score.seeds):
            return ""
        return f"{len(self.fresh.seeds)} of {len(self.score.seeds)} seeds"

    @property
    def fresh_of_all(self) -> Score | None:
        """The fresh score if it is of all networks, as in a mean it must be."""
        return None if self.fresh_of else self.fresh

    @property
    def verdict(self) -> Verdict | None:
        """Against the paper's Hint-ReLIC; where it has none, against its best column."""
        if self.score is None:
            return None
        return judge(self.score.mean, self.score.stderr, self.method or self.column)


def lines(findings: Findings) -> list[Line]:
    """A line for each algorithm of the paper."""
    return [_line(findings, row) for row in layout().rows]


def in_mean(found: list[Line]) -> list[Line]:
    """The lines that a mean takes: the algorithms the paper has Hint-ReLIC for, and we a run."""
    return [line for line in found if line.method and line.cell]


def overall(found: list[Line]) -> Mean | None:
    """Their mean beside the paper's Hint-ReLIC."""
    pairs = [
        (line.cell, line.score, line.method)
        for line in found
        if line.cell and line.score and line.method
    ]
    return mean_of(pairs, sum(line.method is not None for line in found))


def _line(findings: Findings, row: Row) -> Line:
    cell, chosen_at = _preferred(findings, row.algorithm)
    variant = best_variant(row.algorithm) or ""
    column = published(row.algorithm, variant)
    assert column is not None  # every row is one of the paper's
    return Line(
        row,
        cell,
        chosen_at,
        _fresh(cell) if cell else None,
        published(row.algorithm, "baseline"),
        published(row.algorithm, "hint_relic"),
        variant,
        column,
        elsewhere().get(row.algorithm),
    )


def _preferred(findings: Findings, algorithm: str) -> tuple[Cell | None, int | None]:
    done = [
        cell
        for (name, _), cell in findings.chosen.items()
        if name == algorithm and cell.state is State.DONE and WEIGHTS in cell.scores
    ]
    cells = [cell for cell in done if cell.variant in METHODS] or done
    if len(cells) < 2:
        return (cells[0] if cells else None), None
    scored = {cell.variant: _scored(cell) for cell in cells}
    common = set.intersection(*(set(found) for found in scored.values()))
    if not common:
        return cells[0], None
    at = max(common)
    return max(cells, key=lambda cell: scored[cell.variant][at]), at[0]


def _scored(cell: Cell) -> dict[tuple[int, str], float]:
    """Mean scores of the weights that were tested, by size and by how the samples were drawn."""
    drawn = str(cell.config.get("validation_drawn", Drawn.TRAINING))
    steps = cell.scores[WEIGHTS].steps
    found: dict[tuple[int, str], float] = {}
    for curve in cell.curves.values():
        rows = [curve.average.get(step, ()) for step in steps]
        told = rows and all(len(row) == len(steps) for row in rows)
        if curve.kind == "validation" and curve.size is not None and told:
            of_seeds = [row[seed] for seed, row in enumerate(rows)]
            found[curve.size, drawn if curve.size else Drawn.TRAINING] = statistics.fmean(of_seeds)
    for part in cell.evaluations:
        size = part.drawn.get("size")
        may = part.weights == WEIGHTS and part.drawn.get("fresh") and not part.drawn.get("split")
        if part.score and may and isinstance(size, int) and size < TEST_SIZE:
            found[size, "evaluation"] = part.score.mean
    return found


def _fresh(cell: Cell) -> Score | None:
    for part in cell.evaluations:
        drawn, samples = part.drawn, part.drawn.get("samples")
        if (
            part.weights == WEIGHTS
            and drawn.get("split") == "test"
            and drawn.get("fresh")
            and isinstance(samples, int)
            and samples >= FRESH
        ):
            return part.score
    return None


# --- on the page -------------------------------------------------------------------------------

HEADS = (
    "Algorithm", "Our run", "Ours", f"{FRESH} fresh samples", "Paper: Hint-ReLIC",
    "Paper: best column", "Elsewhere",
)  # fmt: skip
CAPTION = (
    "Micro-F1 at n = 64, %: the test split, and fresh samples drawn like it. For each algorithm "
    "the run of Hint-ReLIC or of our variant “best” that validation prefers, averaged weights; the "
    "test split chose nothing. Signs compare with the paper's Hint-ReLIC (DFS: its best column)."
)


def table(findings: Findings, found: list[Line]) -> Markup:
    sources = list(dict.fromkeys(other.source for other in elsewhere().values()))
    rows = [_row(findings, line, sources) for line in found]
    notes = [f"[{number}] {source}" for number, source in enumerate(sources, 1)]
    caption = " ".join([CAPTION, "Elsewhere:", "; ".join(notes) + "."])
    return frame("table-final", "In one table", caption, list(HEADS), rows, _foot(found))


def _row(findings: Findings, line: Line, sources: list[str]) -> Markup:
    gap = tag("span", "–", class_="gap")
    run, ours = tag("td", gap), tag("td", gap)
    if line.cell and line.score:
        told = [f"{line.cell.updates:,} updates"] if line.cell.updates else []
        told += [f"by n = {line.chosen_at}"] if line.chosen_at else []
        run = tag(
            "td",
            layout().heading(line.cell.variant),
            tag("span", ", ".join(told), class_="paper"),
        )
        link = tag(
            "a",
            amount(line.score.mean, line.score.stderr),
            mark(line.verdict),
            href=f"#{findings.anchors[line.cell.folder]}",
            class_=f"ours {line.verdict}",
        )
        ours = _number(line.score.mean, link)
    column, other = line.column, line.elsewhere
    of = tag("span", layout().heading(line.variant), class_="paper")
    return tag(
        "tr",
        tag("th", line.row.title, scope="row"),
        run,
        ours,
        _amount(line.fresh, line.fresh_of) if line.fresh else tag("td", gap),
        _amount(line.method) if line.method else tag("td", tag("span", "not run", class_="gap")),
        _number(column.mean, amount(*column), of),
        _number(
            other.score, f"{other.score:g}", tag("small", f" [{sources.index(other.source) + 1}]")
        )
        if other
        else tag("td", gap),
        **filtered(line.row.algorithm, [line.cell] if line.cell else []),
    )


def _amount(score: Score | Published, of: str = "") -> Markup:
    note = [tag("span", of, class_="paper")] if of else []
    return _number(score.mean, amount(score.mean, score.stderr), *note)


def _number(value: float, *children: Markup | str) -> Markup:
    return tag("td", children, data_number=f"{value:.4f}")


def _foot(found: list[Line]) -> Markup | None:
    """Means over the algorithms that the paper has Hint-ReLIC for."""
    taken = in_mean(found)
    if not taken:
        return None
    count = f"{len(taken)} algorithms" if len(taken) > 1 else "1 algorithm"
    words = [count, *means(taken, "score", "fresh_of_all", "method", "column"), ""]
    cells = [tag("td", word) for word in words]
    return tag("tr", tag("th", "Mean, without DFS", scope="row"), cells)


def means(taken: list[Line], *parts: str) -> list[str]:
    """The mean of each of these scores over the lines, if all have it."""
    found = []
    for part in parts:
        scores = [getattr(line, part) for line in taken]
        mean = None if None in scores else statistics.fmean(score.mean for score in scores)
        found.append("–" if mean is None else f"{mean:.2f}")
    return found
