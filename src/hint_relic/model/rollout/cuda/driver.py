"""Compiles the kernels for the GPU at hand, keeps them on disk, and starts them.

The compiler is NVRTC, which comes with JAX's CUDA packages; the driver's own interface loads and
starts what it made. Nothing here is imported before somebody asks for kernels.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import site
import struct
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import jax

from ....algorithms.kernel import cache_root
from ....errors import UserError
from ....files import read_bounded, write_atomically
from ..plan import KERNELS
from .call import Call, starts_on
from .plan import MOST_SHARED, THREADS, Plan

HERE = Path(__file__).parent
HEADERS = ("device.h", "tiles.h", "sample.h", "forward.h", "backward.h", "compare.h")
_PROBE = """
#include "device.h"
extern "C" __global__ void probe(float* x) { add1(x, inverse_root(*x)); }
"""
_DYNAMIC_SHARED, _SHARED_BYTES = 8, 97  # attributes of a function, of a device
_MOST_BYTES = 2**24  # of a compiled kernel


@cache
def available() -> bool:
    """Whether kernels can be compiled for the first GPU, and started on it."""
    if jax.default_backend() != "gpu":
        return False
    try:
        device = jax.devices()[0]
        major = int(str(device.compute_capability).split(".")[0])
        _nvrtc(), _driver()
    except (AttributeError, ValueError, OSError):
        return False
    if major < 9 or _attribute(_SHARED_BYTES) < MOST_SHARED:
        return False
    try:
        _compile([_PROBE, *_headers(), ""], _architecture())
    except RuntimeError:  # NVRTC is there, but not all of it, or not the version we know
        return False
    starts_on("CUDA", start, _prepare)
    return True


def _libraries(*names: str) -> Iterator[str]:
    """Where a library of CUDA's may lie: as a Python package, in CUDA's folder, or anywhere."""
    packages = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    for folder in dict.fromkeys(packages):
        for name in names:
            yield from sorted(glob.glob(f"{folder}/nvidia/*/lib/{name}"))
    for name in names:
        yield from sorted(glob.glob(f"/usr/local/cuda/lib64/{name}"))
        yield name.replace(".*", "")


@cache
def _nvrtc() -> Any:
    for path in _libraries("libnvrtc.so.*"):
        with suppress(OSError):
            for part in sorted(glob.glob(f"{Path(path).parent}/libnvrtc-builtins.so.*")):
                ctypes.CDLL(part)  # it asks for this by name, and doesn't look beside itself
            library = ctypes.CDLL(path)
            library.nvrtcGetErrorString.restype = ctypes.c_char_p
            return library
    raise OSError("no libnvrtc")


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _checked(code: int) -> None:
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"CUDA: {(text.value or b'').decode() or code}")


def _attribute(which: int) -> int:
    value = ctypes.c_int()
    _checked(_driver().cuDeviceGetAttribute(ctypes.byref(value), which, 0))
    return value.value


@cache
def _architecture() -> str:
    return f"sm_{str(jax.devices()[0].compute_capability).replace('.', '')}"


def _headers() -> list[str]:
    return [(HERE / name).read_text() for name in HEADERS]


def compiled(plan: Plan, architecture: str) -> bytes:
    """The kernels of a plan as machine code, from the cache folder where it has them."""
    sources = [(HERE / "steps.cu").read_text(), *_headers(), plan.header()]
    version = (ctypes.c_int(), ctypes.c_int())
    _nvrtc().nvrtcVersion(*map(ctypes.byref, version))
    said = f"{architecture} {version[0].value}.{version[1].value}\n"
    digest = hashlib.sha256("\0".join([said, *sources]).encode()).hexdigest()[:24]
    path = cache_root() / "rollout" / f"{digest}.cubin"
    with suppress(OSError, UserError):
        return read_bounded(path, _MOST_BYTES)
    code = _compile(sources, architecture)
    with suppress(OSError, UserError):  # a folder that can't be written costs time, not results
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, code)
    return code


def _compile(sources: list[str], architecture: str) -> bytes:
    nvrtc = _nvrtc()
    main, *headers = (source.encode() for source in sources)
    names = [name.encode() for name in (*HEADERS, "shape.h")]
    program = ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(headers))(*headers)
    called = (ctypes.c_char_p * len(names))(*names)
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), main, b"steps.cu", len(headers), texts, called)
    options = [f"--gpu-architecture={architecture}", "--std=c++17"]
    given = (ctypes.c_char_p * len(options))(*(x.encode() for x in options))
    failed = nvrtc.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        said = log.value.decode(errors="replace")[:2000]
        raise RuntimeError(f"kernels don't compile ({KERNELS}=0 does without): {said}")
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


_compiler = ThreadPoolExecutor(1)
_compiling: dict[Plan, Future[bytes]] = {}


def _prepare(plan: Plan) -> None:
    """Compile a plan's kernels while XLA compiles the program around them."""
    _compiling[plan] = _compiler.submit(compiled, plan, _architecture())


@cache
def _shared_bytes(plan: Plan, name: str) -> int:
    return plan.shared_bytes(name)


_loaded: dict[tuple[int, Plan, str], Any] = {}
_loading = threading.Lock()


@contextmanager
def _context_of(stream: int) -> Iterator[int]:
    """The stream's context, as the current one."""
    context = ctypes.c_void_p()
    _checked(_driver().cuStreamGetCtx(ctypes.c_void_p(stream), ctypes.byref(context)))
    _checked(_driver().cuCtxPushCurrent_v2(context))
    try:
        yield context.value or 0
    finally:
        _driver().cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def _function(context: int, plan: Plan, name: str) -> Any:
    """A kernel, ready to be started in the current context."""
    with _loading:
        key = context, plan, name
        if key not in _loaded:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            code = _compiling[plan].result()
            _checked(_driver().cuModuleLoadData(ctypes.byref(module), code))
            _checked(_driver().cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
            size = _shared_bytes(plan, name)
            _checked(_driver().cuFuncSetAttribute(function, _DYNAMIC_SHARED, size))
            _loaded[key] = function
        return _loaded[key]


def start(call: Call) -> None:
    """Start a kernel on XLA's stream."""
    stream = call.stream()

    given = struct.pack(f"{len(call.arrays)}Q2i", *call.arrays, call.samples, call.room)
    arguments = ctypes.create_string_buffer(given, len(given))
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(arguments))
    with _context_of(stream) as context:
        function = _function(context, call.plan, call.name)
        size = _shared_bytes(call.plan, call.name)
        grid, block = (call.blocks, 1, 1), (THREADS, 1, 1)
        _checked(
            _driver().cuLaunchKernel(
                function, *grid, *block, size, ctypes.c_void_p(stream), pointers, None
            )
        )


__all__ = ["available", "compiled", "start"]
