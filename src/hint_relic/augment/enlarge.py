"""Random larger inputs around old ones: one kernel for each kind of input.

    enlarge(state, old, sample, places, N, p, care, last) -> the arguments of the algorithm's kernel

`old` holds the arrays of the batch, of which sample `sample` is put into an input of N nodes;
old nodes stay in order, and `places` is filled with their ids there. All that is new comes from
the law of the inputs. `care`, from 0 to 1, says how much the new is kept apart from the old: at
0 it is anywhere, at 1 it stands as far back as it can and no edge leads there. `last` says
whether it may come after the last old node (some algorithms start there, or mark it).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..algorithms import inputs as laws
from ..algorithms.inputs import ALPHABET
from ..algorithms.kernel import helper
from ..algorithms.random import integer, integers, permutation, uniform, uniforms
from .compile import specialised
from .positions import around


@helper
def spread(state, places, N, care, last):
    """Choose where N - n new nodes go among n old ones."""
    n = places.size
    latest = n if last else n - 1
    earliest = min(int(care * n), latest)
    before = np.zeros(n + 1, np.int64)  # new nodes just before each old one, and after all
    for _ in range(N - n):
        before[earliest + integer(state, latest - earliest + 1)] += 1
    passed = 0
    for i in range(n):
        passed += before[i]
        places[i] = i + passed


@helper
def put(old, places, out):
    """Write the old items (as many as there are places) to their places."""
    for i in range(places.size):
        out[places[i]] = old[i]


# --- arrays ----------------------------------------------------------------------------------


def _one_array(state, old, sample, places, N, p, care, last):
    spread(state, places, N, care, last)
    (key,) = law(state, N, p, 0)
    put(old[0][sample], places, key)
    return (key,)


def _two_arrays(state, old, sample, places, N, p, care, last):
    spread(state, places, N, care, last)
    first, second = law(state, N, p, 0)
    put(old[0][sample], places, first)
    put(old[1][sample], places, second)
    return first, second


def _sorted_array(state, old, sample, places, N, p, care, last):
    spread(state, places, N, care, last)
    key = np.empty(N)
    key[:] = 1.0
    key[0] = 0.0
    around(state, places, old[0][sample], key)
    return key, old[1][sample]


def _weights(state, old, sample, places, N, p, care, last):
    """New weights of the old ones' scale. They are not divided by their sum again: old ones
    would change."""
    spread(state, places, N, care, last)
    n = places.size
    largest = 2.0 / (2 * n - 1)
    keys, gaps = uniforms(state, N - 1, 0.0, largest), uniforms(state, N, 0.0, largest)
    put(old[0][sample], places[: n - 1], keys)
    put(old[1][sample], places, gaps)
    return keys, gaps


# --- graphs ----------------------------------------------------------------------------------


@helper
def _is_old(places, N):
    old = np.zeros(N, np.bool_)
    for place in places:
        old[place] = True
    return old


@helper
def _put_graph(old, places, A):
    for i in range(places.size):
        for j in range(places.size):
            A[places[i], places[j]] = old[i, j]


@helper
def _join(state, A, old, places, care):
    """Put the old graph into a new one, and drop a share `care` of the links to it."""
    is_old = _is_old(places, A.shape[0])
    for u in range(A.shape[0]):
        for v in range(u):
            if is_old[u] != is_old[v] and uniform(state, 0.0, 1.0) < care:
                A[u, v] = A[v, u] = 0.0
    _put_graph(old, places, A)


def _graph(state, old, sample, places, N, p, care, last):
    spread(state, places, N, care, last)
    A = law(state, N, p, 0)[0]
    _join(state, A, old[0][sample], places, care)
    return (A,)


def _rooted_graph(state, old, sample, places, N, p, care, last):
    spread(state, places, N, care, last)
    A = law(state, N, p, 0)[0]
    _join(state, A, old[0][sample], places, care)
    return A, np.int64(places[old[1][sample]])


@helper
def _topological_order(A):
    n = A.shape[0]
    order, taken = np.empty(n, np.int64), np.zeros(n, np.bool_)
    for rank in range(n):
        for v in range(n):
            free = not taken[v]
            for u in range(n):
                free = free and (taken[u] or A[u, v] == 0.0)
            if free:
                order[rank] = v
                taken[v] = True
                break
    return order


@helper
def _new_nodes(is_old, count):
    new, found = np.empty(count, np.int64), 0
    for v in range(is_old.size):
        if not is_old[v]:
            new[found] = v
            found += 1
    return new


@helper
def _mixed_order(state, old, places, N):
    """An order of all nodes that no old edge runs against, new ones anywhere."""
    n, is_old = places.size, _is_old(places, N)
    old_order, new = _topological_order(old), _new_nodes(is_old, N - n)
    mixed = permutation(state, N - n)
    order, olds = np.empty(N, np.int64), 0
    for rank in range(N):
        if integer(state, N - rank) < n - olds:
            order[rank] = places[old_order[olds]]
            olds += 1
        else:
            order[rank] = new[mixed[rank - olds]]
    return order, is_old


@helper
def _acyclic(state, old, places, N, p, care, last, weighted):
    spread(state, places, N, care, last)
    order, is_old = _mixed_order(state, old, places, N)
    edge = p[integer(state, p.size)]
    A = np.zeros((N, N))
    for i in range(N):
        for j in range(i + 1, N):
            u, v = order[i], order[j]
            likely = edge if is_old[u] == is_old[v] else edge * (1.0 - care)
            if uniform(state, 0.0, 1.0) < likely:
                A[u, v] = uniform(state, 0.0, 1.0) if weighted else 1.0
    _put_graph(old, places, A)
    return A


def _dag(state, old, sample, places, N, p, care, last):
    return (_acyclic(state, old[0][sample], places, N, p, care, last, False),)


def _rooted_dag(state, old, sample, places, N, p, care, last):
    A = _acyclic(state, old[0][sample], places, N, p, care, last, True)
    return A, np.int64(places[old[1][sample]])


# --- strings ---------------------------------------------------------------------------------


@helper
def _two_parts(state, old, sample, places, N, care, last, shorter):
    """New letters in either string; at care 1, in the first only.

    shorter: is the second string to stay shorter than half, as a needle is?
    """
    n = places.size
    second = 0
    for i in range(n):
        second += old[0][sample, i]
    head = n - second
    for _ in range(N - n):
        fits = not shorter or 2 * (second + 1) < N
        if uniform(state, 0.0, 2.0) < 1.0 - care and fits:
            second += 1
    spread(state, places[:head], N - second, care, last)
    spread(state, places[head:], second, care, last)
    for i in range(head, n):
        places[i] += N - second
    first, rest = integers(state, N - second, ALPHABET), integers(state, second, ALPHABET)
    for i in range(head):
        first[places[i]] = old[1][sample, i]
    for i in range(head, n):
        rest[places[i] - first.size] = old[1][sample, i]
    return first, rest


def _two_strings(state, old, sample, places, N, p, care, last):
    return _two_parts(state, old, sample, places, N, care, last, False)


def _haystack(state, old, sample, places, N, p, care, last):
    return _two_parts(state, old, sample, places, N, care, last, True)


_KERNELS = {
    laws.ARRAY: _one_array,
    laws.SIGNED_ARRAY: _one_array,
    laws.SORTED_ARRAY: _sorted_array,
    laws.WEIGHTS: _weights,
    laws.INTERVALS: _two_arrays,
    laws.TASKS: _two_arrays,
    laws.DISK: _two_arrays,
    laws.DIGRAPH: _graph,
    laws.GRAPH: _graph,
    laws.COMMUNITY_GRAPH: _graph,
    laws.WEIGHTED_GRAPH: _graph,
    laws.SPARSE_WEIGHTED_GRAPH: _graph,
    laws.ROOTED_GRAPH: _rooted_graph,
    laws.ROOTED_WEIGHTED_GRAPH: _rooted_graph,
    laws.DAG: _dag,
    laws.ROOTED_WEIGHTED_DAG: _rooted_dag,
    laws.TWO_STRINGS: _two_strings,
    laws.HAYSTACK: _haystack,
}


def can_enlarge(law: laws.Inputs) -> bool:
    return law in _KERNELS


@cache
def enlarger(law: laws.Inputs) -> Any:
    """The kernel for a law."""
    return specialised(_KERNELS[law], law.fast.__name__, law=law.fast)


def old_arrays(inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """What the kernels call `old`: all inputs that don't follow from others, a graph first."""
    names = [name for name in inputs if name not in ("pos", "adj")]
    names.sort(key=lambda name: name != "A")
    return tuple(inputs[name] for name in names)
