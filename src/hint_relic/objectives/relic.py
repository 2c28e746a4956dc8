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
    forth: Float[Array, "n m"],
    back: Float[Array, "n n"],
    allowed_forth: Bool[Array, "#n m"],
    allowed_back: Bool[Array, "#n n"],
    positive: Bool[Array, "n n"],
    same: Bool[Array, "n m"],
    config: ObjectiveConfig,
) -> Terms:
    """The two terms for every index v of the input, from its similarities.

    forth: of its representation in the input with all those in the view; back: the other way.
    positive: whether a candidate is the true one; same: whether a node of the view is a node of
    the input.
    """
    in_view = _moved(positive, same) > 0.5
    loss = _nce(forth, allowed_forth, in_view, config.positive_in_denominator) + _nce(
        back, allowed_back, positive, config.positive_in_denominator
    )
    shared = allowed_back & (_moved_back(allowed_forth, same) > 0.5)
    p = jax.nn.log_softmax(jnp.where(shared, _moved_back(forth, same), _DEAD))
    q = jax.nn.log_softmax(jnp.where(shared, back, _DEAD))
    return Terms(loss, _divergence(p, q, shared, config))


# Rows and columns are moved between the places of the input and those of the view by products
# with a matrix of zeros and ones, at full precision: their derivatives are such products too,
# while those of indexing would be scatters, slow on a GPU.
_exactly = partial(jnp.einsum, precision="highest")


def _moved(x: Array, same: Bool[Array, "n m"]) -> Array:
    """Columns at places of the input, moved to those of the view."""
    return _exactly("vu,um->vm", x.astype(jnp.float32), same.astype(jnp.float32))


def _moved_back(x: Array, same: Bool[Array, "n m"]) -> Array:
    """Columns at places of the view, moved to those of the input."""
    return _exactly("vm,um->vu", x.astype(jnp.float32), same.astype(jnp.float32))


def _nce(logits: Array, allowed: Array, positive: Array, included: bool) -> Array:
    candidates = allowed if included else allowed & ~positive
    normaliser = jax.nn.logsumexp(jnp.where(candidates, logits, _DEAD), axis=-1)
    return normaliser - jnp.sum(jnp.where(positive, logits, 0.0), axis=-1)


def _divergence(p: Array, q: Array, shared: Array, config: ObjectiveConfig) -> Array:
    """KL(p, q) + KL(q, p), from log-probabilities."""
    if config.stop_gradient is StopGradient.INPUT:
        p = jax.lax.stop_gradient(p)
    elif config.stop_gradient is StopGradient.VIEW:
        q = jax.lax.stop_gradient(q)
    both = (jnp.exp(p) - jnp.exp(q)) * (p - q)
    return jnp.sum(jnp.where(shared, both, 0.0), axis=-1)


def same_nodes(places: Int[Array, " n"], live: Bool[Array, " n"], nodes: int) -> Bool[Array, "n m"]:
    """Whether a node of the input is a node of the view."""
    return live[:, None] & (places[:, None] == jnp.arange(nodes))


def pointer_terms(
    f: Float[Array, "n n w"],
    g: Float[Array, "m m w"],
    pointer: Int[Array, " n"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """For a pointer hint: a term for every node of the input.

    f, g: the projected representations of all pairs, of the input and of the view.
    """
    positive = pointer[:, None] == jnp.arange(f.shape[0])
    same = same_nodes(places, live, g.shape[0])
    across = same.astype(jnp.float32)
    in_view = _exactly("vm,vu->mu", across, _moved(positive, same))  # for the view's nodes
    anchor = _exactly("vu,vuw->vw", positive.astype(jnp.float32), f)
    image = _exactly("vm,mw->vw", across, _exactly("mu,muw->mw", in_view, g))
    from_anchor = _exactly("mw,muw->mu", _exactly("vm,vw->mw", across, anchor), g)
    forth = _exactly("vm,mu->vu", across, from_anchor)
    back = _exactly("vw,vuw->vu", image, f)
    return alike_pointer_terms((forth, back), pointer, places, live, view_live, config)


def alike_pointer_terms(
    alike: tuple[Float[Array, "n m"], Float[Array, "n n"]],
    pointer: Int[Array, " n"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """The same from how alike they are: those of (v, p) in the input and of all (v, u) in the
    view, p being where v really points, and the other way round."""
    forth, back = (x / config.temperature for x in alike)
    positive = pointer[:, None] == jnp.arange(back.shape[0])
    same = same_nodes(places, live, forth.shape[1])
    return contrast(forth, back, view_live[None], live[None], positive, same, config)


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
    """For an edge pointer: a term for every edge of the input.

    On a CPU one source node at a time, to hold n*n pairs of them and not n*n*n. A GPU has the
    memory, and would wait for n times as many kernels.
    """
    (edge, node), (view_edge, view_node) = of_input, of_view

    @jax.checkpoint
    def from_source(row, view_row, target):
        """All edges of one source: their pointers are pointers of the edges' other ends."""
        f = project(projection, jnp.maximum(row[:, None], node), config.normalise)
        g = project(projection, jnp.maximum(view_row[:, None], view_node), config.normalise)
        return pointer_terms(f, g, target, places, live, view_live, config)

    rows = edge, view_edge[places], pointer
    if jax.default_backend() == "gpu":
        return jax.vmap(from_source)(*rows)
    return jax.lax.map(lambda x: from_source(*x), rows)


def category_terms(
    f: Float[Array, "n w"],
    g: Float[Array, "m w"],
    category: Int[Array, " n"],
    view_category: Int[Array, " m"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """For a categorical hint: a term for every node of the input.

    f, g: the projected representations of all nodes, of the input and of the view.
    """
    return alike_category_terms(f @ g.T, category, view_category, places, live, view_live, config)


def alike_category_terms(
    alike: Float[Array, "n m"],
    category: Int[Array, " n"],
    view_category: Int[Array, " m"],
    places: Int[Array, " n"],
    live: Bool[Array, " n"],
    view_live: Bool[Array, " m"],
    config: ObjectiveConfig,
) -> Terms:
    """The same from how alike nodes of the input and of the view are."""
    same = same_nodes(places, live, alike.shape[1])
    oneself = jnp.eye(alike.shape[0], dtype=bool)
    forth = alike / config.temperature
    back = _moved_back(alike, same).T / config.temperature  # (n, n)
    allowed = view_live & ((category[:, None] != view_category) | same)
    allowed_back = live & ((category[:, None] != category) | oneself)
    return contrast(forth, back, allowed, allowed_back, oneself, same, config)
