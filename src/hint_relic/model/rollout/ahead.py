"""Compiling a kernel while XLA compiles the programs that call it.

The first time on a machine a process of its own does it, and leaves it in the cache: Numba compiles
one kernel at a time, and holds up XLA's tracing meanwhile.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

_threads: dict[Any, threading.Thread] = {}


def begin(kernel: Any, call: Callable[[], None]) -> None:
    """Begin to compile a kernel, if it was not begun before. call: a function of a module that
    calls the kernel; if it fails, so will whoever else calls it, and say why."""
    if kernel not in _threads:
        _threads[kernel] = threading.Thread(target=_compile, args=(kernel, call), daemon=True)
        _threads[kernel].start()


def wait() -> None:
    """Until all that was begun is compiled."""
    for thread in list(_threads.values()):
        thread.join()


def _compile(kernel: Any, call: Callable[[], None]) -> None:
    with suppress(Exception):
        if unknown(kernel):
            code = f"from {call.__module__} import {call.__name__} as call; call()"
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "JAX_PLATFORMS": "cpu"},
                stdin=subprocess.DEVNULL,
                capture_output=True,  # what goes wrong there goes wrong here as well
                check=False,
            )
        call()  # which finds it in the cache, or compiles it here


def unknown(kernel: Any) -> bool:
    """Whether there is a cache and nothing of this kernel in it."""
    folder, function = kernel.stats.cache_path, kernel.py_func
    files = f"{function.__module__.split('.')[-1]}.{function.__name__}-*"
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    return folder and not any(python in file.name for file in Path(folder).glob(files))
