"""The augmented view of a trace: the larger input, and the algorithm's own run on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms import Algorithm, execute, get
from ..augment import make_views
from ..config import ViewConfig, ViewSource
from ..data.protocol import Protocol
from ..data.splits import alone, first_trace
from .record import Recording


def view_of(recording: Recording, seed: int) -> Recording:
    """The paper's view where it has one, else a verified one; a quarter more nodes, at least two.

    Views borrow the input's steps in training, and the algorithm is not run on them there. Here
    it is, so that one can see where they part.
    """
    trace = recording.trace
    algorithm = get(trace.algorithm)
    made = make_views(
        algorithm,
        alone(trace),
        max_nodes=trace.nodes + max(2, trace.nodes // 4),
        seeds=np.array([seed]),
        index=np.array([0]),
        p=Protocol.training(trace.algorithm).p,
        options=ViewConfig(source=ViewSource.PAPER if algorithm.view else ViewSource.VERIFIED),
        random_positions=False,
    )
    nodes, places = int(made.nodes[0]), made.places[0]
    inputs = {name: value[0] for name, value in made.inputs.items()}
    run = execute(algorithm, [_arguments(algorithm, inputs, nodes)], nodes)
    labels = [f"+{i}" for i in range(nodes)]
    for name, place in zip(recording.names, places, strict=True):
        labels[place] = name
    return Recording(
        first_trace(algorithm.name, run),
        labels=tuple(labels),
        places=places,
        until=int(made.until[0]),
    )


def _arguments(algorithm: Algorithm, inputs: dict[str, np.ndarray], n: int) -> tuple[Any, ...]:
    """What the algorithm's kernel takes, from the first n nodes of its recorded inputs."""
    if "A" in inputs:
        A = np.ascontiguousarray(inputs["A"][:n, :n])
        return (A, int(inputs["s"])) if "s" in inputs else (A,)
    if "string" in inputs:
        letters, head = inputs["key"][:n].astype(np.int64), n - int(inputs["string"][:n].sum())
        return letters[:head].copy(), letters[head:].copy()
    if algorithm.inputs.form == "weights":
        return inputs["p"][: n - 1].copy(), inputs["q"][:n].copy()
    given = [value for name, value in inputs.items() if name != "pos"]
    return tuple(value[:n].copy() if value.ndim else float(value) for value in given)
