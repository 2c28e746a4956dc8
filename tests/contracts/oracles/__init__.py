"""One judge of the output for each algorithm: `judge(trace, *arguments)` asserts it is right.

The arguments are the judge's own copy of the input.
"""

from __future__ import annotations

from . import arrays, paths, plane, strings, tables, walks

ORACLES = {
    "activity_selector": arrays.most_activities,
    "articulation_points": walks.articulation_points,
    "bellman_ford": paths.shortest_paths,
    "bfs": paths.breadth_first,
    "binary_search": arrays.first_not_below,
    "bridges": walks.bridges,
    "bubble_sort": arrays.stable_order,
    "dag_shortest_paths": paths.shortest_paths,
    "dfs": walks.depth_first,
    "dijkstra": paths.shortest_paths,
    "find_maximum_subarray_kadane": arrays.best_subarray,
    "floyd_warshall": paths.all_pairs,
    "graham_scan": plane.hull,
    "heapsort": arrays.some_order,
    "insertion_sort": arrays.stable_order,
    "jarvis_march": plane.hull,
    "kmp_matcher": strings.prefix_function_and_first_match,
    "lcs_length": tables.longest_common_subsequence,
    "matrix_chain_order": tables.matrix_chain,
    "minimum": arrays.first_minimum,
    "mst_kruskal": paths.spanning_forest,
    "mst_prim": paths.spanning_tree,
    "naive_string_matcher": strings.first_match,
    "optimal_bst": tables.search_tree,
    "quickselect": arrays.median,
    "quicksort": arrays.some_order,
    "segments_intersect": plane.segments,
    "strongly_connected_components": walks.strongly_connected,
    "task_scheduling": arrays.heaviest_tasks_first,
    "topological_sort": walks.topological,
}
