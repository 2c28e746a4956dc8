"""Cells on this machine: a process for each, so many at a time for each device; no services."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

from ..errors import UserError
from ..files import tail
from .cell import Outcome
from .folder import Cell, Grid
from .run import Ends

GRACE_S = 60.0  # to finish an update and write a checkpoint
ASK_JAX = "import jax; print(jax.default_backend(), jax.local_device_count())"


def gpus() -> list[str]:
    """What to set CUDA_VISIBLE_DEVICES to for each GPU; empty where cells run on the CPU.

    JAX is asked in another process, and only where there may be a GPU at all.
    """
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named == "" or not Path("/proc/driver/nvidia").exists():
        return []
    asked = subprocess.run([sys.executable, "-c", ASK_JAX], capture_output=True, text=True)
    if asked.returncode:
        raise UserError(f"JAX does not start: {asked.stderr.strip().splitlines()[-1]}")
    backend, count = asked.stdout.split()[-2:]
    if backend == "cpu":
        return []
    return (named.split(",") if named else [str(i) for i in range(int(count))])[: int(count)]


class Local:
    """Runs cells in processes of this machine."""

    def __init__(self, at_once: int = 1) -> None:
        found: list[str | None] = [*gpus()] or [None]
        devices = found * at_once
        self.count = len(devices)
        self.devices: SimpleQueue[str | None] = SimpleQueue()
        for device in devices:
            self.devices.put(device)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._change = threading.Lock()

    def run(self, grid: Grid, cells: Sequence[Cell]) -> Ends:
        """Each cell as it ends. Closing the generator stops those that run, in good order."""
        with ThreadPoolExecutor(self.count) as pool:
            futures = {pool.submit(self._run, grid, cell): cell for cell in cells}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop()

    def _run(self, grid: Grid, cell: Cell) -> Outcome:
        device = self.devices.get()
        try:
            code = self._process(grid, cell, device)
        finally:
            self.devices.put(device)
        if code in list(Outcome):
            return Outcome(code)
        if not self._stopped:
            log = grid.log(cell)
            cell.fail(f"its process {_ending(code)}; see {log}", tail(log, 1 << 14))
        return Outcome.FAILED

    def _process(self, grid: Grid, cell: Cell, device: str | None) -> int:
        """Run a cell; its exit code."""
        env = dict(os.environ)
        if device is not None:
            env["CUDA_VISIBLE_DEVICES"] = device
        command = [sys.executable, "-m", "hint_relic.grid.cell", str(grid.path), cell.name]
        log = grid.log(cell)
        log.parent.mkdir(exist_ok=True)
        with open(log, "wb") as output, self._change:
            if self._stopped:
                return -signal.SIGTERM
            process = subprocess.Popen(
                command, env=env, stdin=subprocess.PIPE, stdout=output, stderr=output
            )
            self._running.add(process)
        with process:
            try:
                return process.wait()
            finally:
                self._running.discard(process)

    def _stop(self) -> None:
        """Ask the cells to stop, and end those that don't."""
        with self._change:
            self._stopped = True
            running = list(self._running)
        for process in running:
            process.terminate()
        try:
            for process in running:
                process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also where the user can't wait
            for process in running:
                process.kill()


def _ending(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    why = " (out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{why}"
