"""The network: encode, process, decode, once for each step of the algorithm.

Written for ONE sample; callers map it over batches (`jax.vmap`) and over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int, PRNGKeyArray

from ..config import EdgePointers, Hints, ModelConfig
from ..spec import POINTERS, Field, Kind, Location, Spec, Stage, of_stage
from ..types import Batch, Problem
from .decode import Bundle, Features, new_decoder
from .dense import dense_all
from .encode import Channels, Encoder, is_edge_pointer, join_channels, join_encodings
from .feedback import fed_back
from .layers import Linear
from .process import Processor
from .rollout.plan import Plan, plan_for
from .rollout.run import Rollout, roll_out
from .sinkhorn import log_sinkhorn
from .steps import loop
from .turns import Turns

OUTPUT_SINKHORN_STEPS = 10


class Predictions(NamedTuple):
    """Logits (or numbers) for one sample.

    outputs: name -> prediction at the sample's last step;
    hints: name -> (steps, ...), where row t predicts the hint of step t + 1; or, where the
    caller observes something else, the stack of that.
    """

    outputs: dict[str, Array]
    hints: Any


class Seen(NamedTuple):
    """One step, seen from inside: hint predictions, and what they were made from."""

    predicted: dict[str, Array]
    representations: dict[str, Any]  # what the last layer of each hint's decoder reads
    node: Float[Array, "... n hhh"]  # what the decoders of node hints read


Observe = Callable[[Array, Seen], Any]
ObserveSome = Callable[[Array, Array, Seen], Any]  # who, at which step of theirs, what


class State(NamedTuple):
    """What passes from one step to the next: few arrays, however many hints there are.

    pointers: the edge pointers among the hints, which channels have averages of only.
    """

    hidden: Float[Array, "n h"]
    hints: Channels
    pointers: tuple[Float[Array, "n n n"], ...]


def representation_width(field: Field, hidden: int) -> int:
    """How wide a hint's representation is: a pair's for a pointer, else a node's."""
    return hidden if field.kind in POINTERS else 3 * hidden


class Network(eqx.Module):
    """Encoders, a processor and decoders for one spec."""

    inputs: Encoder
    hints: Encoder
    processor: Any
    decoders: dict[str, Any]
    projections: dict[str, tuple[Linear, Linear]]
    config: ModelConfig = eqx.field(static=True)
    fields: tuple[tuple[str, Field], ...] = eqx.field(static=True)

    @classmethod
    def init(
        cls,
        seed: int,
        spec: Spec,
        config: ModelConfig,
        processor: Any = Processor,
        contrasted: Sequence[str] = (),
    ) -> Network:
        """Fresh weights.

        processor: a class to use in place of the built-in one.
        contrasted: hints whose representations are compared between views; each gets the
        paper's projection `h`, two layers as wide as the representation.
        """
        rng = np.random.default_rng(seed)
        hints = of_stage(spec, Stage.HINT)
        decoded = of_stage(spec, Stage.OUTPUT) | (hints if config.hints != Hints.NONE else {})
        edge_width = config.hidden * (2 if config.triplets else 1)
        fed = hints if config.hints == Hints.FEEDBACK else {}
        followed = sum(map(is_edge_pointer, fed.values()))
        if config.edge_pointers == EdgePointers.AVERAGED:
            followed = 0
        return cls(
            inputs=Encoder.init(rng, of_stage(spec, Stage.INPUT), config.hidden),
            hints=Encoder.init(rng, fed, config.hidden),
            processor=processor.init(rng, config),
            decoders={
                name: new_decoder(rng, field, config.hidden, edge_width, followed=followed)
                for name, field in decoded.items()
            },
            projections={
                name: (Linear.init(rng, width, width), Linear.init(rng, width, width))
                for name in contrasted
                for width in [representation_width(spec[name], config.hidden)]
            },
            config=config,
            fields=tuple(spec.items()),
        )

    @property
    def spec(self) -> dict[str, Field]:
        return dict(self.fields)

    def __call__(
        self,
        sample: Batch,
        *,
        training: bool = False,
        noise: PRNGKeyArray | None = None,
        observe: Observe = lambda t, seen: seen.predicted,
    ) -> Predictions:
        """Predict one sample (a `Batch` without its leading axis); of its hints, only the first
        is looked at.

        noise: the key of the Gumbel noise on permutations; give one in training only.
        observe: what to keep of each step (the hint predictions, unless told); it is called
        within the loop over steps, so what it drops is never stored.
        """
        alone = jax.tree.map(lambda x: x[None], sample)
        outputs, seen = self.run(
            *to_problems(alone),
            training=training,
            noise=None if noise is None else noise[None],
            observe=lambda t, seen: observe(t, jax.tree.map(lambda x: x[0], seen)),
        )
        return Predictions({k: v[0] for k, v in outputs.items()}, seen)

    def run(
        self,
        problems: Problem,
        room: int,
        *,
        training: bool = False,
        noise: PRNGKeyArray | None = None,
        observe: Observe = lambda t, seen: seen.predicted,
    ) -> tuple[dict[str, Array], Any]:
        """Run problems side by side: (outputs of each, what was observed at each step).

        All arrays of `problems`, of `noise`, and of what `observe` sees, have a leading axis over
        them. To be differentiated, call it with many problems rather than under `vmap`.
        room: the most steps that any of them can take, if anything is observed or differentiated.
        """
        executor = Executor(self, training)
        given, start = jax.vmap(executor.begin)(problems)
        steps = 0, jnp.max(problems.lengths) - 1
        last, observed = executor.walk(given, start, steps, room, observe)
        return jax.vmap(executor.outputs)(given, last, noise), observed


