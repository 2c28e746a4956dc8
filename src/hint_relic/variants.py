"""The variants of the method: each column of the paper's tables, as settings of one config."""

from __future__ import annotations

from dataclasses import replace

from .config import Hints, ModelConfig, TrainConfig
from .errors import choose

_MODELS = {
    "no_hints": ModelConfig(hints=Hints.NONE),
    "baseline": ModelConfig(),
    "baseline_reversal": ModelConfig(reversal=True),
}
VARIANTS = tuple(_MODELS)


def preset(variant: str, base: TrainConfig | None = None) -> TrainConfig:
    """The settings of a variant."""
    model = _MODELS[choose("variant", variant, VARIANTS)]
    return replace(base or TrainConfig(), variant=variant, model=model)
