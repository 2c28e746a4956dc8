"""SIGTERM, the way schedulers stop jobs: heard soon, and nothing is lost."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

TERMINATED = 128 + signal.SIGTERM  # the exit code of who saved first
AHEAD_S = 1.0


class Terminate:
    """While updates run, the signal only asks for an end, so that they can be saved first.

    Around them nothing is lost by dying, and what takes long there (compiling, scoring) would
    not listen to Python: the signal ends the process at once, as it does without us.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        self._ours = threading.current_thread() is threading.main_thread()

    def _ask(self, *_: object) -> None:
        self.asked = True

    def __enter__(self) -> Terminate:
        if self._ours:
            self._before = signal.signal(signal.SIGTERM, self._ask) or signal.SIG_DFL
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGTERM, self._before)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """For what takes long and leaves nothing to save."""
        self.__exit__()
        try:
            if self.asked:
                raise SystemExit(TERMINATED)
            yield
        finally:
            self.__enter__()


class Pace:
    """Keeps Python from handing the device more updates than it makes in about a second.

    It takes them without waiting, but what it was handed can't be taken back: whoever is asked to
    end would have to wait for all of it before the last update can be saved.
    """

    def __init__(self) -> None:
        self._ahead = 1
        self._begin()

    def _begin(self) -> None:
        self._count, self._since = 0, time.monotonic()

    def __call__(self, state: Any) -> None:
        """To be called with the state that each update returns."""
        self._count += 1
        if self._count < self._ahead:
            return
        jax.block_until_ready(state)
        took = max(time.monotonic() - self._since, 1e-9)
        self._ahead = max(1, min(2 * self._ahead, int(self._count * AHEAD_S / took)))
        self._begin()