def to_problems(batch: Batch) -> tuple[Problem, int]:
    """What a network may see of samples, and how many steps their arrays have room for."""
    room = max(1, next(iter(batch.hints.values())).shape[1] - 1)
    start = {k: v[:, 0] for k, v in batch.hints.items()}
    return Problem(batch.inputs, start, batch.nodes, batch.lengths), room


class Given(NamedTuple):
    """What stays the same over all steps of one problem."""

    inputs: dict[str, Array]  # dense
    channels: Channels
    live: Bool[Array, " n"]
    lengths: Array


class Executor:
    """A network with everything done that depends on neither the problem nor the step."""

    def __init__(self, network: Network, training: bool):
        self.network, self.spec = network, network.spec
        self.hints = of_stage(self.spec, Stage.HINT)
        encoding = join_encodings(network.inputs.encoding(), network.hints.encoding())
        self.encoding = encoding
        self.prepared = network.processor.prepare(encoding.edge)
        by_stage: dict[bool, dict[str, Any]] = {True: {}, False: {}}
        for name, decoder in network.decoders.items():
            by_stage[name in self.hints][name] = decoder
        self.decode_hints = Bundle(by_stage[True], encoding.edge)
        self.decode_outputs = Bundle(by_stage[False], encoding.edge)
        self.feedback = network.config.feedback.when(training)

    def begin(self, problem: Problem) -> tuple[Given, State]:
        nodes = problem.inputs["pos"].shape[0]
        live = jnp.arange(nodes) < problem.nodes
        inputs = dense_all(of_stage(self.spec, Stage.INPUT), problem.inputs, nodes)
        fed = dict(self.network.hints.fields)
        start = dense_all(fed, problem.start, nodes)
        given = Given(inputs, self.network.inputs.channels(inputs, live), live, problem.lengths)
        return given, self._state(jnp.zeros((nodes, self.network.config.hidden)), start, live)

    def _state(self, hidden: Array, fed: dict[str, Array], live: Array) -> State:
        hints = self.network.hints
        pointers = tuple(fed[k] for k, field in hints.fields if is_edge_pointer(field))
        return State(hidden, hints.channels(fed, live), pointers)

    def _process(self, given: Given, state: State) -> tuple[Array, Features]:
        """One round of the processor: the next hidden state, and what decoders read."""
        known = join_channels(given.channels, state.hints)
        node, graph = self.encoding.node(known.node), self.encoding.graph(known.graph)
        after, edges = self.network.processor(
            self.prepared,
            node,
            known.edge,
            graph,
            state.hidden,
            self._senders(given, state),
            given.live,
        )
        read = jnp.concatenate([node, state.hidden, after], axis=-1)
        return after, Features(read, known.edge, edges, graph, given.live, state.pointers)

    def step(self, given: Given, state: State, t: Array) -> tuple[State, Seen]:
        after, features = self._process(given, state)
        seen = self._see(features)
        fed = {
            k: fed_back(field, seen.predicted[k], given.live, self.feedback)
            for k, field in self.network.hints.fields
        }
        # A problem that is done stays before its last step, where its outputs are read.
        more = t + 1 < given.lengths - 1
        kept = after if self.network.config.memory else jnp.zeros_like(after)
        new = self._state(kept, fed, given.live)
        state = jax.tree.map(lambda new, old: jnp.where(more, new, old), new, state)
        return state, seen

    def _see(self, features: Features) -> Seen:
        representations = self.decode_hints.represent(features)
        predicted = self.decode_hints.predict(representations, features)
        return Seen(predicted, representations, features.node)

    def walk(
        self,
        given: Given,
        states: State,
        steps: tuple[ArrayLike, ArrayLike],
        room: int,
        observe: Observe,
        *,
        add_up: bool = False,
    ) -> tuple[State, Any]:
        """Take problems side by side from before one step to before another: (their states,
        what was observed at each step, or the sum of that). Beyond its own last step a problem
        stays as it is.
        """

        def step(states: State, t: Array):
            states, seen = jax.vmap(self.step, in_axes=(0, 0, None))(given, states, t)
            return states, observe(t, seen)

        first, end = (jnp.asarray(x, jnp.int32) for x in steps)
        return loop(step, states, first, end, room, add_up=add_up)

    def plan(self, nodes: int) -> Plan | None:
        """How machine code of ours takes all steps of a problem at once (`roll`), as in training,
        where it can."""
        usual = type(self.network.processor) is Processor
        if not usual or self.feedback is not self.network.config.feedback.when(training=True):
            return None
        fields = self.network.inputs.fields, self.network.hints.fields
        if jax.default_backend() == "gpu":
            from .rollout.cuda import run as kernels

            return kernels.kernels_for(self.network.config, *fields, nodes)
        if jax.default_backend() != "cpu":
            return None
        return plan_for(self.network.config, *fields, nodes)

    def roll(
        self,
        plan: Plan,
        given: Given,
        start: State,
        steps: Int[Array, " problems"],
        room: int,
        **compared: Any,
    ) -> Rollout:
        """Take so many steps of each problem, one at least and none more than `room`; what can be
        compared on the way: see `roll_out`."""
        problems = given.channels, start.hints, given.live, steps, room
        if type(plan) is Plan:
            return roll_out(plan, self.network, self.encoding, *problems, **compared)
        from .rollout.cuda import run as kernels

        return kernels.roll_out(plan, self.network, self.encoding, *problems, **compared)

    def walk_in_turns(
        self, given: Given, states: State, turns: Turns, observe: ObserveSome
    ) -> tuple[State, Any]:
        """The same for all steps of problems, some of them at a time: (their last states, the sum
        of what was observed in all rounds).
        """

        def round_of(states: State, i: Array):
            who, t = turns.who[i], turns.step[i]
            mine, now = jax.tree.map(lambda x: x[who], (given, states))
            after, seen = jax.vmap(self.step)(mine, now, t)
            states = jax.tree.map(lambda x, new: x.at[who].set(new), states, after)
            return states, observe(who, t, seen)

        none = jnp.zeros((), jnp.int32)
        return loop(round_of, states, none, turns.rounds, len(turns.who), add_up=True)

    def outputs(self, given: Given, last: State, noise: PRNGKeyArray | None) -> dict[str, Array]:
        """Outputs are read once, at the problem's own last step."""
        return self.last_step(given, last, noise)[0]

    def last_step(
        self, given: Given, last: State, noise: PRNGKeyArray | None
    ) -> tuple[dict[str, Array], Seen]:
        """The problem's own last step: its outputs, and what else is seen of it."""
        _, features = self._process(given, last)
        return self.read_outputs(features, noise), self._see(features)

    def read_outputs(self, features: Features, noise: PRNGKeyArray | None) -> dict[str, Array]:
        """Outputs from what decoders read at a problem's last step."""
        representations = self.decode_outputs.represent(features)
        predicted = self.decode_outputs.predict(representations, features)
        for name in predicted:
            if self.spec[name].kind is Kind.PERMUTATION_POINTER:
                predicted[name] = log_sinkhorn(
                    predicted[name], features.live, steps=OUTPUT_SINKHORN_STEPS, noise=noise
                )
        return predicted

    def _senders(self, given: Given, state: State) -> Bool[Array, "n n"]:
        """Who sends messages to whom."""
        alive = given.live[:, None] & given.live[None, :]
        if self.network.config.fully_connected:
            return alive
        found = jnp.eye(given.live.shape[0], dtype=bool)
        on_edges = self.network.hints.on_edges(state.hints.edge)
        for name, value in (given.inputs | on_edges).items():
            field = self.spec[name]
            if field.location is Location.NODE and field.kind in POINTERS:
                found |= (value + value.T) > 0.5
            elif field.location is Location.EDGE and field.kind is Kind.MASK:
                found |= (value + value.T) > 0.0
        return found & alive
