"""Outputs read in the algorithm's own terms: the true ones give the right answer, judged by others.

What a network predicts need not make sense; then a reading says so and does not fail.
"""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.data import trace
from hint_relic.reasoner.readings import Given, read
from hint_relic.spec import Kind


def letters_of(drawn):
    return ["ACGT"[k] for k in drawn.inputs["key"]] if "string" in drawn.inputs else None


def given_of(drawn, labels=None):
    return Given(drawn.inputs, labels or letters_of(drawn) or list(range(drawn.nodes)))


def strings(drawn):
    n = int(np.sum(drawn.inputs["string"] == 0))
    both = "".join(letters_of(drawn))
    return both[:n], both[n:]


def graph(drawn, directed=False):
    A = np.where(np.eye(drawn.nodes, dtype=bool), 0.0, drawn.inputs["A"])
    return nx.from_numpy_array(A, create_using=nx.DiGraph if directed else nx.Graph)


def pairs(edges):
    return {tuple(sorted(edge)) for edge in edges}


# --- judges: is this value the right answer to this input? ---------------------------------------


def is_sorted(value, drawn):
    return value.tolist() == sorted(drawn.inputs["key"].tolist())


def shortest_tree(directed):
    def judge(value, drawn):
        g, s = graph(drawn, directed), int(drawn.inputs["s"])
        return tree_is_shortest(value, g, s)

    return judge


def tree_is_shortest(parent, g, s):
    far = nx.single_source_dijkstra_path_length(g, s)
    for v, p in parent.items():
        if v == s or v not in far:
            assert p is None
        else:
            assert math.isclose(far[v], far[p] + g[p][v]["weight"], rel_tol=1e-9)
    return set(parent) == set(g)


def fewest_hops(value, drawn):
    return shortest_tree(False)(value, drawn)  # all weigh 1


def depth_first(value, drawn):
    g, parents = graph(drawn, directed=True), {}
    for root in g:
        if root not in parents:
            parents[root] = None
            inside = g.subgraph([v for v in g if v not in parents or v == root])
            parents |= {v: u for u, v in nx.dfs_edges(inside, root, sort_neighbors=sorted)}
    return value == parents


def spanning_tree(value, drawn):
    g, s = graph(drawn), int(drawn.inputs["s"])
    part = g.subgraph(nx.node_connected_component(g, s))
    edges = [(v, p) for v, p in value.items() if p is not None]
    assert pairs(edges) == pairs(nx.minimum_spanning_tree(part).edges)
    return value[s] is None


def every_pair(value, drawn):
    g = graph(drawn)
    return all(tree_is_shortest(value[s], g, s) for s in g)


def components(value, drawn):
    found = nx.strongly_connected_components(graph(drawn, directed=True))
    return sorted(map(sorted, value)) == sorted(map(sorted, found))


def forward(value, drawn):
    place = {v: i for i, v in enumerate(value)}
    assert set(place) == set(range(drawn.nodes))
    return all(place[u] < place[v] for u, v in graph(drawn, directed=True).edges)


def activities(value, drawn):
    spans = sorted((drawn.inputs["s"][i], drawn.inputs["f"][i]) for i in value)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    return value == np.flatnonzero(drawn.outputs["selected"]).tolist()


def subarray(value, drawn):
    key = drawn.inputs["key"]
    sums = [key[i:j].sum() for i in range(len(key)) for j in range(i + 1, len(key) + 1)]
    return math.isclose(key[value["start"] : value["end"] + 1].sum(), max(sums))


def longest_common(value, drawn):
    first, second = strings(drawn)

    def inside(string):
        rest = iter(string)
        return all(letter in rest for letter in value)

    length = drawn.hints["c"][-1].max()
    return inside(first) and inside(second) and len(value) == length


def cheapest_product(value, drawn):
    p = drawn.inputs["p"]

    def cost(part):
        if isinstance(part, int):
            return 0.0, part, part
        (a, i, k), (b, _, j) = map(cost, part)
        return a + b + p[i - 1] * p[k] * p[j], i, j

    total, first, last = cost(value)
    assert (first, last) == (1, len(p) - 1)
    return math.isclose(total, drawn.hints["m"][-1][1, -1])


def search_tree(value, drawn):
    """Parents of all keys, one root, of the least cost."""
    p, q = drawn.inputs["p"][:-1], drawn.inputs["q"]
    g = nx.DiGraph([(u, v) for v, u in value.items() if u is not None])
    g.add_nodes_from(value)
    (root,) = [v for v, u in value.items() if u is None]
    assert nx.is_arborescence(g)
    depth = nx.single_source_shortest_path_length(g, root)
    assert sorted(value) == list(range(len(p)))
    gaps = [1 + max(depth[k] for k in (i - 1, i) if 0 <= k < len(p)) for i in range(len(q))]
    cost = sum((depth[i] + 1) * p[i] for i in value) + sum(map(math.prod, zip(gaps, q)))
    return math.isclose(cost + q.sum(), drawn.hints["e"][-1][0, -1])


def hull(value, drawn):
    from scipy.spatial import ConvexHull

    return value == sorted(ConvexHull(np.stack([drawn.inputs["x"], drawn.inputs["y"]], 1)).vertices)


