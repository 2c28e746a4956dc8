"""Files shared by processes: locks the dead do not hold, writes that leave nothing half done."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hint_relic.errors import UserError
from hint_relic.files import Lock, held, remove_leftovers, tail, write_atomically

HOLD = """
import sys, time
from pathlib import Path
from hint_relic.files import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_is_told_who_holds_a_folder(tmp_path, holder):
    assert held(tmp_path)
    with pytest.raises(UserError, match=f"in use by another process .pid {holder.pid} on "):
        Lock(tmp_path)


def test_the_dead_hold_nothing(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert (tmp_path / ".lock").read_text()  # it had no time to clean up
    assert not held(tmp_path)
    with Lock(tmp_path):
        assert (tmp_path / ".lock").read_text().startswith(str(os.getpid()))
    assert not held(tmp_path)


def test_looking_at_a_lock_does_not_take_it(tmp_path):
    assert not held(tmp_path)
    with Lock(tmp_path):
        assert held(tmp_path)
        assert held(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="can't use"):
        Lock(tmp_path / "file")


def test_only_what_was_written_aside_is_removed(tmp_path):
    write_atomically(tmp_path / "kept.json", b"{}")
    for name in (".kept.json.123.part", "my.part", ".hidden"):
        (tmp_path / name).write_text("")
    remove_leftovers(tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {"kept.json", "my.part", ".hidden"}


def test_tail_has_whole_lines(tmp_path):
    file = tmp_path / "lines"
    assert tail(file, 10) == ""
    file.write_text("first\nsecond\nthird\n")
    assert tail(file, 9) == "third\n"
    assert tail(file, 100) == "first\nsecond\nthird\n"
