"""A grid folder: what was planned, and how far each cell is. The folder is the only truth.

grid.json          the cells, their settings, and the version that made them
cells/NAME/        the run folder of a cell (`train/folder.py`), NAME being ALGORITHM-VARIANT;
                   a cell that failed has an `error.json` in it: message, traceback, time
logs/NAME.log      what the process of a cell printed
.lock              held by the runner

Reading it takes only small files and ends of files, and no JAX. It may be somebody else's: what
is odd in it is passed over or refused, and no name in it leads out of it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeGuard

from ..config import TrainConfig, from_dict, to_dict
from ..errors import UserError, choose, shown
from ..files import held, is_leftover, read_json, tail, write_atomically

FORMAT = 1
TAIL = 1 << 14  # bytes of metrics that hold the last records
MAX_GRID = 1 << 20  # bytes of a grid.json
LONGEST = 2000  # characters of an error that are shown
NAME = re.compile(r"\w[\w.+-]{0,99}")  # of what becomes part of a path


class State(StrEnum):
    """What a cell is doing."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"  # also where it was stopped in the middle
    FAILED = "failed"


@dataclass(frozen=True)
class Progress:
    """How far a cell is.

    time_s: training time so far, over all its processes.
    updates_per_s: of the process that reported last.
    result: the finished result; error: why the cell failed.
    """

    state: State
    step: int = 0
    time_s: float = 0.0
    updates_per_s: float | None = None
    result: dict[str, Any] | None = None
    error: str | None = None


