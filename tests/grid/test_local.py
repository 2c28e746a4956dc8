"""The local executor: devices, failures, and the processes it starts. No training here."""

from __future__ import annotations

import os
import sys

import pytest

from hint_relic.errors import UserError
from hint_relic.grid import local
from hint_relic.grid.cell import Outcome, full_disk
from hint_relic.grid.folder import State
from hint_relic.grid.run import run_grid, unfinished

from .conftest import fabricated, finish

NAMES = [f"bfs-{v}" for v in ("no_hints", "baseline", "baseline_reversal", "hint_relic")]


@pytest.fixture
def pretend(tmp_path, monkeypatch):
    """Let cells be run by a shell script in place of Python: $3 is the grid, $4 the cell."""

    def replace(script: str) -> None:
        file = tmp_path / "python"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(file))

    return replace


def test_no_gpu_no_question(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert local.gpus() == []


def test_several_cells_share_a_device_where_asked_for(tmp_path, monkeypatch, pretend):
    monkeypatch.setattr(local, "gpus", lambda: ["7"])
    grid = fabricated(tmp_path / "grid", *NAMES)
    # Each waits for a second one to be there: alone none would ever end well.
    pretend('touch "$3/$4"; for i in 1 2 3 4 5 6 7 8 9; do [ $(ls "$3" | grep -c bfs) -gt 1 ] && '
            'exit 0; sleep 0.3; done; exit 9')  # fmt: skip
    executor = local.Local(at_once=2)
    run_grid(grid, executor)
    assert executor.count == 2
    assert not [cell for cell in grid.cells if cell.progress().state is State.FAILED]


def test_each_process_gets_a_device_of_its_own(tmp_path, monkeypatch, pretend):
    monkeypatch.setattr(local, "gpus", lambda: ["3", "5"])
    grid = fabricated(tmp_path / "grid", *NAMES)
    pretend('echo "$4 $CUDA_VISIBLE_DEVICES" >> "$3/said"; sleep 0.3')
    ended = []
    executor = local.Local()
    run_grid(grid, executor, ended.append)
    assert executor.count == 2
    assert {cell.name for cell in ended} == set(NAMES)
    said = dict(line.split() for line in (grid.path / "said").read_text().splitlines())
    assert set(said) == set(NAMES)
    assert sorted(said.values()) == ["3", "3", "5", "5"]


def test_without_gpus_there_is_one_process_and_the_environment_is_untouched(tmp_path, pretend):
    grid = fabricated(tmp_path / "grid", *NAMES[:2])
    pretend('echo "[$CUDA_VISIBLE_DEVICES]" >> "$3/said"')
    executor = local.Local()
    run_grid(grid, executor)
    assert executor.count == 1
    here = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    assert (grid.path / "said").read_text().splitlines() == [f"[{here}]"] * 2


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("kill -9 $$", "was ended by SIGKILL .out of memory"),
        ("kill -11 $$", "was ended by SIGSEGV"),
        ("echo bad luck; exit 7", "ended with exit code 7; see .*bfs-no_hints.log"),
    ],
)
def test_a_process_that_dies_is_a_recorded_failure_and_the_others_go_on(
    tmp_path, pretend, script, message
):
    grid = fabricated(tmp_path / "grid", *NAMES[:2])
    pretend(f"[ $4 = bfs-baseline ] && exit 0\n{script}")
    ended = []
    run_grid(grid, local.Local(), ended.append)
    assert len(ended) == 2
    progress = grid.cells[0].progress()
    assert progress.state is State.FAILED
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(progress.error)
    if "luck" in script:
        assert "bad luck" in (grid.cells[0].folder / "error.json").read_text()


def test_a_full_disk_ends_it_all(tmp_path, pretend):
    grid = fabricated(tmp_path / "grid", *NAMES)
    pretend(f'echo "$4" >> "$3/said"; exit {Outcome.NO_ROOM.value}')
    with pytest.raises(UserError, match=r"no room to write .* goes on from the last checkpoints"):
        run_grid(grid, local.Local())
    assert all(cell.progress().state is State.WAITING for cell in grid.cells)


def test_a_full_disk_is_known_by_its_cause():
    error = UserError("could not write")
    error.__cause__ = OSError(28, "No space left on device")
    assert full_disk(error)
    assert not full_disk(OSError(13, "Permission denied"))
    assert not full_disk(ValueError())


def test_what_is_done_is_kept_and_what_failed_waits_to_be_asked_for(tmp_path):
    grid = fabricated(tmp_path / "grid", *NAMES[:3])
    finish(grid.cells[0])
    grid.cells[1].fail("it broke", "")
    assert unfinished(grid, retry_failed=False) == [grid.cells[2]]
    assert unfinished(grid, retry_failed=True) == [*grid.cells[1:]]
