"""Decoders: from node, edge and graph features to a prediction for each hint and output.

One class for each way of predicting; `DECODERS` says which one a (location, kind) gets. A
decoder is some linear layers over the features, then `represent`, which combines their results
into the *representation* that the last layer sees (what the paper's objective contrasts), then
`predict`. The first layers of all decoders run together, as one product each (`Bundle`).
"""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..spec import Field, Kind, Location
from .layers import Linear, Together, fence, product

NEVER = -1e9  # the logit of a node that is padding
_FEW_NODES = 24
_NEARLY_NEVER = 1e-9  # added to a probability before its logarithm is taken


class Features(NamedTuple):
    """What decoders read at one step."""

    node: Float[Array, "n hhh"]  # encoded node, hidden state, next hidden state
    channels: Float[Array, "n n ke"]
    edges: Float[Array, "n n h"] | None  # the processor's edge messages
    graph: Float[Array, " h"]
    live: Bool[Array, " n"]
    pointers: tuple[Float[Array, "n n n"], ...]  # the edge pointers among the hints, as fed


class Parts(NamedTuple):
    """One thing for each source that decoders read: the layers over it, or their results."""

    node: tuple[Any, ...] = ()
    pooled: tuple[Any, ...] = ()  # the maximum over nodes
    graph: tuple[Any, ...] = ()
    edge: tuple[Any, ...] = ()


def only_live(logits: Array, live: Bool[Array, " n"]) -> Array:
    """Rule out padding on the last axis, which is over nodes."""
    return jnp.where(live, logits, NEVER)


class NodeDecoder(eqx.Module):
    """A number, or one for each class, for every node."""

    out: Linear
    kind: Kind = eqx.field(static=True)

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> NodeDecoder:
        return cls(Linear.init(rng, 3 * hidden, field.classes or 1), field.kind)

    def layers(self) -> Parts:
        return Parts(node=(self.out,))

    def represent(self, parts: Parts) -> Array:
        return parts.node[0]

    def predict(self, representation: Array, features: Features) -> Array:
        if self.kind is Kind.CATEGORICAL:
            return representation
        logits = representation[..., 0]
        return only_live(logits, features.live) if self.kind is Kind.MASK_ONE else logits


class GraphDecoder(eqx.Module):
    """A number, or one for each class, for the whole graph."""

    node: Linear
    graph: Linear
    kind: Kind = eqx.field(static=True)

    @classmethod
    def init(cls, rng, field: Field, hidden: int, edge_width: int) -> GraphDecoder:
        width = field.classes or 1
        return cls(Linear.init(rng, 3 * hidden, width), Linear.init(rng, hidden, width), field.kind)

    def layers(self) -> Parts:
        return Parts(pooled=(self.node,), graph=(self.graph,))

    def represent(self, parts: Parts) -> Array:
        return parts.pooled[0] + parts.graph[0]

    def predict(self, representation: Array, features: Features) -> Array:
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

    def layers(self) -> Parts:
        return Parts(node=(self.source, self.target), edge=(self.edge,))

    def represent(self, parts: Parts) -> Array:
        source, target = parts.node
        return source[:, None] + target[None, :] + parts.edge[0]  # (n, n, classes)

    def predict(self, representation: Array, features: Features) -> Array:
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

    def layers(self) -> Parts:
        return Parts(node=(self.source, self.target), edge=(self.edge,))

    def represent(self, parts: Parts) -> Float[Array, "n n h"]:
        """[u, v]: that v points at u. It is read off the edge from u to v."""
        source, target = parts.node
        return jnp.maximum(source, target[:, None] + parts.edge[0])

    def predict(self, representation: Array, features: Features) -> Float[Array, "n n"]:
        logits = fence(self.out(representation)[..., 0].T)  # from the softmax that reads them
        return only_live(logits, features.live)


def sum_of_larger(
    edge: Float[Array, "... n h"], node: Float[Array, "n h"], weight: Float[Array, " h"]
) -> Float[Array, "... n n"]:
    """For every edge and node, the weighted sum over h of the larger of the two."""
    return jnp.sum(jnp.maximum(edge[..., None, :], node) * weight, axis=-1)


