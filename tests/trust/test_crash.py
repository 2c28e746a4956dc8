"""Killed at any moment, a command that is started again ends as if nothing had happened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .crash import COMMANDS, check

HERE = Path(__file__).parent
# These take long: workers share them.
EACH = [pytest.param(c, marks=pytest.mark.xdist_group(f"crash {c}")) for c in COMMANDS]


@pytest.mark.parametrize("command", EACH)
def test_twenty_kills(command, tmp_path, monkeypatch):
    """From an empty cache on: programs read from it must give the bits of compiled ones."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    check(command, COMMANDS[command].kills[0], seed=1, top=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("command", EACH)
def test_two_hundred_kills(command, tmp_path):
    check(command, COMMANDS[command].kills[1], seed=2, top=tmp_path)


def test_a_kill_before_every_call_to_the_disk():
    script = [sys.executable, str(HERE / "disk_calls.py")]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["kills"] > 60
