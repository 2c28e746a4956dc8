"""An endless stream of fresh training batches, made ahead in background threads.

Batch k depends on the stream's settings and on k alone: not on the number of threads, nor on
what was drawn before. So a stream can start anywhere at once, and a run that resumes at
update k sees the very batches it would have seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..algorithms.inputs import check_needle
from ..config import ViewConfig
from ..errors import UserError
from .protocol import TRAIN_SIZES, Protocol
from .shape import by_seed, with_nodes, with_steps
from .splits import check_request


class Stream:
    """Training batches 0, 1, 2, …, sizes taking turns; a leading axis for the seeds.

    >>> with Stream(Protocol.training("bfs"), batch_size=16, seeds=[1, 2, 3]) as stream:
    ...     first = next(iter(stream))
    >>> first.inputs["A"].shape
    (3, 16, 4, 4)

    With `view`, each item is a `Paired` of a batch and its views, which have one node more than
    the largest size. `room` says, for a size, whose room for nodes and steps its batches get if not
    their own, so that one program fits both; it is asked when all sizes are known to be fit to be
    drawn. `place` takes each batch to where it is wanted, in the thread that made it. Memory: at
    most `ahead` finished batches wait, and each thread works on one.
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
        view: ViewConfig | None = None,
        room: Callable[[], Mapping[int, int]] = dict,
        place: Callable[[Any], Any] = lambda batch: batch,
    ):
        self.protocol = protocol
        self.sizes = protocol.sizes(sizes)
        self.batch_size = batch_size
        self.seeds = tuple(seeds)
        self.start = start
        self.ahead = max(ahead, threads)
        self.view = view
        if not self.sizes or not self.seeds:
            raise UserError("at least one training size and one seed are needed")
        if threads < 1:
            raise UserError(f"a stream needs at least one thread, not {threads}")
        for size in self.sizes:
            for seed in (min(seeds), max(seeds)):
                check_request(protocol.algorithm, size, batch_size, seed, protocol.p, None)
            if protocol.needle:
                check_needle(size, protocol.needle)
        self.max_nodes = protocol.algorithm.nodes(max(self.sizes)) + 1
        if view is not None:
            from ..augment import check_views

            check_views(protocol.algorithm, view, self.sizes, self.max_nodes)
        self.room = room()
        self.place = place
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="stream")

    def batch(self, k: int) -> Any:
        """Item k, made now, in this thread."""
        size = self.sizes[k % len(self.sizes)]
        room = self.room.get(size, size)
        steps = self.protocol.steps(room)
        what: dict[str, Any] = {
            "seeds": self.seeds,
            "first": k * self.batch_size,
            "steps": steps,
        }
        if self.view is None:
            batch = with_steps(self.protocol.draw(size, self.batch_size, **what), steps)
            if room != size:
                nodes = self.protocol.algorithm.nodes(room)
                batch = with_nodes(batch, self.protocol.spec, nodes)
            return by_seed(batch, len(self.seeds))
        paired = self.protocol.draw_paired(
            size, self.batch_size, **what, view=self.view, max_nodes=self.max_nodes
        )
        paired = paired._replace(batch=with_steps(paired.batch, steps))
        return by_seed(paired, len(self.seeds))

    def _placed(self, k: int) -> Any:
        return self.place(self.batch(k))

    def __iter__(self) -> Iterator[Any]:
        waiting: deque[Future[Any]] = deque()
        k = self.start
        while True:
            while len(waiting) < self.ahead:
                waiting.append(self._pool.submit(self._placed, k))
                k += 1
            yield waiting.popleft().result()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
