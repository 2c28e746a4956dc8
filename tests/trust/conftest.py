"""One tiny undisturbed run, and small disks to fill."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hint_relic.train.loop import train
from tiny import TINY


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> tuple[Path, dict]:
    """An undisturbed run: (folder, result)."""
    folder = tmp_path_factory.mktemp("trust") / "whole"
    return folder, train(TINY, folder)


class Disk:
    """A small file system in memory."""

    def __init__(self, path: Path):
        self.path = path
        self._mount("-t", "tmpfs", "-o", "size=64k", "none", str(path))

    def _mount(self, *words: str) -> None:
        done = subprocess.run(["mount", *words], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")

    def change(self, options: str) -> None:
        self._mount("-o", f"remount,{options}", str(self.path))


@pytest.fixture
def disk(tmp_path) -> Iterator[Disk]:
    path = tmp_path / "disk"
    path.mkdir()
    try:
        made = Disk(path)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    yield made
    subprocess.run(["umount", str(path)], check=True)
