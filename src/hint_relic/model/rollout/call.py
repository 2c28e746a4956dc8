"""Functions on NumPy arrays as calls within JAX's programs on a CPU, without a copy.

It is XLA's interface for foreign functions, spoken from Python: XLA hands a call's arrays over as C
structures (`xla/ffi/api/c_api.h`). What of them is read here has stayed in its place since version
0.1 of that interface.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np

_TARGET = "hint_relic_call"
_METADATA, _EXECUTE, _INTERNAL = 1, 3, 13
_LEAST_VERSION = 0, 1
_TYPES = {4: np.int32, 6: np.uint8, 8: np.uint32, 11: np.float32}

Function = Callable[[Any, Any], None]  # (what is given, what is to be filled), trees of arrays


class _Version(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    ]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", _Version), ("traits", ctypes.c_uint32)]


class _Extension(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("metadata", ctypes.POINTER(_Metadata)),
    ]


class _Api(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("version", _Version),
        ("internal", ctypes.c_void_p),
        ("error_create", ctypes.c_void_p),
    ]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


class _Buffers(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("buffers", ctypes.POINTER(ctypes.POINTER(_Buffer))),
    ]


class _Span(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("names", ctypes.c_void_p),
        ("spans", ctypes.POINTER(ctypes.POINTER(_Span))),
    ]


class _Frame(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.POINTER(_Extension)),
        ("api", ctypes.POINTER(_Api)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
    ]


class _ErrorCreate(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    ]


_Pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_functions: dict[str, Callable[[list[np.ndarray], list[np.ndarray]], None]] = {}


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Frame))
def _handle(frame: Any) -> int | None:
    frame = frame.contents
    try:
        if frame.extension and frame.extension.contents.kind == _METADATA:
            spoken = frame.extension.contents.metadata.contents.version
            spoken.major, spoken.minor = _LEAST_VERSION
            if frame.api:  # XLA's own, which the first versions don't tell here
                version = frame.api.contents.version
                spoken.major, spoken.minor = version.major, version.minor
        elif frame.stage == _EXECUTE:
            span = frame.attributes.spans[0].contents
            name = ctypes.string_at(span.start, span.length).decode()
            _functions[name](_arrays(frame.arguments), _arrays(frame.results))
    except Exception as error:  # C can't handle it: XLA will raise it again
        text = f"{type(error).__name__}: {error}".encode()
        made = _ErrorCreate(ctypes.sizeof(_ErrorCreate), None, text, _INTERNAL)
        return _Pointer(frame.api.contents.error_create)(ctypes.addressof(made))
    return None


def _arrays(buffers: _Buffers) -> list[np.ndarray]:
    return [_array(buffers.buffers[i].contents) for i in range(buffers.count)]


def _array(buffer: _Buffer) -> np.ndarray:
    shape, dtype = buffer.dims[: buffer.rank], np.dtype(_TYPES[buffer.dtype])
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    memory = (ctypes.c_char * size).from_address(buffer.data)
    return np.frombuffer(memory, dtype).reshape(shape)


@cache
def _register() -> None:
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_handle), platform="cpu")


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
