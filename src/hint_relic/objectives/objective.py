"""The objective of a variant: named parts, and their sum."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jaxtyping import Array, PRNGKeyArray

from ..model.network import Network
from ..types import Batch
from .supervised import mean_losses, supervised

# (network, batch, key) -> (loss, its parts by name)
Objective = Callable[[Network, Batch, PRNGKeyArray], tuple[Array, dict[str, Array]]]


def supervised_objective(
    network: Network, batch: Batch, key: PRNGKeyArray
) -> tuple[Array, dict[str, Array]]:
    """Every output and every hint against the truth, all with the same weight."""

    def one(sample: Batch, noise: PRNGKeyArray):
        return supervised(network.spec, network(sample, training=True, noise=noise), sample)

    keys = jax.random.split(key, batch.lengths.shape[0])
    parts = mean_losses(jax.vmap(one)(batch, keys))
    return sum(parts.values(), start=jax.numpy.zeros(())), parts
