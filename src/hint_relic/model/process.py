"""The processor: one round of messages between all nodes, Triplet-GMPNN by default.

Any module with `init`, `prepare` and `__call__` of these shapes can take its place (see
`docs/extending.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..config import ModelConfig
from .layers import LayerNorm, Linear, Together, fence, largest, product

_NEVER = -1e6  # what the reference puts where there is no message
_GATE_BIAS = -3.0
_FEW_NODES = 16


class Prepared(NamedTuple):
    """The processor's layers by what they read, made once per update."""

    node: Together
    edge: Together
    triplets: Together  # over edges, too, but few and read on their own
    graph: Together
    received: Together


class Triplets(eqx.Module):
    """Messages from triplets of nodes, max-reduced to a few features per edge."""

    node: tuple[Linear, ...]  # three, for the three nodes of a triplet
    edge: tuple[Linear, ...]  # three, for its three edges
    graph: Linear
    out: Linear

    @classmethod
    def init(cls, rng: np.random.Generator, hidden: int, features: int) -> Triplets:
        node = tuple(Linear.init(rng, 2 * hidden, features) for _ in range(3))
        edge = tuple(Linear.init(rng, hidden, features) for _ in range(3))
        graph = Linear.init(rng, hidden, features)
        return cls(node, edge, graph, Linear.init(rng, features, hidden))

    def __call__(
        self,
        node: Sequence[Float[Array, "n f"]],
        edge: Sequence[Float[Array, "n n f"]],
        graph: Float[Array, " f"],
        live: Bool[Array, " n"],
    ) -> Float[Array, "n n h"]:
        """From the results of the layers above, all but the last."""
        # max over i of everything about (i, j, k); what doesn't depend on i stays outside
        about_ij = jnp.where(live[:, None, None], node[0][:, None] + edge[0], _NEVER)
        best = max_plus(about_ij, edge[1])
        return self.messages(best + node[1][:, None] + (node[2] + graph) + edge[2])

    def messages(self, features: Float[Array, "... n n f"]) -> Float[Array, "... n n h"]:
        """What each edge says, from its triplets' features."""
        return jax.nn.relu(self.out(features))


def max_plus(left: Float[Array, "i j f"], right: Float[Array, "i k f"]) -> Float[Array, "j k f"]:
    """The (max, +) matrix product: max over i of left[i, j] + right[i, k]."""
    if jax.default_backend() != "cpu":
        return _at_once(left, right)
    # fenced off: XLA would make it within the product that reads it, more slowly than both
    return fence((_one_by_one if left.shape[0] > _FEW_NODES else _at_once)(left, right))


def _at_once(left: Array, right: Array) -> Array:
    return largest(left[:, :, None] + right[:, None, :])


@jax.custom_vjp
def _one_by_one(left: Array, right: Array) -> Array:
    """A running maximum over i: on a CPU far faster, as whole rows are compared at a time."""

    def next_one(i: Array, best: Array) -> Array:
        return jnp.maximum(best, left[i][:, None] + right[i][None, :])

    return jax.lax.fori_loop(1, left.shape[0], next_one, left[0][:, None] + right[0][None, :])


_one_by_one.defvjp(
    lambda left, right: (_one_by_one(left, right), (left, right)),
    lambda kept, wanted: jax.vjp(_at_once, *kept)[1](wanted),
)


class Processor(eqx.Module):
    """A gated message-passing layer with max aggregation and triplet edge messages."""

    receiver: Linear
    sender: Linear
    edge: Linear
    graph: Linear
    message: tuple[Linear, Linear]
    update_node: Linear
    update_message: Linear
    triplets: Triplets | None
    norm: LayerNorm | None
    gate: tuple[Linear, Linear, Linear] | None

    @classmethod
    def init(cls, rng: np.random.Generator, config: ModelConfig) -> Processor:
        h = config.hidden
        return cls(
            receiver=Linear.init(rng, 2 * h, h),
            sender=Linear.init(rng, 2 * h, h),
            edge=Linear.init(rng, h, h),
            graph=Linear.init(rng, h, h),
            message=(Linear.init(rng, h, h), Linear.init(rng, h, h)),
            update_node=Linear.init(rng, 2 * h, h),
            update_message=Linear.init(rng, h, h),
            triplets=Triplets.init(rng, h, config.triplets) if config.triplets else None,
            norm=LayerNorm.init(h) if config.layer_norm else None,
            gate=(
                Linear.init(rng, 2 * h, h),
                Linear.init(rng, h, h),
                Linear.init(rng, h, h, bias=_GATE_BIAS),
            )
            if config.gated
            else None,
        )

    def prepare(self, edge: Linear) -> Prepared:
        """What can be done once per update, given the layer that encodes edges."""
        t, g = self.triplets, self.gate
        return Prepared(
            node=Together(
                [
                    self.sender,
                    self.receiver,
                    self.update_node,
                    *(g[:1] if g else ()),
                    *(t.node if t else ()),
                ]
            ),
            edge=Together([self.edge], after=edge, constant=True),
            triplets=Together(t.edge if t else (), after=edge, constant=True),
            graph=Together([self.graph, *([t.graph] if t else [])]),
            received=Together([self.update_message, *(g[1:2] if g else ())]),
        )

    def __call__(
        self,
        prepared: Prepared,
        node: Float[Array, "n h"],
        channels: Float[Array, "n n ke"],
        graph: Float[Array, " h"],
        hidden: Float[Array, "n h"],
        senders: Bool[Array, "n n"],
        live: Bool[Array, " n"],
    ) -> tuple[Float[Array, "n h"], Float[Array, "n n h"] | None]:
        """The next hidden state, and edge messages for the decoders if there are triplets.

        `senders[i, j]` says whether i sends to j; `live` which nodes are not padding.
        """
        z = jnp.concatenate([node, hidden], axis=-1)
        sender, receiver, kept, *more_node = prepared.node(z)
        more_edge = prepared.triplets(channels)
        on_graph, *more_graph = prepared.graph(graph)

        pairs = sender[:, None] + (receiver + on_graph) + prepared.edge.joint(channels)  # (n, n, h)
        first, second = self.message
        messages = product(jax.nn.relu(first(jax.nn.relu(pairs))), second.weight)
        best = largest(jnp.where(senders[..., None], messages, _NEVER)) + second.bias  # (n, h)
        received, *more_received = prepared.received(best)

        out = jax.nn.relu(kept + received)
        if self.norm is not None:
            out = self.norm(out)
        if self.gate is not None:
            gate = jax.nn.sigmoid(self.gate[2](jax.nn.relu(more_node.pop(0) + more_received[0])))
            out = out * gate + hidden * (1.0 - gate)

        edges = None
        if self.triplets is not None:
            edges = self.triplets(more_node, more_edge, more_graph[0], live)
        return out, edges
