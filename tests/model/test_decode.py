"""Edge pointers that are followed: an edge can keep its pointer, or take over another one's."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.model.decode import Features, FollowingDecoder, Parts, new_decoder
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


def test_row_by_row_is_the_same_as_at_once(monkeypatch):
    rng = np.random.default_rng(1)
    decoder = new_decoder(rng, POINTER, HIDDEN, HIDDEN)
    represented = tuple(
        jnp.asarray(rng.standard_normal(shape)) for shape in [(N, N, HIDDEN), (N, HIDDEN)]
    )
    nothing = jnp.zeros(0)
    features = Features(nothing, nothing, None, nothing, jnp.arange(N) < N - 1, [])
    at_once = decoder.predict(represented, features)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr("hint_relic.model.decode._FEW_NODES", N - 1)
    np.testing.assert_allclose(
        decoder.predict(represented, features), at_once, rtol=1e-6, atol=1e-6
    )
