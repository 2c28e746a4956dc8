"""Samples and their views, run in step: what both predict against the truth, and each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..config import ObjectiveConfig
from ..model.dense import stored
from ..model.network import Executor, Given, Network, Seen, State, to_problems
from ..model.rollout.op import Views
from ..model.rollout.plan import Plan
from ..model.turns import Turns, take_turns
from ..spec import Kind, Location
from ..types import Paired, Problem, View
from .borrowed import borrow, old_nodes
from .relic import (
    Terms,
    alike_category_terms,
    alike_pointer_terms,
    category_terms,
    edge_pointer_terms,
    pointer_terms,
    project,
)
from .supervised import (
    Tally,
    at_step,
    hint_tallies,
    hints_seen,
    live_nodes,
    output_tallies,
    over_samples,
    some_hints_seen,
)


class Known(NamedTuple):
    """What is true of one sample and its view.

    steps: how many steps they take here; live, view_live: which nodes of each are not padding;
    origin, old: for each node of the view, which node of the input it is, and whether it is one.
    """

    steps: Array
    view: View
    live: Array
    view_live: Array
    origin: Array
    old: Array


Walked = tuple[Given, State, dict[str, Tally]]  # the inputs, before their last steps


class Pairs:
    """The samples of a batch and their views."""

    def __init__(
        self,
        network: Network,
        paired: Paired,
        config: ObjectiveConfig,
        contrasted: tuple[str, ...],
    ):
        self.network, self.config, self.contrasted = network, config, contrasted
        self.batch, view = jax.tree.map(jnp.asarray, paired)
        self.executor = Executor(network, training=True)
        problems, self.room = to_problems(self.batch)
        views = Problem(view.inputs, view.start, view.nodes, self.batch.lengths)
        both = jax.tree.map(lambda *x: jnp.concatenate(x), problems, views)
        self.given, self.start = jax.vmap(self.executor.begin)(both)
        positions, steps = self.batch.inputs["pos"], self.batch.lengths - 1
        self.samples, nodes = positions.shape
        live = live_nodes(positions, self.batch.nodes)
        view_live = live_nodes(positions, view.nodes)
        origins = jax.vmap(partial(old_nodes, nodes=nodes))(view.places, live)
        self.known = Known(steps, view, live, view_live, *origins)

    def tallies(
        self, noise: PRNGKeyArray, *, short_views: bool, places: tuple[int, int] | None
    ) -> dict[str, Tally]:
        """All tallies of samples and their views.

        short_views: inputs take those steps alone on which they no longer agree with their views.
        places: how many pairs run at a time, in turns, and how many inputs alone; None: all.
        """
        if plan := self._plan():
            return self._rolled(plan, noise)
        if places is None:
            given, last, seen = self._side_by_side(short_views)
        else:
            given, last, seen = self._in_turns(short_views, *places)
        outputs = jax.vmap(self.executor.outputs)(given, last, noise)
        return self._of_outputs(outputs) | seen

    def _of_outputs(self, outputs: dict[str, Array]) -> dict[str, Tally]:
        each = jax.vmap(partial(output_tallies, self.network.spec))
        return over_samples(each(outputs, self.batch.outputs, self.known.live))

    def _plan(self) -> Plan | None:
        if self.config.contrastive and not self.config.normalise:
            return None
        return self.executor.plan(self.known.live.shape[1])

    def _rolled(self, plan: Plan, noise: PRNGKeyArray) -> dict[str, Tally]:
        """All tallies where all steps can be taken at once."""
        known, room, spec = self.known, self.room, self.network.spec
        contrasted = self.contrasted if self.config.contrastive else ()
        classes = [x for x in contrasted if spec[x].kind is Kind.CATEGORICAL]
        pointers = [x for x in contrasted if x not in classes]
        until = jnp.minimum(known.view.until, known.steps).astype(jnp.int32)
        truth = [self.batch.hints[name][:, 1 : room + 1] for name in pointers]
        nodes = self.batch.inputs["pos"].shape[1]
        nobody = jnp.zeros((self.samples, room, 0, nodes), jnp.int32)
        views = Views(
            until,
            known.view.places.astype(jnp.int32),
            jnp.stack(truth, axis=2).astype(jnp.int32) if truth else nobody,
        )
        steps = jnp.concatenate([known.steps, until])
        compared = {"pointers": pointers, "classes": classes, "views": views}
        rolled = self.executor.roll(plan, self.given, self.start, steps, room, **compared)

        def of_sample(hints, predicted, alike, known):
            now = {k: v[1 : room + 1] for k, v in hints.items()}
            each = jax.vmap(self._each(_alike_terms), (0, 0, 0, 0, None))
            return each(jnp.arange(room), now, predicted, alike, known)

        given = self.batch.hints, _halves(rolled.predicted), rolled.alike, known
        seen = over_samples(over_samples(jax.vmap(of_sample)(*given)))
        last = jax.tree.map(lambda x: x[: self.samples], rolled.last)
        return self._of_outputs(jax.vmap(self.executor.read_outputs)(last, noise)) | seen

    def _side_by_side(self, short_views: bool) -> Walked:
        known, end = self.known, jnp.max(self.known.steps)
        apart = jnp.minimum(jnp.max(known.view.until), end) if short_views else end

        def both_seen(t: Array, seen: Seen) -> dict[str, Tally]:
            now = jax.vmap(at_step, (0, None))(self.batch.hints, t + 1)
            return self._seen(t, now, seen, known)

        walk = partial(self.executor.walk, room=self.room, add_up=True)
        states, seen = walk(self.given, self.start, (0, apart), observe=both_seen)
        given, states = self._inputs(states)
        if short_views:
            told = self.network.spec, self.batch, known.live, known.steps
            observe = hints_seen(*told) if self.config.hints else lambda *_: {}
            states, more = walk(given, states, (apart, end - self._unasked), observe=observe)
            seen = self._with_more(seen, more)
        return given, states, seen

    def _in_turns(self, short_views: bool, pairs: int, alone: int) -> Walked:
        known, steps = self.known, self.known.steps
        together = jnp.minimum(known.view.until, steps) if short_views else steps

        def some_seen(who: Array, t: Array, seen: Seen) -> dict[str, Tally]:
            who, t = who[:pairs], t[:pairs]
            now = {
                k: v[who, jnp.minimum(t + 1, v.shape[1] - 1)] for k, v in self.batch.hints.items()
            }
            some = jax.tree.map(lambda x: x[who], known._replace(steps=together))
            return self._seen(t, now, seen, some)

        turns = take_turns(together, pairs, self.room)
        who = jnp.concatenate([turns.who, turns.who + self.samples], axis=1)
        turns = Turns(who, jnp.tile(turns.step, 2), turns.rounds)
        # Whoever has no turn left stays before the step from which on an input is alone.
        lengths = jnp.tile(jnp.minimum(together + 2, steps + 1), 2)
        given = self.given._replace(lengths=lengths)
        states, seen = self.executor.walk_in_turns(given, self.start, turns, some_seen)
        given, states = self._inputs(states)
        if short_views:
            told = self.network.spec, self.batch, known.live, steps
            observe = some_hints_seen(*told) if self.config.hints else lambda *_: {}
            rest = jnp.maximum(steps - together - self._unasked, 0)
            turns = take_turns(rest, alone, self.room)
            turns = turns._replace(step=turns.step + together[turns.who])
            states, more = self.executor.walk_in_turns(given, states, turns, observe)
            seen = self._with_more(seen, more)
        return given, states, seen

    @property
    def _unasked(self) -> int:
        """Steps at the end that inputs need not take alone: the last is taken by itself, for the
        outputs, if nobody asks for its hints."""
        return 0 if self.config.hints else 1

    def _inputs(self, states: State) -> tuple[Given, State]:
        return jax.tree.map(lambda x: x[: self.samples], (self.given, states))

    @staticmethod
    def _with_more(seen: dict[str, Tally], more: dict[str, Tally]) -> dict[str, Tally]:
        return seen | {k: jax.tree.map(jnp.add, seen[k], rest) for k, rest in more.items()}

    def _seen(self, t: Array, now: dict[str, Array], seen: Seen, known: Known) -> dict[str, Tally]:
        """All tallies of some samples and their views, inputs first, at one step: the same for
        all, or each at its own. now: the hints that they should have predicted."""
        compared = _compared(self.network, self.contrasted, seen, self.config)
        of_input, of_view = _halves(compared)
        both = {name: (of_input[name], of_view[name]) for name in compared}
        each = self._each(_terms)
        each = jax.vmap(each, (0 if t.ndim else None, 0, 0, 0, 0))
        return over_samples(each(t, now, _halves(seen.predicted), both, known))

    def _each(self, terms_of: Callable[..., Terms]) -> Callable[..., dict[str, Tally]]:
        return partial(_at_one_step, self.network, self.config, self.contrasted, terms_of)


def _halves(tree: Any) -> tuple[Any, Any]:
    """The first half of all arrays, and the second: inputs and views."""
    first = jax.tree.map(lambda x: x[: len(x) // 2], tree)
    return first, jax.tree.map(lambda x: x[len(x) // 2 :], tree)


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


def _at_one_step(
    network: Network,
    config: ObjectiveConfig,
    contrasted: tuple[str, ...],
    terms_of: Callable[..., Terms],
    t: Array,
    now: dict[str, Array],
    predicted: tuple[dict[str, Array], dict[str, Array]],
    compared: dict[str, Any],
    known: Known,
) -> dict[str, Tally]:
    """All tallies of one sample at one step. predicted: on the input and on the view.

    compared: by hint, what `terms_of` makes the paper's terms from.
    """
    spec, (steps, view, live, *_) = network.spec, known
    until = jnp.minimum(view.until, steps)
    out: dict[str, Tally] = {}
    if config.hints:
        told = {k: v[None] for k, v in now.items()}
        out |= hint_tallies(spec, predicted[0], told, t, steps, live)
    if config.view_hints:
        borrowed = {k: borrow(spec[k], v, view.places, known.origin)[None] for k, v in now.items()}
        tallies = hint_tallies(spec, predicted[1], borrowed, t, until, known.old)
        out |= {f"view/{k}": v for k, v in tallies.items()}
    if config.contrastive:
        for name in contrasted:
            terms = terms_of(network, name, compared[name], now, known, config)
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
    compared: tuple[Any, Any],
    now: dict[str, Array],
    known: Known,
    config: ObjectiveConfig,
) -> Terms:
    """The paper's terms for one hint at one step, from what is compared of input and view."""
    field = network.spec[name]
    if field.kind is Kind.CATEGORICAL:
        terms: Any = category_terms
    elif field.location is Location.EDGE:
        terms = partial(edge_pointer_terms, network.projections[name])
    else:
        terms = pointer_terms
    return terms(*compared, *_truths(network, name, now, known), config)


def _alike_terms(
    network: Network,
    name: str,
    alike: Any,
    now: dict[str, Array],
    known: Known,
    config: ObjectiveConfig,
) -> Terms:
    """The same where it is known already how alike the two are."""
    is_class = network.spec[name].kind is Kind.CATEGORICAL
    terms: Any = alike_category_terms if is_class else alike_pointer_terms
    return terms(alike, *_truths(network, name, now, known), config)


def _truths(network: Network, name: str, now: dict[str, Array], known: Known) -> tuple[Array, ...]:
    """What is true of a hint in the input, and of a class in the view; and of the nodes of both."""
    field, places = network.spec[name], known.view.places
    nodes = places, known.live, known.view_live
    truth = stored(name, field, now)
    if field.kind is not Kind.CATEGORICAL:
        return truth, *nodes
    borrowed = borrow(field, truth, places, known.origin)
    return truth, jnp.where(known.old, borrowed, known.view.start[name]), *nodes
