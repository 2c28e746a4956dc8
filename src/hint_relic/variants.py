"""The variants of the method, as settings of one config: each column of the paper's tables, two
controls, and what goes beyond the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .config import (
    EdgePointers,
    Feedback,
    Hints,
    ModelConfig,
    ObjectiveConfig,
    OptimiserConfig,
    TrainConfig,
    ViewConfig,
    ViewWalk,
)
from .errors import choose


@dataclass(frozen=True)
class Variant:
    """What a variant sets; `instead`: other settings for single algorithms, by their names."""

    title: str
    model: ModelConfig
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    view: ViewConfig = field(default_factory=ViewConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    choose_at: int = 0
    instead: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_PLAIN, _REVERSED = ModelConfig(), ModelConfig(reversal=True)
_NO_HINTS = ModelConfig(hints=Hints.NONE)
_FOLLOWED = ModelConfig(edge_pointers=EdgePointers.FOLLOWED)
_UNTOLD = ObjectiveConfig(hints=0.0)
_CONTRASTIVE = replace(_UNTOLD, contrastive=1.0)
_RELIC = replace(_CONTRASTIVE, kl=1.0)
_SEARCHED = ViewConfig(walk=ViewWalk.SEARCH)
_TOLD = {"objective": ObjectiveConfig(), "choose_at": 48}
_SHARPER = replace(_REVERSED, feedback=Feedback.SHARPER_ON_EVAL)
_UNDECAYED = {"model": _REVERSED, "optimiser": OptimiserConfig(), "choose_at": 48}

VARIANTS = {
    "no_hints": Variant("no hints at all", _NO_HINTS),
    "baseline": Variant("Triplet-GMPNN", _PLAIN),
    "baseline_reversal": Variant("with pointer reversal", _REVERSED),
    "hint_relic_no_kl": Variant("reversal, contrastive", _REVERSED, _CONTRASTIVE, _SEARCHED),
    "hint_relic": Variant("reversal, contrastive and KL: the paper", _REVERSED, _RELIC, _SEARCHED),
    "hint_relic_no_reversal": Variant("contrastive and KL, no reversal", _PLAIN, _RELIC, _SEARCHED),
    "baseline_views": Variant(
        "reversal, views as plain supervision: a control",
        _REVERSED,
        ObjectiveConfig(view_hints=1.0),
        _SEARCHED,
    ),
    "untold": Variant(
        "reversal, hints fed back but neither told nor contrasted: a control",
        _REVERSED,
        _UNTOLD,
    ),
    # beyond the paper; docs/experiments.md has the reasons
    "best": Variant(
        "hint_relic, decaying learning rate, weights chosen at n = 32; edge pointers followed",
        replace(_FOLLOWED, reversal=True),
        _RELIC,
        optimiser=OptimiserConfig(decay=True),
        choose_at=32,
        instead={
            "dfs": {"model": _SHARPER, **_TOLD},  # it has no views
            "strongly_connected_components": {"sizes": tuple(range(10, 17)), "choose_at": 48},
            "topological_sort": {"model": _SHARPER, **_TOLD},  # better with hint losses
            "dag_shortest_paths": {"model": _NO_HINTS, **_TOLD},  # better without any
            "floyd_warshall": {
                "model": replace(_FOLLOWED, feedback=Feedback.HARD_ON_EVAL),
                "optimiser": OptimiserConfig(learning_rate=3e-3, decay=True),
                **_TOLD,
            },
            "mst_kruskal": {  # better without the contrast; its gradients blow up
                "objective": _UNTOLD,
                "optimiser": OptimiserConfig(learning_rate=5e-4, decay=True, clip=0.3, skip=100.0),
                "choose_at": 48,
            },
            "mst_prim": {"model": replace(_SHARPER, memory=False), **_TOLD},  # hints are enough
            "quicksort": _UNDECAYED,
            "heapsort": _UNDECAYED,
            "insertion_sort": {"optimiser": OptimiserConfig(learning_rate=2e-3, decay=True)},
            "bubble_sort": {"optimiser": OptimiserConfig(learning_rate=2e-3, decay=True)},
            "minimum": {"optimiser": OptimiserConfig(learning_rate=2e-3, decay=True)},
            "binary_search": {"optimiser": OptimiserConfig(learning_rate=3e-3, decay=True)},
        },
    ),
}


def proxy(config: TrainConfig) -> TrainConfig:
    """A small version of a run, to screen ideas on two CPU cores in minutes: learn from arrays of
    up to 8, look at fresh ones of 16 and 32. The test split is not for that."""
    from .algorithms import get

    algorithm = get(config.algorithm)
    return replace(
        config,
        steps=2500,
        sizes=tuple(n for n in (3, 4, 5, 6, 7, 8) if algorithm.draws(n) is None),
        validate_every=250,
        validation_sizes=(16, 32),
        choose_at=min(config.choose_at, 32),
        model=replace(config.model, hidden=32),
    )


def preset(variant: str, algorithm: str = "") -> TrainConfig:
    """The settings of a variant, for an algorithm (any, unless told)."""
    found = VARIANTS[choose("variant", variant, VARIANTS)]
    config = TrainConfig(
        algorithm=algorithm or TrainConfig.algorithm,
        variant=variant,
        model=found.model,
        objective=found.objective,
        view=found.view,
        optimiser=found.optimiser,
        choose_at=found.choose_at,
    )
    config = replace(config, **found.instead.get(algorithm, {}))
    objective = config.objective
    return replace(config, keep_static_hints=objective.needs_views or not objective.hints)
