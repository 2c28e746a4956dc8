"""XLA's interface for foreign functions, spoken from Python.

XLA hands a call's arrays over as C structures (`xla/ffi/api/c_api.h`). What of them is read here
has stayed in its place since version 0.1 of that interface.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_METADATA, _EXECUTE, _INTERNAL = 1, 3, 13
_LEAST_VERSION = 0, 1


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


class Api(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("version", _Version),
        ("internal", ctypes.c_void_p),
        ("error_create", ctypes.c_void_p),
    ]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


class Buffers(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("buffers", ctypes.POINTER(ctypes.POINTER(Buffer))),
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


class Frame(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.POINTER(_Extension)),
        ("api", ctypes.POINTER(Api)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", _Attributes),
    ]


class _ErrorCreate(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    ]


Pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Frame))


def handler(execute: Callable[[Frame], None]) -> Any:
    """A C function that XLA may call: it says which version we speak, and runs `execute`.

    The caller keeps it for as long as XLA may call it.
    """

    def handle(frame: Any) -> int | None:
        frame = frame.contents
        try:
            if frame.extension and frame.extension.contents.kind == _METADATA:
                spoken = frame.extension.contents.metadata.contents.version
                spoken.major, spoken.minor = _LEAST_VERSION
                if frame.api:  # XLA's own, which the first versions don't tell here
                    version = frame.api.contents.version
                    spoken.major, spoken.minor = version.major, version.minor
            elif frame.stage == _EXECUTE:
                execute(frame)
        except Exception as error:  # C can't handle it: XLA will raise it again
            text = f"{type(error).__name__}: {error}".encode()
            made = _ErrorCreate(ctypes.sizeof(_ErrorCreate), None, text, _INTERNAL)
            return Pointer(frame.api.contents.error_create)(ctypes.addressof(made))
        return None

    return _Handler(handle)


def text(frame: Frame) -> str:
    """The call's only attribute."""
    span = frame.attributes.spans[0].contents
    return ctypes.string_at(span.start, span.length).decode()