def found_at(value, drawn):
    haystack, needle = strings(drawn)
    place = haystack.find(needle)
    return value == (None if place < 0 else place)


JUDGES = {
    "activity_selector": activities,
    "articulation_points": lambda v, t: v == sorted(nx.articulation_points(graph(t))),
    "bellman_ford": shortest_tree(False),
    "bfs": fewest_hops,
    "binary_search": lambda v, t: (
        v == min(np.searchsorted(t.inputs["key"], t.inputs["target"]), t.nodes - 1)
    ),
    "bridges": lambda v, t: pairs(v) == pairs(nx.bridges(graph(t))) and len(v) == len(pairs(v)),
    "bubble_sort": is_sorted,
    "dag_shortest_paths": shortest_tree(True),
    "dfs": depth_first,
    "dijkstra": shortest_tree(False),
    "find_maximum_subarray_kadane": subarray,
    "floyd_warshall": every_pair,
    "graham_scan": hull,
    "heapsort": is_sorted,
    "insertion_sort": is_sorted,
    "jarvis_march": hull,
    "kmp_matcher": found_at,
    "lcs_length": longest_common,
    "matrix_chain_order": cheapest_product,
    "minimum": lambda v, t: v == np.argmin(t.inputs["key"]),
    "mst_kruskal": lambda v, t: pairs(v) == pairs(nx.minimum_spanning_tree(graph(t)).edges),
    "mst_prim": spanning_tree,
    "naive_string_matcher": found_at,
    "optimal_bst": search_tree,
    "quickselect": lambda v, t: t.inputs["key"][v] == np.sort(t.inputs["key"])[t.nodes // 2],
    "quicksort": is_sorted,
    "segments_intersect": lambda v, t: v is bool(t.outputs["intersect"]),
    "strongly_connected_components": components,
    "task_scheduling": lambda v, t: v == np.flatnonzero(t.outputs["selected"]).tolist(),
    "topological_sort": forward,
}


def test_every_algorithm_is_judged():
    assert JUDGES.keys() == ALGORITHMS.keys()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_true_outputs_give_the_right_answer(name):
    for seed in range(4):
        drawn = trace(name, size=9, seed=seed)
        found = read(drawn.spec, given_of(drawn), drawn.outputs)
        assert found.problem == ""
        assert JUDGES[name](found.value, drawn)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_any_outputs_can_be_read(name):
    """Random outputs give some value; a wrong one of a tree, a list, … is mostly called so."""
    drawn, rng = trace(name, size=9, seed=0), np.random.default_rng(0)
    for _ in range(20):
        outputs = {}
        for key, value in drawn.outputs.items():
            field = get(name).spec[key]
            most = 2 if field.kind is Kind.MASK else field.classes or drawn.nodes
            outputs[key] = rng.integers(0, most, np.shape(value))
        read(drawn.spec, given_of(drawn), outputs)


def test_nodes_keep_their_names():
    drawn = trace("bfs", size=4, seed=2)
    named = read(drawn.spec, given_of(drawn, list("abcd")), drawn.outputs).value
    plain = read(drawn.spec, given_of(drawn), drawn.outputs).value
    assert named == {"abcd"[v]: None if p is None else "abcd"[p] for v, p in plain.items()}


@pytest.mark.parametrize(
    ("name", "outputs", "problem"),
    [
        ("heapsort", {"pred": [0, 0, 0, 1]}, "only 3 of 4 items"),
        ("heapsort", {"pred": [0, 2, 1, 2]}, "only 1 of 4 items"),
        ("topological_sort", {"topo": [1, 0, 2, 3], "topo_head": 0}, "only 2 of 4 nodes"),
        ("strongly_connected_components", {"scc_id": [1, 2, 2, 3]}, "names a component"),
        ("optimal_bst", {"root": np.full((4, 4), 3)}, "not among them"),
        ("matrix_chain_order", {"s": np.zeros((4, 4), int)}, "not among them"),
        ("kmp_matcher", {"match": 3}, "within the needle"),
    ],
)
def test_what_makes_no_sense_is_said(name, outputs, problem):
    size = 3 if name == "optimal_bst" else 4
    drawn = trace(name, size=size, seed=0)
    arrays = {key: np.asarray(value) for key, value in outputs.items()}
    if name == "kmp_matcher":  # the needle is one letter, at the end
        arrays["match"] = np.asarray(4)
        drawn = drawn._replace(inputs={**drawn.inputs, "string": np.array([0, 0, 1, 1])})
    assert problem in read(drawn.spec, given_of(drawn), arrays).problem


@pytest.mark.parametrize(
    ("pi", "problem"),
    [([1, 0, 2], "the source, 0, is given a parent"), ([0, 0, 0], "no edge from 0 to 2"),
     ([0, 2, 1], "run in a circle"), ([0, 0, 1], "")],
)  # fmt: skip
def test_trees_are_checked(pi, problem):
    A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], float)
    given = Given({"A": A, "s": np.asarray(0)}, range(3))
    found = read(get("bfs").spec, given, {"pi": np.array(pi)})
    assert problem in found.problem
    assert bool(found.problem) == bool(problem)
