"""One cell of a grid, the same wherever it runs: train it, or go on, or write down what failed.

    python -m hint_relic.grid.cell GRID NAME

is how the local executor runs one, in a process of its own. Its standard input is a line to the
runner: nothing is sent, but it ends when the runner does, and then so does the process.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
import traceback
from enum import IntEnum
from pathlib import Path

from ..errors import UserError
from ..files import held
from .folder import Cell, Grid

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
LINGERING_S = 60.0  # how long a process that was told to end may still hold its folder


class Outcome(IntEnum):
    """How a cell ended, as an exit code."""

    DONE = 0
    FAILED = 3
    NO_ROOM = 4  # the disk is full: that is no failure of the cell


def run_cell(grid: str, name: str) -> int:
    """Train a cell of a grid folder; an `Outcome`. Only a folder that is no grid raises."""
    found = Grid.open(Path(grid))
    cell = found.cell(name)
    sys.argv[:] = found.command  # what the run folder records as the command that made it
    try:
        _wait_for_others(cell)
        cell.forget_failure()
        from ..train.loop import train

        train(cell.config, cell.folder)
    except Exception as error:
        traceback.print_exc()
        return _record(cell, error)
    return Outcome.DONE


def _wait_for_others(cell: Cell) -> None:
    """Give the process of a runner that was killed, or of a lost node, the time to end."""
    until = time.monotonic() + LINGERING_S
    while held(cell.folder) and time.monotonic() < until:
        time.sleep(0.2)


def _record(cell: Cell, error: BaseException) -> Outcome:
    if full_disk(error):
        return Outcome.NO_ROOM
    message = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    try:
        cell.fail(message, "".join(traceback.format_exception(error)))
    except (OSError, UserError) as unwritten:
        if full_disk(unwritten):
            return Outcome.NO_ROOM
        raise
    return Outcome.FAILED


def full_disk(error: BaseException | None) -> bool:
    """Whether an error comes from there being no room to write."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return True
        error = error.__cause__
    return False


def _end_with_the_runner() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)  # the last checkpoint is whole


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner asks its cells to stop by SIGTERM
    threading.Thread(target=_end_with_the_runner, daemon=True).start()
    grid, name = sys.argv[1:]
    return run_cell(grid, name)


if __name__ == "__main__":
    sys.exit(main())
