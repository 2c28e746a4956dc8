"""Verified views, for nearly all algorithms: random insertions that are seen to change nothing.

The paper names this as future work. A step is drawn; the input is enlarged at random and the
algorithm run on the result; and it is a view if all steps up to the one drawn are the same on
the old nodes. If not, it is tried again, with more care and with fewer new nodes (`SCHEDULE`).
Where all tries fail, the one that came furthest is taken. A view is valid as far as it was seen
to be, also beyond the step drawn. If not even the first step is the same it says 0 all the same:
that step is given to a network, which is asked for those after it only.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ..algorithms import Algorithm
from ..algorithms.inputs import Inputs
from ..algorithms.kernel import kernel
from ..algorithms.random import integer, stream
from ..algorithms.record import END, NEXT, SAMPLE, allocate, attribute
from ..spec import Stage, of_stage
from ..types import Batch, View
from .agree import agreement, compared
from .compile import specialised
from .enlarge import enlarger, old_arrays
from .sizes import view_nodes

TRIES = 16
CAREFUL = 7  # the first try with all the care there is
# For each try how much care is taken (see `enlarge.py`), the share of the nodes there is room for
# that are added (at least one is), and whether they may come after the last old one.
SCHEDULE = [(k / CAREFUL, 1.0 - k / CAREFUL, k % 2 == 0) for k in range(CAREFUL)] + [
    (1.0, 0.5 ** ((k - CAREFUL) // 2), k % 2 == 0) for k in range(CAREFUL, TRIES)
]


class Search(NamedTuple):
    """What was asked for and found: how many first steps, and after how many tries."""

    wanted: np.ndarray
    found: np.ndarray
    tries: np.ndarray


def verified_views(
    algorithm: Algorithm,
    batch: Batch,
    max_nodes: int,
    seeds: np.ndarray,
    index: np.ndarray,
    p: np.ndarray,
    random_nodes: bool,
) -> tuple[View, Search]:
    """Views with evenly spaced positions, and how the search for them went."""
    n, samples = batch.inputs["pos"].shape[1], batch.samples
    states, wanted = np.empty((samples, 1), np.uint64), np.empty(samples, np.int64)
    most = np.empty(samples, np.int64)
    _aim(seeds, index, batch.lengths, n, max_nodes, random_nodes, states, wanted, most)
    view = _empty(algorithm, samples, n, max_nodes)
    found, tries = np.full(samples, -1), np.zeros(samples, np.int64)
    names, old = compared(algorithm), old_arrays(batch.inputs)
    fill = _loop(algorithm.name, algorithm.run, algorithm.inputs)

    left = np.arange(samples)
    for care, share, last in SCHEDULE:
        tries[left] += 1
        nodes = n + np.maximum(1, np.rint((most[left] - n) * share)).astype(np.int64)
        for N in np.unique(nodes):
            group = left[nodes == N]
            room = int(batch.lengths[group].max()) + 1  # the last row is written over
            log = allocate(algorithm.log, algorithm.spec, len(group), int(N), room)
            places = np.empty((len(group), n), np.int32)
            steps = np.empty(len(group), np.int64)
            fill(log, room, steps, places, group, states, old, N, p, care, last)
            steps = np.minimum(steps, batch.lengths[group])
            hints = _hints(algorithm, log, room)
            steps = agreement(algorithm, names, batch.hints, group, hints, places, steps)
            better = np.flatnonzero(steps > found[group])
            if better.size:
                found[group[better]] = steps[better]
                _keep(view, group, better, log, hints, places, N)
        left = left[found[left] < wanted[left]]
        if not left.size:
            break
    view.until[:] = np.maximum(found - 1, 0)
    return view, Search(wanted, found, tries)


@kernel
def _aim(seeds, index, lengths, n, max_nodes, random_nodes, states, wanted, most):
    """For each sample its stream, the first steps that are to agree, and the most nodes."""
    for sample in range(lengths.size):
        states[sample, 0] = stream(seeds[sample], index[sample])[0]
        length = lengths[sample]
        wanted[sample] = 2 + integer(states[sample], length - 1) if length > 1 else 1
        most[sample] = view_nodes(states[sample], n, max_nodes, random_nodes)


def _fill(log, room, steps, places, group, states, old, N, p, care, last):
    """Enlarge and run each sample of a group. `enlarge` and `run` are put in by `_loop`."""
    for k in range(group.size):
        log.cursor[SAMPLE] = k
        log.cursor[NEXT] = k * room
        log.cursor[END] = (k + 1) * room
        state = states[group[k]]
        run(log, *enlarge(state, old, group[k], places[k], N, p, care, last))
        steps[k] = log.cursor[NEXT] - k * room


@cache
def _loop(name: str, run, law: Inputs):
    return specialised(_fill, name, run=run, enlarge=enlarger(law))


def _empty(algorithm: Algorithm, samples: int, n: int, max_nodes: int) -> View:
    def arrays(stage: Stage) -> dict[str, np.ndarray]:
        fields = of_stage(algorithm.spec, stage).items()
        return {k: np.zeros((samples, *f.shape(max_nodes)), f.dtype) for k, f in fields}

    return View(
        inputs=arrays(Stage.INPUT),
        start=arrays(Stage.HINT),
        nodes=np.zeros(samples, np.int32),
        places=np.zeros((samples, n), np.int32),
        until=np.zeros(samples, np.int32),
    )


def _hints(algorithm: Algorithm, log, room: int) -> dict[str, np.ndarray]:
    rows = {name: getattr(log, attribute(name)) for name in of_stage(algorithm.spec, Stage.HINT)}
    return {name: array.reshape(-1, room, *array.shape[1:]) for name, array in rows.items()}


def _keep(view: View, group, better, log, hints, places, N) -> None:
    """Copy the views at `better` in their group from the log, padded."""
    at = group[better]
    view.nodes[at] = N
    view.places[at] = places[better]
    for name, array in view.inputs.items():
        _copy(array, at, getattr(log, attribute(name))[better])
    for name, array in view.start.items():
        _copy(array, at, hints[name][better, 0])


def _copy(out: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    padded = np.zeros((len(at), *out.shape[1:]), out.dtype)
    padded[tuple(slice(size) for size in values.shape)] = values
    out[at] = padded