@jax.custom_vjp
def lean_sum_of_larger(edge: Array, node: Array, weight: Array) -> Array:
    """The same for a GPU, fenced off from what comes before and after it.

    Left to itself XLA makes the sum within a kernel for the softmax that reads it, seven times
    as slowly, and stores for the derivatives which of all those numbers were larger.
    """
    return fence(sum_of_larger(edge, node, weight))


def _keeping_little(edge, node, weight):
    return lean_sum_of_larger(edge, node, weight), (edge, node, weight)


def _derivatives_of_larger(kept, wanted):
    edge, node, weight = kept
    edge, node, wanted = fence((edge, node, wanted))
    nodes, rows = enumerate(node), zip(edge, wanted, strict=True)
    of_edge = sum(jnp.where(edge > row, wanted[..., k, None], 0.0) for k, row in nodes)
    of_node = sum(jnp.where(e[:, None] > node, 0.0, w[..., None]) for e, w in rows)
    of_edge, of_node = fence((of_edge, of_node))
    of_node = of_node.sum(0)
    of_weight = jnp.sum(edge * of_edge, axis=(0, 1)) + jnp.sum(node * of_node, axis=0)
    return of_edge * weight, of_node * weight, of_weight


lean_sum_of_larger.defvjp(_keeping_little, _derivatives_of_larger)


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

    def layers(self) -> Parts:
        return Parts(node=(self.source, self.target, self.pointed), edge=(self.edge,))

    def represent(self, parts: Parts) -> tuple[Array, Array]:
        """(edge, node): the n*n*n pairs of them are never held."""
        source, target, pointed = parts.node
        return source[:, None] + target[None, :] + parts.edge[0], pointed  # (n, n, h), (n, h)

    def predict(
        self, representation: tuple[Array, Array], features: Features
    ) -> Float[Array, "n n n"]:
        edge, node = representation
        weight = self.out.weight[:, 0]
        if jax.default_backend() != "gpu":
            found = sum_of_larger(edge, node, weight)
        elif node.shape[0] <= _FEW_NODES:
            found = lean_sum_of_larger(edge, node, weight)
        else:  # as one kernel, XLA compiles it for minutes, trying one layout after another
            found = jax.lax.map(lambda row: sum_of_larger(row, node, weight), edge)
        return only_live(found + self.out.bias, features.live)


class FollowingDecoder(eqx.Module):
    """An edge pointer that may also stay as it is, or follow that of another edge.

    For each edge (i, j) shares that add up to one say how much of the new pointer is decided
    anew, how much is where it pointed before, and how much is where the edge (k, j) pointed, k
    being a node that all edges attend to. What is copied is as sharp as it was, at any size.
    """

    plain: EdgePointerDecoder
    source: Linear
    target: Linear
    edge: Linear
    attend: Linear

    @classmethod
    def around(
        cls, plain: EdgePointerDecoder, rng, hidden: int, edge_width: int, followed: int
    ) -> FollowingDecoder:
        shares = 1 + 2 * followed
        return cls(
            plain,
            Linear.init(rng, 3 * hidden, shares),
            Linear.init(rng, 3 * hidden, shares),
            Linear.init(rng, edge_width, shares),
            Linear.init(rng, 3 * hidden, followed),
        )

    def layers(self) -> Parts:
        plain = self.plain.layers()
        return Parts(
            node=(*plain.node, self.source, self.target, self.attend),
            edge=(*plain.edge, self.edge),
        )

    def represent(self, parts: Parts) -> tuple[Array, ...]:
        *plain, source, target, attend = parts.node
        edge, pointed = self.plain.represent(Parts(node=tuple(plain), edge=parts.edge[:1]))
        shares = source[:, None] + target[None, :] + parts.edge[1]
        return edge, pointed, shares, attend

    def predict(
        self, representation: tuple[Array, ...], features: Features
    ) -> Float[Array, "n n n"]:
        edge, pointed, shares, attend = representation
        anew, *others = jnp.split(jax.nn.softmax(shares), shares.shape[-1], axis=-1)
        attention = jax.nn.softmax(jnp.where(features.live[:, None], attend, NEVER), axis=0)
        mixed = anew * jax.nn.softmax(self.plain.predict((edge, pointed), features))
        for m, pointer in enumerate(features.pointers):
            taken = jnp.einsum("k,kju->ju", attention[:, m], pointer)
            mixed += others[2 * m] * pointer + others[2 * m + 1] * taken
        return jnp.log(mixed + _NEARLY_NEVER)


