"""What a folder of runs holds, cell by cell: read from files alone, and never believed blindly.

A cell is one algorithm with one variant; its seeds were trained together. A file that is damaged
or odd makes its cell unreadable, with a line that says why; the other cells are not touched.
"""

from __future__ import annotations

import math
import os
import shlex
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import UserError
from .files import UnreadableError, is_number, load, load_lines, numbers, text, whole

WEIGHTS = {
    "best": "best on validation",
    "best_average": "best on validation, averaged",
    "last": "last",
    "last_average": "last, averaged",
}
SIGNS = ("result.json", "error.json", "config.json", "metrics.jsonl")  # any: a run folder
DEPTH = 3  # levels of folders that are looked into
LOSSES = b'"kind": "train"'  # most lines of the metrics; only scores are drawn
LONGEST = 2000  # characters of an error that are shown
LONGEST_SIZE = 10  # digits; Python refuses numbers of thousands


class State(StrEnum):
    DONE = "done"
    UNFINISHED = "unfinished"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    MISSING = "missing"


@dataclass(frozen=True)
class Score:
    """The test score of each seed, in percent, and the update its weights are from."""

    seeds: tuple[float, ...]
    steps: tuple[int, ...] = ()
    outputs: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @cached_property
    def mean(self) -> float:
        return statistics.fmean(self.seeds)

    @cached_property
    def stderr(self) -> float | None:
        """The standard error over seeds; one seed has none."""
        if len(self.seeds) < 2:
            return None
        count = len(self.seeds)
        return math.dist(self.seeds, [self.mean] * count) / math.sqrt(count * (count - 1))


