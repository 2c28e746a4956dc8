"""Seconds of `hint-relic status` for 1,000 recorded cells, and what a runner costs a cell.

    python benchmarks/grid.py [--cells 1000] [--rounds 5] [--parts status,overhead]

status: makes a grid folder in a temporary place, 90 % of its cells finished, with results and
metrics as training writes them (three seeds, 10,000 updates), the others stopped half-way, failed
or waiting; then runs the whole command, the start of Python included.

overhead: `hint-relic train` and `hint-relic reproduce` of the same toy cell in turn, everything
compiled before; the difference is the runner's own. In seconds of wall clock, and of processors
(of all processes together), which a busy machine disturbs less.

Writes benchmarks/results/grid.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from hint_relic.config import TrainConfig
from hint_relic.grid.folder import Cell, Grid
from machine import commit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RUN = ROOT / "results" / "bfs-baseline"  # a real run: its files are the model for all
TOY = """
steps = 8
seeds = 1
sizes = [4]
batch_size = 2
validation_samples = 4
[model]
hidden = 4
triplets = 2
"""
PERCENT_DONE, PERCENT_STOPPED, PERCENT_FAILED = 90, 95, 97


def fabricate(folder: Path, count: int) -> Grid:
    """A grid folder that looks as if training had filled it."""
    result = (RUN / "result.json").read_text()
    metrics = (RUN / "metrics.jsonl").read_text()
    configs = [TrainConfig(algorithm=f"algorithm_{k}") for k in range(count)]
    grid = Grid.make(folder, configs, "0.1.0", ["hint-relic", "reproduce"])
    for k, cell in enumerate(grid.cells):
        fill(cell, 100 * k / count, result, metrics)
    return grid


def fill(cell: Cell, percent: float, result: str, metrics: str) -> None:
    cell.folder.mkdir(parents=True)
    if percent < PERCENT_DONE:
        (cell.folder / "metrics.jsonl").write_text(metrics)
        (cell.folder / "result.json").write_text(result)
    elif percent < PERCENT_STOPPED:
        (cell.folder / "metrics.jsonl").write_text(metrics[: len(metrics) // 2])
        (cell.folder / ".lock").write_text("1 on nowhere")
    elif percent < PERCENT_FAILED:
        cell.fail("the loss is no longer finite", "Traceback")


class Cost(NamedTuple):
    """What a command took, with all its processes."""

    wall_s: float
    processor_s: float


def cost(*words: str) -> Cost:
    command = [sys.executable, "-m", "hint_relic", *words]
    env = dict(os.environ, PYTHONPATH=str(ROOT / "src"))
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env=env, check=True, capture_output=True)
    wall, now = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)


def summary(costs: list[Cost]) -> dict[str, object]:
    medians = (statistics.median(values) for values in zip(*costs))
    return {**Cost(*medians)._asdict(), "all": [c._asdict() for c in costs]}


def measure_status(cells: int, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        grid = fabricate(Path(folder), cells)
        ways = {"status": (), "status --json": ("--json",)}
        return {
            way: summary([cost("status", str(grid.path), *flags) for _ in range(rounds)])
            for way, flags in ways.items()
        }


def measure_overhead(rounds: int) -> dict[str, object]:
    """train and reproduce in turn, after one round that compiles."""
    found: dict[str, list[Cost]] = {"train": [], "reproduce": []}
    with tempfile.TemporaryDirectory() as folder:
        toy = Path(folder) / "toy.toml"
        toy.write_text(TOY)
        for k in range(rounds + 1):
            out = [f"{folder}/{way}-{k}" for way in found]
            ways = (
                cost("train", "bfs", "--config", str(toy), "--out", out[0]),
                cost("reproduce", "--algorithms", "bfs", "--variants", "baseline",
                     "--config", str(toy), "--out", out[1]),
            )  # fmt: skip
            for costs, found_now in zip(found.values(), ways):
                costs.append(found_now)
    more = [
        Cost(b.wall_s - a.wall_s, b.processor_s - a.processor_s) for a, b in zip(*found.values())
    ]
    return {way: summary(costs[1:]) for way, costs in found.items()} | {
        "difference": summary(more[1:])
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", default="status,overhead")
    options = parser.parse_args()
    parts = {
        "status": lambda: measure_status(options.cells, options.rounds),
        "overhead": lambda: measure_overhead(options.rounds),
    }
    for part in options.parts.split(","):
        record(part, {**facts(options), **parts[part]()})


def record(part: str, found: dict[str, object]) -> None:
    """Put a part into the results, beside the others."""
    print(part, json.dumps(found, indent=2), flush=True)
    target = HERE / "results" / "grid.json"
    before = json.loads(target.read_text()) if target.exists() else {}
    target.write_text(json.dumps({**before, part: found}, indent=2) + "\n")


def facts(options: argparse.Namespace) -> dict[str, object]:
    """Where and how a part was measured."""
    return {
        "commit": commit(),
        "command": " ".join(["python", *sys.argv]),
        "cells": options.cells,
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
