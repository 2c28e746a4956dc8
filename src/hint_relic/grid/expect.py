"""How long cells take, expected from those that were measured in the same folder."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import fmean

from .folder import Cell, Progress, State

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
        for side in (0, 1):
            rest: dict[str, list[float]] = {}
            for place, value in logs.items():
                other = factors[1 - side].get(place[1 - side], 0.0)
                rest.setdefault(place[side], []).append(value - middle - other)
            factors[side].update({name: fmean(values) for name, values in rest.items()})
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


def remaining(cells: Mapping[Cell, Progress]) -> dict[Cell, float | None]:
    """Seconds still needed for each cell that is not done; None where nothing was measured.

    A failed cell needs none: it is not run again unless that is asked for.
    """
    whole = expected_seconds(cells, [_place(cell) for cell in cells])
    left: dict[Cell, float | None] = {}
    for cell, progress in cells.items():
        if progress.state not in (State.DONE, State.FAILED):
            total, share = whole[_place(cell)], 1.0 - progress.step / cell.config.steps
            left[cell] = None if total is None else share * total
    return left


def _place(cell: Cell) -> Place:
    return cell.config.algorithm, cell.config.variant
