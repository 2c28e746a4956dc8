"""Sinkhorn normalisation in log space: logits to (almost) a permutation matrix.

Alternately normalising rows and columns only ever subtracts a number from each row and a
number from each column, so those two vectors are all that is iterated.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

_DEAD = -1e30


def log_sinkhorn(
    logits: Float[Array, "n n"],
    live: Bool[Array, " n"],
    *,
    steps: int,
    temperature: float = 0.1,
    noise: PRNGKeyArray | None = None,
) -> Float[Array, "n n"]:
    """Log of a doubly stochastic matrix over the live nodes, none pointing at itself."""
    n = logits.shape[0]
    if noise is not None:
        uniform = jax.random.uniform(noise, logits.shape)
        logits = logits - jnp.log(-jnp.log(uniform + 1e-12) + 1e-12)
    x = logits / temperature - 1e6 * jnp.eye(n)
    x = jnp.where(live[:, None] & live[None, :], x, _DEAD)

    @jax.checkpoint
    def step(columns, _):
        rows = jnp.where(live, jax.nn.logsumexp(x - columns, axis=1), 0.0)
        columns = jnp.where(live, jax.nn.logsumexp(x - rows[:, None], axis=0), 0.0)
        return columns, rows

    columns, rows = jax.lax.scan(step, jnp.zeros(n), None, length=steps)
    return x - rows[-1][:, None] - columns
