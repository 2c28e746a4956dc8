"""The two layers everything is built from, initialised as the reference initialises them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .steps import noted

# Weights are NumPy arrays until a program takes them, so that starting needs no compilation and
# a seed means the same network on every device.
Array = Any

_ALIGNED = 16
_FEW = 16
_BITS = 32

fence = jax.lax.optimization_barrier  # XLA fuses nothing across it


@jax.custom_vjp
def fenced_back(x: Array) -> Array:
    """x; what it hands back is fenced off. XLA would make the derivative of a maximum within
    kernels that have few threads."""
    return x


fenced_back.defvjp(lambda x: (x, None), lambda _, wanted: (fence(wanted),))


def largest(x: Float[Array, "i ..."]) -> Float[Array, ...]:
    """The maximum over the first axis; where several are largest, they share its derivative.

    On a CPU the backward pass is told where the maximum was, a bit for each place, and makes
    nothing of x again.
    """
    top = jnp.max(x, axis=0)
    if jax.default_backend() != "cpu" or x.shape[0] > _BITS:
        return fenced_back(top)
    bit = jnp.left_shift(jnp.uint32(1), _places(x))
    where = jnp.sum(jnp.where(x == top, bit, jnp.uint32(0)), axis=0, dtype=jnp.uint32)
    return _known_largest(x, noted(top), noted(where))


def _places(x: Array) -> Array:
    """The indices along the first axis."""
    return jnp.arange(x.shape[0], dtype=jnp.uint32).reshape(-1, *[1] * (x.ndim - 1))


@jax.custom_vjp
def _known_largest(x: Array, top: Array, where: Array) -> Array:
    return top


def _to_the_largest(kept: tuple[Array, Array], wanted: Array) -> tuple[Array, None, None]:
    places, where = kept
    share = wanted / jax.lax.population_count(where).astype(wanted.dtype)
    return fence(jnp.where(where >> places & 1, share, 0.0)), None, None


_known_largest.defvjp(lambda x, top, where: (top, (_places(x), where)), _to_the_largest)


def product(x: Float[Array, "... k"], weight: Float[Array, "k h"]) -> Float[Array, "... h"]:
    """x @ weight; over pairs of nodes, in the way that moves the fewest bytes.

    On a CPU what its derivatives read is fenced off: XLA would make it once for each of them, and
    the transpose of it number by number.
    """
    if x.ndim < 3:
        return x @ weight
    return _lean_product(x, weight) if jax.default_backend() == "gpu" else fenced_back(x @ weight)


@jax.custom_vjp
def _lean_product(x: Array, weight: Array) -> Array:
    """With few channels a sum of products, which becomes a part of whatever reads it.

    Its derivative by the weights is taken for each sample and then added up: XLA would cut one
    long product into parts, and pad all it reads until it can.
    """
    channels = x.shape[-1]
    if channels > _FEW:
        return x @ weight
    return sum((x[..., i, None] * weight[i] for i in range(1, channels)), x[..., :1] * weight[0])


def _lean_forward(x: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
    return _lean_product(x, weight), (x, weight)


def _lean_backward(kept: tuple[Array, Array], wanted: Array) -> tuple[Array, Array]:
    x, weight = kept
    samples, of_sample = x.shape[:-3], (math.prod(x.shape[-3:-1]), -1)
    rows, wanted_rows = (a.reshape(*samples, *of_sample) for a in (x, wanted))
    of_weight = jnp.swapaxes(rows, -1, -2) @ wanted_rows
    return wanted @ weight.T, of_weight.reshape(-1, *weight.shape).sum(0)


_lean_product.defvjp(_lean_forward, _lean_backward)


class Linear(eqx.Module):
    """x @ weight + bias, for any leading axes of x."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    @classmethod
    def init(
        cls,
        rng: np.random.Generator,
        inputs: int,
        outputs: int,
        *,
        stddev: float | None = None,
        bias: float = 0.0,
    ) -> Linear:
        """Normal weights cut at two deviations, of deviation 1/sqrt(inputs) unless told.

        Like the reference, without making up for the spread that the cut takes away.
        """
        weight = rng.standard_normal((inputs, outputs))
        while (far := np.abs(weight) > 2.0).any():
            weight[far] = rng.standard_normal(int(far.sum()))
        weight *= inputs**-0.5 if stddev is None else stddev
        return cls(weight.astype(np.float32), np.full(outputs, bias, np.float32))

    def __call__(self, x: Float[Array, "... inputs"]) -> Float[Array, "... outputs"]:
        return product(x, self.weight) + self.bias

    def after(self, first: Linear) -> Linear:
        """This layer after another one, as one layer."""
        return Linear(first.weight @ self.weight, first.bias @ self.weight + self.bias)


class Together:
    """Linear layers over the same input, run as one product.

    after: a layer before all of them, which they take into themselves.
    constant: whether the input's last channel is always one. The biases are then its weights, so
    that their gradients come out of the product too instead of a sum over everything.
    """

    def __init__(
        self, layers: Sequence[Linear], *, after: Linear | None = None, constant: bool = False
    ):
        self.widths = [layer.bias.shape[0] for layer in layers]
        self.weight: Any = None
        self.bias: Any = None
        if not layers:
            return
        # Rows of 129 numbers are slow to read and to multiply, rows of 144 are not.
        spare = -sum(self.widths) % _ALIGNED if sum(self.widths) > _ALIGNED else 0
        weight = jnp.concatenate([layer.weight for layer in layers], axis=1)
        bias = jnp.concatenate([layer.bias for layer in layers])
        joint = Linear(jnp.pad(weight, [(0, 0), (0, spare)]), jnp.pad(bias, (0, spare)))
        if after is not None:
            joint = joint.after(after)
        self.weight = joint.weight.at[-1].add(joint.bias) if constant else joint.weight
        self.bias = None if constant else joint.bias

    def joint(self, x: Float[Array, "... inputs"]) -> Float[Array, "... outputs"]:
        """The results of all layers, side by side."""
        out = product(x, self.weight)
        return out if self.bias is None else out + self.bias

    def split(self, joint: Float[Array, "... outputs"]) -> tuple[Array, ...]:
        """The results of the single layers from that of all of them."""
        ends = [sum(self.widths[: i + 1]) for i in range(len(self.widths))]
        return tuple(joint[..., end - width : end] for width, end in zip(self.widths, ends))

    def __call__(self, x: Float[Array, "... inputs"]) -> tuple[Array, ...]:
        return self.split(self.joint(x)) if self.widths else ()


class LayerNorm(eqx.Module):
    """Normalise the last axis, then scale and shift it."""

    scale: Float[Array, " h"]
    offset: Float[Array, " h"]

    @classmethod
    def init(cls, width: int) -> LayerNorm:
        return cls(np.ones(width, np.float32), np.zeros(width, np.float32))

    def __call__(self, x: Float[Array, "... h"]) -> Float[Array, "... h"]:
        mean = x.mean(-1, keepdims=True)
        variance = x.var(-1, keepdims=True)
        return self.scale * (x - mean) * jax.lax.rsqrt(variance + 1e-5) + self.offset
