"""Kill commands at random moments, start them again, and see what is left.

To put another command to the test, add a line to `COMMANDS`. By hand, for longer:

    PYTHONPATH=src:tests python -m trust.crash
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hint_relic.report.export import to_csv
from hint_relic.report.gather import gather

HERE = Path(__file__).parent
STEPS = 120
TRAIN = [
    "train", "bfs", "--steps", str(STEPS), "--seeds", "2", "--sizes", "4", "5",
    "--report-every", "7", "--validate-every", "40", "--checkpoint-every", "1",
    "--validation-samples", "8", "--model.hidden", "8", "--model.triplets", "2",
]  # fmt: skip
GRID = """
steps = 40
sizes = [4]
batch_size = 2
report_every = 7
validate_every = 20
checkpoint_every = 1
validation_samples = 4
[model]
hidden = 4
triplets = 2
"""
REPRODUCE = ["reproduce", "--algorithms", "bfs", "--variants", "no_hints,baseline", "--seeds", "2"]
EXPORT = ["export", "insertion_sort", "--size", "32", "--samples", "200"]
TIMES = ("elapsed_s", "updates_per_s")


def of_run(folder: Path) -> dict[str, Any]:
    """Everything about a finished run but the time it took."""
    result = json.loads((folder / "result.json").read_text())
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return {
        **{k: result[k] for k in ("parameters_sha256", "test", "validation", "steps")},
        "metrics": [{k: v for k, v in r.items() if k not in TIMES} for r in records],
        "files": sorted(item.name for item in folder.iterdir()),
        "event files": len(list((folder / "events").iterdir())),
    }


def of_grid(top: Path) -> dict[str, Any]:
    """Everything about the cells of a finished grid, its table, and the files beside them."""
    grid = top / "grid"
    return {
        "cells": {cell.name: of_run(cell) for cell in (grid / "cells").iterdir()},
        "table": to_csv(gather(grid)),
        "files": sorted(item.name for item in grid.iterdir()),
        "plan": json.loads((grid / "grid.json").read_text())["cells"],
    }


def reproduce(top: Path) -> list[str]:
    config = top / "toy.toml"
    config.write_text(GRID)
    return [*REPRODUCE, "--config", str(config), "--out", str(top / "grid")]


def of_file(folder: Path) -> dict[str, Any]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()}


@dataclass(frozen=True)
class Command:
    """A command that writes into a folder, and what it must leave there.

    kills: of the short and of the long version.
    """

    arguments: Callable[[Path], list[str]]
    left: Callable[[Path], dict[str, Any]]
    kills: tuple[int, int]


COMMANDS = {
    "train": Command(lambda out: [*TRAIN, "--out", str(out)], of_run, (9, 120)),
    "reproduce": Command(reproduce, of_grid, (4, 40)),
    "export": Command(lambda out: [*EXPORT, "--out", str(out / "x.npz")], of_file, (7, 60)),
}


class Spawner:
    """Commands as processes of their own."""

    def __init__(self, log: Path):
        self.log = log
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "spawn.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )

    def start(self, arguments: list[str]) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"arguments": arguments, "log": str(self.log)}) + "\n")
        return self._line()

    def _line(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def ended(self, within: float) -> int | None:
        """The exit status (negative: the signal) of the command, if it ends in time."""
        ready, _, _ = select.select([self._process.stdout], [], [], within)
        return os.waitstatus_to_exitcode(self._line()) if ready else None

    def run(self, arguments: list[str]) -> int:
        """The exit status of a command that is left alone."""
        self.start(arguments)
        while (status := self.ended(60.0)) is None:
            pass
        return status

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextmanager
def spawner(log: Path) -> Iterator[Spawner]:
    made = Spawner(log)
    try:
        yield made
    finally:
        made.close()


def changed(folder: Path) -> Any:
    """Something that differs when a command has written."""
    try:
        return sorted((str(item), item.stat().st_mtime_ns) for item in folder.rglob("*"))
    except FileNotFoundError:  # renamed meanwhile
        return None


def kill_at_random(
    spawn: Spawner, command: Command, folder: Path, kills: int, rng: random.Random
) -> int:
    """Kill the command so many times, starting it again; how many of those starts came to an end.

    Half of the kills come at any moment, half soon after the command has written something. Half
    hit the process alone, half all that it has started, too.
    """
    folder.mkdir(exist_ok=True)
    alive = 0.0
    killed = ended = 0
    while killed < kills:
        before, begin = changed(folder), time.monotonic()
        pid = spawn.start(command.arguments(folder))
        if rng.random() < 0.5:
            status = spawn.ended(rng.uniform(0.0, max(alive, 0.5)))
        else:
            while (status := spawn.ended(0.005)) is None and changed(folder) == before:
                pass
            status = spawn.ended(rng.uniform(0.0, 0.5)) if status is None else status
        if status is None:
            rng.choice((os.kill, os.killpg))(pid, signal.SIGKILL)
            status = spawn.ended(60.0)
        alive = max(alive, time.monotonic() - begin)
        assert status in (0, -signal.SIGKILL), spawn.log.read_text()[-3000:]
        if status == 0:  # it had finished: from the beginning, in the next round
            ended += 1
            for item in sorted(folder.rglob("*"), reverse=True):
                item.rmdir() if item.is_dir() else item.unlink()
        else:
            killed += 1
    return ended


def check(name: str, kills: int, seed: int, top: Path) -> int:
    """What an undisturbed command leaves must be what a killed one leaves after a last start.

    How many of the starts before that came to an end.
    """
    command = COMMANDS[name]
    with spawner(top / f"{name}.log") as spawn:
        (top / "whole").mkdir()
        assert spawn.run(command.arguments(top / "whole")) == 0, spawn.log.read_text()[-3000:]
        wanted = command.left(top / "whole")
        ended = kill_at_random(spawn, command, top / "killed", kills, random.Random(seed))
        assert spawn.run(command.arguments(top / "killed")) == 0, spawn.log.read_text()[-3000:]
        found = command.left(top / "killed")
    assert "Traceback" not in (top / f"{name}.log").read_text()
    assert found == wanted
    return ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COMMANDS)
    options = parser.parse_args()
    for name in [options.only] if options.only else COMMANDS:
        begin, kills = time.monotonic(), options.kills or COMMANDS[name].kills[1]
        with tempfile.TemporaryDirectory() as top:
            ended = check(name, kills, options.seed, Path(top))
        print(
            f"{name}: {kills} kills, {kills + ended + 1} starts, then as if undisturbed "
            f"({time.monotonic() - begin:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
