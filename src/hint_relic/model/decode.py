"""Decoders: from node, edge and graph features to a prediction for each hint and output.

One class for each way of predicting; `DECODERS` says which one a (location, kind) gets. A
decoder also gives the *representation* that its last layer sees, which is what the paper's
objective contrasts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..spec import Field, Kind, Location
from .layers import Linear

NEVER = -1e9  # the logit of a node that is padding


class Features(NamedTuple):
    """What decoders read at one step."""

    node: Float[Array, "n hhh"]  # encoded node, hidden state, next hidden state
    channels: Float[Array, "n n ke"]
    edges: Float[Array, "n n h"] | None  # the processor's edge messages
    graph: Float[Array, " h"]
    live: Bool[Array, " n"]


class EdgeLinear(NamedTuple):
    """A linear layer over (edge features, edge messages), composed with the edge encoders."""

    channels: Linear
    edges: Float[Array, "h outputs"]

    def __call__(self, features: Features) -> Float[Array, "n n outputs"]:
        out = self.channels(features.channels)
        return out if features.edges is None else out + features.edges @ self.edges


def _over_edges(layer: Linear, edge: Linear) -> EdgeLinear:
    hidden = edge.weight.shape[1]
    encoded = Linear(layer.weight[:hidden], layer.bias).after(edge)
    return EdgeLinear(encoded, layer.weight[hidden:])


def _only_live(logits: Array, live: Bool[Array, " n"]) -> Array:
    """Rule out padding on the last axis, which is over nodes."""
    return jnp.where(live, logits, NEVER)


class NodeDecoder(eqx.Module):
    """A number, or one for each class, for every node."""

    out: Linear
    kind: Kind = eqx.field(static=True)

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> NodeDecoder:
        return cls(Linear.init(rng, 3 * hidden, field.classes or 1), field.kind)

    def prepare(self, edge: Linear) -> None:
        return None

    def represent(self, _, features: Features) -> Array:
        return features.node

    def predict(self, representation: Array, live: Array) -> Array:
        logits = self.out(representation)
        if self.kind is Kind.CATEGORICAL:
            return logits
        logits = logits[..., 0]
        return _only_live(logits, live) if self.kind is Kind.MASK_ONE else logits


class GraphDecoder(eqx.Module):
    """A number, or one for each class, for the whole graph."""

    node: Linear
    graph: Linear
    kind: Kind = eqx.field(static=True)

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> GraphDecoder:
        width = field.classes or 1
        return cls(Linear.init(rng, 3 * hidden, width), Linear.init(rng, hidden, width), field.kind)

    def prepare(self, edge: Linear) -> None:
        return None

    def represent(self, _, features: Features) -> Array:
        best = jnp.where(features.live[:, None], features.node, -jnp.inf).max(axis=0)
        return self.node(best) + self.graph(features.graph)

    def predict(self, representation: Array, live: Array) -> Array:
        return representation if self.kind is Kind.CATEGORICAL else representation[..., 0]


class EdgeDecoder(eqx.Module):
    """A number, or one for each class, for every edge."""

    source: Linear
    target: Linear
    edge: Linear
    kind: Kind = eqx.field(static=True)

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> EdgeDecoder:
        width = field.classes or 1
        return cls(
            Linear.init(rng, 3 * hidden, width),
            Linear.init(rng, 3 * hidden, width),
            Linear.init(rng, edge_width, width),
            field.kind,
        )

    def prepare(self, edge: Linear) -> EdgeLinear:
        return _over_edges(self.edge, edge)

    def represent(self, prepared: EdgeLinear, features: Features) -> Array:
        source, target = self.source(features.node), self.target(features.node)
        return source[:, None] + target[None, :] + prepared(features)  # (n, n, classes)

    def predict(self, representation: Array, live: Array) -> Array:
        return representation if self.kind is Kind.CATEGORICAL else representation[..., 0]


class PointerDecoder(eqx.Module):
    """For every node, a logit for each node it may point at."""

    source: Linear
    target: Linear
    edge: Linear
    out: Linear

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> PointerDecoder:
        return cls(
            Linear.init(rng, 3 * hidden, hidden),
            Linear.init(rng, 3 * hidden, hidden),
            Linear.init(rng, edge_width, hidden),
            Linear.init(rng, hidden, 1),
        )

    def prepare(self, edge: Linear) -> EdgeLinear:
        return _over_edges(self.edge, edge)

    def represent(self, prepared: EdgeLinear, features: Features) -> Float[Array, "n n h"]:
        """[v, u]: that v points at u. It is read off the edge from u to v."""
        source, target = self.source(features.node), self.target(features.node)
        pair = target[:, None] + prepared(features)  # (u, v, h)
        return jnp.maximum(source[:, None], jnp.swapaxes(pair, 0, 1))

    def predict(self, representation: Array, live: Array) -> Float[Array, "n n"]:
        return _only_live(self.out(representation)[..., 0], live)


class EdgePointerDecoder(eqx.Module):
    """For every edge, a logit for each node it may point at."""

    source: Linear
    target: Linear
    edge: Linear
    pointed: Linear
    out: Linear

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> EdgePointerDecoder:
        return cls(
            Linear.init(rng, 3 * hidden, hidden),
            Linear.init(rng, 3 * hidden, hidden),
            Linear.init(rng, edge_width, hidden),
            Linear.init(rng, 3 * hidden, hidden),
            Linear.init(rng, hidden, 1),
        )

    def prepare(self, edge: Linear) -> EdgeLinear:
        return _over_edges(self.edge, edge)

    def represent(self, prepared: EdgeLinear, features: Features) -> tuple[Array, Array]:
        """(edge, node): the n*n*n pairs of them are never held; see `pairs`."""
        source, target = self.source(features.node), self.target(features.node)
        edge = source[:, None] + target[None, :] + prepared(features)  # (n, n, h)
        return edge, self.pointed(features.node)  # (n, h)

    @staticmethod
    def pairs(representation: tuple[Array, Array]) -> Float[Array, "n n n h"]:
        edge, node = representation
        return jnp.maximum(edge[:, :, None], node)

    def predict(self, representation: tuple[Array, Array], live: Array) -> Float[Array, "n n n"]:
        logits = jnp.sum(self.pairs(representation) * self.out.weight[:, 0], axis=-1)
        return _only_live(logits + self.out.bias, live)


_VALUES = (Kind.SCALAR, Kind.MASK, Kind.MASK_ONE, Kind.CATEGORICAL)
DECODERS: dict[tuple[Location, Kind], Any] = {
    **{(Location.NODE, kind): NodeDecoder for kind in _VALUES},
    **{(Location.EDGE, kind): EdgeDecoder for kind in _VALUES if kind is not Kind.MASK_ONE},
    **{(Location.GRAPH, kind): GraphDecoder for kind in _VALUES if kind is not Kind.MASK_ONE},
    (Location.NODE, Kind.POINTER): PointerDecoder,
    (Location.NODE, Kind.PERMUTATION_POINTER): PointerDecoder,
    (Location.EDGE, Kind.POINTER): EdgePointerDecoder,
}


def decoder_for(field: Field) -> Any:
    """The class of decoder that a field gets."""
    return DECODERS[field.location, field.kind]
