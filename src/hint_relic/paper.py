"""Published scores, to print beside ours: the paper's tables as data (`paper.csv`), and higher
figures of others as far as they could be checked (`elsewhere.csv`)."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Published(NamedTuple):
    """A score in percent: mean and standard error over the paper's three seeds."""

    mean: float
    stderr: float


class Elsewhere(NamedTuple):
    """Another work's score of an algorithm in percent, and where it stands."""

    score: float
    source: str


def _rows(file: str) -> list[dict[str, str]]:
    return list(csv.DictReader((resources.files(__package__) / file).read_text().splitlines()))


@cache
def scores() -> dict[tuple[str, str], Published]:
    """(algorithm, variant) -> what the paper reports."""
    return {
        (row["algorithm"], row["variant"]): Published(float(row["mean"]), float(row["stderr"]))
        for row in _rows("paper.csv")
    }


def published(algorithm: str, variant: str) -> Published | None:
    return scores().get((algorithm, variant))


def best_variant(algorithm: str) -> str | None:
    """The variant that the paper reports the highest score of an algorithm for."""
    found = {variant: score for (name, variant), score in scores().items() if name == algorithm}
    return max(found, key=lambda variant: found[variant].mean, default=None)


@cache
def elsewhere() -> dict[str, Elsewhere]:
    """algorithm -> a score above the paper's best, of another method."""
    rows = _rows("elsewhere.csv")
    return {row["algorithm"]: Elsewhere(float(row["score"]), row["source"]) for row in rows}
