"""The ordinary losses: predictions of outputs and of hints against the truth.

Each is a sum and a count; a batch's loss is the ratio of their totals over its samples and steps,
as the reference normalises it, so padding changes nothing.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..model.dense import stored
from ..model.network import Executor, Network, Observe, ObserveSome, Seen, to_problems
from ..model.turns import take_turns
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


def output_tallies(
    spec: Spec, predicted: dict[str, Array], outputs: dict[str, Array], live: Array
) -> dict[str, Tally]:
    return {
        name: tally(field, outputs[name], predicted[name], live)
        for name, field in of_stage(spec, Stage.OUTPUT).items()
    }


def hint_tallies(
    spec: Spec,
    predicted: dict[str, Array],
    hints: dict[str, Array],
    t: Array,
    until: Array,
    live: Array,
) -> dict[str, Tally]:
    """What was predicted at step t against the hints of step t + 1; nothing beyond `until`."""
    out = {}
    for name, prediction in predicted.items():
        truth = stored(name, spec[name], at_step(hints, t + 1))
        each = tally(spec[name], truth, prediction, live)
        out[name] = Tally(*(jnp.where(t + 1 <= until, x, 0.0) for x in each))
    return out


def over_samples(tallies: dict[str, Tally]) -> dict[str, Tally]:
    """The totals of tallies that have a leading axis over samples."""
    return jax.tree.map(lambda x: x.sum(0), tallies)


def hints_seen(
    spec: Spec, batch: Batch, live: Bool[Array, "samples n"], until: Int[Array, " samples"]
) -> Observe:
    """What to keep of each step of a batch, until some step of each sample: its hints' tallies."""

    def observe(t: Array, seen: Seen) -> dict[str, Tally]:
        each = jax.vmap(partial(hint_tallies, spec), in_axes=(0, 0, None, 0, 0))
        return over_samples(each(seen.predicted, batch.hints, t, until, live))

    return observe


def some_hints_seen(
    spec: Spec, batch: Batch, live: Bool[Array, "samples n"], until: Int[Array, " samples"]
) -> ObserveSome:
    """The same where some samples of a batch take a step."""

    def observe(who: Array, t: Array, seen: Seen) -> dict[str, Tally]:
        now = {
            k: v[who, jnp.minimum(t + 1, v.shape[1] - 1)][:, None] for k, v in batch.hints.items()
        }
        each = jax.vmap(partial(hint_tallies, spec))
        return over_samples(each(seen.predicted, now, t, until[who], live[who]))

    return observe


def all_hint_tallies(
    spec: Spec, predicted: dict[str, Array], batch: Batch, live: Bool[Array, "samples n"]
) -> dict[str, Tally]:
    """Tallies of all steps of a batch, which were predicted sample first, then step."""
    if not predicted:
        return {}
    room = next(iter(predicted.values())).shape[1]

    def of_sample(predicted, hints, length, live):
        each = jax.vmap(partial(hint_tallies, spec), (0, None, 0, None, None))
        return each(predicted, hints, jnp.arange(room), length - 1, live)

    found = jax.vmap(of_sample)(predicted, batch.hints, batch.lengths, live)
    return over_samples(over_samples(found))


def at_step(hints: dict[str, Array], t: Array) -> dict[str, Array]:
    """The hints of one step (of the last, beyond it)."""
    return {k: v[jnp.minimum(t, v.shape[0] - 1)] for k, v in hints.items()}


def supervised(
    network: Network,
    batch: Batch,
    noise: PRNGKeyArray | None = None,
    *,
    hints: bool = True,
    places: int = 0,
) -> dict[str, Tally]:
    """Tallies for every output, and for every hint that is predicted, over a batch.

    noise: a key for each sample, or none. hints: whether those are wanted.
    places: run so many samples at a time, in turns (0: all).
    """
    spec = network.spec
    batch = jax.tree.map(jnp.asarray, batch)
    live = live_nodes(batch.inputs["pos"], batch.nodes)
    problems, room = to_problems(batch)
    executor = Executor(network, training=True)
    given, start = jax.vmap(executor.begin)(problems)
    if plan := executor.plan(live.shape[1]):
        rolled = executor.roll(plan, given, start, batch.lengths - 1, room)
        outputs = jax.vmap(executor.read_outputs)(rolled.last, noise)
        of_outputs = over_samples(
            jax.vmap(partial(output_tallies, spec))(outputs, batch.outputs, live)
        )
        return of_outputs | (all_hint_tallies(spec, rolled.predicted, batch, live) if hints else {})
    before = batch.lengths - 2  # the steps before each sample's last, which is taken by itself
    if 0 < places < len(before):
        observe_some = some_hints_seen(spec, batch, live, before) if hints else lambda *_: {}
        turns = take_turns(before, places, room)
        last, of_hints = executor.walk_in_turns(given, start, turns, observe_some)
    else:
        observe = hints_seen(spec, batch, live, before) if hints else lambda *_: {}
        span = 0, jnp.max(before)
        last, of_hints = executor.walk(given, start, span, room, observe, add_up=True)
    outputs, seen = jax.vmap(executor.last_step)(given, last, noise)
    of_outputs = jax.vmap(partial(output_tallies, spec))(outputs, batch.outputs, live)
    if hints:
        each = jax.vmap(partial(hint_tallies, spec))
        t = jnp.maximum(before, 0)  # a sample without any step has no hints to predict
        of_last = over_samples(each(seen.predicted, batch.hints, t, before + 1, live))
        of_hints = jax.tree.map(jnp.add, of_hints, of_last)
    return over_samples(of_outputs) | of_hints


def live_nodes(
    positions: Float[Array, "samples n"], nodes: Int[Array, " samples"]
) -> Bool[Array, "samples n"]:
    """Which nodes of each sample are not padding."""
    return jnp.arange(positions.shape[1]) < nodes[:, None]


def mean_losses(tallies: dict[str, Tally]) -> dict[str, Array]:
    """The loss of each field over a batch."""
    return {k: t.total / jnp.maximum(t.number, 1e-12) for k, t in tallies.items()}
