"""All steps in one go, by machine code of ours: the same function as XLA's loop over steps."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.algorithms.kernel import loose_kernel
from hint_relic.config import (
    EdgePointers,
    Feedback,
    Hints,
    ModelConfig,
    ObjectiveConfig,
    StopGradient,
    TrainConfig,
)
from hint_relic.model.network import Executor
from hint_relic.model.rollout import op
from hint_relic.model.rollout.call import call
from hint_relic.model.rollout.plan import KERNELS
from hint_relic.model.rollout.tiles import times, turned_times
from hint_relic.objectives.objective import objective_for
from hint_relic.train.task import Task, initial, stream_for
from hint_relic.variants import preset
from tiny import QUICKLY

ALL_PARTS = ObjectiveConfig(hints=0.5, view_hints=0.5, contrastive=1.0, kl=1.0)
LITERAL = replace(ALL_PARTS, positive_in_denominator=False, stop_gradient=StopGradient.VIEW)


def small(algorithm: str, variant: str, objective: ObjectiveConfig | None = None, **settings):
    config = preset(variant, algorithm)
    model = replace(config.model, hidden=12)
    objective = objective or config.objective
    usual = {"sizes": (6,), "seeds": 2, "batch_size": 4, "model": model, "objective": objective}
    return replace(config, **(usual | settings))


class Case:
    """A config's loss, its parts and its gradient, on some batches for all its seeds."""

    def __init__(self, config: TrainConfig, batches: tuple[int, ...] = (1, 2, 3)):
        self.config, self.task = config, Task.of(config)
        self.layout, self.state = initial(config, self.task)
        with stream_for(config, self.task) as stream:
            self.items = [stream.batch(k) for k in batches]

    def found(self):
        objective = objective_for(
            self.config.objective, self.task.contrasted, short_views=self.task.short_views
        )

        def loss(weights, item, key):
            return objective(self.layout.unflatten(weights), item, key)

        one = jax.value_and_grad(loss, has_aux=True)
        keys = jax.random.split(jax.random.key(0), self.config.seeds)
        program = jax.jit(jax.vmap(one), compiler_options=QUICKLY)
        found = []
        for item in self.items:
            (loss_, parts), gradient = program(self.state.weights, item, keys)
            found.append((loss_, parts, gradient))
        return found


def agree(rolled, looped):
    """Single precision, sums in another order.

    The derivative of a maximum jumps where two numbers are equal to the last digit, and a batch
    compares some hundred thousand, so now and then one hands what it gets to the other of two: of
    24 batches of heapsort's `hint_relic` four were apart by 4e-5 to 2e-4 of the gradient's length,
    all others by 3e-6 at most (in double precision the loop over steps agrees with itself). So most
    have to agree to the last digits, and the rest nearly.
    """
    apart = []
    for (loss, parts, gradient), (same_loss, same_parts, same_gradient) in zip(rolled, looped):
        np.testing.assert_allclose(loss, same_loss, rtol=1e-5)
        assert parts.keys() == same_parts.keys()
        for name, part in parts.items():
            np.testing.assert_allclose(part, same_parts[name], rtol=1e-4, atol=1e-6, err_msg=name)
        for mine, other in zip(gradient, same_gradient):
            apart.append(jnp.linalg.norm(mine - other) / jnp.linalg.norm(other))
    assert np.median(apart) < 5e-6, apart
    assert max(apart) < 1e-2, apart


QUICK = [
    ("bfs", "baseline", None),  # a pointer and a mask
    ("insertion_sort", "no_hints", None),
    ("heapsort", "baseline_reversal", None),  # two pointers reversed; classes of the graph
    ("binary_search", "untold", None),  # few steps
    ("strongly_connected_components", "baseline", None),  # every location and kind
    ("mst_kruskal", "baseline", None),  # masks of edges
    ("strongly_connected_components", "hint_relic", None),  # inputs go on alone; classes compared
    ("dag_shortest_paths", "hint_relic", ALL_PARTS),
    ("insertion_sort", "hint_relic", LITERAL),
    ("dijkstra", "baseline_views", None),
]
OTHERS = [
    (name, variant, None)
    for name in (
        *("articulation_points", "bellman_ford", "binary_search", "bridges", "bubble_sort"),
        *("dag_shortest_paths", "dfs", "dijkstra", "heapsort", "minimum", "mst_kruskal"),
        *("mst_prim", "quicksort", "topological_sort"),
    )
    for variant in ("baseline_reversal", *(["hint_relic"] if name != "dfs" else []))
]


