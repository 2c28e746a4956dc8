"""Traces as text: tables for people (rich renderables), plain data for machines.

Values are written compactly: a pointer array as the indices pointed at, a one-hot as its index,
a mask as bits, a categorical as class numbers (`-`: not scored). Of a hint over all pairs of
nodes, each step shows what it changed. Hints that no step changes are shown once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..algorithms import Algorithm, draw, get
from ..algorithms.inputs import default_needle
from ..spec import Field, Kind, Location, Stage, of_stage
from ..types import Trace
from .protocol import Protocol

SIZES = (16, 64)
DRAWS = 48  # samples behind the typical numbers of steps
DRAW_SEED = 0
MOST = 8  # changes of one step that are spelled out
GAP = 2  # spaces between columns


# --- values ------------------------------------------------------------------------------------


def _number(x: float) -> str:
    """Three digits, but whole numbers in full."""
    return f"{x:.0f}" if x == round(x) and abs(x) < 1e6 else f"{x:.3g}"


def _numbers(values: np.ndarray) -> str:
    return " ".join(map(_number, values.tolist()))


def _indices(values: np.ndarray) -> str:
    return " ".join(map(str, values.tolist()))


def _digits(values: np.ndarray) -> str:
    return "".join("-" if v < 0 else str(v) for v in values.tolist())


_ROW: dict[Kind, Callable[[np.ndarray], str]] = {
    Kind.SCALAR: _numbers,
    Kind.MASK: _digits,
    Kind.MASK_ONE: _indices,
    Kind.CATEGORICAL: _digits,
    Kind.POINTER: _indices,
    Kind.SHOULD_BE_PERMUTATION: _indices,
    Kind.PERMUTATION_POINTER: _indices,
}


def text(field: Field, value: np.ndarray) -> str:
    """A compact array as text; of one over pairs of nodes, a line for each node."""
    row = _ROW[field.kind]
    if value.ndim < 2:
        return row(np.atleast_1d(value))
    if field.kind in (Kind.SCALAR, Kind.MASK):
        return _adjacency(np.maximum(value, 0) if field.kind is Kind.MASK else value)
    return "\n".join(map(row, value))


def _adjacency(matrix: np.ndarray) -> str:
    """Lines `node -> neighbours`, with weights where there are any but 1."""
    weighted = np.any((matrix != 0) & (matrix != 1))
    lines = []
    for i, row in enumerate(matrix):
        names = [f"{j}:{_number(row[j])}" if weighted else str(j) for j in np.flatnonzero(row)]
        if names:
            lines.append(f"{i} -> {' '.join(names)}")
    return "\n".join(lines) or "none"


def changes(field: Field, now: np.ndarray, before: np.ndarray) -> str:
    """What one step changed of an array over pairs of nodes."""
    scored = np.ones(now.shape, bool) if field.kind is Kind.SCALAR else now >= 0
    where = np.argwhere((now != before) & scored).tolist()
    listed = [
        f"{'+' if now[i, j] else '-'}{i},{j}"
        if field.kind is Kind.MASK
        else f"{i},{j}={_number(now[i, j])}"
        for i, j in where[:MOST]
    ]
    return " ".join(listed) + (f" and {len(where) - MOST} more" if len(where) > MOST else "")


# --- one trace ---------------------------------------------------------------------------------


class Steps(NamedTuple):
    """The hints of a trace as text: those that change, step by step, and those that never do."""

    names: list[str]
    rows: list[list[str]]
    still: dict[str, str]


def steps(trace: Trace) -> Steps:
    fields = of_stage(trace.spec, Stage.HINT)
    still = [
        name for name, hint in trace.hints.items() if trace.steps > 1 and np.all(hint == hint[0])
    ]
    moving = [name for name in trace.hints if name not in still]
    columns = [_column(fields[name], trace.hints[name]) for name in moving]
    return Steps(
        moving,
        [list(row) for row in zip(*columns, strict=True)],
        {name: text(fields[name], trace.hints[name][0]) for name in still},
    )


def _column(field: Field, hint: np.ndarray) -> list[str]:
    if field.location is not Location.EDGE:
        return [text(field, value) for value in hint]
    before = np.concatenate([np.zeros_like(hint[:1]), hint[:-1]])
    return [changes(field, *pair) for pair in zip(hint, before, strict=True)]


def trace_data(trace: Trace) -> dict[str, Any]:
    """A trace as JSON can hold it: compact arrays as lists, hints steps first."""
    return {
        "algorithm": trace.algorithm,
        "nodes": trace.nodes,
        "steps": trace.steps,
        "spec": {name: _field_data(field) for name, field in trace.spec.items()},
        "inputs": {name: value.tolist() for name, value in trace.inputs.items()},
        "hints": {name: value.tolist() for name, value in trace.hints.items()},
        "outputs": {name: value.tolist() for name, value in trace.outputs.items()},
    }


def _field_data(field: Field) -> dict[str, Any]:
    data = {"stage": field.stage, "location": field.location, "kind": field.kind}
    return {**data, "classes": field.classes} if field.classes else data


def trace_tables(trace: Trace, width: int) -> Group:
    """Inputs, steps and outputs; no wider than `width` where steps can be folded to fit."""
    algorithm, shown = get(trace.algorithm), steps(trace)
    title = f"{algorithm.title}: {trace.nodes} nodes, {_count(trace.steps, 'step')}"
    tables = [
        _named("input", {k: _input_text(trace, k) for k in trace.inputs}),
        *([_named("hint, at every step", shown.still)] if shown.still else []),
        _full_table(shown) if _width(shown) <= width else _folded_table(shown),
        _named("output", {k: text(trace.spec[k], v) for k, v in trace.outputs.items()}),
    ]
    return Group(Text(title, style="bold"), *(x for table in tables for x in ("", table)), "")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _input_text(trace: Trace, name: str) -> str:
    value = trace.inputs[name]
    if name == "adj" and np.array_equal(
        value, (trace.inputs["A"] != 0) | np.eye(len(value), dtype=bool)
    ):
        return "the edges of A, and one from each node to itself"
    return text(trace.spec[name], value)


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, GAP, 0, 0), pad_edge=False, show_edge=False)


def _named(what: str, values: dict[str, str]) -> Table:
    table = _table()
    table.add_column(what, style="cyan", no_wrap=True)
    table.add_column("")
    for name, value in values.items():
        table.add_row(name, Text(value, overflow="fold"))
    return table


def _width(shown: Steps) -> int:
    columns = zip(shown.names, *shown.rows, strict=True)
    return sum(max(map(len, column)) + GAP + 1 for column in columns) + len("step") + GAP


def _full_table(shown: Steps) -> Table:
    """A row for each step, a column for each hint; what changed is bold."""
    table = _table()
    table.add_column("step", justify="right", style="dim")
    for name in shown.names:
        table.add_column(name, no_wrap=True)
    before: Sequence[str] = [""] * len(shown.names)
    for t, row in enumerate(shown.rows):
        cells = [Text(now, style="" if now == old else "bold") for now, old in zip(row, before)]
        table.add_row(str(t), *cells)
        before = row
    return table


def _folded_table(shown: Steps) -> Table:
    """A row for each step that names the hints it changed, for terminals too narrow for more."""
    table = _table()
    table.add_column("step", justify="right", style="dim", no_wrap=True)
    table.add_column("changes")
    before: Sequence[str] = [""] * len(shown.names)
    for t, row in enumerate(shown.rows):
        changed = [x for x in zip(shown.names, row, before) if x[1] != x[2] and x[1]]
        parts = [Text.assemble((name, "cyan"), " ", now) for name, now, _ in changed]
        table.add_row(str(t), Text("  ", overflow="fold").join(parts))
        before = row
    return table


# --- all algorithms ----------------------------------------------------------------------------


def algorithm_data(algorithm: Algorithm, *, count_steps: bool) -> dict[str, Any]:
    """What `hint-relic algorithms` says about one algorithm."""
    data: dict[str, Any] = {
        "name": algorithm.name,
        "title": algorithm.title,
        "family": algorithm.family,
        "takes": algorithm.inputs.form,
        **{f"{stage}s": list(of_stage(algorithm.spec, stage)) for stage in Stage},
    }
    if count_steps:
        data["steps"] = {str(size): typical_steps(algorithm, size) for size in SIZES}
    return data


def typical_steps(algorithm: Algorithm, size: int) -> dict[str, int]:
    """Median and maximum over a few samples drawn as in training (needles: a fifth)."""
    protocol = Protocol.training(algorithm.name)
    needle = default_needle(size) if protocol.needle else 0
    drawn = draw(algorithm, size, DRAWS, seeds=[DRAW_SEED], p=protocol.p, needle=needle)
    return {"median": int(np.median(drawn.lengths)), "max": int(drawn.lengths.max())}


def algorithms_table(rows: list[dict[str, Any]]) -> Table:
    table = _table()
    table.add_column("name", style="cyan", no_wrap=True)
    table.add_column("family", no_wrap=True)
    for heading in ("inputs", "hints", "outputs"):
        table.add_column(heading, overflow="fold")
    counted = [size for size in SIZES if all(str(size) in row.get("steps", {}) for row in rows)]
    for size in counted:
        table.add_column(f"steps at {size}", justify="right")
    for row in rows:
        lists = (" ".join(row[stage]) for stage in ("inputs", "hints", "outputs"))
        table.add_row(row["name"], row["family"], *lists, *(_typical(row, n) for n in counted))
    return table


def _typical(row: dict[str, Any], size: int) -> str:
    found = row["steps"][str(size)]
    same = found["median"] == found["max"]
    return str(found["max"]) if same else f"{found['median']}, max {found['max']}"
