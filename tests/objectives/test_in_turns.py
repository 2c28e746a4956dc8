"""Samples of a batch that take turns: the same loss, parts and gradient."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.objectives.objective import supervised_objective
from hint_relic.train.task import Task, initial, stream_for
from hint_relic.variants import preset
from tiny import QUICKLY


def _config(algorithm: str, variant: str):
    config = preset(variant, algorithm)
    model = replace(config.model, hidden=4)
    return replace(config, sizes=(6,), seeds=2, batch_size=5, model=model)


@pytest.mark.parametrize(
    ("algorithm", "variant"),
    [("mst_kruskal", "baseline"), ("quicksort", "untold"), ("bellman_ford", "no_hints")],
)
def test_turns_change_nothing(algorithm, variant):
    config = _config(algorithm, variant)
    task = Task.of(config)
    layout, state = initial(config, task)
    with stream_for(config, task) as stream:
        batch = stream.batch(1)
    assert all(len({*lengths.tolist()}) > 1 for lengths in batch.lengths)

    def found(busy):
        def loss(weights, batch, key):
            objective = partial(supervised_objective, weight=config.objective.hints, busy=busy)
            return objective(layout.unflatten(weights), batch, key)

        one = jax.value_and_grad(loss, has_aux=True)
        keys = jax.random.split(jax.random.key(0), config.seeds)
        return jax.jit(jax.vmap(one), compiler_options=QUICKLY)(state.weights, batch, keys)

    (together, parts), gradient = found(1.0)
    (in_turns, same_parts), same_gradient = found(0.3)  # two at a time
    np.testing.assert_allclose(in_turns, together, rtol=1e-5)
    assert parts.keys() == same_parts.keys()
    for name, part in parts.items():
        np.testing.assert_allclose(same_parts[name], part, rtol=1e-5, atol=1e-7, err_msg=name)
    scale = float(jnp.abs(gradient).max())
    np.testing.assert_allclose(same_gradient, gradient, atol=1e-5 * scale)


def test_samples_take_turns_where_they_differ_in_length():
    def busy(algorithm):
        config = replace(preset("baseline"), algorithm=algorithm)
        return Task.of(config).objective(config).keywords["busy"]

    assert busy("bfs") < 0.6
    assert busy("insertion_sort") == 1.0
