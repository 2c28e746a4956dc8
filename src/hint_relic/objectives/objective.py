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
from ..model.dense import stored
from ..model.network import Executor, Network, Seen, to_problems
from ..spec import Kind, Location
from ..types import Batch, Paired, Problem, View
from .borrowed import borrow, old_nodes
from .relic import Terms, category_terms, edge_pointer_terms, pointer_terms, project
from .supervised import (
    Tally,
    at_step,
    hint_tallies,
    hints_seen,
    live_nodes,
    mean_losses,
    output_tallies,
    over_samples,
    supervised,
)

_NEARLY_ALL = 0.9  # if so many samples are busy all the time, taking turns costs more than it saves

# (network, batch or pair, key) -> (loss, its parts by name)
Objective = Callable[[Network, Any, PRNGKeyArray], tuple[Array, dict[str, Array]]]


def objective_for(
    config: ObjectiveConfig,
    contrasted: Sequence[str],
    *,
    short_views: bool = False,
    busy: float = 1.0,
) -> Objective:
    """The objective that a config describes.

    short_views: whether views agree with their inputs for a part of the steps only. It changes
    no result: the inputs then take the rest of their steps without them, which is faster.
    busy: how many steps samples take, as a share of those of the longest of their batch. It
    changes no result either: where it is low and there are no views, samples take turns.
    """
    if config.needs_views:
        return partial(
            view_objective, config=config, contrasted=tuple(contrasted), short_views=short_views
        )
    return partial(supervised_objective, weight=config.hints, busy=busy)


def supervised_objective(
    network: Network, batch: Batch, key: PRNGKeyArray, *, weight: float = 1.0, busy: float = 1.0
) -> tuple[Array, dict[str, Array]]:
    """Every output and every hint against the truth.

    weight: of the hints; 0 leaves them out. busy: see `objective_for`.
    """
    samples = batch.lengths.shape[0]
    places = math.ceil(samples * busy) if busy < _NEARLY_ALL else samples
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
) -> tuple[Array, dict[str, Array]]:
    """Input and view, run in step: any of hint losses, contrastive terms and KL, weighted."""
    samples = paired.batch.lengths.shape[0]
    keys = jax.random.split(key, samples)
    tallies = _tallies(network, paired.batch, paired.view, keys, config, contrasted, short_views)
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


def _tallies(
    network: Network,
    batch: Batch,
    view: View,
    noise: PRNGKeyArray,
    config: ObjectiveConfig,
    contrasted: tuple[str, ...],
    short_views: bool,
) -> dict[str, Tally]:
    """All tallies of samples and their views."""
    spec = network.spec
    problems, room = to_problems(batch)
    views = Problem(view.inputs, view.start, view.nodes, batch.lengths)
    both = jax.tree.map(lambda *x: jnp.concatenate(x), problems, views)
    samples, nodes = batch.inputs["pos"].shape
    live = live_nodes(batch.inputs["pos"], batch.nodes)
    view_live = live_nodes(batch.inputs["pos"], view.nodes)
    index, old = jax.vmap(partial(old_nodes, nodes=nodes))(view.places, live)

    def both_seen(t: Array, seen: Seen) -> dict[str, Tally]:
        compared = _compared(network, contrasted, seen, config)
        on_input = jax.tree.map(lambda x: x[:samples], (seen.predicted, compared))
        on_view = jax.tree.map(lambda x: x[samples:], (seen.predicted, compared))
        each = jax.vmap(partial(_at_one_step, network, config, contrasted, t))
        known = Known(batch, view, live, view_live, index, old)
        return over_samples(each(on_input, on_view, known))

    executor, end = Executor(network, training=True), jnp.max(batch.lengths) - 1
    apart = jnp.minimum(jnp.max(view.until), end) if short_views else end
    given, states = jax.vmap(executor.begin)(both)
    states, seen = executor.walk(given, states, (0, apart), room, both_seen, add_up=True)
    given, states = jax.tree.map(lambda x: x[:samples], (given, states))
    if short_views:
        until = batch.lengths - 1
        input_seen = hints_seen(spec, batch, live, until) if config.hints else lambda t, seen: {}
        # The last step is taken by itself, for the outputs; nobody asks for its hints.
        span = apart, end if config.hints else end - 1
        states, more = executor.walk(given, states, span, room, input_seen, add_up=True)
        seen |= {k: jax.tree.map(jnp.add, seen[k], rest) for k, rest in more.items()}
    outputs = jax.vmap(executor.outputs)(given, states, noise)
    of_outputs = jax.vmap(partial(output_tallies, spec))(outputs, batch.outputs, live)
    return over_samples(of_outputs) | seen


