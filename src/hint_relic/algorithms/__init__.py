"""The algorithms: one room (module) each, and the list of them."""

from __future__ import annotations

from ..errors import choose
from . import (
    activity_selector,
    articulation_points,
    bellman_ford,
    bfs,
    binary_search,
    bridges,
    bubble_sort,
    dag_shortest_paths,
    dfs,
    dijkstra,
    find_maximum_subarray_kadane,
    floyd_warshall,
    graham_scan,
    heapsort,
    insertion_sort,
    jarvis_march,
    kmp_matcher,
    lcs_length,
    matrix_chain_order,
    minimum,
    mst_kruskal,
    mst_prim,
    naive_string_matcher,
    optimal_bst,
    quickselect,
    quicksort,
    segments_intersect,
    strongly_connected_components,
    task_scheduling,
    topological_sort,
)
from .algorithm import Algorithm, Augmentation, Family
from .engine import draw, execute

ROOMS = (
    activity_selector,
    articulation_points,
    bellman_ford,
    bfs,
    binary_search,
    bridges,
    bubble_sort,
    dag_shortest_paths,
    dfs,
    dijkstra,
    find_maximum_subarray_kadane,
    floyd_warshall,
    graham_scan,
    heapsort,
    insertion_sort,
    jarvis_march,
    kmp_matcher,
    lcs_length,
    matrix_chain_order,
    minimum,
    mst_kruskal,
    mst_prim,
    naive_string_matcher,
    optimal_bst,
    quickselect,
    quicksort,
    segments_intersect,
    strongly_connected_components,
    task_scheduling,
    topological_sort,
)

ALGORITHMS: dict[str, Algorithm] = {room.ALGORITHM.name: room.ALGORITHM for room in ROOMS}


def get(name: str) -> Algorithm:
    """The algorithm of that name, or an error with the nearest one."""
    return ALGORITHMS[choose("algorithm", name, ALGORITHMS)]


__all__ = ["ALGORITHMS", "Algorithm", "Augmentation", "Family", "draw", "execute", "get"]
