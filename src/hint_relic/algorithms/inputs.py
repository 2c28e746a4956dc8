"""How inputs are drawn: each distribution of CLRS-30, in two ways.

`reference` takes NumPy's legacy generator and makes the calls that dm-clrs 2.0.3 makes, in its
order, so that the same seed gives the same inputs, value for value. `fast` is a kernel over
our own counter-based generator: other numbers, the same distribution (a test compares them).
Both return the arguments of the algorithm's kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import UserError
from .arrays import sort, write
from .kernel import helper, kernel
from .random import integer, integers, permutation, uniform, uniforms

Arguments = tuple[Any, ...]
COMMUNITIES = 4
CROSS_COMMUNITY = 0.01
ALPHABET = 4


def same(size: int) -> int:
    return size


@dataclass(frozen=True)
class Inputs:
    """A distribution of inputs of a given size.

    `nodes` gives the number of nodes at a size, `min_size` the smallest size it can draw.
    `p` holds the edge probabilities to choose from where nothing else is asked for; it is
    empty for what is not a graph.
    """

    form: str
    reference: Callable[[np.random.RandomState, int, tuple[float, ...], int | None], Arguments]
    fast: Callable[..., Arguments]
    p: tuple[float, ...] = ()
    min_size: int = 2
    nodes: Callable[[int], int] = same


# --- arrays ----------------------------------------------------------------------------------


def _array(rng, n, p, needle):
    return (rng.uniform(0.0, 1.0, (n,)),)


@helper
def _fast_array(state, n, p, needle):
    return (uniforms(state, n, 0.0, 1.0),)


def _signed_array(rng, n, p, needle):
    return (rng.uniform(-1.0, 1.0, (n,)),)


@helper
def _fast_signed_array(state, n, p, needle):
    return (uniforms(state, n, -1.0, 1.0),)


def _sorted_array(rng, n, p, needle):
    key = np.sort(rng.uniform(0.0, 1.0, (n,)))
    return key, rng.uniform(0.0, 1.0)


@helper
def _fast_sorted_array(state, n, p, needle):
    key = uniforms(state, n, 0.0, 1.0)
    sort(key)
    return key, uniform(state, 0.0, 1.0)


def _weights(rng, n, p, needle):
    weights = rng.uniform(0.0, 1.0, (2 * n + 1,))
    weights /= np.sum(weights)
    return weights[:n], weights[n:]


@helper
def _fast_weights(state, n, p, needle):
    inner, outer, total = uniforms(state, n, 0.0, 1.0), uniforms(state, n + 1, 0.0, 1.0), 0.0
    for i in range(n):
        total += inner[i]
    for i in range(n + 1):
        total += outer[i]
    for i in range(n):
        inner[i] /= total
    for i in range(n + 1):
        outer[i] /= total
    return inner, outer


def _intervals(rng, n, p, needle):
    a, b = rng.uniform(0.0, 1.0, (n,)), rng.uniform(0.0, 1.0, (n,))
    return np.minimum(a, b), np.maximum(a, b)


@helper
def _fast_intervals(state, n, p, needle):
    start, end = uniforms(state, n, 0.0, 1.0), uniforms(state, n, 0.0, 1.0)
    for i in range(n):
        if end[i] < start[i]:
            start[i], end[i] = end[i], start[i]
    return start, end


def _tasks(rng, n, p, needle):
    deadlines = rng.randint(0, high=n, size=(n,)) + 1.0
    return deadlines, rng.uniform(0.0, 1.0, (n,))


@helper
def _fast_tasks(state, n, p, needle):
    deadlines = np.empty(n)
    for i in range(n):
        deadlines[i] = integer(state, n) + 1.0
    return deadlines, uniforms(state, n, 0.0, 1.0)


ARRAY = Inputs("array", _array, _fast_array)
SIGNED_ARRAY = Inputs("array", _signed_array, _fast_signed_array)
SORTED_ARRAY = Inputs("sorted array and target", _sorted_array, _fast_sorted_array)
WEIGHTS = Inputs("weights", _weights, _fast_weights, min_size=1, nodes=lambda n: n + 1)
INTERVALS = Inputs("intervals", _intervals, _fast_intervals)
TASKS = Inputs("tasks", _tasks, _fast_tasks)


# --- graphs ----------------------------------------------------------------------------------
# Where the reference asks for an undirected graph it multiplies the matrix with its transpose:
# an edge needs two successes, and a node can have an edge to itself.


def _undirected(rng, n, p):
    mask = rng.binomial(1, p, size=(n, n))
    return (mask * mask.T).astype(np.float64)


def _directed(rng, n, p):
    return rng.binomial(1, p, size=(n, n)).astype(np.float64)


def _acyclic(rng, n, p):
    upper = np.triu(_directed(rng, n, p), k=1)
    order = rng.permutation(n)
    return np.ascontiguousarray(upper[order, :][:, order])


def _symmetric_weights(rng, n):
    weights = rng.uniform(0.0, 1.0, (n, n))
    return np.sqrt(weights * weights.T + 1e-3)


def _digraph(rng, n, p, needle):
    return (_directed(rng, n, rng.choice(p)),)


def _dag(rng, n, p, needle):
    return (_acyclic(rng, n, rng.choice(p)),)


def _graph(rng, n, p, needle):
    return (_undirected(rng, n, rng.choice(p)),)


def _rooted_graph(rng, n, p, needle):
    return _undirected(rng, n, rng.choice(p)), int(rng.choice(n))


def _weighted_graph(rng, n, p, needle):
    return (_undirected(rng, n, rng.choice(p)) * _symmetric_weights(rng, n),)


def _rooted_weighted_graph(rng, n, p, needle):
    A = _undirected(rng, n, rng.choice(p)) * _symmetric_weights(rng, n)
    return A, int(rng.choice(n))


def _rooted_weighted_dag(rng, n, p, needle):
    A = _acyclic(rng, n, rng.choice(p)) * rng.uniform(0.0, 1.0, (n, n))
    return A, int(rng.choice(n))


def _communities(rng, n, p, needle):
    p = rng.choice(p)
    bounds = [n // COMMUNITIES * i for i in range(COMMUNITIES)] + [n]
    A = np.zeros((n, n))
    for lo, hi in pairwise(bounds):
        A[lo:hi, lo:hi] = _directed(rng, hi - lo, p)
    flip = _directed(rng, n, CROSS_COMMUNITY)
    for i in range(COMMUNITIES):  # only towards later communities, so that no cycle closes
        flip[bounds[i] : bounds[i + 1], : bounds[i]] = 0.0
    A = np.where(flip > 0.0, 1.0 - A, A)
    order = rng.permutation(n)
    return (np.ascontiguousarray(A[order, :][:, order]),)


@helper
def _fast_directed(state, n, p):
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if uniform(state, 0.0, 1.0) < p:
                A[i, j] = 1.0
    return A


@helper
def _fast_acyclic(state, n, p):
    order = permutation(state, n)
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            if uniform(state, 0.0, 1.0) < p:
                A[order[i], order[j]] = 1.0
    return A


@helper
def _fast_undirected(state, n, p):
    A = np.zeros((n, n))
    for i in range(n):
        if uniform(state, 0.0, 1.0) < p:
            A[i, i] = 1.0
        for j in range(i + 1, n):
            if uniform(state, 0.0, 1.0) < p * p:
                A[i, j] = A[j, i] = 1.0
    return A


@helper
def _fast_weighted(state, n, p):
    A = _fast_undirected(state, n, p)
    for i in range(n):
        for j in range(i, n):
            w = uniform(state, 0.0, 1.0)
            w *= w if i == j else uniform(state, 0.0, 1.0)
            A[i, j] *= np.sqrt(w + 1e-3)
            A[j, i] = A[i, j]
    return A


@helper
def _choice(state, p):
    return p[integer(state, p.size)]


@helper
def _fast_digraph(state, n, p, needle):
    return (_fast_directed(state, n, _choice(state, p)),)


@helper
def _fast_dag(state, n, p, needle):
    return (_fast_acyclic(state, n, _choice(state, p)),)


@helper
def _fast_graph(state, n, p, needle):
    return (_fast_undirected(state, n, _choice(state, p)),)


@helper
def _fast_rooted_graph(state, n, p, needle):
    return _fast_undirected(state, n, _choice(state, p)), integer(state, n)


@helper
def _fast_weighted_graph(state, n, p, needle):
    return (_fast_weighted(state, n, _choice(state, p)),)


@helper
def _fast_rooted_weighted_graph(state, n, p, needle):
    return _fast_weighted(state, n, _choice(state, p)), integer(state, n)


@helper
def _fast_rooted_weighted_dag(state, n, p, needle):
    A = _fast_acyclic(state, n, _choice(state, p))
    for i in range(n):
        for j in range(n):
            A[i, j] *= uniform(state, 0.0, 1.0)
    return A, integer(state, n)


@helper
def _fast_communities(state, n, p, needle):
    inside = _choice(state, p)
    order = permutation(state, n)
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            a = min(i // (n // COMMUNITIES), COMMUNITIES - 1)
            b = min(j // (n // COMMUNITIES), COMMUNITIES - 1)
            edge = a == b and uniform(state, 0.0, 1.0) < inside
            if a <= b and uniform(state, 0.0, 1.0) < CROSS_COMMUNITY:
                edge = not edge
            if edge:
                A[order[i], order[j]] = 1.0
    return (A,)


HALF, FIFTH = (0.5,), (0.2,)
DIGRAPH = Inputs("directed graph", _digraph, _fast_digraph, HALF)
DAG = Inputs("acyclic graph", _dag, _fast_dag, HALF)
GRAPH = Inputs("undirected graph", _graph, _fast_graph, FIFTH)
ROOTED_GRAPH = Inputs("undirected graph and source", _rooted_graph, _fast_rooted_graph, HALF)
SPARSE_WEIGHTED_GRAPH = Inputs("weighted graph", _weighted_graph, _fast_weighted_graph, FIFTH)
WEIGHTED_GRAPH = Inputs("weighted graph", _weighted_graph, _fast_weighted_graph, HALF)
ROOTED_WEIGHTED_GRAPH = Inputs(
    "weighted graph and source", _rooted_weighted_graph, _fast_rooted_weighted_graph, HALF
)
ROOTED_WEIGHTED_DAG = Inputs(
    "weighted acyclic graph and source", _rooted_weighted_dag, _fast_rooted_weighted_dag, HALF
)
COMMUNITY_GRAPH = Inputs(
    "directed graph", _communities, _fast_communities, HALF, min_size=COMMUNITIES
)


# --- strings ---------------------------------------------------------------------------------


def _two_strings(rng, n, p, needle):
    first = rng.randint(0, high=ALPHABET, size=(n - n // 2,))
    return first, rng.randint(0, high=ALPHABET, size=(n // 2,))


@helper
def _fast_two_strings(state, n, p, needle):
    return integers(state, n - n // 2, ALPHABET), integers(state, n // 2, ALPHABET)


def default_needle(n: int) -> int:
    return 1 if n < 5 else n // 5


def check_needle(n: int, needle: int | None) -> None:
    """A needle must leave at least one place for itself in the haystack (odd: not the last)."""
    longest = abs(default_needle(n) if needle is None else needle)
    if longest < 1 or n - 2 * longest < 1:
        raise UserError(
            f"a needle of length {longest} does not fit: {n} nodes hold needle and haystack, "
            f"so its length must be between 1 and {(n - 1) // 2}"
        )


def _haystack(rng, n, p, needle):
    check_needle(n, needle)
    if needle is None:
        needle = default_needle(n)
    elif needle < 0:  # of a random length, up to the one given
        needle = int(rng.randint(1, high=1 - needle))
    pattern = rng.randint(0, high=ALPHABET, size=(needle,))
    text = rng.randint(0, high=ALPHABET, size=(n - needle,))
    at = rng.choice(n - 2 * needle)
    text[at : at + needle] = pattern
    return text, pattern


@helper
def _fast_haystack(state, n, p, needle):
    m = integer(state, -needle) + 1 if needle < 0 else needle
    pattern, text = integers(state, m, ALPHABET), integers(state, n - m, ALPHABET)
    at = integer(state, n - 2 * m)
    write(pattern, text[at : at + m])
    return text, pattern


TWO_STRINGS = Inputs("two strings", _two_strings, _fast_two_strings)
HAYSTACK = Inputs("haystack and needle", _haystack, _fast_haystack, min_size=3)


# --- points of the plane -----------------------------------------------------------------------


@helper
def _left(x, y, a, b, c):
    return (y[c] - y[a]) * (x[b] - x[a]) > (y[b] - y[a]) * (x[c] - x[a])


@kernel
def _cross(x, y):
    """Do the segments (0, 1) and (2, 3) cross?"""
    return _left(x, y, 0, 2, 3) != _left(x, y, 1, 2, 3) and (
        _left(x, y, 0, 1, 2) != _left(x, y, 0, 1, 3)
    )


def _segments(rng, n, p, needle):
    crossing = rng.binomial(1, 0.5)
    while True:  # half of all samples cross
        x, y = rng.uniform(0.0, 1.0, (4,)), rng.uniform(0.0, 1.0, (4,))
        if _cross(x, y) == crossing:
            return x, y


@helper
def _fast_segments(state, n, p, needle):
    crossing = uniform(state, 0.0, 1.0) < 0.5
    while True:
        x, y = uniforms(state, 4, 0.0, 1.0), uniforms(state, 4, 0.0, 1.0)
        if _cross(x, y) == crossing:
            return x, y


@kernel
def _collinear(x, y):
    """Do any three points lie (almost) on a line?"""
    n = x.size
    for i in range(n):
        for j in range(i + 1, n):
            dx, dy = x[j] - x[i], y[j] - y[i]
            for k in range(j + 1, n):
                if abs(dx * (y[k] - y[i]) - dy * (x[k] - x[i])) < 1e-12:
                    return True
    return False


def _disk(rng, n, p, needle):
    while True:
        angle = rng.uniform(0.0, 2.0 * np.pi, (n,))
        radius = 2.0 * np.sqrt(rng.uniform(0.0, 1.0, (n,)))
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        if not _collinear(x, y):
            return x, y


@helper
def _fast_disk(state, n, p, needle):
    while True:
        angle = uniforms(state, n, 0.0, 2.0 * np.pi)
        square = uniforms(state, n, 0.0, 1.0)
        x, y = np.empty(n), np.empty(n)
        for i in range(n):
            radius = 2.0 * np.sqrt(square[i])
            x[i], y[i] = radius * np.cos(angle[i]), radius * np.sin(angle[i])
        if not _collinear(x, y):
            return x, y


SEGMENTS = Inputs("two segments", _segments, _fast_segments, min_size=1, nodes=lambda n: 4)
DISK = Inputs("points", _disk, _fast_disk)
