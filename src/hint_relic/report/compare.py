"""Ours against the paper's: when two scores differ, and means over the algorithms both have."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..paper import Published, published
from .cells import Cell, Score, State
from .settings import other_settings

SEEDS, UPDATES = 3, 10_000  # the paper's
STANDARD_ERRORS = 2.0


class Verdict(StrEnum):
    """How our score stands to the paper's, two standard errors of the difference apart or not."""

    BETTER = "better"
    WITHIN = "within"
    WORSE = "worse"
    OPEN = "open"  # a single seed: there is no standard error to judge by


SIGN = {Verdict.BETTER: "▲", Verdict.WITHIN: "≈", Verdict.WORSE: "▼", Verdict.OPEN: "?"}
WORDS = {
    Verdict.BETTER: "better than the paper",
    Verdict.WITHIN: "within two standard errors",
    Verdict.WORSE: "worse than the paper",
    Verdict.OPEN: "one seed: can't be judged",
}


def judge(mean: float, stderr: float | None, paper: Published) -> Verdict:
    if stderr is None:
        return Verdict.OPEN
    # Scores are shown with two decimals; a difference below them is none.
    slack = max(STANDARD_ERRORS * math.hypot(stderr, paper.stderr), 0.005)
    difference = mean - paper.mean
    if abs(difference) <= slack:
        return Verdict.WITHIN
    return Verdict.BETTER if difference > 0 else Verdict.WORSE


def verdict(cell: Cell, weights: str) -> Verdict | None:
    """The verdict on a cell; None where ours or the paper's is missing."""
    ours, paper = cell.scores.get(weights), published(*cell.key)
    return judge(ours.mean, ours.stderr, paper) if ours and paper else None


@dataclass(frozen=True)
class Mean:
    """Means over the algorithms that both we and the paper have; errors come from the seeds.

    of: for how many algorithms the paper has this variant.
    short: how many of ours have fewer seeds or updates than the paper's, or other settings.
    """

    algorithms: tuple[str, ...]
    of: int
    ours: float
    stderr: float | None
    paper: Published
    short: int

    @property
    def told(self) -> list[str]:
        """How far this mean can be trusted."""
        counted = f"{len(self.algorithms)} of {self.of} algorithms"
        return (
            [counted, f"{self.short} with fewer seeds or updates, or other settings"]
            if self.short
            else [counted]
        )

    @property
    def verdict(self) -> Verdict:
        return judge(self.ours, self.stderr, self.paper)


def mean_over(
    cells: Mapping[tuple[str, str], Cell], variant: str, algorithms: Iterable[str], weights: str
) -> Mean | None:
    """The mean of a variant over the algorithms that have both scores; None if none has."""
    known = [(a, p) for a in algorithms if (p := published(a, variant))]
    pairs = [
        (cell, cell.scores[weights], p)
        for a, p in known
        if (cell := cells.get((a, variant))) and weights in cell.scores
    ]
    return mean_of(pairs, len(known))


def mean_of(pairs: Sequence[tuple[Cell, Score, Published]], of: int) -> Mean | None:
    """The mean of our scores and of the paper's beside them; None if there are none.

    The standard error is that of the mean of independent scores, each with its own over seeds.
    """
    if not pairs:
        return None
    count = len(pairs)
    errors = [score.stderr for _, score, _ in pairs]
    return Mean(
        algorithms=tuple(cell.algorithm for cell, _, _ in pairs),
        of=of,
        ours=statistics.fmean(score.mean for _, score, _ in pairs),
        stderr=None
        if None in errors
        else math.hypot(*(error for error in errors if error is not None)) / count,
        paper=Published(
            statistics.fmean(p.mean for _, _, p in pairs),
            math.hypot(*(p.stderr for _, _, p in pairs)) / count,
        ),
        short=sum(bool(shortfalls(cell)) for cell, _, _ in pairs),
    )


def shortfalls(cell: Cell) -> list[str]:
    """What a finished cell has less of than the paper's, or other than its variant sets."""
    found = []
    if cell.state is State.DONE:
        if cell.seeds is not None and cell.seeds < SEEDS:
            found.append(f"{cell.seeds} seed{'s' if cell.seeds > 1 else ''}")
        if cell.updates is not None and cell.updates < UPDATES:
            found.append(f"{cell.updates:,} updates")
        if other_settings(cell.config):
            found.append("other settings")
    return found
