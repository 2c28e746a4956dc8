"""Encoders: every input and hint becomes a few scalar channels, and each channel a vector.

An encoder is linear, so what it adds to the node, edge or graph features is
`channels @ weight + bias`. The network keeps the channels (a handful) and lets later layers
absorb the weights, instead of carrying 128 numbers for each edge.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..spec import POINTERS, Field, Kind, Location, Spec, Stage
from .layers import Linear


class Channels(NamedTuple):
    """What is known of a sample at one step, not yet encoded.

    Once inputs and hints are joined, the last channel of an edge is always one: its weights are
    the biases of the edge encoders.
    """

    node: Float[Array, "n kn"]
    edge: Float[Array, "n n ke"]
    graph: Float[Array, " kg"]


class Encoding(NamedTuple):
    """One linear layer for each location, from channels to features."""

    node: Linear
    edge: Linear
    graph: Linear


def home(field: Field) -> Location:
    """Where a field's features go: a node's pointer is information about an edge."""
    if field.location is Location.NODE and field.kind in POINTERS:
        return Location.EDGE
    return field.location


def is_edge_pointer(field: Field) -> bool:
    return field.location is Location.EDGE and field.kind is Kind.POINTER


class Encoder(eqx.Module):
    """The linear encoders of some fields. An edge pointer has two, all others one."""

    linears: dict[str, tuple[Linear, ...]]
    fields: tuple[tuple[str, Field], ...] = eqx.field(static=True)
    hidden: int = eqx.field(static=True)

    @classmethod
    def init(cls, rng: np.random.Generator, fields: Spec, hidden: int) -> Encoder:
        linears = {}
        for name, field in fields.items():
            # Scalar hints start small ("xavier on scalars").
            small = field.stage is Stage.HINT and field.kind is Kind.SCALAR
            stddev = hidden**-0.5 if small else None
            width = field.classes if field.kind is Kind.CATEGORICAL else 1
            copies = 2 if is_edge_pointer(field) else 1
            linears[name] = tuple(
                Linear.init(rng, width, hidden, stddev=stddev) for _ in range(copies)
            )
        return cls(linears, tuple(fields.items()), hidden)

    def channels(self, values: dict[str, Array], live: Bool[Array, " n"]) -> Channels:
        """Stack dense values as channels, in the order of the encoders' rows."""
        n = live.shape[0]
        found: dict[Location, list[Array]] = {location: [] for location in Location}
        for name, field in self.fields:
            value = values[name]
            if is_edge_pointer(field):
                # The reference averages over the first and over the second node of the edge.
                alive, nodes = live.astype(value.dtype), jnp.maximum(live.sum(), 1)
                found[Location.EDGE] += [
                    jnp.einsum("i,ijk->jk", alive, value)[..., None] / nodes,
                    jnp.einsum("j,ijk->ik", alive, value)[..., None] / nodes,
                ]
            else:
                wide = field.kind is Kind.CATEGORICAL
                found[home(field)].append(value if wide else value[..., None])
        leading = {Location.NODE: (n,), Location.EDGE: (n, n), Location.GRAPH: ()}
        stacked = {
            location: jnp.concatenate([*parts, jnp.zeros((*leading[location], 0))], axis=-1)
            for location, parts in found.items()
        }
        return Channels(*(stacked[at] for at in (Location.NODE, Location.EDGE, Location.GRAPH)))

    def on_edges(self, edge: Float[Array, "n n ke"]) -> dict[str, Float[Array, "n n"]]:
        """The values of single numbers for each edge, from the channels."""
        names: list[str | None] = []
        for name, field in self.fields:
            if home(field) is Location.EDGE:
                width = len(self.linears[name]) * self.linears[name][0].weight.shape[0]
                names += [name] if width == 1 else [None] * width
        return {name: edge[..., i] for i, name in enumerate(names) if name is not None}

    def encoding(self) -> Encoding:
        """All encoders of a location as one layer over its channels."""
        found: dict[Location, list[Linear]] = {location: [] for location in Location}
        for name, field in self.fields:
            found[home(field)] += self.linears[name]
        layers = {location: _stack(parts, self.hidden) for location, parts in found.items()}
        return Encoding(*(layers[at] for at in (Location.NODE, Location.EDGE, Location.GRAPH)))


def _stack(parts: list[Linear], hidden: int) -> Linear:
    weight = jnp.concatenate([part.weight for part in parts] + [jnp.zeros((0, hidden))])
    bias = sum((part.bias for part in parts), jnp.zeros(hidden))
    return Linear(weight, bias)


def join_channels(first: Channels, second: Channels) -> Channels:
    node, edge, graph = (jnp.concatenate(pair, axis=-1) for pair in zip(first, second))
    one = jnp.ones((*edge.shape[:-1], 1), edge.dtype)
    return Channels(node, jnp.concatenate([edge, one], axis=-1), graph)


def join_encodings(first: Encoding, second: Encoding) -> Encoding:
    node, edge, graph = (
        Linear(jnp.concatenate([a.weight, b.weight]), a.bias + b.bias)
        for a, b in zip(first, second)
    )
    with_constant = jnp.concatenate([edge.weight, edge.bias[None]])
    return Encoding(node, Linear(with_constant, jnp.zeros_like(edge.bias)), graph)
