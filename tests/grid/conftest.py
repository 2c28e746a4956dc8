"""What the tests of grids share: a toy grid, run by the real command in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hint_relic.config import ModelConfig, TrainConfig
from hint_relic.grid.folder import Cell, Grid

TOY = """
steps = 8
seeds = 2
sizes = [4]
batch_size = 2
report_every = 2
validate_every = 4
checkpoint_every = 2
validation_samples = 4
[model]
hidden = 4
triplets = 2
[optimiser]
average = 0.0
"""
TWO = ("--algorithms", "bfs", "--variants", "no_hints,baseline")


class Toy:
    """Starts `hint-relic reproduce` at toy size."""

    def __init__(self, folder: Path):
        self.config = folder / "toy.toml"
        self.config.write_text(TOY)

    def arguments(self, out: Path, *options: str) -> list[str]:
        return ["reproduce", "--config", str(self.config), "--out", str(out), *options]

    def start(self, out: Path, *options: str, before: str = "") -> subprocess.Popen[str]:
        """A runner in a process group of its own; `before`: shell commands to run first."""
        command = [sys.executable, "-m", "hint_relic", *self.arguments(out, *options)]
        shell = ["bash", "-c", f'{before}\nexec "$@"', "bash"]
        return subprocess.Popen(
            [*shell, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, env=dict(os.environ, JAX_PLATFORMS="cpu"),
        )  # fmt: skip

    def run(self, out: Path, *options: str, before: str = "") -> tuple[int, str]:
        """(exit code, all it said)."""
        with self.start(out, *options, before=before) as process:
            said = process.communicate()[0]
        return process.returncode, said


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    return Toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def undisturbed(toy, tmp_path_factory):
    """A grid of two cells that ran from start to end: (folder, what the command said)."""
    out = tmp_path_factory.mktemp("undisturbed") / "grid"
    code, said = toy.run(out, *TWO)
    assert code == 0, said
    return out, said


def numbers(out: Path) -> dict[str, object]:
    """What must not depend on how a grid came about: weights and scores of each cell."""
    return {
        cell.name: (result["parameters_sha256"], result["test"], result["validation"])
        for cell in Grid.open(out).cells
        if (result := cell.result()) is not None
    }


def fabricated(out: Path, *names: str, steps: int = 100) -> Grid:
    """A grid folder in which nothing has run."""
    out.mkdir(parents=True, exist_ok=True)
    configs = [
        TrainConfig(algorithm=a, variant=v, steps=steps, model=ModelConfig(hidden=4))
        for a, v in (name.split("-") for name in names)
    ]
    return Grid.make(out, configs, "0.1.0", ["hint-relic", "reproduce"])


def finish(cell: Cell, seconds: float = 10.0, score: float = 0.5) -> None:
    """Write the result of a cell, as training would."""
    cell.folder.mkdir(parents=True, exist_ok=True)
    result = {
        "steps": cell.config.steps,
        "time": {"total_s": seconds},
        "test": {"best": {"mean": score, "stderr": 0.01}},
    }
    (cell.folder / "result.json").write_text(json.dumps(result))


def report(cell: Cell, step: int, seconds: float, rate: float) -> None:
    """Write a line of metrics, as training would."""
    cell.folder.mkdir(parents=True, exist_ok=True)
    record = {"step": step, "kind": "train", "elapsed_s": seconds, "updates_per_s": rate}
    with open(cell.folder / "metrics.jsonl", "a") as file:
        file.write(json.dumps(record) + "\n")
