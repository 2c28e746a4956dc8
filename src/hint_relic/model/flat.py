"""A network's weights as one vector.

Optimiser, average and checkpoints handle a single array instead of a hundred: fewer kernels to
compile and to launch. Within the objective it is the network again.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .network import Network


class Layout:
    """Where each array of a network lies in the vector. Made from any network of the kind."""

    def __init__(self, network: Network):
        paths, self._structure = jax.tree_util.tree_flatten_with_path(network)
        self.names = [jax.tree_util.keystr(path).lstrip(".") for path, _ in paths]
        self.shapes = [leaf.shape for _, leaf in paths]
        ends = np.cumsum([math.prod(shape) for shape in self.shapes]).tolist()
        self._spans = list(zip([0, *ends[:-1]], ends))
        self.size = ends[-1]

    def flatten(self, network: Any) -> Float[Array, " size"]:
        """The vector of one network's weights, or of their gradients."""
        return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(network)])

    def unflatten(self, weights: Float[Array, " size"]) -> Network:
        leaves = [
            jnp.reshape(weights[a:b], shape) for (a, b), shape in zip(self._spans, self.shapes)
        ]
        return jax.tree.unflatten(self._structure, leaves)

    def named(self, weights: Any) -> dict[str, np.ndarray]:
        """The arrays by name, from one network's vector."""
        vector = np.asarray(weights)
        return {
            name: np.reshape(vector[a:b], shape)
            for name, (a, b), shape in zip(self.names, self._spans, self.shapes)
        }
