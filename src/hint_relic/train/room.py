"""Which training sizes share a program: the smaller ones are padded to the largest of them.

On a GPU all do. On a CPU a program takes some ten seconds to compile, and padding costs a little in
every update, so a short run has one program and a long one has one for each size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax

from ..config import Padding, TrainConfig
from ..data import Protocol

# Of a step's time on a CPU as much as for so many pairs of nodes is there whatever their number,
# and compiling takes as long as so many pairs, times channels and samples (docs/performance.md).
_PAIRS_TO_START = 70
_COMPILING = 3e8
# Where each sample takes its steps by itself, padding costs as much as a step does, and no more.
_ROLLED_STEPS, _COMPILING_ROLLED = 1.2, 1.5e8


def room_for(config: TrainConfig, protocol: Protocol, rolls: bool = False) -> dict[int, int]:
    """For each training size the one whose room its batches get. rolls: see `Task.rolls`."""
    sizes = protocol.sizes(config.sizes)
    if config.padding is Padding.OWN:
        return {size: size for size in sizes}
    if config.padding is Padding.LARGEST or jax.default_backend() != "cpu":
        return dict.fromkeys(sizes, max(sizes))
    samples = config.steps * config.seeds * config.batch_size / len(sizes)

    def time(size: int, room: int) -> float:
        """How long all updates on a size take; those with views have room for the largest."""
        nodes = protocol.algorithm.nodes(max(sizes) if config.objective.needs_views else room)
        of_sample = _ROLLED_STEPS if rolls else protocol.steps(size)
        steps = sizes.count(size) * samples * of_sample
        return steps * config.model.hidden * (_PAIRS_TO_START + nodes**2)

    return shared(sorted({*sizes}), time, _COMPILING_ROLLED if rolls else _COMPILING)


def shared(
    sizes: Sequence[int], time: Callable[[int, int], float], program: float
) -> dict[int, int]:
    """The rooms that take the least time in all. time: of a size in a room; program: of a room."""
    best: list[tuple[float, dict[int, int]]] = [(0.0, {})]  # for so many of the smallest
    for end in range(1, len(sizes) + 1):
        room = sizes[end - 1]
        ways = [
            (
                best[first][0] + program + sum(time(size, room) for size in sizes[first:end]),
                best[first][1] | dict.fromkeys(sizes[first:end], room),
            )
            for first in range(end)
        ]
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]
