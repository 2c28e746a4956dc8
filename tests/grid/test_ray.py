"""The same grid on Ray: a real one on this machine, with a worker that dies."""

from __future__ import annotations

import os
import signal
import time

import pytest

pytest.importorskip("ray", reason="the optional extra `ray` is not installed")

from hint_relic.cli import main
from hint_relic.grid.folder import Grid

from .conftest import TWO, numbers


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ray://127.0.0.1:9", "no Ray cluster can be reached at ray://127.0.0.1:9"),
        ("127.0.0.1:9", "no Ray cluster can be reached"),
        ("ray://nowhere", "--address takes ray://HOST:PORT"),
        ("ray://host:port", "--address takes ray://HOST:PORT"),
    ],
)
def test_a_cluster_out_of_reach(address, message, tmp_path, capsys):
    out = tmp_path / "grid"
    arguments = ["--algorithms", "bfs", "--out", str(out), "--on", "ray", "--address", address]
    assert main(["reproduce", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not out.exists()


@pytest.mark.slow
def test_a_worker_that_dies_in_the_middle_of_a_cell(undisturbed, toy, tmp_path):
    whole, _ = undisturbed
    out = tmp_path / "grid"
    cell = out / "cells" / "bfs-no_hints"
    with toy.start(out, *TWO, "--on", "ray") as process:
        while not (cell / "last.safetensors").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.01)
        worker = int((cell / ".lock").read_text().split()[0])
        os.kill(worker, signal.SIGKILL)
        assert not (cell / "result.json").exists()
        said = process.communicate()[0]
    assert process.returncode == 0, said
    (events,) = (cell / "events").iterdir()  # of the process that went on
    assert not events.name.endswith(f".{worker}")
    assert len(Grid.open(out).cells) == 2
    assert numbers(out) == numbers(whole)
