"""From stored (compact) arrays to the dense ones that a network reads, on the device."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..spec import POINTERS, Field, Kind, Spec


def dense(field: Field, compact: Array, nodes: int) -> Float[Array, ...]:
    """One-hot what is stored as an index, as float32. Pointers become rows over the nodes."""
    if field.kind is Kind.MASK_ONE or field.kind in POINTERS:
        return jax.nn.one_hot(compact, nodes)
    if field.kind is Kind.CATEGORICAL:
        masked = -jax.nn.one_hot(field.classes - 1, field.classes)
        one_hot = jax.nn.one_hot(compact, field.classes)
        return jnp.where((compact < 0)[..., None], masked, one_hot)
    return compact.astype(jnp.float32)


def stored(name: str, field: Field, arrays: dict[str, Array]) -> Array:
    """A field's stored array; a reversed pointer is made from the pointer, as an edge mask."""
    if not field.reverses:
        return arrays[name]
    pointer = arrays[field.reverses]  # (..., n)
    return jnp.swapaxes(jax.nn.one_hot(pointer, pointer.shape[-1], dtype=jnp.int8), -1, -2)


def dense_all(fields: Spec, arrays: dict[str, Array], nodes: int) -> dict[str, Array]:
    return {k: dense(field, stored(k, field, arrays), nodes) for k, field in fields.items()}
