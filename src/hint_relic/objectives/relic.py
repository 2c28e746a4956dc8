"""The paper's objective, for one sample and its view at one step (equation 3).

`f(x, i)` is what the last layer of a hint's decoder sees of index i in the input x; `h` a small
network; `phi(a, b) = <h(a), h(b)> / temperature`. For a pointer hint the indices are pairs (v, u),
"v points at u". For every node v of the input, with p the node it really points at,

    L_v = - log  exp phi(f(x, (v, p)), f(x', (v, p)))  /  sum_u exp phi(f(x, (v, p)), f(x', (v, u)))

where u runs over the nodes of the view x', plus the same with x and x' exchanged. The paper's
sum leaves out u = p (`positive_in_denominator=False`). For a categorical hint the indices are
nodes; the negatives of v are the nodes of another class. The KL term compares the two softmax
distributions of v, over the nodes that input and view share.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..config import ObjectiveConfig, StopGradient
from ..model.layers import Linear

_DEAD = -1e9


class Terms(NamedTuple):
    """For every node (or edge) of the input: the contrastive loss and the KL divergence."""

    contrastive: Float[Array, ...]
    kl: Float[Array, ...]


def project(
    layers: tuple[Linear, Linear], x: Float[Array, "... w"], normalise: bool
) -> Float[Array, "... w"]:
    """`h`: two layers with a ReLU between them, and unit length if asked for."""
    out = layers[1](jax.nn.relu(layers[0](x)))
    if not normalise:
        return out
    return out * jax.lax.rsqrt(jnp.sum(out**2, axis=-1, keepdims=True) + 1e-6)


def contrast(
    forth: Float[Array, " u"],
    back: Float[Array, " n"],
    allowed_forth: Bool[Array, " u"],
    allowed_back: Bool[Array, " n"],
    positive: Int[Array, ""],
    places: Int[Array, " n"],
    *,
    config: ObjectiveConfig,
) -> Terms:
    """The two terms for one index, from its similarities.

    forth: of its representation in the input with all those in the view; back: the other way.
    positive: the true candidate, as a node of the input; places: where its nodes are in the view.
    """
    in_view = places[positive]
    loss = _nce(forth, allowed_forth, in_view, config.positive_in_denominator) + _nce(
        back, allowed_back, positive, config.positive_in_denominator
    )
    shared = allowed_back & allowed_forth[places]
    p = jax.nn.log_softmax(jnp.where(shared, forth[places], _DEAD))
    q = jax.nn.log_softmax(jnp.where(shared, back, _DEAD))
    return Terms(loss, _divergence(p, q, shared, config))


def _nce(logits: Array, allowed: Array, positive: Array, included: bool) -> Array:
    candidates = jnp.where(allowed, logits, _DEAD)
    if not included:
        candidates = jnp.where(jnp.arange(logits.shape[0]) == positive, _DEAD, candidates)
    return jax.nn.logsumexp(candidates) - logits[positive]


def _divergence(p: Array, q: Array, shared: Array, config: ObjectiveConfig) -> Array:
    """KL(p, q) + KL(q, p), from log-probabilities."""
    if config.stop_gradient is StopGradient.INPUT:
        p = jax.lax.stop_gradient(p)
    elif config.stop_gradient is StopGradient.VIEW:
        q = jax.lax.stop_gradient(q)
    both = (jnp.exp(p) - jnp.exp(q)) * (p - q)
    return jnp.sum(jnp.where(shared, both, 0.0))


def pointer_terms(
    projection: tuple[Linear, Linear],
    of_input: Float[Array, "n n w"],
    of_view: Float[Array, "m m w"],
    pointer: Int[Array, " n"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """For a pointer hint: a term for every node of the input."""
    f = project(projection, of_input, config.normalise)
    g = project(projection, of_view, config.normalise)[places]  # (n, m, w): the same nodes v
    nodes = jnp.arange(pointer.shape[0])
    anchor, image = f[nodes, pointer], g[nodes, places[pointer]]  # (n, w)
    forth = jnp.einsum("vw,vuw->vu", anchor, g) / config.temperature
    back = jnp.einsum("vw,vuw->vu", image, f) / config.temperature
    each = jax.vmap(partial(contrast, config=config), in_axes=(0, 0, None, None, 0, None))
    return each(forth, back, view_live, live, pointer, places)


def edge_pointer_terms(
    projection: tuple[Linear, Linear],
    of_input: tuple[Float[Array, "n n w"], Float[Array, "n w"]],
    of_view: tuple[Float[Array, "m m w"], Float[Array, "m w"]],
    pointer: Int[Array, "n n"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """For an edge pointer: a term for every edge of the input, one source node at a time."""
    (edge, node), (view_edge, view_node) = of_input, of_view

    @jax.checkpoint
    def from_source(row, view_row, target):
        """All edges of one source: their pointers are pointers of the edges' other ends."""
        pairs = jnp.maximum(row[:, None], node)  # (n, n, w)
        view_pairs = jnp.maximum(view_row[:, None], view_node)  # (m, m, w)
        return pointer_terms(projection, pairs, view_pairs, target, places, live, view_live, config)

    return jax.lax.map(lambda x: from_source(*x), (edge, view_edge[places], pointer))


def category_terms(
    projection: tuple[Linear, Linear],
    of_input: Float[Array, "n w"],
    of_view: Float[Array, "m w"],
    category: Int[Array, " n"],
    view_category: Int[Array, " m"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """For a categorical hint: a term for every node of the input."""
    f = project(projection, of_input, config.normalise)
    g = project(projection, of_view, config.normalise)
    forth = f @ g.T / config.temperature  # (n, m)
    back = g[places] @ f.T / config.temperature  # (n, n)
    nodes, view_nodes = jnp.arange(f.shape[0]), jnp.arange(g.shape[0])
    same = places[:, None] == view_nodes
    allowed = view_live & ((category[:, None] != view_category) | same)
    allowed_back = live & ((category[:, None] != category) | (nodes[:, None] == nodes))
    each = jax.vmap(partial(contrast, config=config), in_axes=(0, 0, 0, 0, 0, None))
    return each(forth, back, allowed, allowed_back, nodes, places)
