"""Running one algorithm on one input, with a look at what must never happen: a changed input."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np

from hint_relic.algorithms import execute, get
from hint_relic.data.splits import first_trace
from hint_relic.types import Trace

Arguments = tuple[Any, ...]


def node_count(name: str, arguments: Arguments) -> int:
    form = get(name).inputs.form
    if form in ("two strings", "haystack and needle"):
        return sum(len(string) for string in arguments)
    return len(arguments[-1] if form == "weights" else arguments[0])


@cache
def column_major(name: str) -> bool:
    """Are the matrices that the sampler draws stored by columns?"""
    algorithm = get(name)
    drawn = algorithm.inputs.reference(np.random.RandomState(0), 8, algorithm.inputs.p, None)
    return any(a.ndim == 2 and not a.flags.c_contiguous for a in map(np.asarray, drawn))


def laid_out(name: str, arguments: Arguments) -> Arguments:
    """A copy laid out in memory as the sampler's draws are, so that no kernel compiles twice."""
    order = "F" if column_major(name) else "C"
    return tuple(
        a.copy(order=order) if isinstance(a, np.ndarray) else copy.copy(a) for a in arguments
    )


def run(name: str, *arguments: Any) -> Trace:
    """The trace of one run, which must leave its input as it was."""
    given = laid_out(name, arguments)
    batch = execute(get(name), [given], node_count(name, arguments))
    for before, after in zip(arguments, given, strict=True):
        assert np.array_equal(before, after), f"{name} changed its input"
    return first_trace(name, batch)


def drawn(name: str, size: int, seed: int, samples: int = 1) -> list[Arguments]:
    """Inputs as the reference draws them."""
    inputs, rng = get(name).inputs, np.random.RandomState(seed)
    return [inputs.reference(rng, size, inputs.p, None) for _ in range(samples)]
