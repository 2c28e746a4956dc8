"""What is installed: few packages, from lower bounds on, and a lock that names no hosts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DEPENDENCIES = PROJECT["project"]["dependencies"]


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def test_dependencies_are_few_and_have_a_lower_bound_only():
    assert len(DEPENDENCIES) <= 9
    assert all(re.fullmatch(r"[a-z]+>=[\d.]+", needed) for needed in DEPENDENCIES)


def test_the_lock_names_no_host_and_has_a_hash_for_everything():
    assert "://" not in LOCK
    assert "index-url" not in LOCK
    for entry in re.split(r"\n(?=\w)", LOCK.strip()):
        assert re.match(r"[\w.-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_lock_fits_the_bounds():
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK, re.MULTILINE))
    for needed in DEPENDENCIES + PROJECT["dependency-groups"]["dev"]:
        name, least = needed.split(">=")
        assert version(locked[name]) >= version(least), needed
