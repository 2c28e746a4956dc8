"""Kernels as calls within JAX's programs, through XLA's interface for foreign functions.

Calls on a CPU read the same structures (`rollout/call.py`); here arrays are addresses on a device,
and a call has a stream. Whoever starts kernels on a platform registers with `starts_on`.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from .. import call
from .plan import Plan

_TARGET = "hint_relic_rollout"


class Call(NamedTuple):
    """One call of a kernel: a block for each sample of each network.

    arrays: addresses of what it reads and writes, in the order of its arguments.
    """

    name: str
    plan: Plan
    room: int
    arrays: list[int]
    blocks: int
    samples: int
    stream: Callable[[], int]


Start = Callable[[Call], None]


class _Api(ctypes.Structure):
    """What comes after that part of the interface which all calls need."""

    _fields_ = [
        ("before", call._Api),
        ("error_details", ctypes.c_void_p),
        ("error_destroy", ctypes.c_void_p),
        ("register", ctypes.c_void_p),
        ("stream_get", ctypes.c_void_p),
    ]


class _StreamGet(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    ]


_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(call._Frame))

_plans: dict[str, Plan] = {}
_handlers: dict[str, Any] = {}
_prepares: dict[str, Callable[[Plan], None]] = {}


def starts_on(
    platform: str, start: Start, prepare: Callable[[Plan], None] = lambda plan: None
) -> None:
    """Let `start` run kernels on a platform of JAX's ("cpu", "CUDA"). The first to say so does.

    prepare: is told of a plan as soon as a program is made that will need its kernels.
    """
    if platform in _handlers:
        return
    _prepares[platform] = prepare

    def handle(frame: Any) -> int | None:
        frame = frame.contents
        try:
            if frame.extension and frame.extension.contents.kind == call._METADATA:
                of, ours = frame.extension.contents.metadata.contents, frame.api.contents.version
                of.version.major, of.version.minor = ours.major, ours.minor
            elif frame.stage == call._EXECUTE:
                start(_call_of(frame))
        except Exception as error:  # C can't handle it: XLA will raise it again
            return _failed(frame, f"{type(error).__name__}: {error}")
        return None

    _handlers[platform] = _Handler(handle)  # kept for as long as XLA may call it
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_handlers[platform]), platform=platform)


def _call_of(frame: call._Frame) -> Call:
    buffers = [
        group.buffers[i].contents
        for group in (frame.arguments, frame.results)
        for i in range(group.count)
    ]
    span = frame.attributes.spans[0].contents
    name, room, plan, each = ctypes.string_at(span.start, span.length).decode().split()
    samples = [buffers[0].dims[i] for i in range(buffers[0].rank)]  # of all networks

    def stream() -> int:
        asked = _StreamGet(ctypes.sizeof(_StreamGet), None, frame.context, None)
        api = ctypes.cast(frame.api, ctypes.POINTER(_Api)).contents
        failed = call._Pointer(api.stream_get)(ctypes.addressof(asked))
        if failed:
            raise RuntimeError("XLA has no stream for this call")
        return asked.stream or 0

    arrays = [x.data or 0 for x in buffers]
    blocks = math.prod(samples) * int(each)
    return Call(name, _plans[plan], int(room), arrays, blocks, samples[-1], stream)


def _failed(frame: call._Frame, message: str) -> int | None:
    text = message.encode()
    error = call._ErrorCreate(ctypes.sizeof(call._ErrorCreate), None, text, call._INTERNAL)
    return call._Pointer(frame.api.contents.error_create)(ctypes.addressof(error))


def launch(name: str, plan: Plan, room: int, results: Any, *arrays: Any, each: int = 1) -> Any:
    """Call a kernel on arrays of one network, or of many under `vmap`.

    The first array has a number for each sample; each: how many blocks a sample has. results: a
    tree of shapes, which becomes one of arrays.
    """
    shapes, structure = jax.tree.flatten(results)
    key = hashlib.sha256(plan.header().encode()).hexdigest()[:16]
    if key not in _plans:
        _plans[key] = plan
        for prepare in _prepares.values():
            prepare(plan)
    kernel = jax.ffi.ffi_call(_TARGET, shapes, vmap_method="broadcast_all")
    return jax.tree.unflatten(structure, kernel(*arrays, what=f"{name} {room} {key} {each}"))