@dataclass(frozen=True)
class Cell:
    """One algorithm and variant of a grid; its seeds train together."""

    folder: Path
    config: TrainConfig

    @property
    def name(self) -> str:
        return cell_name(self.config.algorithm, self.config.variant)

    def result(self) -> dict[str, Any] | None:
        """The finished result, if there is one."""
        found = _read(self.folder / "result.json")
        finished = _is_result(found) and found["steps"] >= self.config.steps
        return found if finished else None

    def progress(self) -> Progress:
        if (result := self.result()) is not None:
            return Progress(State.DONE, result["steps"], result["time"]["total_s"], result=result)
        step, time_s, rate = self._last_reports()
        if held(self.folder):
            return Progress(State.RUNNING, step, time_s, rate)
        if (error := _read(self.folder / "error.json")) is not None:
            message = str(error.get("message", "error.json does not say why"))
            return Progress(State.FAILED, step, time_s, rate, error=message[:LONGEST])
        return Progress(State.WAITING, step, time_s, rate)

    def _last_reports(self) -> tuple[int, float, float | None]:
        """(step, training time, updates per second) as last reported."""
        step, time_s, rate = 0, 0.0, None
        for line in tail(self.folder / "metrics.jsonl", TAIL).splitlines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):  # being written just now
                continue
            if not isinstance(record, dict) or type(record.get("step")) is not int:
                continue
            step = min(max(record["step"], 0), self.config.steps)
            time_s = record["elapsed_s"] if _is_sensible(record.get("elapsed_s")) else time_s
            rate = record["updates_per_s"] if _is_sensible(record.get("updates_per_s")) else rate
        return step, time_s, rate

    def fail(self, message: str, traceback: str) -> None:
        """Record why the cell failed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        what = {"message": message, "traceback": traceback, "unix_time": time.time()}
        write_atomically(self.folder / "error.json", _json(what))

    def forget_failure(self) -> None:
        (self.folder / "error.json").unlink(missing_ok=True)


@dataclass(frozen=True)
class Grid:
    """An existing grid folder.

    command: the words of the command that made it.
    """

    path: Path
    version: str
    command: tuple[str, ...]
    cells: tuple[Cell, ...]

    @classmethod
    def open(cls, path: Path) -> Grid:
        """The grid of a folder."""
        file = path / "grid.json"
        if not file.is_file():
            raise UserError(
                f"{path} is not a grid folder (it has no grid.json); "
                f"`hint-relic reproduce --out {path}` makes one"
            )
        try:
            values = read_json(file, MAX_GRID)
        except (OSError, UserError) as error:
            raise UserError(f"{file} is damaged ({error}); choose another --out") from error
        try:
            version = _name(values["version"])
            if values["format"] != FORMAT:
                raise UserError(
                    f"{file} has format {shown(values['format'])}, this version reads {FORMAT}: "
                    f"use version {version}, or another folder"
                )
            usual = {v: from_dict(TrainConfig, s) for v, s in values["variants"].items()}
            configs = [
                replace(
                    from_dict(TrainConfig, cell["settings"])
                    if "settings" in cell
                    else usual[cell["variant"]],
                    algorithm=cell["algorithm"],
                )
                for cell in values["cells"]
            ]
            for config in configs:
                _name(config.algorithm)
                _name(config.variant)
            command = tuple(map(_text, values["command"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file} is damaged ({shown(error)}); choose another --out") from error
        for config in configs:
            config.check()
        grid = cls(path, version, command, _cells(path, configs))
        grid._refuse_links()
        return grid

    def _refuse_links(self) -> None:
        """In somebody else's folder, a link could lead to any folder or file of yours."""
        places = [self.path / "cells", self.path / "logs"]
        for item in (*places, *(c.folder for c in self.cells), *map(self.log, self.cells)):
            if item.is_symlink():
                raise UserError(f"{item} is a link; put what it leads to there")

    @classmethod
    def make(
        cls, path: Path, configs: Sequence[TrainConfig], version: str, command: Sequence[str]
    ) -> Grid:
        """Record a new grid in a folder, or open it where the folder holds this very one."""
        if (grid := cls.fitting(path, configs, version)) is not None:
            return grid
        settings = [{k: v for k, v in to_dict(c).items() if k != "algorithm"} for c in configs]
        usual = {c.variant: s for c, s in zip(configs, settings)}
        cells: list[dict[str, Any]] = []
        for config, own in zip(configs, settings):
            cells.append({"algorithm": config.algorithm, "variant": config.variant})
            if own != usual[config.variant]:
                cells[-1]["settings"] = own
        values = {
            "format": FORMAT,
            "version": version,
            "command": list(command),
            "cells": cells,
            "variants": usual,
        }
        write_atomically(path / "grid.json", _json(values))
        return cls(path, version, tuple(command), _cells(path, configs))

    @classmethod
    def fitting(
        cls, path: Path, configs: Sequence[TrainConfig] | None, version: str
    ) -> Grid | None:
        """The grid of a folder, None of an empty one; anything else in the folder is refused.

        configs: what the grid must be; None takes any.
        """
        if (path / "grid.json").exists():
            grid = cls.open(path)
            grid._check_version(version)
            if configs is not None:
                grid._check_same(configs)
            return grid
        if path.is_dir() and any(
            item.name != ".lock" and not is_leftover(item) for item in path.iterdir()
        ):
            raise UserError(f"{path} is not a grid folder and not empty; choose another --out")
        return None

    def _check_version(self, version: str) -> None:
        if self.version != version:
            raise UserError(
                f"{self.path} was made by version {self.version}, this is {version}: go on with "
                "that version, or choose another --out"
            )

    def _check_same(self, configs: Sequence[TrainConfig]) -> None:
        """Refuse to mix another grid into this folder."""
        ours, theirs = [cell.config for cell in self.cells], list(configs)
        if ours == theirs:
            return
        differ = "its cells"
        if [_place(c) for c in ours] == [_place(c) for c in theirs]:
            pairs = [(to_dict(a), to_dict(b)) for a, b in zip(ours, theirs)]
            differ = ", ".join(sorted({k for a, b in pairs for k in a if a[k] != b[k]}))
        raise UserError(
            f"{self.path} holds another grid (it differs in {differ}): choose another --out, or go "
            f"on with that one by `hint-relic reproduce --out {self.path}` and nothing else"
        )

    def log(self, cell: Cell) -> Path:
        return self.path / "logs" / f"{cell.name}.log"

    def cell(self, name: str) -> Cell:
        cells = {cell.name: cell for cell in self.cells}
        return cells[choose("cell", name, cells)]


def cell_name(algorithm: str, variant: str) -> str:
    return f"{algorithm}-{variant}"


def _place(config: TrainConfig) -> str:
    return cell_name(config.algorithm, config.variant)


def _cells(path: Path, configs: Sequence[TrainConfig]) -> tuple[Cell, ...]:
    return tuple(Cell(path / "cells" / _place(config), config) for config in configs)


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _read(file: Path) -> dict[str, Any] | None:
    """A JSON object in a file; None if there is none, or none that can be read."""
    try:
        found = read_json(file)
    except (OSError, UserError):
        return None
    return found if isinstance(found, dict) else None


def _is_result(found: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a result holds at least what is shown of it here."""
    try:
        best = found["test"]["best"]
        scores = [best["mean"], best["stderr"] or 0.0]
        times = [found["time"]["total_s"]]
        return type(found["steps"]) is int and all(map(_is_sensible, scores + times))
    except (KeyError, TypeError):
        return False


def _is_sensible(value: Any) -> bool:
    """Whether it is a number that can be shown, added up and divided by, unless it is zero."""
    return type(value) in (int, float) and (value == 0 or 1e-6 < value < 1e12)


def _name(value: Any) -> str:
    """A name that may be part of a path."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError(f"{shown(value)} is no name")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{shown(value)} is no text")
    return value
