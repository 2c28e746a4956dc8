"""Scores of a stack of networks (one for each seed) on a batch of traces."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..data.shape import first_step
from ..memory import needs_room
from ..model.network import Network
from ..spec import Spec
from ..types import Batch
from .score import Counts, count_hints, count_outputs, score

PAIRS = {"cpu": 4 * 64**2}  # pairs of nodes at a time: 4 samples of 64 nodes on a CPU
MOST_PAIRS = 32 * 64**2  # elsewhere
SIDE_BY_SIDE = 32  # up to this many nodes all networks run at once, beyond it and on a CPU in turn


class Scores(NamedTuple):
    """What one network scored.

    outputs, hints: name -> score (a hint that is a scalar: its squared error);
    steps: name of a hint -> its score at each step, NaN where no sample is that long.
    """

    outputs: dict[str, float]
    hints: dict[str, float]
    steps: dict[str, np.ndarray]

    @property
    def score(self) -> float:
        """The benchmark's single number: the mean over outputs."""
        return float(np.mean(list(self.outputs.values())))


def over_seeds(values: Sequence[float]) -> dict[str, float | None]:
    """Mean and standard error; one seed has none."""
    array = np.asarray(values, np.float64)
    error = float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else None
    return {"mean": float(array.mean()), "stderr": error}


@partial(jax.jit, static_argnames=("hints", "side_by_side"))
def _count(networks: Network, batch: Batch, hints: bool, side_by_side: bool):
    """Counts with a leading axis for networks; summed over samples."""

    def one(network: Network, sample: Batch):
        spec = network.spec
        observe = count_hints(spec, sample) if hints else lambda t, seen: {}
        predictions = network(sample, observe=observe)
        counts = count_outputs(spec, predictions, sample), predictions.hints
        return jax.tree.map(lambda x: jnp.where(sample.nodes > 0, x, 0), counts)

    def over_samples(network: Network):
        counts = jax.vmap(partial(one, network))(batch)
        return jax.tree.map(lambda x: x.sum(0), counts)

    if side_by_side:
        return jax.vmap(over_samples)(networks)
    return jax.lax.map(over_samples, networks)


def chunks(batch: Batch, size: int) -> list[Batch]:
    """Pieces of equal shape; the last is filled up with samples of no nodes, which don't count."""
    samples = len(batch.lengths)
    missing = -samples % size

    def fill_up(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, np.zeros((missing, *x.shape[1:]), x.dtype)])

    full = jax.tree.map(fill_up, batch)
    return [
        jax.tree.map(lambda x, i=i: x[i : i + size], full)
        for i in range(0, samples + missing, size)
    ]


def _pieces(batch: Batch, hints: bool) -> list[Batch]:
    """As many samples at a time as the device has room for, those of like lengths together."""
    if not hints:  # what nobody looks at is not sent to the device
        batch = first_step(batch)
    order = np.argsort(batch.lengths, kind="stable")
    batch = jax.tree.map(lambda x: x[order], batch)
    nodes = batch.inputs["pos"].shape[1]
    pairs = PAIRS.get(jax.default_backend(), MOST_PAIRS)
    return chunks(batch, min(max(1, pairs // nodes**2), len(batch.lengths)))


def _count_piece(networks: Network, piece: Batch, hints: bool):
    samples, nodes = piece.inputs["pos"].shape[:2]
    side_by_side = nodes <= SIDE_BY_SIDE and jax.default_backend() != "cpu"
    with needs_room(f"scoring {samples} samples of {nodes} nodes at a time", "the size"):
        return jax.device_get(_count(networks, piece, hints, side_by_side))


def prepare(networks: Network, batch: Batch) -> None:
    """Compile what it takes to score such networks on such a batch; nothing is scored."""
    _count_piece(networks, jax.tree.map(np.zeros_like, _pieces(batch, hints=False)[0]), False)


def evaluate(
    networks: Network,
    spec: Spec,
    batch: Batch,
    *,
    hints: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> list[Scores]:
    """The scores of each network of the stack, in its order.

    progress: called with the share that is done, from 0 on.
    """
    found = []
    pieces = _pieces(batch, hints)
    for i, piece in enumerate(pieces):
        progress(i / len(pieces))
        found.append(_count_piece(networks, piece, hints))
    outputs, steps = jax.tree.map(lambda *xs: np.sum(xs, axis=0), *found)
    seeds = len(next(iter(outputs.values())).a)
    return [
        _scores(spec, batch, *jax.tree.map(operator.itemgetter(i), (outputs, steps)))
        for i in range(seeds)
    ]


def _scores(spec: Spec, batch: Batch, outputs, steps) -> Scores:
    lengths = np.asarray(batch.lengths)
    by_step, overall = {}, {}
    for name, counts in steps.items():
        at = np.asarray(score(spec[name], Counts(*counts)), np.float64)
        live = np.array([(lengths > t + 1).sum() for t in range(len(at))], np.float64)
        at = np.where(live > 0, at, np.nan)
        by_step[name] = at
        weight = live.sum()
        overall[name] = float(np.nansum(at * live) / weight) if weight else float("nan")
    return Scores(
        outputs={k: float(score(spec[k], c)) for k, c in outputs.items()},
        hints=overall,
        steps=by_step,
    )
