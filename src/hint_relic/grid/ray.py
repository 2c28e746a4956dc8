"""Cells on a Ray cluster: one for each GPU, or for each CPU where the cluster has no GPU.

Ray starts a cell again elsewhere when its worker or node dies; the cell then goes on from its last
checkpoint, because all workers see the same grid folder.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ..errors import UserError
from .cell import Outcome, run_cell
from .folder import Cell, Grid
from .run import Ends

RETRIES = 3
CONNECT_S = 5.0


class Ray:
    """Runs cells as tasks of a Ray cluster; without an address, of a new one on this machine."""

    def __init__(self, address: str | None = None):
        self.ray = _connect(address or os.environ.get("RAY_ADDRESS"))
        resources = self.ray.cluster_resources()
        self.kind = "num_gpus" if resources.get("GPU") else "num_cpus"
        self.count = int(resources.get("GPU") or resources.get("CPU") or 1)

    def run(self, grid: Grid, cells: Sequence[Cell]) -> Ends:
        """Each cell as it ends. Closing the generator stops those that run."""
        ray = self.ray
        # A process for each cell: JAX keeps memory for as long as its process lives.
        remote = ray.remote(max_calls=1, max_retries=RETRIES, **{self.kind: 1})(run_cell)
        path = str(grid.path.resolve())
        waiting = {remote.remote(path, cell.name): cell for cell in cells}
        try:
            while waiting:
                task = self._first_of(list(waiting))
                cell = waiting.pop(task)
                yield cell, self._outcome(cell, task)
        finally:
            for task in waiting:
                ray.cancel(task, force=True)
            ray.shutdown()

    def _first_of(self, tasks: list[Any]) -> Any:
        """The first task to end."""
        try:
            return self.ray.wait(tasks, num_returns=1)[0][0]
        except (self.ray.exceptions.RayError, ConnectionError) as error:
            raise UserError(
                f"the Ray cluster was lost ({_first_line(error)}); the same command goes on"
            ) from error

    def _outcome(self, cell: Cell, task: Any) -> Outcome:
        try:
            return Outcome(self.ray.get(task))
        except self.ray.exceptions.RayError as error:
            told = str(error).strip() or type(error).__name__
            cell.fail(f"Ray could not run it: {told.splitlines()[-1]}", told)
            return Outcome.FAILED


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _connect(address: str | None) -> Any:
    """The `ray` module, connected."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise UserError("Ray is not installed: pip install 'hint-relic[ray]'") from None
    if address is not None and address != "auto":
        _check_reachable(address)
    # "local": a new one, even where Ray knows of another on this machine.
    new: dict[str, Any] = {} if address else {"address": "local", "include_dashboard": False}
    try:
        ray.init(**({"address": address} | new), log_to_driver=False)
    except Exception as error:  # Ray raises many kinds here
        place = address or "this machine"
        raise UserError(f"can't use Ray at {place}: {_first_line(error)}") from error
    return ray


def _check_reachable(address: str) -> None:
    """Fail in seconds where Ray itself would try for minutes."""
    parts = urlsplit(address if "://" in address else f"ray://{address}")
    try:
        port = parts.port
    except ValueError:
        port = None
    if not parts.hostname or port is None:
        raise UserError(
            f"--address takes ray://HOST:PORT, HOST:PORT or auto, not {address!r}"
        ) from None
    try:
        socket.create_connection((parts.hostname, port), CONNECT_S).close()
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"no Ray cluster can be reached at {address}: {why}") from error
