"""A config small enough to train in a test, and a network of any config that is not trained."""

from __future__ import annotations

from pathlib import Path

from hint_relic.config import ModelConfig, TrainConfig
from hint_relic.model.network import Network
from hint_relic.reasoner.model_file import Design, write

TINY = TrainConfig(
    algorithm="bfs",
    steps=20,
    seeds=2,
    sizes=(4, 5),
    report_every=10,
    validate_every=10,
    checkpoint_every=10,
    validation_samples=8,
    model=ModelConfig(hidden=8, triplets=2),
)


def untrained(config: TrainConfig, path: Path) -> None:
    """A file with fresh weights of a seed and size at which no two choices are nearly as good.

    (So that rounding, which differs between programs, decides nothing.)
    """
    design = Design(config)
    network = Network.init(2, design.spec, config.model)
    write(path, config, design.layout.named(2.0 * design.layout.flatten(network)), {})
