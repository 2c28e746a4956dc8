"""How long cells take, expected from those that were measured in the same folder."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from .folder import Cell, Grid, Progress, State

Place = tuple[str, str]  # algorithm, variant
SWEEPS = 20


def _measured(cells: Mapping[Cell, Progress]) -> dict[Place, float]:
    """Seconds of the cells that are finished, and of those that run, from their speed so far."""
    found = {}
    for cell, progress in cells.items():
        if progress.state is State.DONE:
            found[_place(cell)] = progress.time_s
        elif progress.state is State.RUNNING and progress.updates_per_s:
            rest = (cell.config.steps - progress.step) / progress.updates_per_s
            found[_place(cell)] = progress.time_s + rest
    return found


def fitted(times: Mapping[Place, float], places: Iterable[Place]) -> dict[Place, float | None]:
    """Seconds for each place: what its algorithm takes, times what its variant takes.

    The two factors are fitted to the logarithms of the measured times; an algorithm or a variant
    that was not measured counts as an average one. None where nothing was measured.
    """
    if not times:
        return dict.fromkeys(places)
    logs = {place: math.log(max(seconds, 1e-3)) for place, seconds in times.items()}
    middle = fmean(logs.values())
    factors: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for _ in range(SWEEPS):
        before = dict(factors[0])
        for side in (0, 1):
            rest: dict[str, list[float]] = {}
            for place, value in logs.items():
                other = factors[1 - side].get(place[1 - side], 0.0)
                rest.setdefault(place[side], []).append(value - middle - other)
            factors[side].update({name: fmean(values) for name, values in rest.items()})
        if all(math.isclose(before.get(k, 0.0), v, abs_tol=1e-4) for k, v in factors[0].items()):
            break
    return {
        (a, v): math.exp(middle + factors[0].get(a, 0.0) + factors[1].get(v, 0.0))
        for a, v in places
    }


def expected_seconds(
    cells: Mapping[Cell, Progress], places: Iterable[Place]
) -> dict[Place, float | None]:
    """Seconds for each place: measured where that was done, else fitted."""
    times = _measured(cells)
    return {place: times.get(place, guess) for place, guess in fitted(times, places).items()}


@dataclass(frozen=True)
class Overview:
    """Where all cells of a grid stand.

    left: seconds still needed for each cell that runs or waits; None where nothing was measured.
    A failed cell is not among them: it is not run again unless that is asked for.
    """

    cells: dict[Cell, Progress]
    left: dict[Cell, float | None]

    @classmethod
    def of(cls, grid: Grid) -> Overview:
        cells = {cell: cell.progress() for cell in grid.cells}
        whole = expected_seconds(cells, [_place(cell) for cell in cells])
        left: dict[Cell, float | None] = {}
        for cell, progress in cells.items():
            if progress.state in (State.RUNNING, State.WAITING):
                total, share = whole[_place(cell)], 1.0 - progress.step / cell.config.steps
                left[cell] = None if total is None else share * total
        return cls(cells, left)

    @property
    def count(self) -> Counter[State]:
        return Counter(progress.state for progress in self.cells.values())

    def left_s(self, workers: int | None = None) -> float | None:
        """Seconds until all is done, with as many cells at a time as run now, or `workers`."""
        known = [seconds for seconds in self.left.values() if seconds is not None]
        if len(known) < len(self.left):
            return None
        return sum(known) / (workers or max(1, self.count[State.RUNNING]))


def _place(cell: Cell) -> Place:
    return cell.config.algorithm, cell.config.variant
