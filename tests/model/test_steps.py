"""The loop over steps: its derivatives, and what its backward pass remembers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.model.layers import largest
from hint_relic.model.steps import loop, noted

ROOM = 6


def _walk(maximum, weight, start, steps):
    """So many steps of a small network with a maximum in it; all states, added up."""

    def step(state, t):
        pairs = jnp.tanh(state[:, None] + state[None] * (t + 1.0)) @ weight
        state = maximum(pairs) + 0.1 * state
        return state, jnp.sum(state**2)

    last, seen = loop(step, start, jnp.int32(0), steps, ROOM)
    return jnp.sum(last) + jnp.sum(seen)


def _network(nodes=5):
    rng = np.random.default_rng(nodes)
    weight = rng.standard_normal((3, 3)).astype(np.float32)
    start = rng.standard_normal((nodes, 3)).astype(np.float32)
    start[-1] = start[0]  # two nodes alike: ties
    return weight, start


@pytest.mark.parametrize("nodes", [5, 32, 33])
def test_a_maximum_that_is_remembered_has_the_same_derivatives(nodes):
    weight, start = _network(nodes)

    def found(maximum):
        walk = lambda weight, start: _walk(maximum, weight, start, jnp.int32(4))  # noqa: E731
        return jax.jit(jax.value_and_grad(walk, argnums=(0, 1)))(weight, start)

    ours, plain = found(largest), found(lambda x: jnp.max(x, axis=0))
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(plain)):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


def test_also_over_samples():
    weight, start = _network()
    starts = jnp.stack([jnp.asarray(start), 2.0 * start, -start])

    def found(maximum):
        def total(weight):
            walk = jax.vmap(lambda start: _walk(maximum, weight, start, jnp.int32(4)))
            return jnp.sum(walk(starts))

        return jax.jit(jax.value_and_grad(total))(weight)

    for a, b in zip(found(largest), found(lambda x: jnp.max(x, axis=0))):
        np.testing.assert_allclose(a, b, rtol=2e-5)


def test_what_is_noted_is_not_computed_again():
    calls = []

    def costly(x):
        return jax.pure_callback(lambda x: calls.append(1) or np.sin(x), x, x)

    def total(x, remember):
        def step(state, t):
            known = remember(costly(jax.lax.stop_gradient(state)))
            return state * (1.0 + 0.1 * known), ()

        return jnp.sum(loop(step, x, jnp.int32(0), jnp.int32(3), ROOM)[0])

    x = np.linspace(0.1, 1.0, 4, dtype=np.float32)
    plain = jax.jit(jax.grad(lambda x: total(x, jax.lax.stop_gradient)))(x)
    assert len(calls) == 6  # forward, and again in the backward pass
    calls.clear()
    remembered = jax.jit(jax.grad(lambda x: total(x, noted)))(x)
    assert len(calls) == 3
    np.testing.assert_allclose(remembered, plain, rtol=1e-6)
