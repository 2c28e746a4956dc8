"""Drawing an input and its view, and checking the view.

Inputs are those of the benchmark's sampler, as in `hint-relic trace`, and of these the first in
which there is something to see: a contrasted pointer that changes. Views are made as in training,
but of a size that can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import Algorithm, execute
from ..augment import check_views, make_views
from ..augment.agree import agreement
from ..config import ViewConfig, ViewSource
from ..data.protocol import Protocol
from ..data.splits import check_request, sample
from ..errors import UserError, choose
from ..spec import POINTERS, Kind, Location, Spec, Stage, of_stage
from ..types import Batch, View
from ..variants import preset

MAX_SIZE = 32  # what can be looked at
DRAWN = 100  # samples to choose from; on the paper's views of them the algorithm is run

Arrays = dict[str, np.ndarray]


class Exactness(NamedTuple):
    """Of how many views the true steps are the input's: in contrasted hints, and in all."""

    views: int
    contrasted: int
    all: int


@dataclass(frozen=True)
class Pair:
    """One input with its steps, and its view.

    sample: which of the samples of its seed it is.
    places: which node of the view each node of the input is.
    until: the last step that is the same in both; steps 1 to `until` are contrasted.
    exactness: what running the algorithm on views like this one shows (none was run for a
    verified view: it was run to make it).
    """

    algorithm: Algorithm
    source: str
    seed: int
    sample: int
    contrasted: tuple[str, ...]
    inputs: Arrays
    hints: Arrays
    view_inputs: Arrays
    view_start: Arrays
    places: np.ndarray
    view_nodes: int
    until: int
    exactness: Exactness | None

    @property
    def nodes(self) -> int:
        return len(self.places)

    @property
    def last(self) -> int:
        """The last step of the run on the input."""
        return len(next(iter(self.hints.values()))) - 1

    @cached_property
    def new(self) -> list[int]:
        """The nodes of the view that the input does not have."""
        return sorted(set(range(self.view_nodes)) - set(self.places.tolist()))


