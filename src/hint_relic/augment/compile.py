"""Loops over samples, compiled for one law of inputs or one algorithm at a time."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..algorithms.kernel import kernel, outside


def specialised(loop: Callable[..., Any], name: str, **parts: Any) -> Any:
    """`loop` as a kernel whose globals hold `parts`, which are kernels themselves.

    As in the engine: Numba can cache a function whose globals hold kernels, but no closure
    over them; the name tells the cached copies apart.
    """
    copy = types.FunctionType(loop.__code__, {**loop.__globals__, **parts}, loop.__name__)
    copy.__qualname__ = f"{loop.__name__}_{name}{outside(*parts.values())}"
    copy.__module__ = loop.__module__
    return kernel(copy)
