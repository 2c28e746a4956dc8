"""The smallest run that reports, validates and saves more than once, and quick compilation."""

from __future__ import annotations

from hint_relic.config import ModelConfig, TrainConfig

QUICKLY = {"xla_backend_optimization_level": 0}  # for programs that run only once or twice

TINY = TrainConfig(
    algorithm="bfs",
    steps=6,
    seeds=2,
    sizes=(4,),
    report_every=2,
    validate_every=3,
    checkpoint_every=2,
    validation_samples=8,
    model=ModelConfig(hidden=4, triplets=2),
)