def draw_pair(
    algorithm: Algorithm,
    size: int,
    seed: int,
    source: str = ViewSource.PAPER,
    new: int | None = None,
) -> Pair:
    """A sample of a seed and its view, with `new` more nodes (half as many) at most."""
    nodes = _check(algorithm, size, seed, source, new)
    most = nodes + (max(1, nodes // 2) if new is None else new)
    contrasted = Protocol(algorithm.name, keep_static_hints=True).contrasted
    batch = sample(algorithm.name, size, DRAWN, seed)
    view = make_views(
        replace(algorithm, static_hints=()),
        batch,
        max_nodes=most,
        seeds=np.full(DRAWN, seed, np.uint64),
        index=np.arange(DRAWN, dtype=np.uint64),
        p=(),
        options=replace(preset("hint_relic").view, source=ViewSource(source)),
        random_positions=False,
    )
    k = _most_telling(algorithm, contrasted, batch, view)
    steps, nodes = int(batch.lengths[k]), int(view.nodes[k])
    return Pair(
        algorithm=algorithm,
        source=source,
        seed=seed,
        sample=k,
        contrasted=contrasted,
        inputs={name: array[k] for name, array in batch.inputs.items()},
        hints={name: array[k, :steps] for name, array in batch.hints.items()},
        view_inputs=_live(algorithm.spec, view.inputs, Stage.INPUT, k, nodes),
        view_start=_live(algorithm.spec, view.start, Stage.HINT, k, nodes),
        places=view.places[k],
        view_nodes=nodes,
        until=int(view.until[k]),
        exactness=_exactness(algorithm, contrasted, batch, view)
        if source == ViewSource.PAPER
        else None,
    )


def _check(algorithm: Algorithm, size: int, seed: int, source: str, new: int | None) -> int:
    """Refuse what can't be drawn or looked at; the number of nodes of an input."""
    choose("view", source, list(ViewSource))
    if size > MAX_SIZE:
        raise UserError(f"a size of {size} is too large to look at; give at most {MAX_SIZE}")
    check_request(algorithm, size, 1, seed, (), None)
    if new is not None and not 1 <= new <= MAX_SIZE:
        raise UserError(f"a view has 1 to {MAX_SIZE} new nodes here, not {new}")
    check_views(algorithm, ViewConfig(source=ViewSource.VERIFIED), (), 0)  # are there any at all?
    if source == ViewSource.PAPER and algorithm.view is None:
        raise UserError(f"the paper has no view for {algorithm.name}; --view verified gives it one")
    return algorithm.nodes(size)


def _most_telling(
    algorithm: Algorithm, contrasted: tuple[str, ...], batch: Batch, view: View
) -> int:
    """The first sample in which a contrasted pointer changes, or else one with a step in common."""
    changes = np.zeros(batch.samples, bool)
    for name in contrasted:
        hint = batch.hints[name]
        if algorithm.spec[name].kind in POINTERS:
            step = np.arange(1, hint.shape[1]).reshape(1, -1, *[1] * (hint.ndim - 2))
            live = step <= view.until.reshape(-1, *[1] * (hint.ndim - 1))
            elsewhere = hint[:, 1:] != np.arange(hint.shape[-1])
            changed = (hint[:, 1:] != hint[:, :-1]) & elsewhere & live
            changes |= changed.reshape(batch.samples, -1).any(axis=1)
    return int(np.argmax(changes * 2 + (view.until > 0)))


def _exactness(
    algorithm: Algorithm, contrasted: tuple[str, ...], batch: Batch, view: View
) -> Exactness:
    """Run the algorithm on the paper's views, which the paper never does, and compare."""
    samples = batch.samples
    run = execute(algorithm, [_arguments(view, k) for k in range(samples)], int(view.nodes[0]))
    # As a depth-first walk finishes a node it marks the last one as `v`, at any size.
    every = [k for k in batch.hints if not (k == "v" and "color" in batch.hints)]
    steps = np.minimum(run.lengths, view.until + 1).astype(np.int64)
    index = np.arange(samples)

    def same(hints: list[str]) -> int:
        agreed = agreement(algorithm, hints, batch.hints, index, run.hints, view.places, steps)
        return int(np.sum(agreed == view.until + 1))

    return Exactness(samples, same(list(contrasted)), same(every))


def _arguments(view: View, k: int) -> tuple[Any, ...]:
    """What the kernels of the paper's algorithms take: a graph first, then all other inputs."""
    names = sorted(view.inputs, key=lambda name: name != "A")
    given = (view.inputs[name][k] for name in names if name not in ("pos", "adj"))
    return tuple(array if array.ndim else array.item() for array in given)


def _live(spec: Spec, arrays: Arrays, stage: Stage, k: int, nodes: int) -> Arrays:
    """One sample's arrays without the padding."""
    fields = of_stage(spec, stage).items()
    return {
        name: arrays[name][k][(slice(nodes),) * len(field.shape(nodes))] for name, field in fields
    }


# --- what is new -------------------------------------------------------------------------------


def is_directed(pair: Pair) -> bool:
    A = pair.view_inputs["A"]
    return not np.array_equal(A, A.T)


def edges(A: np.ndarray, directed: bool) -> list[tuple[int, int]]:
    """The edges of a graph; of an undirected one, each once."""
    found = [(int(i), int(j)) for i, j in np.argwhere(A)]
    return found if directed else [(i, j) for i, j in found if i <= j]


def new_edges(pair: Pair) -> list[tuple[int, int]]:
    """The edges of the view that the input does not have."""
    directed, places = is_directed(pair), pair.places.tolist()
    old = {(places[i], places[j]) for i, j in edges(pair.inputs["A"], True)}
    return [edge for edge in edges(pair.view_inputs["A"], directed) if edge not in old]


def shown_values(spec: Spec) -> list[str]:
    """The inputs that are values of nodes: not positions, marks of one node, or edges."""
    return [
        name
        for name, field in of_stage(spec, Stage.INPUT).items()
        if name != "pos" and field.location is Location.NODE and field.kind is not Kind.MASK_ONE
    ]
