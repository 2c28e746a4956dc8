"""Refusing, before memory is taken, what would not fit.

How many steps an input takes is known only after it was run. So each is run once without
keeping its steps (a kernel whose log is full writes over the last one and counts on), which
costs little beside all that is done with a trace that is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..algorithms import Algorithm, get
from ..algorithms.record import NEXT, allocate
from ..errors import UserError
from ..spec import Location, Stage, of_stage
from ..types import Batch, Trace
from .forms import MAX_NODES
from .splits import check_request, first_trace, sample

MAX_HINTS = 2**31  # bytes, as they are stored


def bounded_sample(
    name: str,
    size: int,
    samples: int,
    seed: int,
    *,
    p: Sequence[float] = (),
    needle: int | None = None,
) -> Batch:
    """`sample`, or an error where that would not fit."""
    algorithm = get(name)
    check_request(algorithm, size, samples, seed, p, needle)
    nodes = check_nodes(algorithm, size)
    rng, choices = np.random.RandomState(seed), tuple(p) or algorithm.inputs.p
    draws = (algorithm.inputs.reference(rng, size, choices, needle) for _ in range(samples))
    check_room(algorithm, draws, nodes, samples)
    return sample(name, size, samples, seed, p=p, needle=needle)


def bounded_trace(name: str, size: int, seed: int) -> Trace:
    """`trace`, or an error where that would not fit."""
    return first_trace(name, bounded_sample(name, size, 1, seed))


def check_nodes(algorithm: Algorithm, size: int) -> int:
    """The number of nodes of a size, if that is not too large."""
    nodes = algorithm.nodes(size)
    if nodes > MAX_NODES:
        raise UserError(f"at most {MAX_NODES} nodes are allowed, not {nodes}")
    return nodes


def check_room(
    algorithm: Algorithm, draws: Iterable[tuple[Any, ...]], nodes: int, samples: int = 1
) -> None:
    """Refuse inputs whose hints would not fit."""
    hints = of_stage(algorithm.spec, Stage.HINT).values()
    step = sum(np.dtype(h.dtype).itemsize * nodes ** len(h.shape(nodes)) for h in hints)

    def check(steps: int) -> None:
        size = steps * samples * step
        if size > MAX_HINTS:
            raise UserError(
                f"{algorithm.name} on {nodes} nodes would need {size / 2**30:.1f} GB for its "
                f"hints, more than {MAX_HINTS >> 30} GB; ask for less"
            )

    # Whoever shows all pairs of nodes takes about a step for each node, or more: no need to run.
    check(nodes if any(h.location is Location.EDGE for h in hints) else 1)
    log = allocate(algorithm.log, algorithm.spec, 1, nodes, 1)
    for inputs in draws:
        log.cursor[:] = 0, 0, 1
        algorithm.run(log, *inputs)
        check(int(log.cursor[NEXT]))
