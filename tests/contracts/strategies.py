"""Inputs made by Hypothesis, with what drawn ones seldom or never have.

Arrays with ties, graphs that are empty, complete or directed, needles that are not in the
haystack, segments that touch. Numbers are eighths where sums are compared, so that they are
exact and ties are frequent.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

MAX_ITEMS, MAX_NODES, MAX_LETTERS = 12, 8, 14

sizes = st.integers(1, MAX_ITEMS)
nodes = st.integers(1, MAX_NODES)


def eighths(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(low, high).map(lambda k: k / 8)


def vector(n, elements) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, n, elements=elements)


# --- arrays ----------------------------------------------------------------------------------

unit_floats = st.floats(0.0, 1.0)
numbers = st.one_of(vector(sizes, eighths(0, 8)), vector(sizes, unit_floats))
array = numbers.map(lambda key: (key,))
sorted_array = st.tuples(numbers.map(np.sort), st.one_of(eighths(-1, 9), unit_floats))
signed_array = vector(sizes, eighths(-8, 8)).map(lambda key: (key,))
positive_array = vector(sizes, eighths(1, 8)).map(lambda key: (key,))


@st.composite
def weights(draw):
    """Keys' and gaps' weights; they need not add up to 1."""
    n = draw(st.integers(1, MAX_NODES))
    return draw(vector(n, eighths(0, 8))), draw(vector(n + 1, eighths(0, 8)))


@st.composite
def activities(draw):
    """Activities that take time, however short."""
    n = draw(sizes)
    start = draw(vector(n, eighths(0, 16)))
    return start, start + draw(vector(n, eighths(1, 8)))


@st.composite
def tasks(draw):
    n = draw(sizes)
    deadlines = draw(vector(n, st.integers(1, n + 1).map(float)))
    return deadlines, draw(vector(n, eighths(0, 8)))


# --- graphs ----------------------------------------------------------------------------------


@st.composite
def masks(draw):
    """Any square matrix of zeros and ones, often the emptiest or the fullest."""
    n = draw(nodes)
    return draw(
        st.one_of(
            arrays(np.int8, (n, n), elements=st.integers(0, 1)),
            st.sampled_from([np.zeros((n, n), np.int8), np.ones((n, n), np.int8)]),
        )
    ).astype(np.float64)


def symmetric(A: np.ndarray) -> np.ndarray:
    return np.triu(A) + np.triu(A, 1).T


@st.composite
def acyclic(draw):
    A = np.triu(draw(masks()), 1)
    order = np.array(draw(st.permutations(range(len(A)))))
    return A[order][:, order]


@st.composite
def weighted(draw, graphs):
    A = draw(graphs)
    return A * draw(arrays(np.float64, A.shape, elements=eighths(1, 8)))


@st.composite
def rooted(draw, graphs):
    A = draw(graphs)
    return A, draw(st.integers(0, len(A) - 1))


undirected_graphs = masks().map(symmetric)
undirected_weighted_graphs = weighted(masks()).map(symmetric)
any_weighted_graphs = st.one_of(undirected_weighted_graphs, weighted(masks()))


def alone(graphs):
    return graphs.map(lambda A: (A,))


# --- strings ---------------------------------------------------------------------------------


def letters(low: int, high: int, alphabet: int):
    return arrays(np.int64, st.integers(low, high), elements=st.integers(0, alphabet - 1))


two_strings = st.tuples(letters(1, 10, 4), letters(1, 10, 4))
haystack_and_needle = st.one_of(
    st.tuples(letters(1, MAX_LETTERS, 2), letters(1, 5, 2)),
    st.tuples(letters(1, MAX_LETTERS, 4), letters(1, 3, 4)),
)


# --- points of the plane ---------------------------------------------------------------------


@st.composite
def general_points(draw):
    """Points of a lattice, no three on a line."""
    places = st.tuples(st.integers(-40, 40), st.integers(-40, 40))
    kept: list[tuple[int, int]] = []
    for x, y in draw(st.lists(places, min_size=1, max_size=MAX_ITEMS, unique=True)):
        lines = ((a, b) for i, a in enumerate(kept) for b in kept[:i])
        if all((b[0] - a[0]) * (y - a[1]) != (b[1] - a[1]) * (x - a[0]) for a, b in lines):
            kept.append((x, y))
    x, y = np.array(kept, np.float64).T
    return x.copy(), y.copy()


two_segments = st.tuples(vector(4, eighths(0, 4)), vector(4, eighths(0, 4)))


ARGUMENTS = {
    "activity_selector": activities(),
    "articulation_points": alone(undirected_graphs),
    "bellman_ford": rooted(any_weighted_graphs),
    "bfs": rooted(st.one_of(undirected_graphs, masks())),
    "binary_search": sorted_array,
    "bridges": alone(undirected_graphs),
    "bubble_sort": array,
    "dag_shortest_paths": rooted(weighted(acyclic())),
    "dfs": alone(masks()),
    "dijkstra": rooted(any_weighted_graphs),
    "find_maximum_subarray_kadane": signed_array,
    "floyd_warshall": alone(any_weighted_graphs),
    "graham_scan": general_points(),
    "heapsort": array,
    "insertion_sort": array,
    "jarvis_march": general_points(),
    "kmp_matcher": haystack_and_needle,
    "lcs_length": two_strings,
    "matrix_chain_order": positive_array,
    "minimum": array,
    "mst_kruskal": alone(undirected_weighted_graphs),
    "mst_prim": rooted(undirected_weighted_graphs),
    "naive_string_matcher": haystack_and_needle,
    "optimal_bst": weights(),
    "quickselect": array,
    "quicksort": array,
    "segments_intersect": two_segments,
    "strongly_connected_components": alone(masks()),
    "task_scheduling": tasks(),
    "topological_sort": alone(acyclic()),
}
