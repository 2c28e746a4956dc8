"""Products of matrices for Numba's functions: those of the BLAS that comes with SciPy.

Numba's own `np.dot` wants contiguous arrays and can't add to what is there.
"""

from __future__ import annotations

import ctypes
import glob
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding
import scipy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from ...algorithms.kernel import loose_helper as helper

_NAME = "hint_relic_sgemm"  # found by its name, so that compiled code can be kept on disk
llvmlite.binding.add_symbol(_NAME, get_cython_function_address("scipy.linalg.cython_blas", "sgemm"))
_AS_IT_IS, _TURNED = ord("N"), ord("T")


@intrinsic
def _sgemm(typing, turn_a, turn_b, rows, columns, inner, a, lead_a, b, lead_b, add, c, lead_c):
    """Fortran's sgemm, whose arguments are all addresses; a, b, c: those of the matrices."""
    numbers = [types.int64] * 12
    numbers[9] = types.float32
    signature = types.void(*numbers)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, byte, whole = ir.IntType(8).as_pointer(), ir.IntType(8), ir.IntType(32)

        def at(value: Any) -> Any:
            return builder.bitcast(cgutils.alloca_once_value(builder, value), pointer)

        def narrow(i: int, kind: Any) -> Any:
            return at(builder.trunc(args[i], kind))

        def address(i: int) -> Any:
            return builder.inttoptr(args[i], pointer)

        one = at(ir.Constant(ir.FloatType(), 1.0))
        given = [narrow(0, byte), narrow(1, byte), *(narrow(i, whole) for i in (2, 3, 4)), one]
        given += [address(5), narrow(6, whole), address(7), narrow(8, whole)]
        given += [at(args[9]), address(10), narrow(11, whole)]
        kind = ir.FunctionType(ir.VoidType(), [pointer] * len(given))
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _NAME), given)
        return context.get_dummy_value()

    return signature, generate


@helper
def _lead(x):
    return x.strides[0] // 4


@helper
def times(a, b, out, add):
    """out = a @ b, or out += a @ b if `add` is 1. Rows must be contiguous, here and below."""
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
    _sgemm(
        _AS_IT_IS, _AS_IT_IS, columns, rows, inner, b.ctypes.data, _lead(b),
        a.ctypes.data, _lead(a), add, out.ctypes.data, _lead(out),
    )  # fmt: skip


@helper
def times_turned(a, b, out, add):
    """out = a @ b.T, or out += a @ b.T."""
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[0]
    _sgemm(
        _TURNED, _AS_IT_IS, columns, rows, inner, b.ctypes.data, _lead(b),
        a.ctypes.data, _lead(a), add, out.ctypes.data, _lead(out),
    )  # fmt: skip


@helper
def turned_times(a, b, out, add):
    """out = a.T @ b, or out += a.T @ b."""
    rows, inner, columns = a.shape[1], a.shape[0], b.shape[1]
    _sgemm(
        _AS_IT_IS, _TURNED, columns, rows, inner, b.ctypes.data, _lead(b),
        a.ctypes.data, _lead(a), add, out.ctypes.data, _lead(out),
    )  # fmt: skip


@cache
def _openblas() -> Any:
    """The library, where it is OpenBLAS as SciPy's wheels bring it; or None."""
    packages = Path(scipy.__file__).parent.parent
    places = [f"{packages}/scipy.libs/*openblas*", f"{packages}/scipy/.dylibs/*openblas*"]
    for path in [x for place in places for x in sorted(glob.glob(place))]:
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(path)
            library.scipy_openblas_set_num_threads.argtypes = [ctypes.c_int]
            return library
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Products of one thread each, as there is a thread for each sample already."""
    if (library := _openblas()) is None:
        yield
        return
    before = library.scipy_openblas_get_num_threads()
    library.scipy_openblas_set_num_threads(1)
    try:
        yield
    finally:
        library.scipy_openblas_set_num_threads(before)
