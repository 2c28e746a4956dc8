"""What a run folder says about how it was made."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import pytest

from hint_relic.train.folder import environment


@pytest.mark.parametrize(
    ("started", "module", "told"),
    [
        (["/there/bin/hint-relic", "train", "bfs"], None, "hint-relic train bfs"),
        (["train.py", "--out", "a b"], None, "train.py --out 'a b'"),
        (["/src/__main__.py", "train"], "hint_relic.__main__", "python -m hint_relic train"),
        (["/src/worker.py", "{}"], "hint_relic.worker", "python -m hint_relic.worker '{}'"),
        (["hint-relic", "reproduce"], "hint_relic.grid.cell", "hint-relic reproduce"),
    ],
    ids=["installed", "script", "package", "module", "cell"],
)
def test_the_command_can_be_typed_again(started, module, told, monkeypatch):
    spec = ModuleSpec(module, None, origin=started[0]) if module else None
    if told.startswith("hint-relic") and spec:
        spec.origin = "/src/cell.py"  # a cell says whose it is
    monkeypatch.setattr(sys, "argv", started)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))
    assert environment()["command"] == told
