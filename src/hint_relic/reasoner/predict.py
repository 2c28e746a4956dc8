"""Running one network on problems of any size and length, with few compiled programs.

Nodes are padded to one of a few sizes (padding changes no result), and steps are run in chunks
of a fixed number, so that one program serves all lengths. Of each step only what was decided
and how surely is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..model.feedback import SCORED_SINKHORN_STEPS, decided
from ..model.network import Executor, Network, State
from ..model.sinkhorn import log_sinkhorn
from ..spec import Field, Kind, Location, Spec, Stage, of_stage
from ..types import Problem

CHUNK = 8  # steps run by one call of a program
MOST_TOGETHER = 16  # problems run at once
MAX_MEMORY = 2**32  # bytes that a run may take
EDGE_ARRAYS = 8  # arrays of (nodes, nodes, hidden) that are alive at once, about


class Decided(NamedTuple):
    """What was predicted, as it is stored in traces, and the probability given to it."""

    value: Any
    confidence: Any


class Run(NamedTuple):
    """One problem's predictions: outputs, and hints with a row for each step after the first."""

    outputs: dict[str, Decided]
    hints: dict[str, Decided]


def room_for(nodes: int) -> int:
    """The padded number of nodes: 8, 16, 24, 32, then 48, 64, 96, 128, 192, …"""
    if nodes <= 32:
        return -(-nodes // 8) * 8
    power = 1 << (nodes - 1).bit_length()
    return power * 3 // 4 if nodes <= power * 3 // 4 else power


def memory(spec: Spec, hidden: int, nodes: int) -> int:
    """About how many bytes a run on one problem takes."""
    triples = sum(f.location is Location.EDGE and f.kind is Kind.POINTER for f in spec.values())
    return 4 * (EDGE_ARRAYS * hidden * nodes**2 + 3 * triples * nodes**3)


def check_memory(spec: Spec, hidden: int, nodes: int) -> None:
    """Refuse what would not fit, before any of it is taken."""
    needed = memory(spec, hidden, room_for(nodes))
    if needed > MAX_MEMORY:
        raise UserError(
            f"{nodes} nodes are too many for this network: it would need about "
            f"{needed / 2**30:.0f} GB, more than {MAX_MEMORY >> 30} GB"
        )


def _decide(field: Field, prediction: Any, live: Any) -> Decided:
    """As `feedback.decided` decides, with the probability of what it decides for."""
    if field.kind is Kind.PERMUTATION_POINTER:  # its Sinkhorn steps are dear: once for both
        sure = jnp.exp(log_sinkhorn(prediction, live, steps=SCORED_SINKHORN_STEPS))
        return Decided(jnp.argmax(sure, -1), sure.max(-1))
    value = decided(field, prediction, live)
    if field.kind is Kind.SCALAR:
        return Decided(value, None)
    if field.kind is Kind.MASK:
        return Decided(value, jax.nn.sigmoid(jnp.abs(prediction)))
    return Decided(value, jax.nn.softmax(prediction).max(-1))


def _decide_all(fields: Spec, predicted: dict[str, Any], live: Any) -> dict[str, Decided]:
    return {k: _decide(f, predicted[k], live) for k, f in fields.items() if k in predicted}


@jax.jit
def _start(network: Network, problems: Problem) -> State:
    """The states before the first step; only ever asked for their shapes."""
    return jax.vmap(Executor(network, training=False).begin)(problems)[1]


@jax.jit
def _advance(network: Network, problems: Problem, states: State, first: Any):
    """`CHUNK` steps from step `first` on: (states, decided hints, decided outputs).

    At step 0 the states given are not looked at. Outputs are read after the last step of the
    longest problem, and are zeros before it.
    """
    executor = Executor(network, training=False)
    given, start = jax.vmap(executor.begin)(problems)
    states = jax.tree.map(lambda a, b: jnp.where(first == 0, a, b), start, states)
    shown = {k: f for k, f in of_stage(network.spec, Stage.HINT).items() if not f.reverses}

    def step(states: State, t: Any):
        states, seen = jax.vmap(executor.step, in_axes=(0, 0, None))(given, states, t)
        return states, jax.vmap(partial(_decide_all, shown))(seen.predicted, given.live)

    states, hints = jax.lax.scan(step, states, first + jnp.arange(CHUNK))
    fields = of_stage(network.spec, Stage.OUTPUT)

    def outputs() -> dict[str, Decided]:
        predicted = jax.vmap(lambda g, s: executor.outputs(g, s, None))(given, states)
        return jax.vmap(partial(_decide_all, fields))(predicted, given.live)

    def zeros() -> dict[str, Decided]:
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(outputs))

    done = first + CHUNK >= problems.lengths.max() - 1
    return states, hints, jax.lax.cond(done, outputs, zeros)


def predict(
    network: Network,
    problems: Problem,
    report: Callable[[int, int], None] = lambda done, steps: None,
) -> list[Run]:
    """Run problems of equal room, all arrays with a leading axis over them.

    report: called with (steps done, steps in all) after each chunk.
    """
    lengths = np.asarray(problems.lengths)
    steps = max(1, int(lengths.max()) - 1)
    shapes = _start.eval_shape(network, problems)
    states = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes)
    chunks: list[Any] = []
    outputs: Any = {}
    for first in range(0, steps, CHUNK):
        states, hints, outputs = _advance(network, problems, states, np.int32(first))
        chunks.append(jax.device_get(hints))
        report(min(first + CHUNK, steps), steps)
    whole = jax.tree.map(lambda *parts: np.concatenate(parts), *chunks)  # (steps, problems, ...)
    outputs = jax.device_get(outputs)
    return [
        Run(
            outputs=jax.tree.map(lambda x, i=i: x[i], outputs),
            hints=jax.tree.map(lambda x, i=i, n=length: x[: n - 1, i], whole),
        )
        for i, length in enumerate(lengths)
    ]
