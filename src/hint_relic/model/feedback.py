"""From a prediction to a value: what is fed back at the next step, or scored at the end."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from ..config import Feedback
from ..spec import Field, Kind
from .sinkhorn import log_sinkhorn

FEEDBACK_SINKHORN_STEPS = 25
SCORED_SINKHORN_STEPS = 50
USUAL_NODES = 16  # the most that the benchmark trains on


def _soft_permutation(logits: Array, live: Array, steps: int) -> Array:
    return jnp.exp(log_sinkhorn(logits, live, steps=steps))


def _one_hot_best(logits: Array) -> Array:
    return jax.nn.one_hot(jnp.argmax(logits, -1), logits.shape[-1])


_SOFT = {
    Kind.SCALAR: lambda x: x,
    Kind.MASK: jax.nn.sigmoid,
    Kind.MASK_ONE: jax.nn.softmax,
    Kind.CATEGORICAL: jax.nn.softmax,
    Kind.POINTER: jax.nn.softmax,
}
_HARD = {
    Kind.SCALAR: jax.lax.stop_gradient,
    Kind.MASK: lambda x: (x > 0.0).astype(jnp.float32),
    Kind.MASK_ONE: _one_hot_best,
    Kind.CATEGORICAL: _one_hot_best,
    Kind.POINTER: _one_hot_best,
}
_OVER_NODES = (Kind.MASK_ONE, Kind.POINTER)


def fed_back(field: Field, prediction: Array, live: Bool[Array, " n"], feedback: Feedback) -> Array:
    """A predicted hint as the dense value that the next step encodes.

    feedback: soft, hard or sharper (`Feedback.when`).
    """
    hard = feedback is Feedback.HARD
    if field.kind is Kind.PERMUTATION_POINTER:
        soft = _soft_permutation(prediction, live, FEEDBACK_SINKHORN_STEPS)
        return _one_hot_best(soft) if hard else soft
    if feedback is Feedback.SHARPER_ON_EVAL and field.kind in _OVER_NODES:
        prediction = prediction * _sharpness(live)
    return (_HARD if hard else _SOFT)[field.kind](prediction)


def _sharpness(live: Bool[Array, " n"]) -> Array:
    """What logits are multiplied by. A share among more nodes is a smaller one, however sure the
    network is; what would undo that alone is the logarithm (docs/experiments.md has the square)."""
    nodes = jnp.maximum(live.sum(), USUAL_NODES)
    return (jnp.log(nodes) / math.log(USUAL_NODES)) ** 2


def decided(field: Field, prediction: Array, live: Bool[Array, " n"]) -> Array:
    """A prediction as the compact value that is scored: an index, a mask, a number."""
    if field.kind is Kind.PERMUTATION_POINTER:
        prediction = _soft_permutation(prediction, live, SCORED_SINKHORN_STEPS)
    if field.kind is Kind.SCALAR:
        return prediction
    if field.kind is Kind.MASK:
        return (prediction > 0.0).astype(jnp.int8)
    return jnp.argmax(prediction, -1).astype(jnp.int32)
