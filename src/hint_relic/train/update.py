"""One update: pure, for one seed; the loop maps it over seeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from ..config import OptimiserConfig
from ..model.flat import Layout
from ..model.network import Network
from ..objectives.objective import Objective
from ..types import Batch


class State(NamedTuple):
    """Everything that training changes, and the seed that its randomness comes from.

    weights, average: a network's weights as one vector (`model/flat.py`).
    """

    weights: Float[Array, " size"]
    average: Float[Array, " size"]
    optimiser: Any
    step: Int[Array, ""]
    seed: Int[Array, ""]


class Meter(NamedTuple):
    """Sums over the updates since it was last read, and how many there were and were skipped."""

    loss: Float[Array, ""]
    parts: dict[str, Array]
    gradient: Float[Array, ""]
    updates: Float[Array, ""]
    skipped: Float[Array, ""]

    @classmethod
    def empty(cls, parts: Iterable[str], *shape: int) -> Meter:
        """Nothing yet, of the parts of this name; shape: of each number."""
        zero = jnp.zeros(shape)
        return cls(zero, dict.fromkeys(parts, zero), zero, zero, zero)


def optimiser(config: OptimiserConfig) -> optax.GradientTransformation:
    return optax.chain(
        optax.clip_by_global_norm(config.clip or jnp.inf),
        optax.scale_by_adam(),
        optax.scale(-config.learning_rate),
    )


def initial_state(seed: Array, weights: Array, config: OptimiserConfig) -> State:
    return State(weights, weights, optimiser(config).init(weights), jnp.zeros((), jnp.int32), seed)


def update(
    state: State,
    meter: Meter,
    batch: Batch,
    *,
    layout: Layout,
    objective: Objective,
    config: OptimiserConfig,
    steps: int,
) -> tuple[State, Meter]:
    """The state after one batch, and the meter with it added. steps: how many the run has.

    A batch whose loss or gradient is not finite is skipped: once in a while a derivative through
    a hundred steps overflows, and one such number would be the end of a network. Those that
    nearly do point nowhere, however short they are cut; `config.skip` leaves them out as well.
    """
    key = jax.random.fold_in(jax.random.key(state.seed), state.step)

    def loss_of(network: Network) -> tuple[Array, dict[str, Array]]:
        return objective(network, batch, key)

    network = layout.unflatten(state.weights)
    (loss, parts), by_layer = jax.value_and_grad(loss_of, has_aux=True)(network)
    gradient = layout.flatten(by_layer)
    change, optimiser_state = optimiser(config).update(gradient, state.optimiser)
    done = state.step.astype(jnp.float32)
    if config.decay:
        change = change * (0.5 + 0.5 * jnp.cos(jnp.pi * jnp.minimum(done / steps, 1.0)))
    weights = state.weights + change
    # The average forgets its start quickly, then slowly.
    rate = jnp.minimum(config.average, (1.0 + done) / (10.0 + done))
    average = rate * state.average + (1.0 - rate) * weights
    norm = jnp.linalg.norm(gradient)
    taken = jnp.isfinite(loss + norm)
    if config.skip:
        taken &= norm <= config.skip

    def if_taken(new: Any, old: Any) -> Any:
        return jax.tree.map(lambda a, b: jnp.where(taken, a, b), new, old)

    after = State(weights, average, optimiser_state, state.step, state.seed)
    added = Meter(loss, parts, norm, jnp.ones(()), jnp.zeros(()))
    skipped = Meter.empty(parts)._replace(skipped=jnp.ones(()))
    after = if_taken(after, state)._replace(step=state.step + 1)
    return after, jax.tree.map(jnp.add, meter, if_taken(added, skipped))