_VALUES = (Kind.SCALAR, Kind.MASK, Kind.MASK_ONE, Kind.CATEGORICAL)
DECODERS: dict[tuple[Location, Kind], Any] = {
    **{(Location.NODE, kind): NodeDecoder for kind in _VALUES},
    **{(Location.EDGE, kind): EdgeDecoder for kind in _VALUES if kind is not Kind.MASK_ONE},
    **{(Location.GRAPH, kind): GraphDecoder for kind in _VALUES if kind is not Kind.MASK_ONE},
    (Location.NODE, Kind.POINTER): PointerDecoder,
    (Location.NODE, Kind.PERMUTATION_POINTER): PointerDecoder,
    (Location.EDGE, Kind.POINTER): EdgePointerDecoder,
}


def new_decoder(rng, field: Field, hidden: int, edge_width: int, *, followed: int = 0) -> Any:
    """A decoder for a field; followed: how many edge pointers an edge pointer may follow."""
    decoder = DECODERS[field.location, field.kind].init(rng, field, hidden, edge_width)
    if followed and isinstance(decoder, EdgePointerDecoder):
        return FollowingDecoder.around(decoder, rng, hidden, edge_width, followed)
    return decoder


class Bundle:
    """Several decoders; their layers over the same source run as one.

    Made once per update. The layers over edges take the edge encoders into themselves, so that
    they read a few channels for each edge instead of its features.
    """

    def __init__(self, decoders: dict[str, Any], edge: Linear):
        self._decoders = decoders
        self._layers = {name: decoder.layers() for name, decoder in decoders.items()}
        hidden = edge.weight.shape[1]
        over_edges = self._all("edge")
        self._node = Together(self._all("node"))
        self._pooled = Together(self._all("pooled"))
        self._graph = Together(self._all("graph"))
        read = [Linear(x.weight[:hidden], x.bias) for x in over_edges]
        self._edge = Together(read, after=edge, constant=True)
        # The same layers over the processor's edge messages; their biases are in the former.
        self._messages = Together(
            [Linear(x.weight[hidden:], jnp.zeros_like(x.bias)) for x in over_edges]
        ).weight

    def _all(self, source: str) -> list[Linear]:
        return [layer for parts in self._layers.values() for layer in getattr(parts, source)]

    def represent(self, features: Features) -> dict[str, Any]:
        """The representation of every decoder."""
        pooled: tuple[Array, ...] = ()
        if self._pooled.widths:
            best = jnp.where(features.live[:, None], features.node, -jnp.inf).max(axis=0)
            pooled = self._pooled(best)
        edge: tuple[Array, ...] = ()
        if self._edge.widths:
            out = self._edge.joint(features.channels)
            if features.edges is not None:
                out = out + product(features.edges, self._messages)
            edge = self._edge.split(out)
        graph = self._graph(features.graph)
        results = [iter(x) for x in (self._node(features.node), pooled, graph, edge)]
        return {
            name: self._decoders[name].represent(
                Parts(*(tuple(islice(r, len(p))) for r, p in zip(results, parts)))
            )
            for name, parts in self._layers.items()
        }

    def predict(self, representations: dict[str, Any], features: Features) -> dict[str, Array]:
        """The prediction of every decoder."""
        return {k: self._decoders[k].predict(r, features) for k, r in representations.items()}
