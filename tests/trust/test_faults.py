"""What goes wrong on clusters: full disks, damage, clocks, signals, too little memory, rivals."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.cli import main
from hint_relic.errors import UserError
from hint_relic.files import Lock, is_leftover, write_whole
from hint_relic.memory import needs_room
from hint_relic.train import checkpoint, loop, stop
from hint_relic.train.loop import train
from tiny import TINY

pytestmark = pytest.mark.xdist_group("trust")
SAME = ("parameters_sha256", "test", "validation")


def assert_as_undisturbed(folder, result, whole):
    assert {k: result[k] for k in SAME} == {k: whole[1][k] for k in SAME}
    assert steps(folder) == steps(whole[0])
    names = {item.name for item in folder.iterdir()} - {"damaged.safetensors"}
    assert names == {item.name for item in whole[0].iterdir()}


def steps(folder):
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [(r["step"], r["kind"]) for r in map(json.loads, lines)]


def told(error) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


class StopRunError(Exception):
    """What a test throws to end a run in the middle."""


def stop_at(step, kind="train"):
    def report(record):
        if (record.get("step"), record.get("kind")) == (step, kind):
            raise StopRunError

    return report


# --- disks ---------------------------------------------------------------------------------------


def test_a_full_disk_is_told_and_nothing_is_lost(disk, whole):
    with pytest.raises(UserError) as error:
        train(TINY, disk.path / "run")
    assert "No space left on device" in told(error)
    assert not any(map(is_leftover, (disk.path / "run").iterdir()))
    disk.change("size=8m")
    assert_as_undisturbed(disk.path / "run", train(TINY, disk.path / "run"), whole)


def test_a_file_that_may_not_grow_is_told_and_nothing_is_lost(tmp_path, whole):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, before[1]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the cache of programs can't be written either
            with pytest.raises(UserError) as error:
                train(TINY, tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large" in told(error)
    assert not any(map(is_leftover, (tmp_path / "run").iterdir()))
    assert_as_undisturbed(tmp_path / "run", train(TINY, tmp_path / "run"), whole)


def test_an_export_that_does_not_fit_leaves_nothing(disk, capsys):
    out = disk.path / "x.npz"
    assert main(["export", "bfs", "--size", "16", "--samples", "300", "--out", str(out)]) == 2
    assert capsys.readouterr().err.endswith("No space left on device; nothing was written\n")
    assert not any(disk.path.iterdir())


def test_a_read_only_disk_is_told(disk):
    disk.change("ro")
    with pytest.raises(UserError) as error:
        train(TINY, disk.path / "run")
    assert "Read-only file system" in told(error)
    with pytest.raises(UserError, match="Read-only file system"):
        write_whole(disk.path / "x.npz", lambda file: file.write(b"x"))


# --- damage --------------------------------------------------------------------------------------


def test_a_damaged_checkpoint_never_replaces_the_good_one_before_it(tmp_path, whole):
    folder = tmp_path / "run"
    with pytest.raises(StopRunError):
        train(TINY, folder, report=stop_at(6))
    damaged = folder / "last.safetensors"
    content = bytearray(damaged.read_bytes())
    content[-40] ^= 1
    damaged.write_bytes(content)
    said = []

    def killed_soon(record):
        said.append(record)
        if "warning" not in record:
            raise StopRunError

    with pytest.raises(StopRunError):
        train(TINY, folder, report=killed_soon)
    assert "last.safetensors is damaged: its content does not match" in said[0]["warning"]
    assert "going on from the checkpoint before it" in said[0]["warning"]
    assert (folder / "damaged.safetensors").read_bytes() == bytes(content)
    (folder / "last.safetensors").unlink(missing_ok=True)
    assert_as_undisturbed(folder, train(TINY, folder), whole)


def test_metrics_that_a_crash_cut_short_are_neither_lost_nor_counted_twice(tmp_path, whole):
    folder = tmp_path / "run"
    with pytest.raises(StopRunError):
        train(TINY, folder, report=stop_at(6))
    with open(folder / "metrics.jsonl", "ab") as file:
        file.write(b'{"step": 6, "kind": "valid')
    assert_as_undisturbed(folder, train(TINY, folder), whole)
    assert len(list((folder / "events").iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"steps": 6}', b"[" * 10_000])
def test_a_damaged_result_is_told_with_the_remedy(content, tmp_path, whole):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "result.json").write_bytes(content)
    with pytest.raises(UserError) as error:
        train(TINY, folder)
    assert "remove it, and the same command makes it again" in told(error)


def test_the_remedy_helps(tmp_path, whole):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "result.json").unlink()
    assert_as_undisturbed(folder, train(TINY, folder), whole)


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path, whole, monkeypatch):
    now = [2e9]

    def earlier():
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", earlier)
    with pytest.raises(StopRunError):
        train(TINY, tmp_path / "run", report=stop_at(4))
    result = train(TINY, tmp_path / "run")
    assert_as_undisturbed(tmp_path / "run", result, whole)
    assert result["time"]["total_s"] > 0


# --- signals -------------------------------------------------------------------------------------


def test_sigterm_saves_and_ends(tmp_path, whole):
    folder = tmp_path / "run"

    def terminate(record):
        if record["step"] == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    rare = replace(TINY, report_every=2, checkpoint_every=1000)
    with pytest.raises(SystemExit) as ended:
        train(rare, folder, report=terminate)
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert (folder / "last.safetensors").exists()
    assert_as_undisturbed_but_for_checkpoints(folder, train(rare, folder), whole)


def assert_as_undisturbed_but_for_checkpoints(folder, result, whole):
    assert {k: result[k] for k in SAME} == {k: whole[1][k] for k in SAME}
    assert steps(folder) == steps(whole[0])


def test_sigterm_ends_at_once_where_nothing_is_to_be_saved(tmp_path, monkeypatch):
    """While it compiles or scores, Python would not hear the signal for long: the system does."""
    outside = signal.getsignal(signal.SIGTERM)
    seen = []

    def watched(name, real):
        def call(*arguments, **options):
            saved = (tmp_path / "run" / "last.safetensors").exists()
            seen.append((name, signal.getsignal(signal.SIGTERM) is outside, saved))
            return real(*arguments, **options)

        return call

    monkeypatch.setattr(loop.Programs, "prepare", watched("compile", loop.Programs.prepare))
    monkeypatch.setattr(loop, "evaluate", watched("score", loop.evaluate))
    train(replace(TINY, checkpoint_every=1000), tmp_path / "run")
    assert seen[0] == ("compile", True, False)
    assert set(seen[1:]) == {("score", True, True)}


def test_the_device_is_never_handed_much_more_than_a_second_of_work(monkeypatch):
    """All of it would have to be waited for before the last update can be saved."""
    now, handed, waits = 0.0, 0, []

    def wait(_):
        nonlocal now, handed
        now += 0.1 * handed
        waits.append(handed)
        handed = 0

    monkeypatch.setattr(stop.time, "monotonic", lambda: now)
    monkeypatch.setattr(stop.jax, "block_until_ready", wait)
    pace = stop.Pace()
    for _ in range(100):
        handed += 1
        pace(None)
    assert max(waits) <= 10
    assert waits[-1] >= 9


# --- memory --------------------------------------------------------------------------------------


def test_too_little_memory_says_for_what_and_what_to_lower(tmp_path):
    def hungry(network, batch, key):
        """32 TB, which no machine has."""
        loss = jnp.sort(network.decoders["pi"].out.weight.sum() * jnp.ones((2**15, 2**14, 2**14)))
        return loss[0, 0, 0], {"loss": loss[0, 0, 0]}

    with pytest.raises(UserError) as error:
        train(TINY, tmp_path / "run", objective=hungry)
    message = told(error)
    assert (
        "too little memory for updates of 2 networks (hidden 4) on 16 samples of up to 4" in message
    )
    assert "lower --batch-size, --seeds or --model.hidden" in message


def test_other_errors_of_the_device_are_not_taken_for_it():
    with (
        pytest.raises(jax.errors.JaxRuntimeError),
        needs_room("this", "that"),
    ):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")


# --- two at once ---------------------------------------------------------------------------------

HOLD = """
import sys
from pathlib import Path
from hint_relic.files import Lock

lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds a run folder."""
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "run")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdout.readline() == b"held\n"
    yield held
    held.kill()
    held.communicate()


def test_the_second_is_told_who_has_it_and_gets_it_from_the_dead(tmp_path, holder, whole):
    with pytest.raises(UserError) as error:
        train(TINY, tmp_path / "run")
    assert f"in use by another process (pid {holder.pid} on " in told(error)
    holder.kill()
    holder.wait()
    assert (tmp_path / "run" / ".lock").read_text().startswith(str(holder.pid))
    assert_as_undisturbed(tmp_path / "run", train(TINY, tmp_path / "run"), whole)


def test_a_number_that_another_process_got_meanwhile_does_not_lock(tmp_path):
    (tmp_path / ".lock").write_text(f"{os.getppid()} on here")
    with Lock(tmp_path):
        assert (tmp_path / ".lock").read_text().startswith(f"{os.getpid()} on ")


def test_two_that_write_the_same_file_do_not_mix(tmp_path):
    def rival(file):
        file.write(b"first")
        with pytest.raises(UserError, match="is being written by another process"):
            write_whole(tmp_path / "x", lambda other: other.write(b"second"))

    write_whole(tmp_path / "x", rival)
    assert (tmp_path / "x").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["x"]


def test_what_a_killed_writer_left_is_taken_over(tmp_path):
    (tmp_path / ".x.part").write_bytes(b"half of something longer")
    write_whole(tmp_path / "x", lambda file: file.write(b"new"))
    assert (tmp_path / "x").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x"]


# --- somebody else's files -----------------------------------------------------------------------


def test_restart_removes_a_run_and_nothing_else(tmp_path, whole):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(UserError, match="is not a run folder"):
        train(TINY, tmp_path, restart=True)
    assert os.listdir(tmp_path) == ["precious.txt"]
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "notes.txt").write_text("mine")
    result = train(replace(TINY, steps=3), folder, restart=True)
    assert result["steps"] == 3
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", [".lock", "metrics.jsonl", "config.json", "events"])
def test_links_do_not_lead_out_of_the_folder(name, tmp_path, whole):
    """Somebody else's folder may hold a link to any file of yours."""
    outside = tmp_path / "outside"
    if name == "events":
        outside.mkdir()
        (outside / "events.out.tfevents.mine").write_text("mine")
    else:
        outside.write_text("mine")
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "result.json").unlink()
    if name == "events":
        shutil.rmtree(folder / name)
    else:
        (folder / name).unlink()
    (folder / name).symlink_to(outside)
    with pytest.raises(UserError) as error:
        train(TINY, folder)
    assert "link" in told(error)
    kept = outside / "events.out.tfevents.mine" if name == "events" else outside
    assert kept.read_text() == "mine"


