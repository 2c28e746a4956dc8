"""The network: encode, process, decode, once for each step of the algorithm.

Written for ONE sample; callers map it over batches (`jax.vmap`) and over seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..config import Feedback, Hints, ModelConfig
from ..spec import Field, Kind, Location, Spec, Stage, of_stage
from ..types import Batch
from .decode import Features, decoder_for
from .dense import dense_all
from .encode import Channels, Encoder, join_channels, join_encodings
from .feedback import fed_back
from .process import Processor
from .sinkhorn import log_sinkhorn

OUTPUT_SINKHORN_STEPS = 10


class Predictions(NamedTuple):
    """Logits (or numbers) for one sample.

    outputs: name -> prediction at the sample's last step;
    hints: name -> (steps, ...), where row t predicts the hint of step t + 1; or, where the
    caller observes something else, the stack of that.
    """

    outputs: dict[str, Array]
    hints: Any


Observe = Callable[[Array, dict[str, Array]], Any]


class State(NamedTuple):
    """What passes from one step to the next."""

    hidden: Float[Array, "n h"]
    hints: dict[str, Array]


class Network(eqx.Module):
    """Encoders, a processor and decoders for one spec."""

    inputs: Encoder
    hints: Encoder
    processor: Any
    decoders: dict[str, Any]
    config: ModelConfig = eqx.field(static=True)
    fields: tuple[tuple[str, Field], ...] = eqx.field(static=True)

    @classmethod
    def init(
        cls, seed: int, spec: Spec, config: ModelConfig, processor: Any = Processor
    ) -> Network:
        """Fresh weights. `processor` is a class to use in place of the built-in one."""
        rng = np.random.default_rng(seed)
        hints = of_stage(spec, Stage.HINT)
        decoded = of_stage(spec, Stage.OUTPUT) | (hints if config.hints != Hints.NONE else {})
        edge_width = config.hidden * (2 if config.triplets else 1)
        return cls(
            inputs=Encoder.init(rng, of_stage(spec, Stage.INPUT), config.hidden),
            hints=Encoder.init(rng, hints if config.hints == Hints.FEEDBACK else {}, config.hidden),
            processor=processor.init(rng, config),
            decoders={
                name: decoder_for(field).init(rng, field, config.hidden, edge_width)
                for name, field in decoded.items()
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
        observe: Observe = lambda t, predicted: predicted,
    ) -> Predictions:
        """Predict one sample (a `Batch` without its leading axis).

        noise: the key of the Gumbel noise on permutations; give one in training only.
        observe: what to keep of each step's hint predictions (all of them, unless told); it is
        called within the loop over steps, so what it drops is never stored.
        """
        spec = self.spec
        hint_fields = of_stage(spec, Stage.HINT)
        nodes = sample.inputs["pos"].shape[0]
        live = jnp.arange(nodes) < sample.nodes
        steps = max(1, next(iter(sample.hints.values())).shape[0] - 1)
        hard = self.config.feedback == Feedback.HARD or (
            self.config.feedback == Feedback.HARD_ON_EVAL and not training
        )

        encoding = join_encodings(self.inputs.encoding(), self.hints.encoding())
        prepared = self.processor.prepare(encoding.edge)
        decoders = {k: (d, d.prepare(encoding.edge)) for k, d in self.decoders.items()}

        inputs = dense_all(of_stage(spec, Stage.INPUT), sample.inputs, nodes)
        given = self.inputs.channels(inputs, live)

        def channels(hints: dict[str, Array]) -> Channels:
            return join_channels(given, self.hints.channels(hints, live))

        def process(known: Channels, hints, hidden):
            """One round of the processor: the next hidden state, and what decoders read."""
            node, graph = encoding.node(known.node), encoding.graph(known.graph)
            senders = self._senders(inputs, hints, live)
            after, edges = self.processor(prepared, node, known.edge, graph, hidden, senders, live)
            read = jnp.concatenate([node, hidden, after], axis=-1)
            return after, Features(read, known.edge, edges, graph, live)

        def predict(name: str, features: Features) -> Array:
            decoder, ready = decoders[name]
            return decoder.predict(decoder.represent(ready, features), live)

        def step(carry, t):
            state, last = carry
            after, features = process(channels(state.hints), state.hints, state.hidden)
            predicted = {k: predict(k, features) for k in hint_fields if k in self.decoders}
            fed = {k: fed_back(spec[k], predicted[k], live, hard) for k, _ in self.hints.fields}
            alive = (t == 0) | (t < sample.lengths - 1)
            last = jax.tree.map(lambda new, old: jnp.where(alive, new, old), state, last)
            return (State(after, fed), last), observe(t, predicted)

        first = dense_all(hint_fields, {k: v[0] for k, v in sample.hints.items()}, nodes)
        start = State(
            jnp.zeros((nodes, self.config.hidden)), {k: first[k] for k, _ in self.hints.fields}
        )
        (_, last), hints = jax.lax.scan(step, (start, start), jnp.arange(steps))

        # Outputs are read once, at each sample's own last step.
        _, features = process(channels(last.hints), last.hints, last.hidden)
        outputs = {k: predict(k, features) for k in of_stage(spec, Stage.OUTPUT)}
        for name in outputs:
            if spec[name].kind is Kind.PERMUTATION_POINTER:
                outputs[name] = log_sinkhorn(
                    outputs[name], live, steps=OUTPUT_SINKHORN_STEPS, noise=noise
                )
        return Predictions(outputs, hints)

    def _senders(self, inputs, hints, live) -> Bool[Array, "n n"]:
        """Who sends messages to whom."""
        alive = live[:, None] & live[None, :]
        if self.config.fully_connected:
            return alive
        found = jnp.eye(live.shape[0], dtype=bool)
        for name, value in (inputs | hints).items():
            field = self.spec[name]
            if field.location is Location.NODE and field.kind in (
                Kind.POINTER,
                Kind.PERMUTATION_POINTER,
            ):
                found |= (value + value.T) > 0.5
            elif field.location is Location.EDGE and field.kind is Kind.MASK:
                found |= (value + value.T) > 0.0
        return found & alive
