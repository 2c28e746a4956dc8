"""The ways of multiplying that only a GPU takes are the same function as the plain one."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.model.layers import _lean_product


@pytest.mark.parametrize("channels", [1, 3, 20])
@pytest.mark.parametrize("samples", [(), (4,)])
def test_the_lean_product_is_a_product(channels, samples):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((*samples, 5, 5, channels)).astype(np.float32)
    weight = rng.standard_normal((channels, 7)).astype(np.float32)
    wanted = rng.standard_normal((*samples, 5, 5, 7)).astype(np.float32)

    def loss(product, x, weight):
        return jnp.sum(product(x, weight) * wanted)

    plain, lean = (
        jax.value_and_grad(loss, argnums=(1, 2))(product, x, weight)
        for product in (jnp.matmul, _lean_product)
    )
    for ours, theirs in zip(jax.tree.leaves(lean), jax.tree.leaves(plain)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_also_over_samples():
    """Mapped over samples that share the weights, whose gradients then add up."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 5, 5, 20)).astype(np.float32)
    weight = rng.standard_normal((20, 7)).astype(np.float32)
    of_weight = jax.grad(lambda w: jnp.sum(jax.vmap(_lean_product, (0, None))(x, w) ** 2))(weight)
    expected = jax.grad(lambda w: jnp.sum((x @ w) ** 2))(weight)
    np.testing.assert_allclose(of_weight, expected, rtol=1e-4, atol=1e-3)
