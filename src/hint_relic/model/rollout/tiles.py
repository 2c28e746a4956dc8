"""Products of matrices, a tile of rows and columns at a time, with its sums in registers.

Matrices are small here, a few hundred rows at most. A BLAS copies what it multiplies into an order
of its own first, which takes long where there are sixteen rows; and it wants to be told how many
threads it may use. Here everything is read where it lies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...algorithms.kernel import loose_helper as helper

_FLOAT, _INDEX, _LANE = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_BYTES = 4


def _largest_tile() -> tuple[int, int]:
    """Rows and columns of as many sums as there are registers for, and a product needs at once."""
    try:
        wide = llvmlite.binding.get_host_cpu_features().get("avx512f")
    except RuntimeError:  # not known on this system
        wide = False
    return (8, 32) if wide else (6, 16)


ROWS, COLUMNS = _largest_tile()
SOME = COLUMNS // 2  # as many columns, or fewer, are taken at once where there are no more


class _Given(NamedTuple):
    """Addresses, and how many numbers lie between rows and columns; between those of b and c lies
    one. inner: how many products a sum has."""

    a: Any
    row_a: Any
    column_a: Any
    b: Any
    row_b: Any
    c: Any
    row_c: Any
    inner: Any


class _Vectors:
    """Vectors of so many numbers; in memory there are only `some` of them, if told."""

    def __init__(self, builder: Any, columns: int, some: Any = None):
        self.builder, self.columns = builder, columns
        self.kind, self.mask = ir.VectorType(_FLOAT, columns), None
        if some is not None:
            lanes = ir.Constant(ir.VectorType(_LANE, columns), list(range(columns)))
            many = self.of_one(builder.trunc(some, _LANE))
            self.mask = builder.icmp_unsigned("<", lanes, many)

    def of_one(self, number: Any) -> Any:
        blank = ir.Constant(ir.VectorType(number.type, self.columns), ir.Undefined)
        zeros = ir.Constant(ir.VectorType(_LANE, self.columns), [0] * self.columns)
        first = self.builder.insert_element(blank, number, _LANE(0))
        return self.builder.shuffle_vector(first, blank, zeros)

    def load(self, address: Any) -> Any:
        pointer = self.builder.inttoptr(address, self.kind.as_pointer())
        if self.mask is None:
            return self.builder.load(pointer, align=_BYTES)
        nothing = ir.Constant(self.kind, [0.0] * self.columns)
        return self._masked("load", self.kind, pointer, _LANE(_BYTES), self.mask, nothing)

    def store(self, vector: Any, address: Any) -> None:
        pointer = self.builder.inttoptr(address, self.kind.as_pointer())
        if self.mask is None:
            self.builder.store(vector, pointer, align=_BYTES)
        else:
            self._masked("store", ir.VoidType(), vector, pointer, _LANE(_BYTES), self.mask)

    def _masked(self, what: str, result: Any, *given: Any) -> Any:
        name = f"llvm.masked.{what}.v{self.columns}f32.p0v{self.columns}f32"
        return self._call(name, result, *given)

    def add_product(self, total: Any, x: Any, y: Any) -> Any:
        return self._call(f"llvm.fmuladd.v{self.columns}f32", self.kind, x, y, total)

    def _call(self, name: str, result: Any, *given: Any) -> Any:
        kind = ir.FunctionType(result, [x.type for x in given])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, given)


def _tile(builder: Any, vectors: _Vectors, given: _Given, first: Any, rows: int) -> None:
    """`c += a @ b` for so many rows of a and c, from the first on, and a vector of columns."""

    def at(start: Any, between: Any, i: Any) -> Any:
        return builder.add(start, builder.mul(builder.mul(between, i), _INDEX(_BYTES)))

    which = [builder.add(first, _INDEX(r)) for r in range(rows)]
    places = [at(given.c, given.row_c, r) for r in which]
    starts = [at(given.a, given.row_a, r) for r in which]
    begun = [vectors.load(place) for place in places]
    before, loop, after = builder.block, *map(builder.append_basic_block, ("inner", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    k = builder.phi(_INDEX)
    sums = [builder.phi(vectors.kind) for _ in range(rows)]
    of_b = vectors.load(at(given.b, given.row_b, k))
    following = []
    for start, total in zip(starts, sums):
        of_a = builder.inttoptr(at(start, given.column_a, k), _FLOAT.as_pointer())
        of_a = vectors.of_one(builder.load(of_a, align=_BYTES))
        following.append(vectors.add_product(total, of_a, of_b))
    more = builder.add(k, _INDEX(1))
    for phi, once, again in zip([k, *sums], [_INDEX(0), *begun], [more, *following]):
        phi.add_incoming(once, before)
        phi.add_incoming(again, loop)
    builder.cbranch(builder.icmp_signed("<", more, given.inner), loop, after)
    builder.position_at_end(after)
    for place, total in zip(places, following):
        vectors.store(total, place)


def _strip(columns: int) -> Callable[..., None]:
    """`c += a @ b` for the first columns: `columns` of them, or `some` that are fewer.

    inner must not be 0.
    """

    @intrinsic
    def strip(typing, rows, some, a, row_a, column_a, b, row_b, c, row_c, inner):
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            rows, some, *given = args
            given = _Given(*given)
            vectors = _Vectors(builder, columns, some if columns < COLUMNS else None)
            rest = builder.srem(rows, _INDEX(ROWS))
            whole = builder.sub(rows, rest)
            with cgutils.for_range_slice(builder, _INDEX(0), whole, _INDEX(ROWS)) as (first, _):
                _tile(builder, vectors, given, first, ROWS)
            for left in range(1, ROWS):
                with builder.if_then(builder.icmp_signed("==", rest, _INDEX(left))):
                    _tile(builder, vectors, given, whole, left)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 10), generate

    return strip


_whole_strip, _narrow_strip = _strip(COLUMNS), _strip(SOME)


@helper
def _product(rows, columns, inner, a, row_a, column_a, b, row_b, c, row_c):
    """c += a @ b, by addresses and distances."""
    if inner == 0:
        return
    at = 0
    while at < columns:
        left = columns - at
        of_b, of_c = b + 4 * at, c + 4 * at
        if left >= COLUMNS:
            _whole_strip(rows, 0, a, row_a, column_a, of_b, row_b, of_c, row_c, inner)
            at += COLUMNS
        else:
            some = min(left, SOME)
            _narrow_strip(rows, some, a, row_a, column_a, of_b, row_b, of_c, row_c, inner)
            at += some


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
