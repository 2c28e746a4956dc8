"""The processor: one round of messages between all nodes, Triplet-GMPNN by default.

Any module with `init`, `prepare` and `__call__` of these shapes can take its place (see
`docs/extending.md`).
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..config import ModelConfig
from .layers import LayerNorm, Linear

_NEVER = -1e6  # what the reference puts where there is no message
_GATE_BIAS = -3.0


class Prepared(NamedTuple):
    """The layers that read edge features, composed with the edge encoders."""

    message: Linear
    triplets: Linear | None


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

    def prepare(self, edge: Linear) -> Linear:
        layers = [layer.after(edge) for layer in self.edge]
        return Linear(
            jnp.concatenate([layer.weight for layer in layers], axis=1),
            jnp.concatenate([layer.bias for layer in layers]),
        )

    def __call__(
        self,
        prepared: Linear,
        z: Float[Array, "n zz"],
        channels: Float[Array, "n n ke"],
        graph: Float[Array, " h"],
        live: Bool[Array, " n"],
    ) -> Float[Array, "n n h"]:
        to_1, to_2, to_3 = (layer(z) for layer in self.node)  # (n, f) each
        edge_1, edge_2, edge_3 = jnp.split(prepared(channels), 3, axis=-1)  # (n, n, f) each
        # max over i of everything about (i, j, k); what doesn't depend on i stays outside
        about_ij = jnp.where(live[:, None, None], to_1[:, None] + edge_1, _NEVER)
        best = max_plus(about_ij, edge_2)
        features = best + to_2[:, None] + to_3[None, :] + edge_3 + self.graph(graph)
        return jax.nn.relu(self.out(features))


def max_plus(left: Float[Array, "i j f"], right: Float[Array, "i k f"]) -> Float[Array, "j k f"]:
    """The (max, +) matrix product: max over i of left[i, j] + right[i, k]."""
    return jnp.max(left[:, :, None] + right[:, None, :], axis=0)


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
        triplets = self.triplets.prepare(edge) if self.triplets else None
        return Prepared(self.edge.after(edge), triplets)

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
        pairs = self.sender(z)[:, None] + self.receiver(z)[None, :]  # (n, n, h)
        pairs = pairs + prepared.message(channels) + self.graph(graph)
        messages = self.message[1](jax.nn.relu(self.message[0](jax.nn.relu(pairs))))
        received = jnp.max(jnp.where(senders[..., None], messages, _NEVER), axis=0)  # (n, h)

        out = jax.nn.relu(self.update_node(z) + self.update_message(received))
        if self.norm is not None:
            out = self.norm(out)
        if self.gate is not None:
            read_node, read_message, open_gate = self.gate
            gate = jax.nn.sigmoid(open_gate(jax.nn.relu(read_node(z) + read_message(received))))
            out = out * gate + hidden * (1.0 - gate)

        edges = None
        if self.triplets is not None and prepared.triplets is not None:
            edges = self.triplets(prepared.triplets, z, channels, graph, live)
        return out, edges
