"""Kernels as calls within JAX's programs, through XLA's interface for foreign functions.

Calls on a CPU read the same structures (`rollout/xla.py`); here arrays are addresses on a device,
and a call has a stream. Whoever starts kernels on a platform registers with `starts_on`.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from .. import xla
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
        ("before", xla.Api),
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

    _handlers[platform] = xla.handler(lambda frame: start(_call_of(frame)))
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_handlers[platform]), platform=platform)


def _call_of(frame: xla.Frame) -> Call:
    buffers = [
        group.buffers[i].contents
        for group in (frame.arguments, frame.results)
        for i in range(group.count)
    ]
    name, room, plan, each = xla.text(frame).split()
    samples = [buffers[0].dims[i] for i in range(buffers[0].rank)]  # of all networks

    def stream() -> int:
        asked = _StreamGet(ctypes.sizeof(_StreamGet), None, frame.context, None)
        api = ctypes.cast(frame.api, ctypes.POINTER(_Api)).contents
        failed = xla.Pointer(api.stream_get)(ctypes.addressof(asked))
        if failed:
            raise RuntimeError("XLA has no stream for this call")
        return asked.stream or 0

    arrays = [x.data or 0 for x in buffers]
    blocks = math.prod(samples) * int(each)
    return Call(name, _plans[plan], int(room), arrays, blocks, samples[-1], stream)


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
