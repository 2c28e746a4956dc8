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
from numba import types


def cache_root() -> Path:
    """The user's cache folder for this package."""
    base = os.environ.get("HINT_RELIC_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "hint-relic" if base else Path.home() / ".cache" / "hint-relic"


def _numba_cache() -> str:
    """A writable folder for compiled kernels, or "" where there is none."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for part in ("algorithms", "augment", "model/rollout"):
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


def outside(*kernels: Any) -> str:
    """What tells apart the cached loops over kernels that are not of this package.

    The cache's folder goes with the sources of the package, so a loop over an algorithm of your
    own must have another name whenever the file of its kernel has changed. "" for our own.
    """
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    files = {Path(k.py_func.__code__.co_filename).resolve() for k in kernels}
    others = sorted(file for file in files if package not in file.parents)
    for file in others:
        digest.update(file.read_bytes() if file.is_file() else os.urandom(16))
    return f"_{digest.hexdigest()[:12]}" if others else ""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` to machine code that runs without the interpreter's lock."""
    return _compiled(function, nogil=True)


def helper(function: Callable[..., Any]) -> Any:
    """Compile what only kernels call: Python can't, as it has no wrapper to turn objects into
    arrays, which would take as long to compile as the function itself."""
    return _compiled(function, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


# Sums may be taken in any order, and a product be added as it is made.
_LOOSE: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}


def loose_kernel(function: Callable[..., Any]) -> Any:
    """A kernel whose sums may be taken in any order, as many numbers at a time as there is room
    for. Not for traces, which are exact."""
    return _compiled(function, nogil=True, **_LOOSE)


def loose_helper(function: Callable[..., Any]) -> Any:
    """What only such kernels call."""
    return _compiled(function, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_LOOSE)


# For what takes a log: a call passes it array by array, field by field, which takes longer than
# writing a small step does, both to run and to compile.
inlined = numba.njit(inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    if not _CACHE:
        return _compiled_once(numba.njit(**options)(function))
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, _CACHE
    try:
        return _compiled_once(numba.njit(cache=True, **options)(function))
    finally:
        settings.CACHE_DIR = before


def _compiled_once(dispatcher: Any) -> Any:
    """Let kernels that call `dispatcher` agree on the types of its arguments.

    Numba compiles a function anew for each constant that it is called with, `f(0)` and `f(1)`,
    and for each width of integers. Here all of these are 64-bit integers.
    """
    if not hasattr(dispatcher, "get_call_template"):  # NUMBA_DISABLE_JIT: a plain function
        return dispatcher
    find = dispatcher.get_call_template

    def find_plain(args: Any, kws: Any) -> Any:
        return find([_plain(t) for t in args], {name: _plain(t) for name, t in kws.items()})

    dispatcher.get_call_template = find_plain
    return dispatcher


def _plain(argument: types.Type) -> types.Type:
    argument = types.unliteral(argument)
    return types.int64 if argument in types.signed_domain else argument
