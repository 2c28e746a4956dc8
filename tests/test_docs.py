"""The code in the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(), re.S)


@pytest.mark.parametrize("code", BLOCKS, ids=["processor", "loss"])
def test_extending(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    exec(code, scope)
    assert scope["result"]["steps"] == 4
    assert len(code.splitlines()) <= 40
