"""The paper's tables and figures as a layout: which rows, in which groups, which columns."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

from ..paper import scores


@dataclass(frozen=True)
class Row:
    """An algorithm, with the paper's heading for it and the group it stands in."""

    algorithm: str
    title: str
    group: str


@dataclass(frozen=True)
class Panel:
    """A table or a figure: some variants side by side, for every algorithm that has them."""

    key: str
    title: str
    columns: tuple[str, ...]
    caption: str = ""

    def rows(self) -> list[Row]:
        """The algorithms the paper has all of these columns for; of its one large table, any."""
        asked = any if self.key == "all" else all
        return [
            row
            for row in layout().rows
            if asked((row.algorithm, variant) in scores() for variant in self.columns)
        ]


@dataclass(frozen=True)
class Layout:
    """All of it, and the paper's heading for each variant."""

    variants: dict[str, str]
    rows: tuple[Row, ...]
    tables: tuple[Panel, ...]
    figures: tuple[Panel, ...]

    @cached_property
    def by_name(self) -> dict[str, Row]:
        return {row.algorithm: row for row in self.rows}

    def title(self, algorithm: str) -> str:
        """The paper's heading for an algorithm, or its name in words."""
        row = self.by_name.get(algorithm)
        return row.title if row else algorithm.replace("_", " ").capitalize()

    def heading(self, variant: str) -> str:
        return self.variants.get(variant) or variant.replace("_", " ").capitalize()


@cache
def layout() -> Layout:
    text = (resources.files(__package__) / "paper.toml").read_text()
    values = tomllib.loads(text)
    return Layout(
        variants=values["variants"],
        rows=tuple(
            Row(algorithm, title, group["title"])
            for group in values["groups"]
            for algorithm, title in group["rows"].items()
        ),
        tables=tuple(_panel(values) for values in values["tables"]),
        figures=tuple(_panel(values) for values in values["figures"]),
    )


def _panel(values: dict) -> Panel:
    return Panel(**(values | {"columns": tuple(values["columns"])}))
