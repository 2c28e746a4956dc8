"""Seconds of `hint-relic status` for a grid of 1,000 recorded cells.

    python benchmarks/grid.py [--cells 1000] [--rounds 5]

Makes a grid folder in a temporary place: 90 % of its cells finished, with results and metrics as
training writes them (three seeds, 10,000 updates), the others stopped half-way, failed or waiting.
Then runs the whole command, the start of Python included. Writes benchmarks/results/grid.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hint_relic.config import TrainConfig
from hint_relic.grid.folder import Cell, Grid

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RUN = ROOT / "results" / "bfs-baseline"  # a real run: its files are the model for all
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


def seconds(command: list[str]) -> float:
    env = dict(os.environ, PYTHONPATH=str(ROOT / "src"))
    start = time.monotonic()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        grid = fabricate(Path(folder), options.cells)
        for name, flags in (("status", []), ("status --json", ["--json"])):
            command = [sys.executable, "-m", "hint_relic", "status", str(grid.path), *flags]
            times = [seconds(command) for _ in range(options.rounds)]
            rows[name] = {"median_s": statistics.median(times), "all_s": times}
            print(name, rows[name])
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    facts = {
        "commit": commit,
        "command": " ".join(["python", *sys.argv]),
        "cells": options.cells,
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    target = HERE / "results" / "grid.json"
    target.write_text(json.dumps({**facts, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