@pytest.mark.parametrize(
    ("algorithm", "variant", "objective"),
    [*QUICK, *(pytest.param(*x, marks=pytest.mark.slow) for x in OTHERS)],
)
def test_it_is_the_loop_over_steps(algorithm, variant, objective, monkeypatch):
    case = Case(small(algorithm, variant, objective))
    assert case.task.rolls(case.config)
    rolled = case.found()
    monkeypatch.setattr(Executor, "plan", lambda *_: None)
    agree(rolled, case.found())


FORGETFUL, HARD = {"memory": False}, {"feedback": Feedback.HARD}


@pytest.mark.parametrize(
    ("algorithm", "variant", "model"),
    [
        ("dijkstra", "baseline_reversal", FORGETFUL),
        ("dijkstra", "hint_relic", FORGETFUL),
        ("dijkstra", "baseline_reversal", FORGETFUL | HARD),
        ("strongly_connected_components", "baseline", HARD),  # every location and kind
        pytest.param("heapsort", "baseline_views", HARD, marks=pytest.mark.slow),
    ],
)
def test_steps_without_memory_and_decisions_fed_back(algorithm, variant, model, monkeypatch):
    case = Case(small(algorithm, variant, model=ModelConfig(hidden=12, **model)))
    assert case.task.rolls(case.config)
    rolled = case.found()
    monkeypatch.setattr(Executor, "plan", lambda *_: None)
    agree(rolled, case.found())


@pytest.mark.parametrize("variant", ["baseline", "hint_relic"])
def test_padding_changes_nothing(variant, monkeypatch):
    """Batches of a small size in the room of a large one, whose samples have fewer steps."""
    config = small("quicksort", variant, sizes=(3, 7), padding="largest", seeds=1)
    case = Case(config, batches=(0, 2, 4))
    assert np.asarray(jax.tree.leaves(case.items[0])[0]).shape[-1] >= 7
    rolled = case.found()
    monkeypatch.setattr(Executor, "plan", lambda *_: None)
    agree(rolled, case.found())


def test_the_same_again_and_nearly_the_same_with_other_threads(monkeypatch):
    case = Case(small("bfs", "hint_relic"))
    first, again = case.found(), case.found()
    for x, y in zip(jax.tree.leaves(first), jax.tree.leaves(again)):
        np.testing.assert_array_equal(x, y)
    monkeypatch.setattr(op, "_processors", lambda: 3)
    agree(case.found(), first)


def plan_of(monkeypatch, algorithm="bfs", **settings):
    """The plan that a network of this kind is run by in training."""
    plans = []
    usual = Executor.plan

    def spy(self, nodes):
        plans.append(usual(self, nodes))
        return plans[-1]

    monkeypatch.setattr(Executor, "plan", spy)
    config = TrainConfig(algorithm=algorithm, sizes=(4,), seeds=1, batch_size=2, **settings)
    case = Case(config)
    objective = objective_for(config.objective, case.task.contrasted)
    weights, item = (jax.tree.map(lambda x: x[0], x) for x in (case.state.weights, case.items[0]))
    jax.eval_shape(
        lambda w, x: objective(case.layout.unflatten(w), x, jax.random.key(0)), weights, item
    )
    assert case.task.rolls(config) == (plans[0] is not None)
    return plans[0]


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [
        ("bfs", {"triplets": 0}),
        ("bfs", {"gated": False}),
        ("bfs", {"layer_norm": False}),
        ("bfs", {"fully_connected": False}),
        ("bfs", {"hints": Hints.DECODED}),
        ("floyd_warshall", {}),
        ("floyd_warshall", {"edge_pointers": EdgePointers.FOLLOWED}),
    ],
)
def test_other_networks_take_their_steps_in_a_loop(algorithm, model, monkeypatch):
    assert plan_of(monkeypatch, algorithm, model=ModelConfig(hidden=4, **model)) is None


