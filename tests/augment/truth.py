"""The true algorithm on views, and comparing its steps in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from hint_relic.algorithms import Algorithm, draw, execute, get
from hint_relic.augment import make_views
from hint_relic.config import VIEW_CHOICES, ViewConfig
from hint_relic.data import TRAIN_SIZES, Protocol
from hint_relic.spec import POINTERS, Field, Kind, Location, Stage, of_stage
from hint_relic.types import Batch, View


def training_sizes(name: str) -> tuple[int, ...]:
    return Protocol.training(name).sizes(TRAIN_SIZES)


def most_nodes(name: str) -> int:
    """One more than the largest training input has."""
    return get(name).nodes(max(training_sizes(name))) + 1


def drawn(name: str, size: int, samples: int, seed: int, first: int = 0, **changes) -> Batch:
    """Samples as the training stream draws them."""
    protocol = Protocol.training(name)
    settings = {"p": protocol.p, "needle": protocol.needle, "random_positions": True}
    return draw(get(name), size, samples, seeds=[seed], first=first, **settings | changes)


def views_of(name: str, batch: Batch, seed: int, first: int = 0, **settings: Any) -> View:
    """The views of samples `first`, `first + 1`, … of a seed."""
    options = {key: settings.pop(key) for key in VIEW_CHOICES if key in settings}
    return make_views(
        get(name),
        batch,
        seeds=np.full(batch.samples, seed, np.uint64),
        index=np.arange(first, first + batch.samples, dtype=np.uint64),
        p=Protocol.training(name).p,
        options=ViewConfig(**options),
        **{"max_nodes": most_nodes(name)} | settings,
    )


def arguments(algorithm: Algorithm, inputs: dict[str, np.ndarray], n: int) -> tuple[Any, ...]:
    """What the algorithm's kernel takes, from one sample's inputs."""
    if "A" in inputs:
        A = np.ascontiguousarray(inputs["A"][:n, :n])
        return (A, int(inputs["s"])) if "s" in inputs else (A,)
    if "string" in inputs:
        key, head = inputs["key"][:n].astype(np.int64), n - int(inputs["string"][:n].sum())
        return key[:head].copy(), key[head:].copy()
    if algorithm.inputs.form == "weights":
        return inputs["p"][: n - 1].copy(), inputs["q"][:n].copy()
    rest = [array for key, array in inputs.items() if key != "pos"]
    return tuple(array[:n].copy() if array.ndim else float(array) for array in rest)


def sample_inputs(inputs: dict[str, np.ndarray], sample: int) -> dict[str, np.ndarray]:
    return {key: array[sample] for key, array in inputs.items()}


def true_steps(name: str, view: View) -> list[dict[str, np.ndarray]]:
    """For each view the hints of the algorithm's own run on it: name -> (steps, ...)."""
    algorithm, runs = get(name), {}
    for n in np.unique(view.nodes):
        group = np.flatnonzero(view.nodes == n)
        given = [arguments(algorithm, sample_inputs(view.inputs, k), int(n)) for k in group]
        batch = execute(algorithm, given, int(n))
        for row, k in enumerate(group):
            steps = int(batch.lengths[row])
            runs[k] = {key: hint[row, :steps] for key, hint in batch.hints.items()}
    return [runs[k] for k in range(len(view.nodes))]


def on_old_nodes(field: Field, hint: np.ndarray, places: np.ndarray) -> np.ndarray:
    """What a view's hint (steps, ...) shows on the old nodes or edges, or on the graph."""
    if field.location is Location.GRAPH or field.kind is Kind.MASK_ONE:
        return hint
    hint = hint[:, places]
    return hint if field.location is Location.NODE else hint[:, :, places]


def in_view(field: Field, hint: np.ndarray, places: np.ndarray) -> np.ndarray:
    """An input's hint with the view's names for the nodes."""
    return places[hint] if field.kind in POINTERS or field.kind is Kind.MASK_ONE else hint


def same_steps(field: Field, ours: np.ndarray, theirs: np.ndarray, places: np.ndarray) -> Any:
    """For each of our steps, is it the same in the view? Not where the view has none left."""
    steps = min(len(ours), len(theirs))
    a = in_view(field, ours[:steps], places)
    b = on_old_nodes(field, theirs[:steps], places)
    return np.pad((a == b).reshape(steps, -1).all(axis=1), (0, len(ours) - steps))


def hint_names(name: str) -> list[str]:
    return list(of_stage(get(name).spec, Stage.HINT))
