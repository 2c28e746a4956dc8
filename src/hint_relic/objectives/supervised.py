"""The ordinary losses: predictions of outputs and of hints against the truth.

Each is a sum and a count for one sample; a batch's loss is the ratio of their totals, as the
reference normalises it, so padding changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..model.dense import stored
from ..model.network import Predictions
from ..spec import Field, Kind, Location, Spec, Stage, of_stage
from ..types import Batch


class Tally(NamedTuple):
    """A sum of losses and how many there were."""

    total: Float[Array, ...]
    number: Float[Array, ...]


def _pick(log_probabilities: Array, index: Array) -> Array:
    """Minus the log-probability of the true class (0 where the class is masked, -1)."""
    one_hot = jax.nn.one_hot(index, log_probabilities.shape[-1])
    return -jnp.sum(one_hot * log_probabilities, axis=-1)


def _squared(truth: Array, prediction: Array) -> tuple[Array, Array]:
    return (prediction - truth) ** 2, jnp.ones(truth.shape, bool)


def _binary(truth: Array, logit: Array) -> tuple[Array, Array]:
    y = truth.astype(jnp.float32)
    loss = jnp.maximum(logit, 0.0) - logit * y + jnp.log1p(jnp.exp(-jnp.abs(logit)))
    return loss, truth >= 0


def _category(truth: Array, logits: Array) -> tuple[Array, Array]:
    return _pick(jax.nn.log_softmax(logits), truth), truth >= 0


def _permutation(truth: Array, log_matrix: Array) -> tuple[Array, Array]:
    return _pick(log_matrix, truth), jnp.ones(truth.shape, bool)


# (truth, prediction) -> (loss of each element, which elements count)
LOSSES = {
    Kind.SCALAR: _squared,
    Kind.MASK: _binary,
    Kind.MASK_ONE: _category,
    Kind.CATEGORICAL: _category,
    Kind.POINTER: _category,
    Kind.PERMUTATION_POINTER: _permutation,
}


def live_elements(field: Field, live: Bool[Array, " n"]) -> Array:
    """Which elements of a field's stored array belong to live nodes."""
    if field.location is Location.GRAPH or field.kind is Kind.MASK_ONE:
        return jnp.ones((), bool)
    return live if field.location is Location.NODE else live[:, None] & live[None, :]


def tally(field: Field, truth: Array, prediction: Array, live: Array) -> Tally:
    """The loss of one field at one step."""
    loss, counts = LOSSES[field.kind](truth, prediction)
    counts = counts & live_elements(field, live)
    return Tally(jnp.sum(jnp.where(counts, loss, 0.0)), jnp.sum(counts, dtype=jnp.float32))


def supervised(
    spec: Spec, predictions: Predictions, sample: Batch, until: Array | None = None
) -> dict[str, Tally]:
    """A tally for every output, and for every hint that is predicted.

    until: supervise hints up to this step only (all live steps otherwise).
    """
    nodes = sample.inputs["pos"].shape[0]
    live = jnp.arange(nodes) < sample.nodes
    out = {
        name: tally(field, sample.outputs[name], predictions.outputs[name], live)
        for name, field in of_stage(spec, Stage.OUTPUT).items()
    }
    last = sample.lengths - 1 if until is None else jnp.minimum(sample.lengths - 1, until)
    for name, field in of_stage(spec, Stage.HINT).items():
        if name not in predictions.hints:
            continue
        predicted = predictions.hints[name]
        truth = stored(name, field, sample.hints)
        steps = min(predicted.shape[0], truth.shape[0] - 1)
        if steps == 0:  # an algorithm of a single step has no next hint to predict
            out[name] = Tally(jnp.zeros(()), jnp.zeros(()))
            continue
        each = jax.vmap(lambda t, p, f=field: tally(f, t, p, live))(
            truth[1 : steps + 1], predicted[:steps]
        )
        alive = jnp.arange(steps) < last
        out[name] = Tally(*(jnp.sum(jnp.where(alive, x, 0.0)) for x in each))
    return out


def mean_losses(tallies: dict[str, Tally]) -> dict[str, Array]:
    """The loss of each field over a batch, from tallies with a leading sample axis."""
    return {k: t.total.sum() / jnp.maximum(t.number.sum(), 1e-12) for k, t in tallies.items()}
