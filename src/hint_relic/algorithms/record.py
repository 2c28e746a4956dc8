"""How a kernel writes down what it does.

A log is a named tuple of arrays, one for each name of the spec: inputs and outputs have a row
for each sample, hints a row for each step. `cursor` holds the sample being run, the next free
row for a step, and the end of the sample's rows. A kernel records a step as

    t = tick(log.cursor)
    link(order, log.pred_h[t])
    log.i[t] = i

Nothing is written beyond a sample's rows: when they are used up, `tick` keeps handing out the
last one, and the caller, who sees how far the cursor ran, allots more and runs again.
"""

from __future__ import annotations

import keyword
from collections import namedtuple
from typing import Any

import numpy as np

from ..spec import Spec, Stage
from .arrays import write
from .kernel import helper, inlined

SAMPLE, NEXT, END = 0, 1, 2


def attribute(name: str) -> str:
    """The log's attribute for a name of the spec (`return` is a Python keyword)."""
    return name + "_" if keyword.iskeyword(name) else name


def log_type(module: str, spec: Spec) -> Any:
    """The named tuple for logs of a spec; a room assigns it to its global `Log`.

    Numba finds cached machine code by the tuple's importable name: (module, "Log").
    """
    return namedtuple("Log", ["cursor", *map(attribute, spec)], module=module)


def allocate(log: Any, spec: Spec, samples: int, nodes: int, steps: int) -> Any:
    """An empty log with room for `steps` steps of each of `samples` samples."""
    rows = {Stage.INPUT: samples, Stage.OUTPUT: samples, Stage.HINT: samples * steps}
    arrays: list[np.ndarray] = [
        np.zeros((rows[f.stage], *f.shape(nodes)), f.dtype) for f in spec.values()
    ]
    return log(np.zeros(3, np.int64), *arrays)


@helper
def tick(cursor):
    """The row for the next step."""
    t = cursor[NEXT]
    cursor[NEXT] = t + 1
    last = cursor[END] - 1
    return t if t < last else last


@helper
def positions(out):
    """Evenly spaced positions: i / n."""
    for i in range(out.size):
        out[i] = i * 1.0 / out.size


@helper
def link(order, out):
    """Each item points at the item before it in `order`; the first at itself."""
    out[order[0]] = order[0]
    for i in range(1, order.size):
        out[order[i]] = order[i - 1]


@helper
def heap_links(order, size, out):
    """Each item of a heap of `size` items points at its parent; all others at themselves."""
    for i in range(order.size):
        out[order[i]] = order[(i - 1) // 2] if 0 < i < size else order[i]


@helper
def edges(n, A, out):
    """The adjacency mask of a weight matrix over `n` nodes, self-loops included."""
    for i in range(n):
        for j in range(n):
            out[i, j] = 1 if (A[i, j] + (1.0 if i == j else 0.0)) != 0.0 else 0


@inlined
def open_array(log, key):
    """Record the inputs of an algorithm over one array; the row of its outputs."""
    b = log.cursor[SAMPLE]
    positions(log.pos[b])
    write(key, log.key[b])
    return b


@inlined
def open_graph(log, A):
    """Record the inputs of an algorithm over a graph; the row of its outputs."""
    b = log.cursor[SAMPLE]
    positions(log.pos[b])
    write(A, log.A[b])
    edges(A.shape[0], A, log.adj[b])
    return b


@inlined
def open_rooted_graph(log, A, s):
    """The same for a graph with a source node."""
    b = open_graph(log, A)
    log.s[b] = s
    return b


@inlined
def open_points(log, x, y):
    """Record the inputs of an algorithm over points of the plane; the row of its outputs."""
    b = log.cursor[SAMPLE]
    positions(log.pos[b])
    write(x, log.x[b])
    write(y, log.y[b])
    return b


@inlined
def open_strings(log, first, second):
    """Record two strings laid end to end; the row of their outputs."""
    b = log.cursor[SAMPLE]
    n = first.size
    positions(log.pos[b, :n])
    positions(log.pos[b, n:])
    for i in range(n, log.pos.shape[1]):
        log.string[b, i] = 1
    write(first, log.key[b, :n])
    write(second, log.key[b, n:])
    return b


@helper
def link_strings(n, out):
    """Predecessors in two strings laid end to end, the first of them of length `n`."""
    for i in range(out.size):
        out[i] = i if i == 0 or i == n else i - 1