def test_so_do_all_where_kernels_are_not_wanted(monkeypatch):
    monkeypatch.setenv(KERNELS, "0")
    assert plan_of(monkeypatch) is None


@pytest.mark.parametrize("hints", [Hints.FEEDBACK, Hints.NONE])
def test_the_usual_ones_do_not(hints, monkeypatch):
    assert plan_of(monkeypatch, model=ModelConfig(hidden=4, hints=hints)) is not None


def test_more_nodes_than_bits_take_their_steps_in_a_loop():
    config = TrainConfig(algorithm="bfs", sizes=(4, 33))
    task = Task.of(config)
    assert not task.rolls(config)
    assert task.rolls(replace(config, sizes=(4, 32)))
    with_views = replace(config, sizes=(4, 32), objective=ObjectiveConfig(contrastive=1.0))
    assert not task.rolls(with_views)


@loose_kernel
def products(a, b, out, again, add):
    """Both ways to multiply, as only what is compiled can call them."""
    times(a, b, out, add)
    turned_times(a.T.copy(), b, again, np.float32(0.0))


@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1),
        (8, 0, 16),
        (5, 9, 7),
        (16, 3, 40),
        (19, 128, 27),
        *((n, 5, 67) for n in range(16)),
    ],
)
def test_products(shape):
    """Of any number of rows and columns, into rows that are farther apart than they are long."""
    rows, inner, columns = shape
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, inner + 2)).astype(np.float32)[:, 1:-1]
    b = rng.standard_normal((inner, columns)).astype(np.float32)
    whole = rng.standard_normal((2, rows + 1, columns + 4)).astype(np.float32)
    before = whole.copy()
    outs = whole[:, :rows, 2:-2]
    products(a, b, *outs, np.float32(1.0))
    for out, more in zip(outs, (before[0, :rows, 2:-2], 0.0)):
        np.testing.assert_allclose(out, a @ b + more, rtol=1e-5, atol=1e-5)
    outs[:] = before[:, :rows, 2:-2]
    np.testing.assert_array_equal(whole, before)  # nothing around them is touched


def test_functions_within_programs():
    def twice(given, results):
        np.multiply(given["x"], 2, out=results[0])
        results[1][...] = given["none"].size

    def run(x):
        shapes = jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((), jnp.int32)
        given = {"x": x, "none": jnp.zeros((3, 0))}
        return call("test twice", twice, shapes, given)

    x = jnp.arange(6.0).reshape(3, 2)
    for found in (jax.jit(run)(x), jax.vmap(run)(x)):
        np.testing.assert_array_equal(found[0], 2 * x)
        assert not found[1].any()


def test_a_function_that_fails_says_why():
    def fail(given, results):
        raise ValueError("no such thing")

    shape = jax.ShapeDtypeStruct((), jnp.float32)
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: no such thing"):
        jax.block_until_ready(jax.jit(lambda x: call("test fail", fail, shape, x))(jnp.zeros(2)))


@pytest.mark.slow
def test_on_a_new_machine_each_kernel_is_compiled_by_a_process_of_its_own(tmp_path):
    """And training finds both in the cache."""
    program = """
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from hint_relic.config import ModelConfig, TrainConfig
from hint_relic.model.rollout.kernels import backward, forward
from hint_relic.train.loop import train
from hint_relic.variants import preset
model = replace(preset("hint_relic", "bfs").model, hidden=8)
config = replace(preset("hint_relic", "bfs"), steps=2, seeds=1, sizes=(4,), model=model)
train(config, Path("run"))
for kernel in forward, backward:
    assert sum(kernel.stats.cache_hits.values()) == 1, kernel
    assert not kernel.stats.cache_misses, kernel
"""
    environment = {**os.environ, "HINT_RELIC_CACHE": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
