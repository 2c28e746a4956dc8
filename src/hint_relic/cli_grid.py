"""The commands that run the paper's whole experiment and say how far it is."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .errors import UserError
from .terminal import Flag, Whole, console, option, print_json

if TYPE_CHECKING:
    from .config import TrainConfig
    from .grid.expect import Overview
    from .grid.folder import Cell, Grid, Progress
    from .grid.run import Executor

SOME_FAILED = 1
REFRESH_S = 2.0


class Place(StrEnum):
    """Where cells run."""

    LOCAL = "local"
    RAY = "ray"


# --- hint-relic reproduce ------------------------------------------------------------------------


@dataclass(frozen=True)
class Reproduce:
    """Train the paper's whole table, or a part of it; the same command again goes on.

    A cell is an algorithm and a variant; its seeds train together. With --out alone, the grid that
    the folder holds goes on.
    """

    algorithms: Annotated[str | None, option("NAME,NAME,...", "(default: the paper's 18)")] = None
    """the algorithms, as in `hint-relic algorithms`"""
    variants: Annotated[str | None, option("NAME,NAME,...", "(default: the paper's six)")] = None
    """the variants, as in `hint-relic train`"""
    seeds: Annotated[Whole, option("N", "(default: 3)")] = None
    """how many networks to train in each cell"""
    steps: Annotated[Whole, option("N", "(default: 10000)")] = None
    """updates of each network"""
    config: Annotated[Path | None, option("FILE.toml")] = None
    """other settings for all cells, as for `hint-relic train`"""
    out: Annotated[Path, option("DIR", "(default: runs/paper)")] = Path("runs/paper")
    """the grid folder"""
    plan: Flag = False
    """print the cells with the time they are expected to take, and stop"""
    retry_failed: Flag = False
    """run cells that failed again, from their last checkpoint"""
    at_once: Annotated[int, option("K")] = 1
    """cells to run at the same time on each device of this machine (see docs/reproduce.md)"""
    on: Annotated[Place, option("local|ray")] = Place.LOCAL
    """this machine, one process for each device; or a Ray cluster, a cell for each GPU"""
    address: Annotated[
        str | None, option("ray://HOST:PORT", "(default: a Ray of its own on this machine)")
    ] = None
    """the Ray cluster"""


def reproduce(options: Reproduce) -> None:
    from .cli import version
    from .files import Lock, remove_leftovers
    from .grid.expect import Overview
    from .grid.folder import Grid, State
    from .grid.run import run_grid

    if options.address is not None and options.on is not Place.RAY:
        raise UserError("--address is that of a Ray cluster: add --on ray")
    if options.at_once < 1:
        raise UserError(f"--at-once must be at least 1, not {options.at_once}")
    if options.at_once > 1 and options.on is Place.RAY:
        raise UserError("--at-once is for this machine; Ray runs one cell on each GPU")
    configs = requested(options)
    grid = Grid.fitting(options.out, configs, version())
    if options.plan:
        print_plan(configs, grid)
        return
    executor = executor_for(options)
    with Lock(options.out, "grid"):
        if configs is not None:
            command = ["hint-relic", *sys.argv[1:]]
            grid = Grid.make(options.out, configs, version(), command)
        remove_leftovers(options.out)
        assert grid is not None  # `requested` is None only where there is one
        with Display(grid, executor.count) as display:
            run_grid(grid, executor, display.ended, retry_failed=options.retry_failed)
    overview = Overview.of(grid)
    print_status(grid, overview)
    if overview.count[State.FAILED]:
        raise SystemExit(SOME_FAILED)


def requested(options: Reproduce) -> list[TrainConfig] | None:
    """The cells that are asked for; None for those of the folder, whatever they are."""
    from .cli_train import read_toml
    from .grid.plan import plan

    asked = (options.algorithms, options.variants, options.seeds, options.steps, options.config)
    if all(option is None for option in asked) and (options.out / "grid.json").exists():
        return None
    settings = {} if options.config is None else read_toml(options.config)
    for name in ("seeds", "steps"):
        if getattr(options, name) is not None:
            settings[name] = getattr(options, name)
    return plan(_names(options.algorithms), _names(options.variants), settings)


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [word.strip() for word in given.split(",")]


def executor_for(options: Reproduce) -> Executor:
    if options.on is Place.RAY:
        from .grid.ray import Ray

        return Ray(options.address)
    from .grid.local import Local

    return Local(options.at_once)


def print_plan(configs: list[TrainConfig] | None, grid: Grid | None) -> None:
    """The cells and what each takes, expected from those that the folder has measured."""
    from .grid.expect import Overview, expected_seconds
    from .grid.folder import State, cell_name

    cells = {} if grid is None else Overview.of(grid).cells
    places = [(c.algorithm, c.variant) for c in configs or [cell.config for cell in cells]]
    times = expected_seconds(cells, places)
    states = {cell.name: progress.state for cell, progress in cells.items()}
    names = [cell_name(*place) for place in places]
    shown = [str(states.get(name, "new")) for name in names]
    table = aligned(
        f"{len(places)} cells",
        {"cell": names, "state": shown, "time": [duration(times[place]) for place in places]},
    )
    console().print(table)
    rest = [times[p] for p, name in zip(places, names) if states.get(name) is not State.DONE]
    known = [seconds for seconds in rest if seconds is not None]
    if len(known) < len(rest):
        print("the time is unknown until a cell of this folder has been measured")
    elif rest:
        print(f"{len(rest)} to do: {duration(sum(known))} on one device")


class Display:
    """How a grid goes on: a bar on a terminal, a line for each cell elsewhere."""

    def __init__(self, grid: Grid, workers: int):
        self.grid, self.workers = grid, workers
        self.bar: Any = None
        self._over = threading.Event()

    def __enter__(self) -> Display:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
                console=Console(stderr=True, markup=False, emoji=False), transient=True,
            )  # fmt: skip
            self.task = self.bar.add_task("", total=sum(c.config.steps for c in self.grid.cells))
            self.bar.start()
            self.thread = threading.Thread(target=self._follow, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self._over.set()
            self.thread.join()
            self.bar.stop()

    def _follow(self) -> None:
        from .grid.expect import Overview

        while True:
            overview = Overview.of(self.grid)
            running = [cell.name for cell, p in overview.cells.items() if p.state == "running"]
            doing = ", ".join(running) or "starting"
            self.bar.update(
                self.task,
                completed=sum(progress.step for progress in overview.cells.values()),
                description=f"{doing}: {summary(overview, self.workers)}",
            )
            if self._over.wait(REFRESH_S):
                return

    def ended(self, cell: Cell) -> None:
        """Tell that a cell has ended, and how."""
        from .cli_train import percent

        progress = cell.progress()
        line = f"{cell.name}: {progress.error}"
        if progress.result is not None:
            best = progress.result["test"]["best"]
            score = percent(best["mean"], best["stderr"])
            line = f"{cell.name}: {score} % in {duration(progress.time_s)}"
        if self.bar is not None:
            self.bar.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)


# --- hint-relic status ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Status:
    """Show how far a grid is: what is done, running, failed, and the time left."""

    grid: Annotated[Path, tyro.conf.Positional, option("DIR")]
    """the grid folder"""
    json: Flag = False
    """print JSON instead of a table"""


def status(options: Status) -> None:
    from .grid.expect import Overview
    from .grid.folder import Grid

    grid = Grid.open(options.grid)
    overview = Overview.of(grid)
    if options.json:
        print_json(status_data(grid, overview))
    else:
        print_status(grid, overview)


def status_data(grid: Grid, overview: Overview) -> dict[str, Any]:
    """The state of a grid as plain values; times in seconds, scores as parts of one."""
    rows = []
    for cell, progress in overview.cells.items():
        best = progress.result["test"]["best"] if progress.result else {}
        rows.append(
            {
                "cell": cell.name,
                "algorithm": cell.config.algorithm,
                "variant": cell.config.variant,
                "state": progress.state,
                "step": progress.step,
                "steps": cell.config.steps,
                "score": best.get("mean"),
                "stderr": best.get("stderr"),
                "time_s": progress.time_s,
                "left_s": overview.left.get(cell, 0.0),
                "error": progress.error,
            }
        )
    return {
        "grid": str(grid.path),
        "version": grid.version,
        "cells": rows,
        "count": overview.count,
        "left_s": overview.left_s(),
    }


def summary(overview: Overview, workers: int | None = None) -> str:
    """Such as `3 done, 1 running, 2 waiting; 12 min 3 s left`."""
    from .grid.folder import State

    count = overview.count
    states = ", ".join(f"{count[state]} {state}" for state in State if count[state])
    if not overview.left:
        return states
    left = overview.left_s(workers)
    return f"{states}; " + ("time left unknown" if left is None else f"{duration(left)} left")


def print_status(grid: Grid, overview: Overview) -> None:
    from .cli_train import percent

    columns: dict[str, list[str]] = {
        name: [] for name in ("cell", "state", "updates", "score", "time", "time left")
    }
    for cell, progress in overview.cells.items():
        best = progress.result["test"]["best"] if progress.result else None
        row = (
            cell.name,
            str(progress.state),
            f"{progress.step}/{cell.config.steps}",
            percent(best["mean"], best["stderr"]) if best else "",
            duration(progress.time_s) if progress.time_s else "",
            duration(overview.left[cell]) if cell in overview.left else "",
        )
        for column, value in zip(columns.values(), row):
            column.append(value)
    title = f"{grid.path}: score on the test split, best on validation, %"
    console().print(aligned(title, columns))
    print_failures(grid, overview.cells)
    print(summary(overview))


def aligned(title: str, columns: dict[str, list[str]]) -> Any:
    """A table of columns. Each is one text of many lines: many rows would take rich seconds."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title)
    for name in columns:
        left = name in ("cell", "state")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    table.add_row(*(Text("\n".join(values)) for values in columns.values()))
    return table


def print_failures(grid: Grid, cells: dict[Cell, Progress]) -> None:
    """What failed and why, and how to run it again."""
    from rich.table import Table

    failed = {cell: progress.error for cell, progress in cells.items() if progress.error}
    if not failed:
        return
    table = Table(title="failed")
    for column in ("cell", "error"):
        table.add_column(column)
    for cell, error in failed.items():
        table.add_row(cell.name, error)
    console().print(table)
    print(f"run them again by `hint-relic reproduce --out {grid.path} --retry-failed`")


def duration(seconds: float | None) -> str:
    """Such as `12 s`, `3 min 20 s`, `5 h 10 min`."""
    if seconds is None:
        return "unknown"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
