"""What a checkpoint holds: the state, and the best weights so far."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from .update import State


class Best(NamedTuple):
    """The best weights on validation so far, of each seed; latest among equals."""

    weights: Any  # (seeds, size)
    score: Any  # (seeds,)
    step: Any  # (seeds,)


class Keep(NamedTuple):
    """What a checkpoint holds."""

    state: State
    plain: Best
    average: Best


def better(best: Best, weights: Any, scores: list[float], step: int) -> Best:
    """Take over the weights of the seeds that score at least as well as before."""
    score = jnp.asarray(scores, jnp.float32)
    as_good = score >= best.score
    return Best(
        jnp.where(as_good[:, None], weights, best.weights),
        jnp.maximum(score, best.score),
        jnp.where(as_good, step, best.step).astype(jnp.int32),
    )