@dataclass(frozen=True)
class Curve:
    """A score over updates, as it was recorded: update -> percent for each seed.

    kind: validation or test; size: 0 for the usual one, None where none is told.
    """

    kind: str
    size: int | None = 0
    plain: dict[int, tuple[float, ...]] = field(default_factory=dict)
    average: dict[int, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """What `hint-relic evaluate --json` found: the score, and for each hint its score at each step.

    drawn: what was scored: the split it is drawn like, size, samples, whether they are fresh.
    A hint's score is between 0 and 1, for a scalar hint a squared error; None where no trace is
    that long.
    """

    weights: str
    title: str
    hints: dict[str, list[float | None]]
    score: Score | None = None
    drawn: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One algorithm with one variant, and everything its folder tells about it."""

    algorithm: str
    variant: str
    state: State
    folder: str = ""
    problem: str = ""
    traceback: str = ""
    scores: dict[str, Score] = field(default_factory=dict)
    updates: int | None = None
    seeds: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    made_by: dict[str, Any] = field(default_factory=dict)  # commit, versions, hardware, command
    time: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)
    evaluations: tuple[Evaluation, ...] = ()
    notes: tuple[str, ...] = ()
    twins: int = 0  # further run folders of the same cell

    @property
    def key(self) -> tuple[str, str]:
        return self.algorithm, self.variant


# --- finding -------------------------------------------------------------------------------------


def run_folders(top: Path) -> Iterator[Path]:
    """The run folders in and under a folder, in order of their names; links are not followed."""

    def look(folder: Path, depth: int) -> Iterator[Path]:
        with os.scandir(folder) as entries:
            items = sorted(entries, key=lambda item: item.name)
        if any(item.name in SIGNS for item in items):
            yield folder
        elif depth:
            for item in items:
                if item.is_dir(follow_symlinks=False) and not item.name.startswith("."):
                    yield from look(folder / item.name, depth - 1)

    if not top.is_dir():
        raise UserError(f"{top} is not a folder; give the folder of a grid, or one of run folders")
    found = list(look(top, DEPTH))
    if not found and not (top / "grid.json").exists():
        raise UserError(f"{top} holds no run folders (with a config.json or a result.json)")
    yield from found


@dataclass(frozen=True)
class Plan:
    """What a grid asked for: its cells and the command, and what is odd about its file."""

    cells: tuple[tuple[str, str], ...] = ()
    command: str = ""
    problem: str = ""


def planned(top: Path) -> Plan:
    """What the grid of a folder asked for; nothing where there is no grid."""
    try:
        grid = load(top / "grid.json")
        if grid is None:
            return Plan()
        cells = [(cell["algorithm"], cell["variant"]) for cell in grid["cells"]]
        command = grid.get("command", "")
        return Plan(
            cells=tuple((text(a, "algorithm"), text(v, "variant")) for a, v in cells),
            command=shlex.join(map(str, command)) if isinstance(command, list) else str(command),
        )
    except (UnreadableError, KeyError, TypeError) as problem:
        told = problem if isinstance(problem, UnreadableError) else "it lists no cells"
        return Plan(problem=f"grid.json ({told}): which cells it asked for is not known")


def _named(folder: str) -> tuple[str, str]:
    """`bfs-baseline` as algorithm and variant."""
    algorithm, _, variant = folder.rpartition("-")
    return algorithm or folder, variant if algorithm else ""


def one_for_each(cells: list[Cell]) -> dict[tuple[str, str], Cell]:
    """One cell for each algorithm and variant, never chosen by its score.

    Of several run folders, the one with a result counts, then the one that lies highest (what is
    kept aside, lies in a folder of its own), then the one with most updates, then most seeds,
    then the first by name.
    """
    order = list(State)

    def rank(cell: Cell) -> tuple:
        depth = cell.folder.count(os.sep)
        return order.index(cell.state), depth, -(cell.updates or 0), -(cell.seeds or 0), cell.folder

    chosen: dict[tuple[str, str], Cell] = {}
    for cell in sorted(cells, key=rank):
        first = chosen.setdefault(cell.key, cell)
        if first is not cell:
            chosen[cell.key] = replace(first, twins=first.twins + 1)
    return chosen


# --- reading -------------------------------------------------------------------------------------


def read(folder: Path, top: Path) -> Cell:
    """A run folder; never an error, whatever its files hold."""
    here = str(folder.relative_to(top)) if folder != top else folder.resolve().name
    algorithm, variant = _named(folder.resolve().name)
    notes: list[str] = []
    cell = Cell(algorithm, variant, State.UNFINISHED, here)
    try:
        config = load(folder / "config.json") or {}
        cell = _identified(replace(cell, config=config), config)
    except UnreadableError as problem:
        notes.append(str(problem))
    try:
        cell = replace(cell, made_by=load(folder / "environment.json") or {})
    except UnreadableError as problem:
        notes.append(str(problem))
    cell = _with_metrics(cell, folder, notes)
    cell = _with_outcome(cell, folder, notes)
    evaluations, odd = _evaluations(folder)
    return replace(cell, evaluations=evaluations, notes=(*notes, *odd))


def _identified(cell: Cell, values: dict[str, Any]) -> Cell:
    """The algorithm and the variant as a file names them, if it does."""
    return replace(
        cell,
        algorithm=text(values.get("algorithm", cell.algorithm), "algorithm"),
        variant=text(values.get("variant", cell.variant), "variant"),
    )


def _with_outcome(cell: Cell, folder: Path, notes: list[str]) -> Cell:
    try:
        result = load(folder / "result.json")
        error = load(folder / "error.json", kind=object)
        if result is not None:
            done = _done(cell, result)
            if error is not None:
                notes.append("an earlier attempt failed: " + _failure(error))
            asked = cell.config.get("steps")
            if is_number(asked) and done.updates is not None and asked > done.updates:
                notes.append(f"the result is of {done.updates} updates; {asked} are asked for now")
            return done
    except UnreadableError as problem:
        return replace(cell, state=State.UNREADABLE, problem=str(problem))
    if error is not None:
        trace = error.get("traceback") if isinstance(error, dict) else None
        return replace(
            cell,
            state=State.FAILED,
            problem=_failure(error),
            traceback=trace[-LONGEST:] if isinstance(trace, str) else "",
        )
    if not cell.curves and notes:
        return replace(cell, state=State.UNREADABLE, problem=notes[0])
    return cell


def _done(cell: Cell, result: dict[str, Any]) -> Cell:
    cell = _identified(cell, result)
    tests = result.get("test")
    if not isinstance(tests, dict) or not any(name in tests for name in WEIGHTS):
        raise UnreadableError("result.json holds no test scores")
    scores = {
        name: _score(tests[name], f"result.json: test.{name}") for name in WEIGHTS if name in tests
    }
    count = len(next(iter(scores.values())).seeds)
    if any(len(score.seeds) != count for score in scores.values()):
        raise UnreadableError("result.json: not all scores have the same number of seeds")
    return replace(
        cell,
        state=State.DONE,
        scores=scores,
        seeds=count,
        updates=whole(result.get("steps"), "result.json: steps"),
        made_by=cell.made_by | {k: v for k, v in result.items() if k in MADE_BY},
        time=_measured(result.get("time")),
        memory=_measured(result.get("memory")),
    )


MADE_BY = ("commit", "python", "versions", "device", "platform", "devices", "cpus", "command")


def _measured(values: Any) -> dict[str, Any]:
    """The finite numbers among measured values."""
    if not isinstance(values, dict):
        return {}
    return {k: v for k, v in values.items() if is_number(v)}


def _score(values: Any, where: str) -> Score:
    if not isinstance(values, dict):
        raise UnreadableError(f"{where} is not an object")
    outputs = values.get("outputs", {})
    if not isinstance(outputs, dict):
        raise UnreadableError(f"{where}.outputs is not an object")
    steps = values.get("step", [])
    if not isinstance(steps, list):
        raise UnreadableError(f"{where}.step is not a list")
    return Score(
        seeds=_percents(values.get("score"), f"{where}.score"),
        steps=tuple(whole(step, f"{where}.step") for step in steps),
        outputs={k: _percents(v, f"{where}.outputs.{k}") for k, v in outputs.items()},
    )


def _percents(values: Any, where: str) -> tuple[float, ...]:
    found = numbers(values, where)
    if not found or not all(0.0 <= value <= 1.0 for value in found):
        raise UnreadableError(f"{where} is not a list of scores between 0 and 1")
    return tuple(100.0 * value for value in found)


def _failure(error: Any) -> str:
    """What an error.json tells: its message, or all of it."""
    if isinstance(error, dict):
        told = [error[k] for k in ("type", "error", "message") if isinstance(error.get(k), str)]
        error = ": ".join(told) or error
    words = str(error)
    return words if len(words) <= LONGEST else words[:LONGEST] + " …"


def _with_metrics(cell: Cell, folder: Path, notes: list[str]) -> Cell:
    try:
        records, bad = load_lines(folder / "metrics.jsonl", skip=LOSSES)
    except UnreadableError as problem:
        notes.append(str(problem))
        return cell
    curves: dict[str, Curve] = {}
    step, elapsed = 0, None
    for record in records:
        try:
            step = max(step, whole(record.get("step"), "step"))
            if record.get("kind") in ("validation", "test"):
                _add_points(curves, record)
            elapsed = record.get("elapsed_s", elapsed)
        except UnreadableError:
            bad += 1
    if bad:
        notes.append(f"metrics.jsonl: {bad} line{'s' if bad > 1 else ''} can't be read, left out")
    time = _measured({"total_s": elapsed})
    return replace(cell, curves=curves, updates=step or None, time=time)


def _add_points(curves: dict[str, Curve], record: dict[str, Any]) -> None:
    """`plain` and `average`, at the usual size and at further ones (`plain_32`)."""
    for name, values in record.items():
        weights, _, size = name.partition("_")
        if weights in ("plain", "average"):
            kind = record["kind"]
            title = kind + (f", n = {size}" if size else "")
            told = not size or (size.isdecimal() and len(size) < LONGEST_SIZE)
            number = int(size or 0) if told else None
            curve = curves.setdefault(title, Curve(kind, number))
            getattr(curve, weights)[record["step"]] = _percents(values, name)


def _evaluations(folder: Path) -> tuple[tuple[Evaluation, ...], list[str]]:
    """Every `evaluation*.json` of the folder, and what is odd about them."""
    found, odd = [], []
    for file in sorted(folder.glob("evaluation*.json")):
        try:
            values = load(file) or {}
            scores = values.get("scores")
            if not isinstance(scores, dict):
                raise UnreadableError(f"{file.name} holds no scores")
            for title, part in scores.items():
                steps = part.get("hint_score_at_step") if isinstance(part, dict) else None
                if not isinstance(steps, dict):
                    raise UnreadableError(f"{file.name} holds no scores of hints over steps")
                hints = {
                    name: [x if x >= 0.0 else None for x in numbers(line, f"{file.name}: {name}")]
                    for name, line in steps.items()
                }
                weights = text(values.get("weights", "best"), f"{file.name}: weights")
                score = part.get("score")
                seeds = score.get("seeds") if isinstance(score, dict) else None
                found.append(
                    Evaluation(
                        weights,
                        title,
                        hints,
                        Score(_percents(seeds, f"{file.name}: score")) if seeds else None,
                        {k: part.get(k) for k in ("split", "size", "samples", "fresh")},
                    )
                )
        except UnreadableError as problem:
            odd.append(str(problem))
    return tuple(found), odd
