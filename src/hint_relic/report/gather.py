"""Everything a report is made of, gathered once: cells, gaps, and where on the page each stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..paper import scores
from .cells import WEIGHTS, Cell, Plan, State, one_for_each, planned, read, run_folders
from .compare import verdict
from .layout import layout


@dataclass(frozen=True)
class Findings:
    """What was found in a folder.

    cells: every run folder, in the paper's order; chosen: the one that stands for each cell.
    anchors: run folder -> its id on the page.
    """

    top: Path
    plan: Plan
    cells: tuple[Cell, ...]
    chosen: dict[tuple[str, str], Cell]
    anchors: dict[str, str]

    def cell(self, algorithm: str, variant: str) -> Cell:
        """The cell of an algorithm and a variant, missing or not."""
        found = self.chosen.get((algorithm, variant))
        return found or Cell(algorithm, variant, State.MISSING)

    def expected(self) -> list[tuple[str, str]]:
        """The cells of the paper, and those that the grid asked for."""
        return list(dict.fromkeys([*scores(), *self.plan.cells]))

    def beyond(self) -> list[Cell]:
        """Cells that the paper has no figure for, variant by variant, in the paper's order."""
        asked = dict.fromkeys([*self.plan.cells, *self.chosen])
        cells = [self.cell(*key) for key in asked if key not in scores()]
        return sorted(cells, key=lambda cell: (cell.variant, _place(cell)))


def gather(
    top: Path, track: Callable[[list[Path]], Iterable[Path]] = lambda folders: folders
) -> Findings:
    """Read all run folders; `track` may watch them go by."""
    folders = list(run_folders(top))
    cells = sorted((read(folder, top) for folder in track(folders)), key=_place)
    return Findings(
        top=top,
        plan=planned(top),
        cells=tuple(cells),
        chosen=one_for_each(cells),
        anchors=_anchors(cells),
    )


def _place(cell: Cell) -> tuple:
    """The paper's order, then the alphabet."""
    rows = [row.algorithm for row in layout().rows]
    columns = list(layout().variants)
    row = rows.index(cell.algorithm) if cell.algorithm in rows else len(rows)
    column = columns.index(cell.variant) if cell.variant in columns else len(columns)
    return row, cell.algorithm, column, cell.variant, cell.folder


def _anchors(cells: list[Cell]) -> dict[str, str]:
    """An id for each run folder: its name where that is plain and unique."""
    anchors: dict[str, str] = {}
    for index, cell in enumerate(cells):
        name = "cell-" + re.sub(r"[^a-z0-9_]+", "-", Path(cell.folder).name.lower()).strip("-")
        anchors[name if name not in anchors else f"{name}-{index}"] = cell.folder
    return {folder: name for name, folder in anchors.items()}


def tokens(cells: Iterable[Cell]) -> str:
    """What the page's filters look for: states, and the verdict under each kind of weights."""
    found = set()
    for cell in cells:
        found.add("state:done" if cell.state is State.DONE else "state:gap")
        for weights in WEIGHTS:
            if judged := verdict(cell, weights):
                found.add(f"{weights}:{judged}")
    return " ".join(sorted(found))
