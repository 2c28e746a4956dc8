"""All steps of a batch as one differentiable function of a network's layers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ...spec import Location
from . import ahead
from .backward import Turned
from .call import call
from .compare import Alike, Compared, Projections
from .kernels import backward, forward
from .pieces import Last, Logits, Start, Tape
from .plan import Plan
from .weights import Layers


@dataclass(frozen=True)
class Task:
    """What is to be done of a plan.

    room: for how many steps. pointers, classes: the hints that are compared between inputs and
    views, and of what kind they are.
    """

    plan: Plan
    room: int
    pointers: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @cached_property
    def which(self) -> np.ndarray:
        """Which of all pointers are compared."""
        names = [fed.name for fed in self.plan.pointers]
        return np.array([names.index(name) for name in self.pointers], np.int64)


class Problems(NamedTuple):
    """What samples begin with, how many nodes each has, and how many steps it takes."""

    start: Start
    nodes: Int[Array, " samples"]
    steps: Int[Array, " samples"]


class Views(NamedTuple):
    """Of problems whose first half are inputs and whose second half their views: until which step
    they are compared, which node of the view each node of the input is, and, for each pointer
    that is compared, where nodes really point. No pairs: nothing is compared."""

    until: Int[Array, " pairs"]
    places: Int[Array, "pairs n"]
    truth: Int[Array, "pairs steps compared n"]


class Rolled(NamedTuple):
    """What comes of all steps, sample first, zeros where there is no node or step."""

    logits: Logits
    last: Last
    alike: Alike


def _shape(*shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def _results(task: Task, layers: Layers, problems: Problems, views: Views) -> tuple[Rolled, Tape]:
    plan, room, (samples, n) = task.plan, task.room, problems.start.node.shape[:2]
    h, f, p = layers.first.shape[0], layers.tri_out.shape[0], len(plan.pointers)
    kn, ke, kg = (sum(plan.channels(at)) for at in (Location.NODE, Location.EDGE, Location.GRAPH))
    node, edge, graph = (plan.columns(at) for at in (Location.NODE, Location.EDGE, Location.GRAPH))
    logits = Logits(
        node=_shape(samples, room, n, node),
        edge=_shape(samples, room, n, n, edge),
        graph=_shape(samples, room, graph),
        pointers=_shape(samples, room, p, n, n),
    )
    last = Last(
        node=_shape(samples, n, 2 * h + kn),
        edge=_shape(samples, n, n, ke),
        graph=_shape(samples, kg),
        triplets=_shape(samples, n, n, f),
    )
    pointers, classes = (
        _shape(len(views.until), room, len(x), n, n) for x in (task.pointers, task.classes)
    )
    nodes, pairs = room * n, room * n * n
    tape = Tape(
        node=_shape(samples, nodes, 2 * h + kn),
        z=_shape(samples, nodes, 4 * h),
        best=_shape(samples, nodes, h),
        best_where=_shape(samples, nodes, h, dtype=jnp.uint32),
        gate=_shape(samples, nodes, h),
        decoded=_shape(samples, nodes, layers.dec_b.shape[1]),
        edge=_shape(samples, pairs, ke),
        triplets=_shape(samples, pairs, f),
        triplets_where=_shape(samples, pairs, f, dtype=jnp.uint32),
        from_source=_shape(samples, p * pairs, h, dtype=jnp.uint8),
        graph=_shape(samples, room, kg),
        pooled=_shape(samples, room, 3 * h if graph else 0),
    )
    return Rolled(logits, last, Alike(pointers, pointers, classes)), tape


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def roll(
    task: Task,
    layers: Layers,
    problems: Problems,
    projections: tuple[Projections, Projections],
    views: Views,
) -> Rolled:
    """Take each sample's steps, one at least and none more than there is room for.

    projections: of the pointers and of the classes that are compared.
    """
    return _forward(task, layers, problems, projections, views)[0]


def _forward(task, layers, problems, projections, views):
    problems = problems._replace(steps=jnp.clip(problems.steps, 1, task.room))
    ahead.begin(forward, no_step)
    given = problems, layers, projections, views
    results = _results(task, layers, problems, views)
    rolled, tape = _call("forward", _run_forward, task, results, given)
    return rolled, (given, tape)


def _backward(task, kept, wanted):
    ahead.begin(backward, no_step_back)
    _, layers, projections, _ = kept[0]
    shapes = jax.tree.map(lambda x: _shape(*x.shape), (layers, projections))
    given = (*kept, wanted)
    of_layers, of_projections = _call("backward", _run_backward, task, shapes, given)
    return of_layers, None, of_projections, None


roll.defvjp(_forward, _backward)


def no_views(room: int, nodes: int) -> Views:
    nothing: list[Any] = [np.zeros(x, np.int32) for x in ((0,), (0, nodes), (0, room, 0, nodes))]
    return Views(*nothing)


def _call(what: str, run: Callable[..., None], task: Task, results: Any, given: Any) -> Any:
    name = f"{what} {hashlib.sha256(repr(task).encode()).hexdigest()[:16]}"
    return call(name, partial(run, task), results, given)


# ---- the same on NumPy arrays, samples or pairs of them side by side


def _run_forward(task: Task, given: Any, results: Any) -> None:
    problems, *_ = given
    rolled, tape = results
    for output in jax.tree.leaves(rolled):
        output[...] = 0
    samples = problems.start, tape, rolled.logits, rolled.last

    def take(share: list[int]) -> None:
        for s in share:
            how, both, alike = _one(task, given, samples, rolled.alike, s)
            forward(*how, *both, alike)

    _side_by_side([partial(take, share) for share in _shares(problems, given[3])])


def _run_backward(task: Task, given: Any, results: Any) -> None:
    given, tape, wanted = given
    samples = tape, wanted.logits, wanted.last
    _, layers, projections, _ = given
    turned = Turned(*(_turned(getattr(layers, name)) for name in Turned._fields))
    turned_projections = tuple(
        x._replace(first=_turned(x.first), second=_turned(x.second)) for x in projections
    )

    def take(share: list[int]) -> Any:
        of_layers, of_projections = total = jax.tree.map(np.zeros_like, results)
        for s in share:
            how, both, of_alike = _one(task, given, samples, wanted.alike, s)
            of = of_layers, *of_projections
            backward(*how, *both, of_alike, turned, turned_projections, *of)
        return total

    totals = _side_by_side([partial(take, share) for share in _shares(given[0], given[3])])
    jax.tree.map(lambda x, *parts: np.copyto(x, sum(parts)), results, *totals)


def _one(
    task: Task, given: Any, samples: tuple[Any, ...], alike: Alike, s: int
) -> tuple[tuple[Any, ...], list[tuple[Any, ...]], Alike]:
    """What the kernels are given of a sample and its view, if it has one: how to run them, parts of
    `samples` for both, and of `alike`."""
    problems, layers, projections, views = given
    pairs = len(views.until)
    if pairs:
        who, view = [s, s + pairs], _at((views, alike), s)
        sizes, steps = (tuple(x[who].tolist()) for x in (problems.nodes, problems.steps))
    else:
        who, view = [s, s], jax.tree.map(lambda x: np.zeros(x.shape[1:], x.dtype), (views, alike))
        sizes, steps = ((int(x[s]), 0) for x in (problems.nodes, problems.steps))
    (until, places, truth), mine = view
    compared = Compared(task.which, truth, *projections)
    how = sizes, steps, int(until), task.plan.feeds, layers, compared, places
    return how, [_at(samples, i) for i in who], mine


def first_time() -> bool:
    """Whether this machine has yet to compile the kernels."""
    return any(ahead.unknown(kernel) for kernel in (forward, backward))


def no_step() -> None:
    """All that the forward kernel has to be compiled for: none of a sample without nodes."""
    task, given, (rolled, tape), _ = _least()
    _run_forward(task, given, (rolled, tape))


def no_step_back() -> None:
    task, given, (rolled, tape), of_given = _least()
    _run_backward(task, (given, tape, rolled), of_given)


def _least() -> tuple[Task, Any, tuple[Rolled, Tape], Any]:
    """A task of a sample without nodes, in arrays of one number or none: what it is given, what
    comes of it, and derivatives."""

    def one(*shape: int, dtype: Any = np.float32) -> Any:
        return np.zeros(shape, dtype)

    task = Task(Plan((), (), memory=True, hard=False), room=1)
    channels = one(1, 1, 0), one(1, 1, 1, 0), one(1, 0)
    nobody = one(1, dtype=np.int32)
    problems = Problems(Start(*channels, *channels), nobody, nobody)
    layers = Layers(*(one(1, 1) for _ in Layers._fields))
    projections = tuple(Projections(*(one(0, 1, 1) for _ in range(4))) for _ in range(2))
    views = no_views(1, 1)
    shapes = _results(task, layers, problems, views)
    results = jax.tree.map(lambda x: one(*x.shape, dtype=x.dtype), shapes)
    of_given = jax.tree.map(np.zeros_like, (layers, projections))
    return task, (problems, layers, projections, views), results, of_given


def _turned(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.swapaxes(x, -1, -2))


def _at(arrays: Any, s: int) -> Any:
    return jax.tree.map(lambda x: x[s], arrays)


def _shares(problems: Problems, views: Views) -> list[list[int]]:
    """The samples that each thread takes, so that all have about as much to do; of pairs, the
    inputs.

    Who takes what depends on the samples and on the number of threads alone, so that sums come
    out the same whenever a run is repeated.
    """
    cost = problems.steps.astype(int) * problems.nodes.astype(int) ** 2
    if pairs := len(views.until):
        cost = cost[:pairs] + cost[pairs:]
    shares: list[list[int]] = [[] for _ in range(min(_processors(), len(cost)))]
    work = [0] * len(shares)
    for s in np.argsort(-cost, kind="stable"):
        least = work.index(min(work))
        shares[least].append(int(s))
        work[least] += int(cost[s])
    return shares


@cache
def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_processors(), "hint-relic-rollout")


def _side_by_side(work: list[Callable[[], Any]]) -> list[Any]:
    return [done.result() for done in [_threads().submit(piece) for piece in work]]