def _compared(
    network: Network, contrasted: tuple[str, ...], seen: Seen, config: ObjectiveConfig
) -> dict[str, Any]:
    """What is compared between input and view, of each contrasted hint: its projection `h(f)`;
    of an edge pointer its representation, whose n*n*n pairs are projected a row at a time."""
    out = {}
    for name in contrasted:
        field = network.spec[name]
        represented = seen.representations[name]
        if field.kind is Kind.CATEGORICAL:
            represented = seen.node
        if field.location is Location.EDGE:
            represented = represented[:2]
        else:
            represented = project(network.projections[name], represented, config.normalise)
            if field.kind is not Kind.CATEGORICAL:
                represented = jnp.swapaxes(represented, -3, -2)  # [v, u]: that v points at u
        out[name] = represented
    return out


class Known(NamedTuple):
    """What is true of one sample and its view.

    live, view_live: which nodes of each are not padding; origin, old: for each node of the view,
    which node of the input it is, and whether it is one.
    """

    sample: Batch
    view: View
    live: Array
    view_live: Array
    origin: Array
    old: Array


Step = tuple[dict[str, Array], dict[str, Any]]  # predictions, and what is compared, by hint


def _at_one_step(
    network: Network,
    config: ObjectiveConfig,
    contrasted: tuple[str, ...],
    t: Array,
    on_input: Step,
    on_view: Step,
    known: Known,
) -> dict[str, Tally]:
    """All tallies of one sample at one step."""
    spec, (sample, view, live, *_) = network.spec, known
    until = jnp.minimum(view.until, sample.lengths - 1)
    now = at_step(sample.hints, t + 1)
    out: dict[str, Tally] = {}
    if config.hints:
        out |= hint_tallies(spec, on_input[0], sample.hints, t, sample.lengths - 1, live)
    if config.view_hints:
        borrowed = {k: borrow(spec[k], v, view.places, known.origin)[None] for k, v in now.items()}
        tallies = hint_tallies(spec, on_view[0], borrowed, t, until, known.old)
        out |= {f"view/{k}": v for k, v in tallies.items()}
    if config.contrastive:
        for name in contrasted:
            terms = _terms(network, name, on_input[1][name], on_view[1][name], now, known, config)
            counts = (t + 1 <= until) & (live[:, None] & live if terms.kl.ndim == 2 else live)
            number = jnp.sum(counts, dtype=jnp.float32)
            for kind, values in (("contrastive", terms.contrastive), ("kl", terms.kl)):
                if kind == "contrastive" or config.kl:
                    total = jnp.sum(jnp.where(counts, values, 0.0))
                    out[f"{kind}/{name}"] = Tally(total, number)
    return out


def _terms(
    network: Network,
    name: str,
    of_input: Any,
    of_view: Any,
    now: dict[str, Array],
    known: Known,
    config: ObjectiveConfig,
) -> Terms:
    """The paper's terms for one hint at one step."""
    field, places = network.spec[name], known.view.places
    truth = stored(name, field, now)
    if field.kind is Kind.CATEGORICAL:
        borrowed = borrow(field, truth, places, known.origin)
        of_new = jnp.where(known.old, borrowed, known.view.start[name])
        truths: tuple[Array, ...] = (truth, of_new)
        terms: Any = category_terms
    else:
        truths, terms = (truth,), pointer_terms
        if field.location is Location.EDGE:
            terms = partial(edge_pointer_terms, network.projections[name])
    return terms(of_input, of_view, *truths, places, known.live, known.view_live, config)
