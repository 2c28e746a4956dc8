"""The kernels that take all steps of a sample, run by an emulator, against XLA's loop over steps.

Each case is taken three times: by kernels, by plain JAX, and by plain JAX that rounds where kernels
do (rounded.py).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import emulator
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounded import round_as_kernels_do

from hint_relic.data.shape import by_seed, map_arrays, with_nodes
from hint_relic.model.flat import Layout
from hint_relic.model.network import Executor, to_problems
from hint_relic.model.rollout.cuda import driver
from hint_relic.model.rollout.cuda import plan as of_kernels
from hint_relic.model.rollout.plan import KERNELS, Plan, available
from hint_relic.spec import POINTERS, Field, Location
from hint_relic.train.task import Task, initial, stream_for
from hint_relic.types import Batch
from hint_relic.variants import preset
from tiny import QUICKLY

emulated = pytest.mark.skipif(bool(emulator.missing()), reason=emulator.missing())

SEEDS, SAMPLES = 2, 2
LENGTHS = np.array([[4, 2], [3, 4]], np.int32)  # of samples, and room for one step more


class Case(NamedTuple):
    """Two networks and two samples for each."""

    layout: Layout
    weights: Any
    batch: Any
    objective: Any


def case_of(algorithm: str, variant: str, nodes: int, **told: float) -> Case:
    config = preset(variant, algorithm)
    objective = replace(config.objective, **told)
    config = replace(config, sizes=(nodes,), seeds=SEEDS, batch_size=SAMPLES, objective=objective)
    task = Task.of(config)
    layout, state = initial(config, task)
    with stream_for(config, task) as stream:
        batches = (stream.batch(k) for k in range(1, 50))
        batch = next(x for x in batches if (_samples(x).lengths >= LENGTHS).all())
    spec = layout.unflatten(state.weights[0]).spec
    return Case(layout, state.weights, _short(batch, spec), task.objective(config))


def _samples(batch: Any) -> Batch:
    return batch if isinstance(batch, Batch) else batch.batch


def _short(batch: Any, spec: Any) -> Any:
    """The first steps of samples, which differ in length; room for more steps and nodes."""
    samples = _samples(batch)
    room = LENGTHS.max() + 1
    hints = {k: _padded(v[:, :, :room], room) for k, v in samples.hints.items()}
    samples = samples._replace(hints=hints, lengths=LENGTHS)
    if isinstance(batch, Batch):
        flat = map_arrays(lambda x: x.reshape(-1, *x.shape[2:]), samples)
        return by_seed(with_nodes(flat, spec, int(samples.nodes.max()) + 1), SEEDS)
    until = np.minimum(batch.view.until, LENGTHS - 1)
    until[0, 0] -= 1  # an input that goes on without its view
    return batch._replace(batch=samples, view=batch.view._replace(until=until))


def _padded(hint: np.ndarray, room: int) -> np.ndarray:
    return np.pad(hint, [(0, 0), (0, 0), (0, room - hint.shape[2])] + [(0, 0)] * (hint.ndim - 3))


def compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """For all networks, with other weights if told. What is traced is new each time: it depends on
    what is patched."""
    one = jax.jit(jax.vmap(lambda *x: function(*x)), compiler_options=QUICKLY)
    program = one.lower(*arguments).compile()

    def run(weights: Any = arguments[0]) -> Any:
        return jax.tree.map(np.asarray, program(weights, *arguments[1:]))

    return run


def trained(case: Case) -> Callable[..., Any]:
    """((loss, its parts), gradient)"""

    def loss(weights, batch, key):
        return case.objective(case.layout.unflatten(weights), batch, key)

    keys = jax.random.split(jax.random.key(0), SEEDS)
    return compiled(jax.value_and_grad(loss, has_aux=True), case.weights, case.batch, keys)


def with_loops(make: Callable[[Case], Any], case: Case) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        emulator.use_none(patch)
        return make(case)


def with_kernels(make: Callable[[Case], Any], case: Case) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        emulator.use(patch)
        return make(case)


def with_rounding(make: Callable[[Case], Any], case: Case) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        emulator.use_none(patch)
        round_as_kernels_do(patch)
        return make(case)


class Apart(NamedTuple):
    """How far kernels may be from plain JAX, or are: as a part of the length of what it finds.

    part: a part of the loss, of the whole. layer: the gradient by one array, or by what is a
    thousandth of all where that is more.
    """

    loss: float
    part: float
    gradient: float
    layer: float
    logit: float  # a difference; its bounds were measured of hints, not of outputs


# Three times the most that was measured in any case below. Float16 has eleven binary digits, 5e-4.
# What is left where JAX rounds, too, are sums in another order, and of a gradient what it rounds
# itself; a layer is worse where a maximum nevertheless is another one, which is rare.
PLAIN = Apart(loss=1.5e-4, part=8e-5, gradient=1.6e-2, layer=0.17, logit=2e-3)
ROUNDED = Apart(loss=1.5e-5, part=3e-5, gradient=9e-3, layer=0.11, logit=8e-4)


def length(x: Any) -> Any:
    """The length of what there is of each network."""
    return np.linalg.norm(np.reshape(x, (SEEDS, -1)), axis=1)


PARTS = {"hints": 0.5, "view_hints": 0.5}
CASES = {
    "pointers, masks of edges, one of all nodes": ("insertion_sort", "baseline_reversal", 5, {}),
    "classes and numbers of nodes, numbers of graphs": (
        *("strongly_connected_components", "baseline_reversal", 5),
        {},
    ),
    "masks of nodes, classes of graphs": ("graham_scan", "baseline", 5, {}),
    "classes and numbers of edges, no pointers": ("lcs_length", "baseline", 8, {}),
    "states alone": ("minimum", "no_hints", 5, {}),
    "states and triplets of the last step": ("mst_prim", "no_hints", 5, {}),
    "compared with views": ("heapsort", "hint_relic", 4, {}),
    "classes compared with views": ("strongly_connected_components", "hint_relic", 4, {}),
    "views that are told their hints": ("topological_sort", "hint_relic_no_kl", 4, PARTS),
}


# Here JAX that rounds is no steadier than that: a millionth more or less of each weight has other
# numbers rounded up, and moves the gradient by as much as it is away from the kernels'.
DRAWS = 12
UNSTEADY = ("classes compared with views",)


def apart(case: Case, found: Any, same: Any) -> Apart:
    """How far what `trained` found is from what it finds otherwise."""
    (loss, parts), gradient = found
    (same_loss, same_parts), same_gradient = same
    assert parts.keys() == same_parts.keys()
    of_parts = [length(x - same_parts[k]) / length(same_loss) for k, x in parts.items()]
    of_layers = []
    for network in range(SEEDS):
        layers, others = (case.layout.named(x[network]) for x in (gradient, same_gradient))
        least = 1e-3 * np.linalg.norm(same_gradient[network])
        for name, x in layers.items():
            near = max(np.linalg.norm(others[name]), least)
            of_layers.append(np.linalg.norm(x - others[name]) / near)
    return Apart(
        loss=np.max(length(loss - same_loss) / length(same_loss)),
        part=np.max(of_parts, initial=0.0),
        gradient=np.max(length(gradient - same_gradient) / length(same_gradient)),
        layer=np.max(of_layers),
        logit=0.0,
    )


def within(found: Apart, most: Apart) -> None:
    print("apart", dict(zip(found._fields, map(float, found))))
    for name, x in found._asdict().items():
        assert x < getattr(most, name), name  # and so no NaN


@emulated
def test_one_case():
    """A quick one, with a pointer and masks of one node."""
    made = case_of("minimum", "baseline", 5)
    within(apart(made, with_kernels(trained, made)(), with_loops(trained, made)()), PLAIN)


@emulated
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_losses_and_gradients(name, monkeypatch):
    *which, told = CASES[name]
    made = case_of(*which, **told)
    by_kernels = with_kernels(trained, made)
    found = by_kernels()
    within(apart(made, found, with_loops(trained, made)()), PLAIN)
    by_rounding = with_rounding(trained, made)
    same, most = by_rounding(), ROUNDED
    for seed in range(DRAWS if name in UNSTEADY else 0):
        noise = 1 + 1e-6 * np.random.default_rng(seed).standard_normal(made.weights.shape)
        moved = apart(made, by_rounding(np.float32(made.weights * noise)), same)
        print("moved", moved)
        most = Apart(*(max(x, 2 * y) for x, y in zip(most, moved)))
    within(apart(made, found, same), most)

    # Warps in another order find the same, to the last digit: none waits too little for another.
    monkeypatch.setattr(emulator, "order", 2)
    for x, again in zip(jax.tree.leaves(found), jax.tree.leaves(by_kernels()), strict=True):
        np.testing.assert_array_equal(again, x)


STEPWISE = [case for case in CASES.values() if not case[1].startswith("hint_relic")]


@emulated
@pytest.mark.slow
@pytest.mark.parametrize("case", STEPWISE, ids=lambda case: case[0])
def test_what_each_step_says_and_outputs(case):
    made = case_of(*case[:3])

    def begin(weights, batch):
        executor = Executor(made.layout.unflatten(weights), training=True)
        problems, room = to_problems(batch)
        return executor, *jax.vmap(executor.begin)(problems), room

    def plain(weights, batch):
        executor, given, start, room = begin(weights, batch)

        def step(state, t):
            after, seen = jax.vmap(executor.step, (0, 0, None))(given, state, t)
            return after, seen.predicted

        last, predicted = jax.lax.scan(step, start, jnp.arange(room))
        outputs = jax.vmap(lambda *x: executor.last_step(*x, None)[0])(given, last)
        return {k: jnp.swapaxes(x, 0, 1) for k, x in predicted.items()}, outputs

    def rolled(weights, batch):
        executor, given, start, room = begin(weights, batch)
        plan = executor.plan(given.live.shape[1])
        rollout = executor.roll(plan, given, start, batch.lengths - 1, room)
        outputs = jax.vmap(lambda x: executor.read_outputs(x, None))(rollout.last)
        return rollout.predicted, outputs

    def taken_by(function):
        return lambda case: compiled(function, case.weights, case.batch)()

    found = with_kernels(taken_by(rolled), made)
    others = with_loops(taken_by(plain), made), with_rounding(taken_by(plain), made)

    spec, nodes = made.layout.unflatten(made.weights[0]).spec, case[2]
    predicted, outputs = found
    steps = np.arange(LENGTHS.max()) < LENGTHS[..., None] - 1
    for (same_predicted, same_outputs), most in zip(others, (PLAIN, ROUNDED), strict=True):
        assert predicted.keys() == same_predicted.keys()
        assert outputs.keys() == same_outputs.keys()
        far = {k: np.abs(x - same_predicted[k])[steps] for k, x in predicted.items()}
        for k, x in outputs.items():
            far[k] = np.abs(x - same_outputs[k]).reshape(-1, *x.shape[2:])
        for name, x in far.items():
            largest = live_part(spec[name], x, nodes).max()
            print("apart", name, float(largest))
            assert largest < most.logit, name


def live_part(field: Field, x: Any, nodes: int) -> Any:
    """What is said of nodes that are there; samples first."""
    if field.location is Location.GRAPH:
        return x
    pairs = field.location is Location.EDGE or field.kind in POINTERS
    return x[:, :nodes, :nodes] if pairs else x[:, :nodes]


def test_who_gets_kernels(monkeypatch):
    made = case_of("minimum", "no_hints", 4)
    executor = Executor(made.layout.unflatten(made.weights[0]), training=True)
    monkeypatch.delenv(KERNELS, raising=False)
    assert type(executor.plan(4)) is Plan  # a CPU has its own
    assert available()
    assert not driver.available()

    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert executor.plan(4) is None
    assert not available()
    monkeypatch.setattr(driver, "available", lambda: True)
    assert isinstance(executor.plan(17), of_kernels.Plan)
    assert available()
    assert executor.plan(18) is None
    monkeypatch.setenv(KERNELS, "0")
    assert executor.plan(4) is None
    assert not available()


@pytest.mark.slow
def test_nobody_else_imports_them():
    code = (
        "import sys, hint_relic.objectives.objective; "
        "assert not any('rollout.cuda' in x for x in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_blocks_have_the_room_they_need():
    """All algorithms that fit at all fit with as many nodes as views have."""
    made = case_of("strongly_connected_components", "baseline_reversal", 4)
    network = made.layout.unflatten(made.weights[0])
    for nodes in range(1, of_kernels.MOST_NODES + 1):
        plan = of_kernels.Plan(network.inputs.fields, network.hints.fields, True, False, nodes)
        assert max(map(plan.shared_bytes, of_kernels.KERNELS)) <= of_kernels.MOST_SHARED
