"""A processor that averages messages: a skeleton to copy.

A processor is an Equinox module of arrays. It works on ONE sample; batches and seeds are mapped
over it. `n` nodes, `h` the hidden width, `ke` the channels of an edge.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from hint_relic.model.layers import Linear


class MeanProcessor(eqx.Module):
    """relu(W [z, mean over senders of relu(P [z_u, z_v] + E edge + graph)])."""

    pair: Linear
    edge: Linear
    out: Linear

    @classmethod
    def init(cls, rng: Any, config: Any) -> MeanProcessor:
        """Fresh weights. `rng` is a NumPy generator, `config` a `ModelConfig`."""
        h = config.hidden
        return cls(
            pair=Linear.init(rng, 4 * h, h),
            edge=Linear.init(rng, h, h),
            out=Linear.init(rng, 3 * h, h),
        )

    def prepare(self, edge: Linear) -> Linear:
        """What is computed once per update. `edge` encodes an edge's channels (ke) as h numbers;
        composed with our own layer over edges, both are one small layer."""
        return self.edge.after(edge)

    def __call__(self, prepared, node, channels, graph, hidden, senders, live):
        """The next hidden state, and edge messages for the decoders (None: they get none).

        node, hidden: (n, h);  channels: (n, n, ke);  graph: (h,);
        senders: (n, n), who sends to whom;  live: (n,), False where a node is padding.
        """
        n = node.shape[0]
        z = jnp.concatenate([node, hidden], axis=-1)  # (n, 2h)
        both = jnp.concatenate(
            [jnp.repeat(z[:, None], n, axis=1), jnp.repeat(z[None], n, axis=0)], axis=-1
        )  # (n, n, 4h): sender, receiver
        messages = jax.nn.relu(self.pair(both) + prepared(channels) + graph)  # (n, n, h)
        mask = senders[..., None]
        received = jnp.sum(messages * mask, axis=0) / jnp.maximum(mask.sum(axis=0), 1)
        return jax.nn.relu(self.out(jnp.concatenate([z, received], axis=-1))), None
