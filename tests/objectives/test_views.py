"""Inputs that go on without their views: faster, and the same."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from hint_relic.config import ViewConfig
from hint_relic.objectives.objective import view_objective
from hint_relic.train.task import Task, initial, stream_for
from hint_relic.variants import preset
from tiny import QUICKLY


def test_nothing_is_lost_where_views_end():
    config = preset("hint_relic")
    config = replace(
        config,
        algorithm="minimum",
        sizes=(6,),
        seeds=2,
        batch_size=2,
        model=replace(config.model, hidden=4),
        objective=replace(config.objective, hints=0.5),
    )
    task = Task.of(config)
    layout, state = initial(config, task)
    with stream_for(config, task) as stream:
        paired = stream.batch(0)
    until = np.array([[1, 2], [3, 0]], np.int32)  # of five steps
    paired = paired._replace(view=paired.view._replace(until=until))

    def found(short_views):
        def loss(weights, paired, key):
            return view_objective(
                layout.unflatten(weights),
                paired,
                key,
                config=config.objective,
                contrasted=task.contrasted,
                short_views=short_views,
            )

        one = jax.value_and_grad(loss, has_aux=True)
        keys = jax.random.split(jax.random.key(0), config.seeds)
        return jax.jit(jax.vmap(one), compiler_options=QUICKLY)(state.weights, paired, keys)

    (together, parts), gradient = found(False)
    (apart, same_parts), same_gradient = found(True)
    np.testing.assert_allclose(apart, together, rtol=1e-5)
    assert {"min", "min_h", "contrastive/pred_h"} <= parts.keys() == same_parts.keys()
    for name, part in parts.items():
        np.testing.assert_allclose(same_parts[name], part, rtol=1e-5, atol=1e-7, err_msg=name)
    scale = float(jnp.abs(gradient).max())
    np.testing.assert_allclose(same_gradient, gradient, atol=1e-5 * scale)


def test_only_views_that_end_early_are_left_behind():
    def short(algorithm, source="paper"):
        config = replace(preset("hint_relic"), algorithm=algorithm, view=ViewConfig(source))
        return Task.of(config).short_views

    assert short("bridges")
    assert short("dfs", "verified")
    assert not short("heapsort")