def test_endless_files_are_not_read(tmp_path, whole):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    os.mkfifo(folder / "pipe")
    for name, target in (("result.json", "pipe"), ("last.safetensors", "/dev/zero")):
        (folder / name).unlink()
        (folder / name).symlink_to(target)
    with pytest.raises(UserError, match="it is a link"):
        train(TINY, folder)
    (folder / "result.json").unlink()
    os.rename(folder / "pipe", folder / "result.json")
    with pytest.raises(UserError, match="not a plain file"):
        train(TINY, folder)


@pytest.mark.parametrize(("steps", "found"), [((-5, -5), "-5"), ((7, 7), "7"), ((3, 4), "3 and 4")])
def test_a_checkpoint_of_an_impossible_update_is_refused(steps, found, tmp_path, whole):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "result.json").unlink()
    last = folder / "last.safetensors"
    arrays, facts = checkpoint.read(last)
    checkpoint.write(last, arrays | {".state.step": np.array(steps, np.int32)}, facts)
    with pytest.raises(UserError) as error:
        train(TINY, folder)
    assert f"is of update {found}, not of one between 0 and 6" in told(error)


# --- numbers -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits(tmp_path, whole):
    again = train(TINY, tmp_path / "again")
    ours, theirs = (
        checkpoint.read(folder / "best.safetensors") for folder in (whole[0], tmp_path / "again")
    )
    assert checkpoint.digest(ours[0]) == checkpoint.digest(theirs[0])
    assert ours[1] == theirs[1]
    assert_as_undisturbed(tmp_path / "again", again, whole)
    other = train(replace(TINY, first_seed=2), tmp_path / "other")
    assert not set(other["parameters_sha256"]) & set(again["parameters_sha256"])


def test_a_result_records_what_made_it(whole):
    _, result = whole
    assert {"commit", "python", "versions", "device", "platform", "command"} <= result.keys()
    assert result["versions"]["jax"] == jax.__version__
