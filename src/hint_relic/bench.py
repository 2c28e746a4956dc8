"""What an update costs on this machine, and what it could cost at best.

The limit is that of arithmetic alone: the operations of the network in an update (not those of the
objective), at the rate at which the device multiplies large matrices. Whatever an update takes
beyond it goes into starting kernels and into moving numbers between them and memory.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .config import TrainConfig
from .data import Stream
from .model.flat import Layout
from .model.network import Executor, to_problems
from .train.programs import Programs
from .train.task import Task, empty_meter, initial, stream_for
from .train.update import Meter, State

PASSES = 4  # forward, forward again in the backward pass, and twice as much as forward for it
LARGE = {"cpu": 1024}  # rows of the matrices that tell a device's rate; others: 8192


class Cost(NamedTuple):
    """An update of all seeds on one batch of the largest size.

    steps: of the longest sample; flop: multiplications and additions, counted as two.
    """

    algorithm: str
    variant: str
    seeds: int
    steps: int
    update_s: float
    compile_s: float
    flop: float
    process_mb: float
    device_mb: float


def multiply_rate() -> float:
    """Operations a second in products of large matrices, as the network asks for them."""
    n = LARGE.get(jax.default_backend(), 8192)
    a = jnp.ones((n, n))
    product = jax.jit(lambda x: x @ a * 1e-4)
    seconds = timed(lambda: product(a), budget_s=2.0)
    return 2.0 * n**3 / seconds


def timed(run: Callable[[], Any], budget_s: float) -> float:
    """Median seconds of a call, after one to warm up."""
    return statistics.median(times(run, budget_s))


def times(run: Callable[[], Any], budget_s: float) -> list[float]:
    """Seconds of some calls, after one to warm up."""
    jax.block_until_ready(run())
    found: list[float] = []
    start = time.monotonic()
    while len(found) < 3 or (time.monotonic() - start < budget_s and len(found) < 50):
        before = time.monotonic()
        jax.block_until_ready(run())
        found.append(time.monotonic() - before)
    return found


class Begun(NamedTuple):
    """All that an update needs. longest: rows of the hints of the batch's longest sample."""

    layout: Layout
    programs: Programs
    state: State
    meter: Meter
    item: Any
    longest: int


def begin(config: TrainConfig, steps: int = 0) -> Begun:
    """Fresh networks and a batch of about so many steps (the first, unless told)."""
    task = Task.of(config)
    layout, state = initial(config, task)
    with stream_for(config, task) as stream:
        item, longest = _batch_of(stream, steps)
    objective = task.objective(config)
    meter = empty_meter(objective, layout, state, item)
    return Begun(layout, Programs(layout, objective, config), state, meter, item, longest)


class Ready(NamedTuple):
    """A compiled update. once: takes one, and returns something to wait for."""

    begun: Begun
    once: Callable[[], Any]
    compile_s: float


def ready(config: TrainConfig, steps: int = 0) -> Ready:
    """The update of a config at its largest size, compiled, on a batch of about so many steps."""
    begun = begin(replace(config, sizes=(max(config.sizes),)), steps)
    programs, item = begun.programs, begun.item
    state, meter = jax.tree.map(jnp.array, (begun.state, begun.meter))  # updates donate them
    start = time.monotonic()
    programs.prepare(state, meter, [item])
    compile_s = time.monotonic() - start
    item = jax.device_put(item)

    def once() -> Any:
        nonlocal state, meter
        state, meter = programs(state, meter, item)
        return state.step

    return Ready(begun, once, compile_s)


def measure(config: TrainConfig, *, budget_s: float = 10.0) -> Cost:
    """Compile and time the update of a config at its largest size."""
    (layout, _, state, _, item, longest), once, compile_s = ready(config)
    seconds = timed(once, budget_s)
    batch = item.batch if config.objective.needs_views else item
    steps_of = batch.lengths - 1  # each sample's own: no other is needed
    taken = steps_of.sum()
    if config.objective.needs_views:
        taken += jnp.minimum(item.view.until, steps_of).sum()
    network = jax.eval_shape(layout.unflatten, state.weights[0])
    flop = PASSES * _step_flop(network, jax.tree.map(lambda x: x[0], batch)) * float(taken)
    stats = jax.devices()[0].memory_stats() or {}
    return Cost(
        config.algorithm,
        config.variant,
        config.seeds,
        longest - 1,
        seconds,
        compile_s,
        flop,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        stats.get("peak_bytes_in_use", 0) / 2**20,
    )


def _batch_of(stream: Stream, steps: int) -> tuple[Any, int]:
    """The item, among the first 200, whose longest sample is nearest to so many steps."""

    def longest(k: int) -> int:
        item = stream.batch(k)
        return int((item if stream.view is None else item.batch).lengths.max())

    lengths = [longest(k) for k in range(200 if steps else 1)]
    best = min(range(len(lengths)), key=lambda k: abs(lengths[k] - 1 - steps))
    return stream.batch(best), lengths[best]


def _step_flop(network: Any, batch: Any) -> float:
    """Operations in one step of one sample, forward."""
    problems, _ = to_problems(jax.tree.map(lambda x: x[:1], batch))
    one = jax.tree.map(lambda x: x[0], problems)

    def step(network: Any, problem: Any) -> Any:
        executor = Executor(network, True)
        given, state = executor.begin(problem)
        return executor.step(given, state, jnp.zeros((), jnp.int32))

    analysis = jax.jit(step).lower(network, one).cost_analysis()
    return float((analysis or {}).get("flops", 0.0))
