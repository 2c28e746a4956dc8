"""Products of matrices, a tile of rows and columns at a time, with its sums in registers.

Matrices are small here, a few hundred rows at most. A BLAS copies what it multiplies into an order
of its own first, which takes long where there are sixteen rows; and it wants to be told how many
threads it may use. Here everything is read where it lies.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from ...algorithms.kernel import loose_helper as helper

_FLOAT, _INDEX = ir.FloatType(), ir.IntType(64)
_BYTES = 4


def _rows_at_once() -> int:
    """As many rows of sixteen sums as there are registers for."""
    try:
        return 8 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 4
    except RuntimeError:  # not known on this system
        return 4


ROWS = _rows_at_once()


def _tile(rows: int, columns: int) -> Any:
    """`c += a @ b` for a tile of c.

    Arguments are addresses, and how many numbers lie between: rows of a, columns of a, rows of b,
    rows of c. What lies between columns of b and c is one.
    """
    vector = ir.VectorType(_FLOAT, columns)

    @intrinsic
    def tile(typing, a, row_a, column_a, b, row_b, c, row_c, inner):
        signature = types.void(*[types.int64] * 8)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            a, row_a, column_a, b, row_b, c, row_c, inner = args

            def index(i: int) -> Any:
                return ir.Constant(_INDEX, i)

            def at(start: Any, between: Any, i: Any) -> Any:
                far = builder.mul(builder.mul(between, i), index(_BYTES))
                return builder.add(start, far)

            def load(address: Any, kind: Any) -> Any:
                return builder.load(builder.inttoptr(address, kind.as_pointer()), align=_BYTES)

            places = [at(c, row_c, index(r)) for r in range(rows)]
            starts = [at(a, row_a, index(r)) for r in range(rows)]
            begun = [load(place, vector) for place in places]
            before, loop = builder.block, builder.append_basic_block("inner")
            after = builder.append_basic_block("done")
            builder.branch(loop)
            builder.position_at_end(loop)
            k = builder.phi(_INDEX)
            k.add_incoming(index(0), before)
            sums = [builder.phi(vector) for _ in range(rows)]
            of_b = load(at(b, row_b, k), vector)
            undefined = ir.Constant(vector, ir.Undefined)
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), columns), [0] * columns)
            kind = ir.FunctionType(vector, [vector] * 3)
            multiply = get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{columns}f32")
            following = []
            for start, total, first in zip(starts, sums, begun):
                total.add_incoming(first, before)
                of_a = load(at(start, column_a, k), _FLOAT)
                of_a = builder.insert_element(undefined, of_a, ir.Constant(ir.IntType(32), 0))
                of_a = builder.shuffle_vector(of_a, undefined, zeros)
                following.append(builder.call(multiply, [of_a, of_b, total]))
            more = builder.add(k, index(1))
            k.add_incoming(more, loop)
            for total, next_one in zip(sums, following):
                total.add_incoming(next_one, loop)
            builder.cbranch(builder.icmp_signed("<", more, inner), loop, after)
            builder.position_at_end(after)
            for place, total in zip(places, following):
                pointer = builder.inttoptr(place, vector.as_pointer())
                builder.store(total, pointer, align=_BYTES)
            return context.get_dummy_value()

        return signature, generate

    return tile


_wide, _wide_row = _tile(ROWS, 16), _tile(1, 16)
_narrow, _narrow_row = _tile(ROWS, 8), _tile(1, 8)
_column, _number = _tile(ROWS, 1), _tile(1, 1)


@helper
def _product(rows, columns, inner, a, row_a, column_a, b, row_b, c, row_c):
    """c += a @ b, by addresses and distances."""
    if inner == 0:
        return
    whole = rows - rows % ROWS
    at = 0
    while at < columns:
        left = columns - at
        for r in range(0, whole, ROWS):
            from_a, to_c = a + 4 * r * row_a, c + 4 * (r * row_c + at)
            if left >= 16:
                _wide(from_a, row_a, column_a, b + 4 * at, row_b, to_c, row_c, inner)
            elif left >= 8:
                _narrow(from_a, row_a, column_a, b + 4 * at, row_b, to_c, row_c, inner)
            else:
                _column(from_a, row_a, column_a, b + 4 * at, row_b, to_c, row_c, inner)
        for r in range(whole, rows):
            from_a, to_c = a + 4 * r * row_a, c + 4 * (r * row_c + at)
            if left >= 16:
                _wide_row(from_a, row_a, column_a, b + 4 * at, row_b, to_c, row_c, inner)
            elif left >= 8:
                _narrow_row(from_a, row_a, column_a, b + 4 * at, row_b, to_c, row_c, inner)
            else:
                _number(from_a, row_a, column_a, b + 4 * at, row_b, to_c, row_c, inner)
        at += 16 if left >= 16 else (8 if left >= 8 else 1)


@helper
def _between(x):
    """How many numbers lie between its rows."""
    return x.strides[0] // 4


@helper
def _begin(out, add):
    if add == np.float32(0.0):
        for r in range(out.shape[0]):
            for c in range(out.shape[1]):
                out[r, c] = np.float32(0.0)


@helper
def times(a, b, out, add):
    """out = a @ b, or out += a @ b if `add` is 1. Rows must be contiguous, here and below."""
    _begin(out, add)
    _product(
        a.shape[0], b.shape[1], a.shape[1], a.ctypes.data, _between(a), 1, b.ctypes.data,
        _between(b), out.ctypes.data, _between(out),
    )  # fmt: skip


@helper
def turned_times(a, b, out, add):
    """out = a.T @ b, or out += a.T @ b."""
    _begin(out, add)
    _product(
        a.shape[1], b.shape[1], a.shape[0], a.ctypes.data, 1, _between(a), b.ctypes.data,
        _between(b), out.ctypes.data, _between(out),
    )  # fmt: skip
