"""SIGTERM, the way schedulers stop jobs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TERMINATED = 128 + signal.SIGTERM  # the exit code of who saved first


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
