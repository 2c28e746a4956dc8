"""Whole grids at toy size: run, stopped, killed, failed and run again. Real processes."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time

import pytest

from hint_relic.cli import main
from hint_relic.files import Lock, held
from hint_relic.grid.folder import Grid, State

from .conftest import TWO, numbers

ONE = ("--algorithms", "bfs", "--variants", "no_hints")
SIX = ("--algorithms", "bfs,bellman_ford,dijkstra", "--variants", "no_hints,baseline")


def wait_until(true, process) -> None:
    while not true():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)


def test_an_undisturbed_grid(undisturbed):
    out, said = undisturbed
    assert "2 done" in said
    grid = Grid.open(out)
    assert [cell.progress().state for cell in grid.cells] == [State.DONE] * 2
    result = grid.cells[0].result()
    assert result["seeds"] == [0, 1]
    assert result["command"].startswith("hint-relic reproduce --config")
    assert not any(held(cell.folder) for cell in grid.cells)


def test_a_finished_grid_is_only_shown_again(undisturbed, capsys):
    out, _ = undisturbed
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.name != ".lock"}
    assert main(["reproduce", "--out", str(out)]) == 0
    assert "2 done" in capsys.readouterr().out
    assert before == {
        file: file.stat().st_mtime_ns for file in out.rglob("*") if file.name != ".lock"
    }


def kill_at_random(toy, out, options, kills: int, longest_s: float, seed: int) -> None:
    """Start the runner and kill it with all its processes, again and again.

    One that was through before its time to be killed (it may find programs compiled already) begins
    anew, with less time.
    """
    random_, done = random.Random(seed), 0
    while done < kills:
        with toy.start(out, *options) as process:
            time.sleep(random_.uniform(0.0, longest_s))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                done += 1
                continue
            assert process.returncode == 0, process.stdout.read()
        shutil.rmtree(out)
        longest_s, done = longest_s / 2, 0


def test_killed_at_random_moments_it_ends_the_same(undisturbed, toy, tmp_path):
    whole, _ = undisturbed
    time_s = sum(cell.progress().time_s for cell in Grid.open(whole).cells)
    out = tmp_path / "grid"
    kill_at_random(toy, out, TWO, kills=3, longest_s=0.3 * time_s, seed=1)
    code, said = toy.run(out, *TWO)
    assert code == 0, said
    assert numbers(out) == numbers(whole)


@pytest.mark.slow
def test_six_cells_killed_ten_times_end_the_same(toy, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "killed"
    start = time.monotonic()
    code, said = toy.run(whole, *SIX)
    time_s = time.monotonic() - start
    assert code == 0, said
    kill_at_random(toy, out, SIX, kills=12, longest_s=0.12 * time_s, seed=2)
    code, said = toy.run(out, *SIX)
    assert code == 0, said
    assert len(numbers(whole)) == 6
    assert numbers(out) == numbers(whole)


def test_asked_to_stop_it_stops_its_cells_and_fails_none(toy, tmp_path):
    out = tmp_path / "grid"
    cell = out / "cells" / "bfs-no_hints"
    with toy.start(out, *TWO) as process:
        wait_until(lambda: (cell / "environment.json").exists(), process)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
    assert not held(out)
    assert not held(cell)
    assert [cell.progress().state for cell in Grid.open(out).cells] == [State.WAITING] * 2


def test_cells_end_with_their_runner(toy, tmp_path):
    """Killed alone, so that it can't tell them."""
    out = tmp_path / "grid"
    cell = out / "cells" / "bfs-no_hints"
    with toy.start(out, *ONE) as process:
        wait_until(lambda: held(cell), process)
        process.kill()
    until = time.monotonic() + 30.0
    while held(cell) and time.monotonic() < until:
        time.sleep(0.05)
    assert not held(cell)
    assert not (cell / "result.json").exists()


def without_first_cell(whole, out):
    """A copy of a finished grid in which the first cell never ran; the folder of that cell."""
    shutil.copytree(whole, out)
    cell = out / "cells" / "bfs-no_hints"
    shutil.rmtree(cell)
    return cell


def test_a_cell_that_fails_is_recorded_and_run_again_when_asked(undisturbed, toy, tmp_path):
    whole, _ = undisturbed
    out = tmp_path / "grid"
    cell = without_first_cell(whole, out)
    cell.mkdir()
    (cell / "strange.txt").write_text("in the way")
    code, said = toy.run(out, *TWO)
    assert code == 1
    assert "1 done, 1 failed" in said
    assert "--retry-failed" in said
    error = json.loads((cell / "error.json").read_text())
    assert "not a run folder and not empty" in error["message"]
    assert "Traceback" in error["traceback"]
    (cell / "strange.txt").unlink()
    with pytest.raises(SystemExit, match="1"):  # it is not run again unasked
        main(["reproduce", "--out", str(out)])
    code, said = toy.run(out, *TWO, "--retry-failed")
    assert code == 0, said
    assert not (cell / "error.json").exists()
    assert numbers(out) == numbers(whole)


def test_a_full_disk_loses_nothing(undisturbed, toy, tmp_path):
    """A limit on the size of files stands in for it: the checkpoint can't be written."""
    whole, _ = undisturbed
    out = tmp_path / "grid"
    cell = without_first_cell(whole, out)
    code, said = toy.run(out, *TWO, before="ulimit -f 8")
    assert code == 2
    assert "no room to write" in said
    assert "Traceback" not in said
    assert not list(cell.rglob("*.part"))
    assert [cell.progress().state for cell in Grid.open(out).cells] == [State.WAITING, State.DONE]


def test_the_second_runner_is_told(undisturbed, capsys):
    out, _ = undisturbed
    with Lock(out):
        assert main(["reproduce", "--out", str(out)]) == 2
    assert f"is in use by another process (pid {os.getpid()} on " in capsys.readouterr().err
