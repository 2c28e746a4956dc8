"""The two layers everything is built from, initialised as the reference initialises them."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class Linear(eqx.Module):
    """x @ weight + bias, for any leading axes of x."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    @classmethod
    def init(
        cls,
        key: PRNGKeyArray,
        inputs: int,
        outputs: int,
        *,
        stddev: float | None = None,
        bias: float = 0.0,
    ) -> Linear:
        """Truncated normal weights, of standard deviation 1/sqrt(inputs) unless told."""
        scale = inputs**-0.5 if stddev is None else stddev
        # dm-haiku draws N(0, scale) cut at 2 without correcting for the spread it loses.
        weight = scale * jax.random.truncated_normal(key, -2.0, 2.0, (inputs, outputs))
        return cls(weight, jnp.full((outputs,), bias))

    def __call__(self, x: Float[Array, "... inputs"]) -> Float[Array, "... outputs"]:
        return x @ self.weight + self.bias

    def after(self, first: Linear) -> Linear:
        """This layer after another one, as one layer."""
        return Linear(first.weight @ self.weight, first.bias @ self.weight + self.bias)


class LayerNorm(eqx.Module):
    """Normalise the last axis, then scale and shift it."""

    scale: Float[Array, " h"]
    offset: Float[Array, " h"]

    @classmethod
    def init(cls, width: int) -> LayerNorm:
        return cls(jnp.ones(width), jnp.zeros(width))

    def __call__(self, x: Float[Array, "... h"]) -> Float[Array, "... h"]:
        mean = x.mean(-1, keepdims=True)
        variance = x.var(-1, keepdims=True)
        return self.scale * (x - mean) * jax.lax.rsqrt(variance + 1e-5) + self.offset
