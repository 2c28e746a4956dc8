"""`kernel`: Numba compilation with a cache that is never stale and never in the way.

Numba's own cache watches only the file a function stands in, so a change to a shared walk
would leave old machine code in use; and it raises at import where the folder can't be
written. Here the cache lives in the user's cache folder under a digest of all the sources it
was compiled from, and where that can't be written kernels compile anew in each process.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def cache_root() -> Path:
    """The user's cache folder for this package."""
    base = os.environ.get("HINT_RELIC_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "hint-relic" if base else Path.home() / ".cache" / "hint-relic"


def _numba_cache() -> str:
    """A writable folder for compiled kernels, or "" where there is none."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for part in ("algorithms", "augment"):
        for source in sorted((package / part).glob("*.py")):
            digest.update(source.read_bytes())
    folder = cache_root() / f"kernels-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return ""


_CACHE = _numba_cache()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` to machine code that runs without the interpreter's lock."""
    if not _CACHE:
        return numba.njit(nogil=True)(function)
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, _CACHE
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        settings.CACHE_DIR = before
