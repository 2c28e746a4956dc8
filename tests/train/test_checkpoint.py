"""Checkpoints: exact, atomic, and honest about damage."""

from __future__ import annotations

import numpy as np
import pytest

from hint_relic import files
from hint_relic.errors import UserError
from hint_relic.train import checkpoint


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {"a": rng.standard_normal((3, 4)).astype(np.float32), "b": np.arange(5, dtype=np.int32)}


def test_what_is_written_is_read(tmp_path, arrays):
    checkpoint.write(tmp_path / "x.safetensors", arrays, {"step": 3})
    found, facts = checkpoint.read(tmp_path / "x.safetensors")
    assert facts == {"step": 3}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert [f.name for f in tmp_path.iterdir()] == ["x.safetensors"]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text"])
def test_damage_is_named(tmp_path, arrays, damage):
    file = tmp_path / "x.safetensors"
    checkpoint.write(file, arrays, {})
    content = bytearray(file.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flip":
        content[-3] ^= 1
    elif damage == "empty":
        content = bytearray()
    else:
        content = bytearray(b"not a checkpoint at all")
    file.write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        checkpoint.read(file)


def test_a_failed_write_leaves_the_old_file(tmp_path, arrays, monkeypatch):
    file = tmp_path / "x.safetensors"
    checkpoint.write(file, arrays, {"step": 1})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(UserError, match="No space left"):
        checkpoint.write(file, arrays, {"step": 2})
    monkeypatch.undo()
    assert checkpoint.read(file)[1] == {"step": 1}
    assert [f.name for f in tmp_path.iterdir()] == ["x.safetensors"]
