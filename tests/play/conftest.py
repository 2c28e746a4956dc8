from __future__ import annotations

import pytest

from hint_relic.config import ModelConfig, TrainConfig
from hint_relic.train.loop import train

TINY = TrainConfig(
    algorithm="bfs",
    steps=2,
    seeds=1,
    sizes=(4,),
    report_every=2,
    validate_every=2,
    checkpoint_every=2,
    validation_samples=4,
    model=ModelConfig(hidden=4, triplets=2, reversal=True),
)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The folder of a run that has hardly begun to learn breadth-first search."""
    folder = tmp_path_factory.mktemp("play") / "tiny"
    train(TINY, folder)
    return folder
