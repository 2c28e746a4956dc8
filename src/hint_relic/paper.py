"""The paper's published scores (its tables as data, `paper.csv`), to print beside ours."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Published(NamedTuple):
    """A score in percent: mean and standard error over the paper's three seeds."""

    mean: float
    stderr: float


@cache
def scores() -> dict[tuple[str, str], Published]:
    """(algorithm, variant) -> what the paper reports."""
    text = (resources.files(__package__) / "paper.csv").read_text()
    return {
        (row["algorithm"], row["variant"]): Published(float(row["mean"]), float(row["stderr"]))
        for row in csv.DictReader(text.splitlines())
    }


def published(algorithm: str, variant: str) -> Published | None:
    return scores().get((algorithm, variant))


def best_variant(algorithm: str) -> str | None:
    """The variant that the paper reports the highest score of an algorithm for."""
    found = {variant: score for (name, variant), score in scores().items() if name == algorithm}
    return max(found, key=lambda variant: found[variant].mean, default=None)
