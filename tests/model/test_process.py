"""The (max, +) product: for many nodes it is computed in another order on a CPU."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.model.process import max_plus


@pytest.mark.parametrize("nodes", [3, 16, 17, 40])
def test_max_plus_whatever_the_order(nodes):
    rng = np.random.default_rng(nodes)
    left, right = jnp.asarray(rng.integers(-3, 4, (2, nodes, nodes, 2)), jnp.float32)  # with ties
    wanted = rng.standard_normal((nodes, nodes, 2)).astype(np.float32)

    def plain(left, right):
        return jnp.max(left[:, :, None] + right[:, None, :], axis=0)

    np.testing.assert_array_equal(max_plus(left, right), plain(left, right))
    ours, theirs = (
        jax.grad(lambda a, b, f=f: jnp.sum(f(a, b) * wanted), argnums=(0, 1))(left, right)
        for f in (max_plus, plain)
    )
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
