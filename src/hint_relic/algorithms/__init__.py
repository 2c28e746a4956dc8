"""The algorithms: one room (module) each, and the list of them."""

from __future__ import annotations

from importlib import metadata

from ..errors import UserError, choose
from ..spec import Kind, Location, Stage, of_stage
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
ENTRY_POINTS = "hint_relic.algorithms"  # where other packages name theirs


def get(name: str) -> Algorithm:
    """The algorithm of that name, or an error with the nearest one."""
    return ALGORITHMS[choose("algorithm", name, ALGORITHMS)]


def register(algorithm: Algorithm) -> Algorithm:
    """Add an algorithm of your own (`docs/adding-an-algorithm.md`); its name must be new."""
    name, spec = algorithm.name, algorithm.spec
    if ALGORITHMS.get(name, algorithm) is not algorithm:
        raise UserError(f"there is an algorithm {name!r} already; give yours another name")
    if not name.isidentifier():
        raise UserError(f"{name!r} can't be the name of an algorithm: use letters, digits and _")
    pos = spec.get("pos")
    if pos is None or (pos.location, pos.kind) != (Location.NODE, Kind.SCALAR):
        raise UserError(f'the spec of {name} needs "pos": reads("node", "scalar")')
    for stage in (Stage.HINT, Stage.OUTPUT):
        if not of_stage(spec, stage):
            raise UserError(f"the spec of {name} needs at least one {stage}")
    for hint in (*algorithm.static_hints, *algorithm.contrasted):
        choose(f"hint of {name}", hint, of_stage(spec, Stage.HINT))
    ALGORITHMS[name] = algorithm
    return algorithm


def _register_installed() -> None:
    """Add the algorithms that installed packages name among their entry points."""
    for point in metadata.entry_points(group=ENTRY_POINTS):
        try:
            register(point.load())
        except Exception as error:
            raise UserError(f"the algorithm of the entry point {point.value!r}: {error}") from error


_register_installed()

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Augmentation",
    "Family",
    "draw",
    "execute",
    "get",
    "register",
]
