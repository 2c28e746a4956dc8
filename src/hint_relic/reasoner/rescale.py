"""Numbers of any size, brought into the range that networks are trained on.

Networks see keys, weights and points as small as CLRS-30 draws them (mostly between 0 and 1), so
5, 2, 8, 1 would be foreign to them. Where a user's numbers lie outside that range they are moved
and shrunk into it, and the true algorithm is run on the result: it is taken only if every step
(all but the numbers among the hints) and every output stays as it was. So a rescaled input is
the same problem, by test and not by argument. Numbers within the range are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..algorithms import Algorithm, execute
from ..algorithms.inputs import SIGNED_ARRAY
from ..spec import Kind
from ..types import Batch

Arguments = tuple[Any, ...]
RADIUS = 2.0  # of the disk that points are drawn from


def _arrays(arguments: Arguments) -> np.ndarray:
    return np.concatenate([np.ravel(a) for a in arguments])


def _to_unit(arguments: Arguments) -> Arguments:
    """All numbers together onto 0 … 1."""
    numbers = _arrays(arguments)
    low, width = numbers.min(), np.ptp(numbers) or 1.0
    return tuple((a - low) / width for a in arguments)


def _shrunk(arguments: Arguments) -> Arguments:
    """All numbers divided by the largest; nothing is shifted, so signs and zeros stay."""
    return tuple(a / np.abs(_arrays(arguments)).max() for a in arguments)


def _shares(arguments: Arguments) -> Arguments:
    """All numbers divided by their sum."""
    return tuple(a / _arrays(arguments).sum() for a in arguments)


def _weights_shrunk(arguments: Arguments) -> Arguments:
    """The edge weights divided by the largest; the source, if there is one, is no number."""
    A, *rest = arguments
    return (A / max(np.abs(A).max(), 1e-300), *rest)


def _values_to_unit(arguments: Arguments) -> Arguments:
    """The tasks' weights onto 0 … 1; their deadlines count slots."""
    deadlines, weights = arguments
    return deadlines, _to_unit((weights,))[0]


def _into_disk(arguments: Arguments) -> Arguments:
    """Points around their middle, as far out as drawn ones are."""
    x, y = (a - (a.min() + a.max()) / 2 for a in arguments)
    scale = RADIUS / max(np.hypot(x, y).max(), 1e-300)
    return x * scale, y * scale


Way = Callable[[Arguments], Arguments]
Inside = Callable[[Arguments], bool]


def _within(low: float, high: float, take: slice = slice(None)) -> Inside:
    def inside(arguments: Arguments) -> bool:
        numbers = _arrays(arguments[take])
        return bool(numbers.min() >= low and numbers.max() <= high)

    return inside


def _in_disk(arguments: Arguments) -> bool:
    return bool(np.hypot(*arguments).max() <= RADIUS)


_WEIGHTED = (_within(-1.0, 1.05, slice(0, 1)), (_weights_shrunk,))
# For each form of input: does it lie in the range of training, and the ways into it, best first.
WAYS: dict[str, tuple[Inside, tuple[Way, ...]]] = {
    "array": (_within(0.0, 1.0), (_to_unit, _shrunk)),
    "signed array": (_within(-1.0, 1.0), (_shrunk,)),
    "sorted array and target": (_within(0.0, 1.0), (_to_unit,)),
    "weights": (lambda given: bool(_arrays(given).sum() <= 1.0 + 1e-9), (_shares,)),
    "intervals": (_within(0.0, 1.0), (_to_unit,)),
    "tasks": (_within(0.0, 1.0, slice(1, 2)), (_values_to_unit,)),
    "weighted graph": _WEIGHTED,
    "weighted graph and source": _WEIGHTED,
    "weighted acyclic graph and source": _WEIGHTED,
    "two segments": (_within(0.0, 1.0), (_to_unit,)),
    "points": (_in_disk, (_into_disk,)),
}


def rescaled(algorithm: Algorithm, arguments: Arguments, truth: Batch) -> tuple[Batch, str]:
    """(the run on the numbers that a network is given, what was done to them, in words).

    truth: the run on the numbers as they are.
    """
    form = "signed array" if algorithm.inputs is SIGNED_ARRAY else algorithm.inputs.form
    inside, ways = WAYS.get(form, (lambda _: True, ()))
    if inside(arguments):
        return truth, ""
    for candidate in _candidates(arguments, ways):
        run = execute(algorithm, [candidate], int(truth.nodes[0]))
        if _same_steps(algorithm, truth, run):
            return run, "the numbers were brought into the range of training; no step changes"
    return truth, (
        "the numbers lie outside the range of training and can't be brought into it without "
        "changing steps: expect mistakes"
    )


def _candidates(arguments: Arguments, ways: tuple[Way, ...]) -> Iterator[Arguments]:
    """Each way's result, rounded as the network will see it."""
    for way in ways:
        yield tuple(
            a.astype(np.float32).astype(np.float64) if isinstance(a, np.ndarray) else a
            for a in map(_as_given, way(arguments), arguments)
        )


def _as_given(new: Any, old: Any) -> Any:
    return new if isinstance(old, np.ndarray) else type(old)(np.float32(new))


def _same_steps(algorithm: Algorithm, one: Batch, other: Batch) -> bool:
    """Are all hints and outputs but the numbers the same?"""
    if one.lengths[0] != other.lengths[0]:
        return False
    steps = int(one.lengths[0])
    hints = [(k, one.hints[k][0, :steps], other.hints[k][0, :steps]) for k in one.hints]
    outputs = [(k, one.outputs[k], other.outputs[k]) for k in one.outputs]
    return all(
        algorithm.spec[name].kind is Kind.SCALAR or np.array_equal(a, b)
        for name, a, b in hints + outputs
    )
