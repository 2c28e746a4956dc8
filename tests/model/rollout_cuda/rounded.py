"""Plain JAX that rounds where the kernels do, and is exact everywhere else.

A maximum over neighbours passes derivatives on to whoever was largest. Rounding changes who that is
in a few places of a thousand, and there the derivatives are other ones altogether, so kernels and
plain JAX agree to a percent at best. Where both round alike, they agree to a thousandth and better.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from hint_relic.model import decode, layers, process
from hint_relic.model.layers import Linear
from hint_relic.model.network import Executor
from hint_relic.objectives import pairs, relic

H = 128
Array = Any


@jax.custom_vjp
def rounded(x: Array) -> Array:
    """x as float16 has it, or its largest number; derivatives pass through."""
    return jax.lax.reduce_precision(jnp.clip(x, -65504.0, 65504.0), 5, 10)


rounded.defvjp(lambda x: (rounded(x), None), lambda _, wanted: (wanted,))


def product(x: Array, weight: Array) -> Array:
    """What is read of nodes and pairs is rounded: not their encodings, nor anything of graphs."""
    width = weight.shape[0]
    if x.ndim < 2 or width % H or weight.shape[1] == 1:  # the last of a pointer is exact, too
        return x @ weight
    exact = 0 if width == H else H  # encoded nodes come first
    found = rounded(x[..., exact:]) @ rounded(weight[exact:])
    return found + x[..., :exact] @ weight[:exact]


def project(projection: tuple[Linear, Linear], x: Array, normalise: bool) -> Array:
    """Representations of pointers; those of nodes are left to plain JAX by the kernels, too."""
    assert normalise
    round_pointers = rounded if x.shape[-1] == H else lambda x: x
    first, second = (Linear(round_pointers(layer.weight), layer.bias) for layer in projection)
    hidden = jax.nn.relu(round_pointers(x) @ first.weight + first.bias)
    out = round_pointers(round_pointers(hidden) @ second.weight + second.bias)
    return out * jax.lax.rsqrt(jnp.sum(out**2, axis=-1, keepdims=True) + 1e-6)


def round_as_kernels_do(patch: pytest.MonkeyPatch) -> None:
    """All but the outputs of a problem's last step, which kernels leave to plain JAX."""
    exact, last_step = layers.product, Executor.last_step

    def rounds(use: Any) -> None:
        for module in (layers, process, decode):
            patch.setattr(module, "product", use)

    def outputs_exact(self: Executor, *given: Any) -> Any:
        rounds(exact)
        outputs, _ = last_step(self, *given)
        rounds(product)
        return outputs, last_step(self, *given)[1]

    rounds(product)
    patch.setattr(Executor, "last_step", outputs_exact)
    for module in (relic, pairs):
        patch.setattr(module, "project", project)
