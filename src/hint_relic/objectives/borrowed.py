"""The input's hints as the hints of its view: what is true of old nodes, at their new places."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from ..spec import POINTERS, Field, Kind, Location


def old_nodes(
    places: Int[Array, " n"], live: Bool[Array, " n"], nodes: int
) -> tuple[Int[Array, " m"], Bool[Array, " m"]]:
    """For each node of the view: which node of the input it is, and whether it is one."""
    at = jnp.where(live, places, nodes)  # padding writes beyond the end, that is nowhere
    index = jnp.zeros(nodes, jnp.int32).at[at].set(jnp.arange(places.shape[0]), mode="drop")
    return index, jnp.zeros(nodes, bool).at[at].set(True, mode="drop")


def borrow(field: Field, truth: Array, places: Int[Array, " n"], index: Int[Array, " m"]) -> Array:
    """A stored hint of the input in the view's layout. What it says of new nodes means nothing."""
    if field.kind is Kind.MASK_ONE or field.kind in POINTERS:
        truth = places[truth]
    if field.location is Location.GRAPH or field.kind is Kind.MASK_ONE:
        return truth
    return truth[index] if field.location is Location.NODE else truth[index][:, index]
