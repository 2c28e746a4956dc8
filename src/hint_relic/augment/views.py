"""Making the view of each sample of a batch.

The view of sample k of a seed depends on the sample and on (seed, k) alone. What is drawn for
it comes from streams of its own, so a sample is the same with and without a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..algorithms import Algorithm, Augmentation
from ..algorithms.kernel import kernel
from ..algorithms.record import edges
from ..config import ViewConfig, ViewPositions, ViewSource
from ..errors import UserError
from ..spec import Stage, of_stage
from ..types import Batch, View
from .appended import appended
from .enlarge import can_enlarge
from .entered import entered_node
from .positions import evenly, randomly
from .start import first_step
from .subgraph import subgraph
from .verified import verified_views

DEFAULT = ViewConfig()
INSERTIONS = np.uint64(0x6A09E667F3BCC908)
POSITIONS = np.uint64(0xBB67AE8584CAA73B)

_PAPER = {
    Augmentation.ENTERED_NODE: entered_node,
    Augmentation.SUBGRAPH: subgraph,
    Augmentation.APPENDED: appended,
}


def check_views(
    algorithm: Algorithm, options: ViewConfig, sizes: Iterable[int], max_nodes: int
) -> None:
    """Refuse views that can't be made of inputs of these sizes."""
    if not can_enlarge(algorithm.inputs):
        raise UserError(
            f"{algorithm.name} has {algorithm.nodes(1)} nodes at every size, so it has no views"
        )
    if options.source is ViewSource.PAPER and algorithm.view is None:
        raise UserError(
            f"the paper has no view for {algorithm.name}; --view.source verified gives it one"
        )
    for size in sizes:
        _check_room(algorithm, algorithm.nodes(size), max_nodes)


def _check_room(algorithm: Algorithm, nodes: int, max_nodes: int) -> None:
    if nodes >= max_nodes:
        raise UserError(
            f"a view that does not fit: inputs of {algorithm.name} have {nodes} nodes and a view "
            f"more, but at most {max_nodes} are allowed; allow {nodes + 1} or more"
        )


def make_views(
    algorithm: Algorithm,
    batch: Batch,
    *,
    max_nodes: int,
    seeds: np.ndarray,
    index: np.ndarray,
    p: Sequence[float],
    options: ViewConfig = DEFAULT,
    random_positions: bool = True,
) -> View:
    """A view of at most `max_nodes` nodes for each sample of a batch, as drawn (not rewritten).

    seeds, index: for each sample its seed and its number in that seed's sequence.
    p: the edge probabilities that the inputs were drawn with (none: the algorithm's own).
    random_positions: as for the inputs; where they are evenly spaced, so are the views'.
    """
    check_views(algorithm, options, (), max_nodes)
    _check_room(algorithm, batch.inputs["pos"].shape[1], max_nodes)
    seeds, index = np.asarray(seeds, np.uint64), np.asarray(index, np.uint64)
    choices = np.asarray(tuple(p) or algorithm.inputs.p or (0.0,), np.float64)
    settings = algorithm, batch, max_nodes, seeds ^ INSERTIONS, index, choices
    if options.source is ViewSource.PAPER:
        view = _paper_views(*settings, options)
    else:
        view, _ = verified_views(*settings, options.random_nodes)
    if random_positions:
        old, pos = batch.inputs["pos"], view.inputs["pos"]
        kept = options.positions is ViewPositions.KEPT
        randomly(seeds ^ POSITIONS, index, view.nodes, view.places, old, kept, pos)
    return view


def _paper_views(algorithm, batch, max_nodes, seeds, index, p, options) -> View:
    assert algorithm.view is not None
    inputs = _enlarged(algorithm, batch, max_nodes)
    make = _PAPER[algorithm.view]
    nodes, until = make(algorithm, batch, seeds, index, p, options, inputs)
    evenly(nodes, inputs["pos"])
    if "adj" in inputs:
        _adjacency(nodes, inputs["A"], inputs["adj"])
    n = batch.inputs["pos"].shape[1]
    return View(
        inputs=inputs,
        start=first_step(algorithm, batch, inputs, nodes),
        nodes=nodes,
        places=np.tile(np.arange(n, dtype=np.int32), (batch.samples, 1)),
        until=until,
    )


def _enlarged(algorithm: Algorithm, batch: Batch, max_nodes: int) -> dict[str, np.ndarray]:
    """The inputs with room for `max_nodes` nodes, old ones first, new ones all 0."""
    inputs: dict[str, np.ndarray] = {}
    for name, field in of_stage(algorithm.spec, Stage.INPUT).items():
        old = batch.inputs[name]
        inputs[name] = np.zeros((batch.samples, *field.shape(max_nodes)), field.dtype)
        inputs[name][tuple(slice(size) for size in old.shape)] = old
    return inputs


@kernel
def _adjacency(nodes, A, adj):
    for sample in range(nodes.size):
        edges(nodes[sample], A[sample], adj[sample])
