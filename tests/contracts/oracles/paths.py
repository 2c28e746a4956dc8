"""Judges for shortest paths and spanning trees, by networkx and scipy."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
from scipy.sparse import csgraph


def directed(A):
    return nx.from_numpy_array(A, create_using=nx.DiGraph)


def undirected(A):
    return nx.from_numpy_array(A)


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-12)


def length_to(pi, A, s, v):
    """The length of the path from s that the pointers describe, which must follow edges."""
    length = 0.0
    for _ in range(len(pi)):
        if v == s:
            return length
        assert A[pi[v], v] != 0, f"there is no edge from {pi[v]} to {v}"
        length += A[pi[v], v]
        v = pi[v]
    raise AssertionError(f"the pointers from {v} run in a circle")


def shortest_paths(trace, A, s):
    """A tree of shortest paths from s; nodes out of reach point at themselves."""
    pi = trace.outputs["pi"]
    distance = nx.single_source_dijkstra_path_length(directed(A), s)
    assert pi[s] == s
    for v in range(len(pi)):
        if v in distance:
            assert close(length_to(pi, A, s, v), distance[v])
        else:
            assert pi[v] == v


def breadth_first(trace, A, s):
    """A tree of fewest edges, each node at its smallest possible parent."""
    hops = nx.single_source_shortest_path_length(directed(A), s)

    def parent(v):
        before = [u for u in hops if A[u, v] != 0 and hops[u] == hops.get(v, 0) - 1]
        return min(before, default=v)

    assert trace.outputs["pi"].tolist() == [parent(v) for v in range(len(A))]


def spanning_tree(trace, A, s):
    """A minimum spanning tree of the part that s is in; other nodes point at themselves."""
    pi, graph = trace.outputs["pi"], undirected(A)
    part = nx.node_connected_component(graph, s)
    assert pi[s] == s
    for v in range(len(pi)):
        if v in part:
            length_to(pi, A, s, v)  # follows edges, and ends at s
        else:
            assert pi[v] == v
    least = nx.minimum_spanning_tree(graph.subgraph(part)).size("weight")
    assert close(math.fsum(A[pi[v], v] for v in part if v != s), least)


def spanning_forest(trace, A):
    """A minimum spanning tree of each part."""
    in_mst, graph = trace.outputs["in_mst"], undirected(A)
    assert np.array_equal(in_mst, in_mst.T)
    assert not in_mst[A == 0].any()
    forest = undirected(in_mst * A)
    assert nx.is_forest(forest)
    assert nx.number_connected_components(forest) == nx.number_connected_components(graph)
    assert close(forest.size("weight"), nx.minimum_spanning_tree(graph).size("weight"))


def all_pairs(trace, A):
    """Pi[i] is a tree of shortest paths from i; pairs out of reach point at their first node.

    A node with an edge to itself takes the shortest way back to itself, whichever it is.
    """
    Pi, n = trace.outputs["Pi"], len(A)
    distance = csgraph.floyd_warshall(csgraph.csgraph_from_dense(A.copy(), null_value=0))
    for i in range(n):
        for j in range(n):
            if i != j and np.isfinite(distance[i, j]):
                assert close(length_to(Pi[i], A, i, j), distance[i, j])
            elif i != j:
                assert Pi[i, j] == i
    for i in range(n):
        if A[i, i] == 0:
            assert Pi[i, i] == i
        else:
            back = {u: distance[i, u] + A[u, i] for u in range(n) if A[u, i] != 0}
            assert close(back.get(Pi[i, i], np.inf), min(back.values()))
