"""Samples of a batch that take turns: the same loss, parts and gradient."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.config import ObjectiveConfig
from hint_relic.model.network import Executor
from hint_relic.objectives.objective import Busy, objective_for
from hint_relic.train.task import Task, initial, stream_for
from hint_relic.variants import preset
from tiny import QUICKLY


def _config(algorithm: str, variant: str, objective: ObjectiveConfig | None = None):
    config = preset(variant, algorithm)
    # With 4 numbers some length to divide by is so small that rounding shows.
    model = replace(config.model, hidden=8)
    objective = objective or config.objective
    return replace(config, sizes=(6,), seeds=2, batch_size=5, model=model, objective=objective)


@pytest.fixture(autouse=True)
def in_a_loop(monkeypatch):
    """Steps are taken in XLA's loop, as on other devices and by other networks."""
    monkeypatch.setattr(Executor, "plan", lambda *_: None)
    monkeypatch.setattr(Task, "rolls", lambda *_: False)


ALL_PARTS = ObjectiveConfig(hints=0.5, view_hints=0.5, contrastive=1.0, kl=1.0)


@pytest.mark.parametrize(
    ("algorithm", "variant", "objective"),
    [
        ("mst_kruskal", "baseline", None),
        ("quicksort", "untold", None),
        ("bellman_ford", "no_hints", None),
        ("mst_kruskal", "hint_relic", None),
        ("bridges", "hint_relic", None),  # whose inputs go on alone
        ("topological_sort", "hint_relic", ALL_PARTS),
        ("dag_shortest_paths", "hint_relic", ALL_PARTS),
    ],
)
def test_turns_change_nothing(algorithm, variant, objective):
    config = _config(algorithm, variant, objective)
    task = Task.of(config)
    layout, state = initial(config, task)
    with stream_for(config, task) as stream:
        batch = stream.batch(1)
    lengths = (batch.batch if config.objective.needs_views else batch).lengths
    assert all(len({*of_seed.tolist()}) > 1 for of_seed in lengths)

    def found(*busy):
        objective = objective_for(
            config.objective, task.contrasted, short_views=task.short_views, busy=Busy(*busy)
        )

        def loss(weights, batch, key):
            return objective(layout.unflatten(weights), batch, key)

        one = jax.value_and_grad(loss, has_aux=True)
        keys = jax.random.split(jax.random.key(0), config.seeds)
        return jax.jit(jax.vmap(one), compiler_options=QUICKLY)(state.weights, batch, keys)

    (together, parts), gradient = found()
    (in_turns, same_parts), same_gradient = found(0.3, 0.5)  # two at a time, then three
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

    assert busy("bfs").share < 0.6
    assert not busy("insertion_sort").in_turns


def test_and_where_their_views_do():
    def busy(algorithm):
        config = preset("hint_relic", algorithm)
        return Task.of(config).objective(config).keywords["busy"]

    assert busy("mst_kruskal").share < 0.5
    assert busy("strongly_connected_components").share < 0.7 < 0.9 < busy("heapsort").share
    assert not busy("bubble_sort").in_turns
