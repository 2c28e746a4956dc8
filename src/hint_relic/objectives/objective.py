"""The objective of a run: named parts, each a mean over the batch, and their weighted sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..config import ObjectiveConfig, Reduce
from ..model.network import Network
from ..types import Batch, Paired
from .pairs import Pairs
from .supervised import mean_losses, supervised

_NEARLY_ALL = 0.9  # if so many samples are busy all the time, taking turns costs more than it saves

# (network, batch or pair, key) -> (loss, its parts by name)
Objective = Callable[[Network, Any, PRNGKeyArray], tuple[Array, dict[str, Array]]]


class Busy(NamedTuple):
    """How many steps samples take, as a share of those of the longest of their batch.

    It changes no result: where it is low, samples take turns. alone: of the steps that inputs go
    on without their views, where those end early.
    """

    share: float = 1.0
    alone: float = 1.0

    @property
    def in_turns(self) -> bool:
        return min(self) < _NEARLY_ALL

    def places(self, samples: int) -> tuple[int, int]:
        """For how many samples to make room at a time, in both parts."""
        share, alone = (math.ceil(samples * min(x, 1.0)) for x in self)
        return share, alone


ALL_BUSY = Busy()


def objective_for(
    config: ObjectiveConfig,
    contrasted: Sequence[str],
    *,
    short_views: bool = False,
    busy: Busy = ALL_BUSY,
) -> Objective:
    """The objective that a config describes.

    short_views: whether views agree with their inputs for a part of the steps only. It changes
    no result: the inputs then take the rest of their steps without them, which is faster.
    """
    if config.needs_views:
        return partial(
            view_objective,
            config=config,
            contrasted=tuple(contrasted),
            short_views=short_views,
            busy=busy,
        )
    return partial(supervised_objective, weight=config.hints, busy=busy)


def supervised_objective(
    network: Network, batch: Batch, key: PRNGKeyArray, *, weight: float = 1.0, busy: Busy = ALL_BUSY
) -> tuple[Array, dict[str, Array]]:
    """Every output and every hint against the truth. weight: of the hints; 0 leaves them out."""
    samples = batch.lengths.shape[0]
    places = busy.places(samples)[0] if busy.in_turns else samples
    keys = jax.random.split(key, samples)
    parts = mean_losses(supervised(network, batch, keys, hints=bool(weight), places=places))
    return _total(parts, {k: 1.0 if k in batch.outputs else weight for k in parts}), parts


def _total(parts: dict[str, Array], weights: dict[str, float]) -> Array:
    return sum((weights[k] * part for k, part in parts.items()), start=jnp.zeros(()))


def view_objective(
    network: Network,
    paired: Paired,
    key: PRNGKeyArray,
    *,
    config: ObjectiveConfig,
    contrasted: tuple[str, ...],
    short_views: bool = False,
    busy: Busy = ALL_BUSY,
) -> tuple[Array, dict[str, Array]]:
    """Input and view, run in step: any of hint losses, contrastive terms and KL, weighted."""
    samples = paired.batch.lengths.shape[0]
    keys = jax.random.split(key, samples)
    pairs = Pairs(network, paired, config, contrasted)
    places = busy.places(samples) if busy.in_turns else None
    tallies = pairs.tallies(keys, short_views=short_views, places=places)
    parts = mean_losses(tallies)
    if config.reduce is Reduce.SUM:
        for name in parts:
            if name.startswith(("contrastive/", "kl/")):
                parts[name] = tallies[name].total / samples
    weights = {"contrastive": config.contrastive, "kl": config.kl, "view": config.view_hints}
    by_part = {
        k: 1.0 if k in paired.batch.outputs else weights.get(k.split("/")[0], config.hints)
        for k in parts
    }
    return _total(parts, by_part), parts
