"""Running a grid: whatever is not finished, on some executor, until all has ended."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Protocol

from ..errors import UserError
from .cell import Outcome
from .folder import Cell, Grid, State

TERMINATED = 143


Ends = Generator[tuple[Cell, Outcome], None, None]


class Executor(Protocol):
    """Runs cells somewhere.

    count: how many at the same time.
    """

    count: int

    def run(self, grid: Grid, cells: Sequence[Cell]) -> Ends:
        """Each cell as it ends. Closing the generator stops those that run."""
        ...


def unfinished(grid: Grid, retry_failed: bool) -> list[Cell]:
    """The cells to run."""
    kept = {State.DONE} if retry_failed else {State.DONE, State.FAILED}
    return [cell for cell in grid.cells if cell.progress().state not in kept]


def run_grid(
    grid: Grid,
    executor: Executor,
    report: Callable[[Cell], None] = lambda cell: None,
    *,
    retry_failed: bool = False,
) -> None:
    """Run what is unfinished. However this ends, what it started is stopped.

    report: called with each cell when it has ended.
    """
    cells = unfinished(grid, retry_failed)
    with _terminated_as_interrupted(), closing(executor.run(grid, cells)) as ends:
        for cell, outcome in ends:
            if outcome is Outcome.NO_ROOM:
                raise UserError(
                    f"no room to write in {grid.path} (while running {cell.name}); make some and "
                    "give the same command again: it goes on from the last checkpoints"
                )
            report(cell)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end this process as SIGINT does: after what it started was stopped."""

    def stop(*_: object) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
