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


def start_and_kill(
    spawn: Spawner, arguments: list[str], folder: Path, longest: float, rng: random.Random
) -> int:
    """The exit status of a command that is killed at some moment, unless it has ended before.

    Half of the kills come at any moment of the time that it takes, half when it has just written
    something. Half hit the process alone, half all that it has started, too.
    """
    pid = spawn.start(arguments)
    status = spawn.ended(rng.uniform(0.0, longest))
    if rng.random() < 0.5:
        before = changed(folder)
        while status is None and changed(folder) == before:
            status = spawn.ended(0.002)
        status = spawn.ended(rng.uniform(0.0, 0.02)) if status is None else status
    if status is None:
        rng.choice((os.kill, os.killpg))(pid, signal.SIGKILL)
        status = spawn.ended(60.0)
    assert status in (0, -signal.SIGKILL), spawn.log.read_text()[-3000:]
    return status


def check(name: str, kills: int, seed: int, top: Path) -> int:
    """What a command leaves after so many kills must be what it leaves when it is left alone.

    Whenever it comes to an end between two kills, that is compared, too, and it begins anew; the
    number of times that it came to an end.
    """
    command, rng = COMMANDS[name], random.Random(seed)
    killed = ended = 0

    def left_alone(folder: Path) -> dict[str, Any]:
        folder.mkdir(exist_ok=True)
        assert spawn.run(command.arguments(folder)) == 0, spawn.log.read_text()[-3000:]
        return command.left(folder)

    with spawner(top / f"{name}.log") as spawn:
        wanted = left_alone(top / "whole")
        begin = time.monotonic()  # the second time, as programs are compiled now
        assert left_alone(top / "again") == wanted
        longest = time.monotonic() - begin
        folder = top / "killed-0"
        folder.mkdir()
        while killed < kills:
            if start_and_kill(spawn, command.arguments(folder), folder, longest, rng):
                killed += 1
                longest *= 1.1
            else:
                assert command.left(folder) == wanted
                ended += 1
                longest *= 0.7  # so that one start in a few comes to an end
                folder = top / f"killed-{ended}"
                folder.mkdir()
        assert left_alone(folder) == wanted
    assert "Traceback" not in spawn.log.read_text()
    return ended + 1


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
            f"{name}: {kills} kills, {kills + ended} starts, of which {ended} came to an end, "
            f"all as if undisturbed ({time.monotonic() - begin:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
