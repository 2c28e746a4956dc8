"""The benchmark's own samples, drawn here exactly as dm-clrs 2.0.3 draws them.

`sample` is its sampler: one legacy generator per call, one input after the other. A split is
a sampler with the benchmark's arguments, so the official test set needs no download.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..algorithms import Algorithm, execute, get
from ..algorithms.engine import check_room
from ..errors import UserError, choose
from ..types import Batch, Trace
from .forms import MAX_NODES
from .shape import trim


@dataclass(frozen=True)
class Split:
    samples: int
    size: int
    seed: int


SPLITS = {
    "train": Split(samples=1000, size=16, seed=1),
    "val": Split(samples=32, size=16, seed=2),
    "test": Split(samples=32, size=64, seed=3),
}
MAX_SEED = 2**32 - 1
FRESH_SEED = 2**31 + 7  # of none of the splits


def check_request(
    algorithm: Algorithm, size: int, samples: int, seed: int, p: Sequence[float], needle: int | None
) -> None:
    """Refuse what the sampler could not draw, in one line."""
    if problem := algorithm.draws(size):
        raise UserError(problem)
    check_nodes(algorithm, size)
    if samples < 1:
        raise UserError(f"the number of samples must be at least 1, not {samples}")
    if not 0 <= seed <= MAX_SEED:
        raise UserError(f"the seed must lie between 0 and {MAX_SEED}, not {seed}")
    if p and not algorithm.inputs.p:
        raise UserError(f"{algorithm.name} does not draw graphs, so it takes no edge probability")
    if any(not 0.0 <= q <= 1.0 for q in p):
        raise UserError(f"edge probabilities must lie between 0 and 1, not {tuple(p)}")
    if needle is not None and algorithm.inputs.form != "haystack and needle":
        raise UserError(f"{algorithm.name} has no needle, so it takes no needle length")


def check_nodes(algorithm: Algorithm, size: int) -> int:
    """The number of nodes of a size, if that is not too large."""
    nodes = algorithm.nodes(size)
    if nodes > MAX_NODES:
        raise UserError(f"at most {MAX_NODES} nodes are allowed, not {nodes}")
    return nodes


def sample(
    name: str,
    size: int,
    samples: int,
    seed: int,
    *,
    p: Sequence[float] = (),
    needle: int | None = None,
) -> Batch:
    """`samples` traces from dm-clrs' sampler with these arguments, value for value.

    >>> sample("insertion_sort", size=4, samples=1, seed=1).outputs["pred"].tolist()
    [[3, 0, 2, 2]]
    """
    algorithm = get(name)
    check_request(algorithm, size, samples, seed, p, needle)
    check_room(algorithm, samples, algorithm.nodes(size))  # before that many are drawn
    rng = np.random.RandomState(seed)
    choices = tuple(p) or algorithm.inputs.p
    drawn = [algorithm.inputs.reference(rng, size, choices, needle) for _ in range(samples)]
    return trim(execute(algorithm, drawn, algorithm.nodes(size)))


def split(name: str, which: str, *, fresh: int | None = None) -> Batch:
    """The benchmark's train, val or test split of an algorithm.

    fresh: that many other samples instead, drawn as those of the split are.
    """
    part = SPLITS[choose("split", which, SPLITS)]
    if fresh is not None:
        return sample(name, part.size, fresh, FRESH_SEED)
    multiplier = 1 if which == "train" else get(name).test_multiplier
    return sample(name, part.size, part.samples * multiplier, part.seed)


def trace(name: str, size: int = 8, seed: int = 0) -> Trace:
    """One trace, as the reference would draw it."""
    return first_trace(name, sample(name, size, 1, seed))


def first_trace(name: str, batch: Batch) -> Trace:
    """The first sample of a batch, by itself."""
    steps = int(batch.lengths[0])
    return Trace(
        algorithm=name,
        spec=get(name).spec,
        inputs={key: value[0] for key, value in batch.inputs.items()},
        hints={key: value[0, :steps] for key, value in batch.hints.items()},
        outputs={key: value[0] for key, value in batch.outputs.items()},
        nodes=int(batch.nodes[0]),
    )


def alone(trace: Trace) -> Batch:
    """A trace as a batch of one."""
    return Batch(
        inputs={name: np.asarray(value)[None] for name, value in trace.inputs.items()},
        hints={name: value[None] for name, value in trace.hints.items()},
        outputs={name: np.asarray(value)[None] for name, value in trace.outputs.items()},
        lengths=np.array([trace.steps], np.int32),
        nodes=np.array([trace.nodes], np.int32),
    )


def dense(name: str, batch: Batch) -> dict[str, np.ndarray]:
    """A batch in the reference's layout: hints steps first, everything dense, as named arrays."""
    spec, nodes = get(name).spec, int(batch.nodes[0])
    live = np.arange(int(batch.lengths.max()))[:, None] < batch.lengths  # (steps, samples)
    out = {f"input/{k}": spec[k].dense(v, nodes) for k, v in batch.inputs.items()}
    for key, value in batch.hints.items():
        hint = spec[key].dense(np.swapaxes(value, 0, 1), nodes).astype(np.float64)
        out[f"hint/{key}"] = hint * live.reshape(live.shape + (1,) * (hint.ndim - 2))
    out |= {f"output/{k}": spec[k].dense(v, nodes) for k, v in batch.outputs.items()}
    out["lengths"] = batch.lengths.astype(np.float64)
    return out
