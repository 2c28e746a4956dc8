"""Running kernels: over inputs that are given, or over many drawn at once."""

from __future__ import annotations

import math
import types
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..errors import UserError
from ..spec import Location, Stage, of_stage
from ..types import Batch
from .algorithm import Algorithm
from .arrays import sort
from .inputs import check_needle, default_needle
from .kernel import helper, kernel, outside
from .random import stream, uniform
from .record import END, NEXT, SAMPLE, allocate, attribute

FIRST_STEPS = 32
MAX_HINTS = 2**31  # bytes that the hints of one call may take


def execute(algorithm: Algorithm, arguments: Sequence[tuple[Any, ...]], nodes: int) -> Batch:
    """Run the algorithm on each of the given inputs, all of `nodes` nodes."""

    def run(log, steps, lengths):
        for sample, inputs in enumerate(arguments):
            log.cursor[:] = sample, sample * steps, (sample + 1) * steps
            algorithm.run(log, *inputs)
            lengths[sample] = log.cursor[NEXT] - sample * steps

    return _collect(algorithm, run, len(arguments), nodes, FIRST_STEPS)


def draw(
    algorithm: Algorithm,
    size: int,
    samples: int,
    *,
    seeds: Sequence[int],
    first: int = 0,
    p: Sequence[float] = (),
    needle: int = 0,
    random_positions: bool = False,
    steps: int = FIRST_STEPS,
) -> Batch:
    """Draw and run samples `first`, `first + 1`, … of the endless sequence of each seed.

    The batch holds `samples` of the first seed, then as many of the next, and so on. Sample k
    of a seed depends on (algorithm, size, options, seed, k) alone. There is room for `steps`
    steps, or for as many as the longest sample takes. A needle of length 0
    has the benchmark's default length, a negative one a random length up to that.
    """
    if problem := algorithm.draws(size):
        raise UserError(problem)
    if algorithm.inputs.form == "haystack and needle":
        needle = needle or default_needle(size)
        check_needle(size, needle)
    choices = np.asarray(p or algorithm.inputs.p or (0.0,), np.float64)
    fill = _filler(algorithm.name, algorithm.run, algorithm.inputs.fast)
    of_seed = np.repeat(np.asarray(seeds, np.uint64), samples)
    index = np.tile(np.arange(first, first + samples, dtype=np.uint64), len(seeds))

    def run(log, steps, lengths):
        fill(log, steps, lengths, of_seed, index, size, choices, needle, random_positions)

    return _collect(algorithm, run, len(index), algorithm.nodes(size), steps)


def _collect(algorithm, run, samples: int, nodes: int, steps: int) -> Batch:
    """Let `run` fill a log; if that has not enough room, again with as much as is needed.

    What would not fit into `MAX_HINTS` is refused, before memory is taken for it.
    """
    check_room(algorithm, samples, nodes)
    steps = max(1, min(steps, MAX_HINTS // max(1, samples * _step_bytes(algorithm, nodes))))
    lengths = np.zeros(samples, np.int32)
    log = allocate(algorithm.log, algorithm.spec, samples, nodes, steps)
    run(log, steps, lengths)
    if samples and lengths.max() > steps:  # the rest was counted, but not kept
        steps = int(lengths.max())
        check_room(algorithm, samples, nodes, steps)
        log = allocate(algorithm.log, algorithm.spec, samples, nodes, steps)
        run(log, steps, lengths)

    def arrays(stage: Stage) -> dict[str, np.ndarray]:
        return {name: getattr(log, attribute(name)) for name in of_stage(algorithm.spec, stage)}

    hints = {k: v.reshape(samples, steps, *v.shape[1:]) for k, v in arrays(Stage.HINT).items()}
    return Batch(
        inputs=arrays(Stage.INPUT),
        hints=hints,
        outputs=arrays(Stage.OUTPUT),
        lengths=lengths,
        nodes=np.full(samples, nodes, np.int32),
    )


def check_room(algorithm: Algorithm, samples: int, nodes: int, steps: int | None = None) -> None:
    """Refuse hints that would take more than `MAX_HINTS`, in as few steps as can be if not told."""
    if steps is None:  # whoever shows all pairs of nodes takes about a step for each, or more
        hints = of_stage(algorithm.spec, Stage.HINT).values()
        steps = nodes if any(hint.location is Location.EDGE for hint in hints) else 1
    size = samples * steps * _step_bytes(algorithm, nodes)
    if size > MAX_HINTS:
        raise UserError(
            f"{algorithm.name} on {nodes} nodes would need {size / 2**30:.1f} GB for its "
            f"hints, more than {MAX_HINTS >> 30} GB; ask for less"
        )


def _step_bytes(algorithm: Algorithm, nodes: int) -> int:
    hints = of_stage(algorithm.spec, Stage.HINT).values()
    return sum(np.dtype(hint.dtype).itemsize * math.prod(hint.shape(nodes)) for hint in hints)


def _fill(log, steps, lengths, seeds, index, size, p, needle, random_positions):
    """The loop over samples. `run` and `draw_inputs` are put in by `_filler`."""
    for sample in range(lengths.size):
        log.cursor[SAMPLE] = sample
        log.cursor[NEXT] = sample * steps
        log.cursor[END] = (sample + 1) * steps
        state = stream(seeds[sample], index[sample])
        run(log, *draw_inputs(state, size, p, needle))
        lengths[sample] = log.cursor[NEXT] - sample * steps
        if random_positions:
            scatter(state, log.pos[sample])


@helper
def scatter(state, pos):
    """Replace each run of evenly spaced positions (it starts at 0) by sorted random ones."""
    start = 0
    for end in range(1, pos.size + 1):
        if end == pos.size or pos[end] == 0.0:
            for i in range(start, end):
                pos[i] = uniform(state, 0.0, 1.0)
            sort(pos[start:end])
            start = end


@cache
def _filler(name: str, run, draw_inputs):
    """`_fill` for one algorithm.

    Numba can't cache a closure over kernels, but it can cache a function whose globals hold
    them; so each algorithm gets a copy of `_fill` under its own name, with its own globals.
    """
    scope = {**globals(), "run": run, "draw_inputs": draw_inputs}
    copy = types.FunctionType(_fill.__code__, scope, _fill.__name__)
    copy.__qualname__ = f"fill_{name}{outside(run, draw_inputs)}"
    copy.__module__ = __name__
    return kernel(copy)
