"""Scores: how much of what was predicted is right, in the benchmark's own measure.

Masks are scored by F1 over all elements of a split, scalars by squared error, everything else
by the share that is right. Each field is counted on the device as three numbers per sample (and
per step, for hints), so that any number of batches can be added up before dividing.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..model.dense import stored
from ..model.feedback import decided
from ..model.network import Observe, Predictions, Seen
from ..objectives.supervised import live_elements
from ..spec import Field, Kind, Spec, Stage, of_stage
from ..types import Batch


class Counts(NamedTuple):
    """Three sums whose meaning depends on the kind.

    mask: true positives, false positives, false negatives; scalar: squared error, elements, 0;
    all others: right, elements, 0.
    """

    a: Array
    b: Array
    c: Array


def _count(field: Field, truth: Array, guess: Array, live: Array) -> Counts:
    scored = live_elements(field, live)
    if field.kind is Kind.MASK:
        scored = scored & (truth >= 0)
        hit, said, true = (guess > 0) & (truth > 0), guess > 0, truth > 0
        return Counts(*(jnp.sum(scored & x) for x in (hit, said & ~true, ~said & true)))
    zero = jnp.zeros(())
    if field.kind is Kind.SCALAR:
        return Counts(
            jnp.sum(jnp.where(scored, (guess - truth) ** 2, 0.0)),
            jnp.sum(jnp.broadcast_to(scored, truth.shape)),
            zero,
        )
    if field.kind is Kind.CATEGORICAL:
        scored = scored & (truth >= 0)
    scored = jnp.broadcast_to(scored, truth.shape)
    return Counts(jnp.sum(scored & (guess == truth)), jnp.sum(scored), zero)


def count_outputs(spec: Spec, predictions: Predictions, sample: Batch) -> dict[str, Counts]:
    """Counts for each output; a permutation and the mask of its first node count as one."""
    live = jnp.arange(sample.inputs["pos"].shape[0]) < sample.nodes
    fields = of_stage(spec, Stage.OUTPUT)
    guesses = {k: decided(f, predictions.outputs[k], live) for k, f in fields.items()}
    truths = {k: sample.outputs[k] for k in fields}
    for name, field in fields.items():
        if field.kind is Kind.PERMUTATION_POINTER:  # the first node points at itself
            for found in (guesses, truths):
                first = jnp.arange(live.shape[0]) == found.pop(f"{name}_mask")
                found[name] = jnp.where(first, jnp.arange(live.shape[0]), found[name])
    return {k: _count(fields[k], truths[k], guesses[k], live) for k in guesses}


def count_hints(spec: Spec, sample: Batch) -> Observe:
    """An observer for the network that counts each hint at each step.

    Row t of what it collects is about the hint of step t + 1.
    """
    live = jnp.arange(sample.inputs["pos"].shape[0]) < sample.nodes
    truths = {k: stored(k, f, sample.hints) for k, f in of_stage(spec, Stage.HINT).items()}

    def observe(t: Array, seen: Seen) -> dict[str, Counts]:
        out = {}
        for name, prediction in seen.predicted.items():
            truth = truths[name]
            at = jnp.minimum(t + 1, truth.shape[0] - 1)
            guess = decided(spec[name], prediction, live)
            counts = _count(spec[name], truth[at], guess, live)
            out[name] = Counts(*(jnp.where(t + 1 < sample.lengths, x, 0) for x in counts))
        return out

    return observe


def score(field: Field, counts: Counts) -> np.ndarray:
    """The score from added-up counts, elementwise; NaN where nothing was scored."""
    a, b, c = (np.asarray(x, np.float64) for x in counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        if field.kind is not Kind.MASK:
            return a / b
        precision = np.where(a + b > 0, a / (a + b), 1.0)
        recall = np.where(a + c > 0, a / (a + c), 1.0)
        both = precision + recall
        return np.where(both > 0, 2 * precision * recall / both, 0.0)
