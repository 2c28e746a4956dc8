"""An endless stream of fresh training batches, made ahead in background threads.

Batch k depends on the stream's settings and on k alone: not on the number of threads, nor on
what was drawn before. So a stream can start anywhere at once, and a run that resumes at
update k sees the very batches it would have seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..algorithms import Algorithm, draw, get
from ..errors import UserError
from ..spec import Field
from ..types import Batch
from .rewrites import permutations, permutations_spec, static_hints, static_hints_spec
from .splits import check_request

TRAIN_SIZES = (4, 7, 11, 13, 16)
TRAIN_P = tuple(0.1 + 0.1 * i for i in range(9))
TRAIN_NEEDLE = -8  # of a random length from 1 to 8
SURVEY = 1000  # samples that tell how many steps a size takes
SURVEY_SEED = 2**31


@dataclass(frozen=True)
class Protocol:
    """How samples of one algorithm are drawn and rewritten for training.

    keep_static_hints: leave hints that never change as hints (the paper does this with
    binary search and minimum) instead of turning them into inputs.
    """

    name: str
    p: tuple[float, ...] = ()
    needle: int = 0
    random_positions: bool = True
    keep_static_hints: bool = False

    @classmethod
    def training(cls, name: str, *, keep_static_hints: bool = False) -> Protocol:
        """The protocol of the paper and of dm-clrs' own training script."""
        algorithm = get(name)
        scale = 0.5 if algorithm.sparse else 1.0
        return cls(
            name,
            p=tuple(scale * q for q in TRAIN_P) if algorithm.inputs.p else (),
            needle=TRAIN_NEEDLE if algorithm.inputs.form == "haystack and needle" else 0,
            keep_static_hints=keep_static_hints,
        )

    @cached_property
    def algorithm(self) -> Algorithm:
        return get(self.name)

    @property
    def moved_hints(self) -> tuple[str, ...]:
        return () if self.keep_static_hints else self.algorithm.static_hints

    @cached_property
    def spec(self) -> dict[str, Field]:
        """The spec after the rewrites."""
        return permutations_spec(static_hints_spec(self.algorithm.spec, self.moved_hints))

    def rewrite(self, batch: Batch) -> Batch:
        """Apply the rewrites (random positions were drawn with the samples)."""
        return permutations(static_hints(batch, self.moved_hints), self.algorithm.spec)

    def sizes(self, sizes: tuple[int, ...] = TRAIN_SIZES) -> tuple[int, ...]:
        """The training sizes; string matchers use one, a quarter larger than the largest."""
        return (max(sizes) * 5 // 4,) if self.needle else sizes

    def draw(
        self, size: int, samples: int, *, seeds: Sequence[int], first: int = 0, steps: int = 32
    ) -> Batch:
        """Fresh samples of each seed, rewritten, their numbers in single precision."""
        batch = draw(
            self.algorithm,
            size,
            samples,
            seeds=seeds,
            first=first,
            p=self.p,
            needle=self.needle,
            random_positions=self.random_positions,
            steps=steps,
        )
        return single_precision(self.rewrite(batch))

    @lru_cache(maxsize=256)  # noqa: B019 (a frozen dataclass: it is its own key)
    def steps(self, size: int) -> int:
        """Room for the steps of a batch: the most that a survey of samples took.

        With a margin of an eighth where the number varies; a longer sample makes its batch
        longer, in further eighths.
        """
        lengths = draw(
            self.algorithm, size, SURVEY, seeds=[SURVEY_SEED], p=self.p, needle=self.needle
        ).lengths
        most = int(lengths.max())
        return most if most == lengths.min() else most + max(1, most // 8)


def single_precision(batch: Batch) -> Batch:
    def cast(arrays):
        return {k: v.astype(np.float32) if v.dtype == np.float64 else v for k, v in arrays.items()}

    return batch._replace(
        inputs=cast(batch.inputs), hints=cast(batch.hints), outputs=cast(batch.outputs)
    )


def with_steps(batch: Batch, room: int) -> Batch:
    """Cut or pad the step axis to `room`, or to as many more eighths of it as are needed."""
    most = int(batch.lengths.max())
    while room < most:
        room += max(1, room // 8)

    def fit(hint: np.ndarray) -> np.ndarray:
        short = room - hint.shape[1]
        if short <= 0:
            return np.ascontiguousarray(hint[:, :room])
        return np.pad(hint, [(0, 0), (0, short)] + [(0, 0)] * (hint.ndim - 2))

    return batch._replace(hints={k: fit(v) for k, v in batch.hints.items()})


def by_seed(batch: Batch, seeds: int) -> Batch:
    """Split the sample axis into (seeds, samples of each)."""

    def fold(array: np.ndarray) -> np.ndarray:
        return array.reshape(seeds, -1, *array.shape[1:])

    return Batch(
        inputs={k: fold(v) for k, v in batch.inputs.items()},
        hints={k: fold(v) for k, v in batch.hints.items()},
        outputs={k: fold(v) for k, v in batch.outputs.items()},
        lengths=fold(batch.lengths),
        nodes=fold(batch.nodes),
    )


class Stream:
    """Training batches 0, 1, 2, …, sizes taking turns; a leading axis for the seeds.

    >>> with Stream(Protocol.training("bfs"), batch_size=16, seeds=[1, 2, 3]) as stream:
    ...     first = next(iter(stream))
    >>> first.inputs["A"].shape
    (3, 16, 4, 4)

    Memory: at most `ahead` finished batches wait, and each thread works on one more.
    """

    def __init__(
        self,
        protocol: Protocol,
        *,
        sizes: tuple[int, ...] = TRAIN_SIZES,
        batch_size: int = 16,
        seeds: Sequence[int] = (0,),
        start: int = 0,
        threads: int = 2,
        ahead: int = 8,
    ):
        self.protocol = protocol
        self.sizes = protocol.sizes(sizes)
        self.batch_size = batch_size
        self.seeds = tuple(seeds)
        self.start = start
        self.ahead = max(ahead, threads)
        if not self.sizes:
            raise UserError("at least one training size is needed")
        for size in self.sizes:
            check_request(protocol.algorithm, size, batch_size, min(seeds), protocol.p, None)
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="stream")

    def batch(self, k: int) -> Batch:
        """Batch k, made now, in this thread."""
        size = self.sizes[k % len(self.sizes)]
        room = self.protocol.steps(size)
        batch = self.protocol.draw(
            size, self.batch_size, seeds=self.seeds, first=k * self.batch_size, steps=room
        )
        return by_seed(with_steps(batch, room), len(self.seeds))

    def __iter__(self) -> Iterator[Batch]:
        waiting: deque[Future[Batch]] = deque()
        k = self.start
        while True:
            while len(waiting) < self.ahead:
                waiting.append(self._pool.submit(self.batch, k))
                k += 1
            yield waiting.popleft().result()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
