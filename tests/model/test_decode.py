"""Edge pointers that are followed: an edge can keep its pointer, or take over another one's."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.model.decode import (
    Features,
    FollowingDecoder,
    Parts,
    lean_sum_of_larger,
    new_decoder,
    sum_of_larger,
)
from hint_relic.spec import Field, Kind, Location, Stage

N, HIDDEN = 5, 8
POINTER = Field(Stage.HINT, Location.EDGE, Kind.POINTER)


@pytest.mark.parametrize("keeps", [True, False])
def test_it_keeps_or_takes_over(keeps):
    rng = np.random.default_rng(0)
    decoder = new_decoder(rng, POINTER, HIDDEN, HIDDEN, followed=1)
    assert isinstance(decoder, FollowingDecoder)
    pointer = rng.integers(0, N, (N, N))
    k, strong = 3, 1e4
    share = jnp.asarray([0.0, strong, 0.0] if keeps else [0.0, 0.0, strong])
    represented = decoder.represent(
        Parts(
            node=(
                *(jnp.asarray(rng.standard_normal((N, HIDDEN))) for _ in range(3)),
                jnp.zeros((N, 3)),
                jnp.broadcast_to(share, (N, 3)),
                strong * jnp.eye(N)[:, k : k + 1],
            ),
            edge=(jnp.asarray(rng.standard_normal((N, N, HIDDEN))), jnp.zeros((N, N, 3))),
        )
    )
    nothing = jnp.zeros(0)
    features = Features(nothing, nothing, None, nothing, jnp.ones(N, bool), [jnp.eye(N)[pointer]])
    logits = decoder.predict(represented, features)
    expected = pointer if keeps else np.broadcast_to(pointer[k], (N, N))
    np.testing.assert_allclose(jax.nn.softmax(logits), jnp.eye(N)[expected], atol=1e-6)


def test_shares_of_a_pointer_add_up_to_one():
    rng = np.random.default_rng(0)
    decoder = new_decoder(rng, POINTER, HIDDEN, HIDDEN, followed=2)
    shapes = [(N, N, HIDDEN), (N, HIDDEN), (N, N, 5), (N, 2)]
    represented = tuple(jnp.asarray(rng.standard_normal(shape)) for shape in shapes)
    pointers = [jax.nn.softmax(jnp.asarray(rng.standard_normal((N, N, N)))) for _ in range(2)]
    nothing = jnp.zeros(0)
    features = Features(nothing, nothing, None, nothing, jnp.ones(N, bool), pointers)
    total = jnp.exp(decoder.predict(represented, features)).sum(-1)
    np.testing.assert_allclose(total, 1.0, rtol=1e-5)


def test_nothing_changes_where_no_edge_pointer_is_fed():
    plain = new_decoder(np.random.default_rng(0), POINTER, HIDDEN, HIDDEN)
    assert not isinstance(plain, FollowingDecoder)


@pytest.mark.parametrize("few", [N - 1, N])
def test_a_gpu_is_told_the_same_in_other_words(monkeypatch, few):
    rng = np.random.default_rng(1)
    decoder = new_decoder(rng, POINTER, HIDDEN, HIDDEN)
    represented = tuple(
        jnp.asarray(rng.standard_normal(shape)) for shape in [(N, N, HIDDEN), (N, HIDDEN)]
    )
    nothing = jnp.zeros(0)
    features = Features(nothing, nothing, None, nothing, jnp.arange(N) < N - 1, [])
    at_once = decoder.predict(represented, features)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr("hint_relic.model.decode._FEW_NODES", few)
    np.testing.assert_allclose(
        decoder.predict(represented, features), at_once, rtol=1e-6, atol=1e-6
    )


def test_the_derivative_of_the_larger_is_the_true_one():
    rng = np.random.default_rng(3)
    edge, node, weight, wanted = (
        jnp.asarray(rng.standard_normal(shape), jnp.float32)
        for shape in ((2, N, N, HIDDEN), (2, N, HIDDEN), (HIDDEN,), (2, N, N, N))
    )

    def pulled(way):
        out, pull = jax.vjp(jax.vmap(way, (0, 0, None)), edge, node, weight)
        return out, *pull(wanted)

    for ours, true in zip(pulled(lean_sum_of_larger), pulled(sum_of_larger), strict=True):
        np.testing.assert_allclose(ours, true, rtol=1e-5, atol=1e-5)
