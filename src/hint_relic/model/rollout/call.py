"""Functions on NumPy arrays as calls within JAX's programs on a CPU, without a copy."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np

from .xla import Buffer, Buffers, Frame, handler, text

_TARGET = "hint_relic_call"
_TYPES = {4: np.int32, 6: np.uint8, 8: np.uint32, 11: np.float32}

Function = Callable[[Any, Any], None]  # (what is given, what is to be filled), trees of arrays

_functions: dict[str, Callable[[list[np.ndarray], list[np.ndarray]], None]] = {}


def _execute(frame: Frame) -> None:
    _functions[text(frame)](_arrays(frame.arguments), _arrays(frame.results))


_HANDLER = handler(_execute)


def _arrays(buffers: Buffers) -> list[np.ndarray]:
    return [_array(buffers.buffers[i].contents) for i in range(buffers.count)]


def _array(buffer: Buffer) -> np.ndarray:
    shape, dtype = buffer.dims[: buffer.rank], np.dtype(_TYPES[buffer.dtype])
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    memory = (ctypes.c_char * size).from_address(buffer.data)
    return np.frombuffer(memory, dtype).reshape(shape)


@cache
def _register() -> None:
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_HANDLER), platform="cpu")


def call(name: str, function: Function, results: Any, given: Any) -> Any:
    """Call a function within a program, on trees of arrays; results: a tree of shapes.

    Under `vmap` it is called for one index after the other.
    name: tells the function apart from all others, in all processes that share compiled programs.
    """
    _register()
    arrays, of_given = jax.tree.flatten(given)
    shapes, of_results = jax.tree.flatten(results)
    rank = arrays[0].ndim

    def run(arrays: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        if arrays[0].ndim > rank:
            for i in range(len(arrays[0])):
                run([x[i, ...] for x in arrays], [x[i, ...] for x in outputs])
            return
        function(jax.tree.unflatten(of_given, arrays), jax.tree.unflatten(of_results, outputs))

    _functions[name] = run
    made = jax.ffi.ffi_call(_TARGET, shapes, vmap_method="broadcast_all")
    return jax.tree.unflatten(of_results, made(*arrays, what=name))
