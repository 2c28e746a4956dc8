"""One tiny run and one packed file of it, for all tests of reasoners."""

from __future__ import annotations

import pytest

from hint_relic.reasoner import Reasoner
from hint_relic.train.loop import train

from .tiny import TINY, untrained


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reasoner") / "run"
    train(TINY, folder)
    return folder


@pytest.fixture(scope="session")
def reasoner(tmp_path_factory):
    """An untrained one for breadth-first search: nothing here depends on how good it is."""
    path = tmp_path_factory.mktemp("reasoner") / "bfs.safetensors"
    untrained(TINY, path)
    return Reasoner.load(path)
