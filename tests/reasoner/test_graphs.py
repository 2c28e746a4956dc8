"""Graphs with names: networkx, GraphML, lists of edges. Read rightly or refused, never guessed."""

from __future__ import annotations

from io import BytesIO

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hint_relic.algorithms import get
from hint_relic.data.user_input import arguments
from hint_relic.errors import UserError
from hint_relic.reasoner.graphml import from_graphml
from hint_relic.reasoner.taken import letters, take

WEIGHTED = nx.Graph()
WEIGHTED.add_weighted_edges_from([("a", "b", 0.5), ("b", "c", 2.0), ("d", "d", 1.0)])


def graphml(graph):
    out = BytesIO()
    nx.write_graphml(graph, out, named_key_ids=True)
    return out.getvalue().decode()


def matrix(name, value, **fields):
    """(what the kernel gets, the nodes' names) for an input."""
    taken = take(get(name), value, fields)
    return arguments(get(name), taken.value)[0], taken.labels


def assert_is(graph, found):
    (A, *_), labels = found
    assert list(labels) == list(graph)
    np.testing.assert_array_equal(A, nx.to_numpy_array(graph))


@pytest.mark.parametrize("directed", [False, True])
def test_networkx_and_graphml_give_the_same_matrix(directed):
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("a", "d")]) if directed else WEIGHTED
    name = "dfs" if directed else "mst_kruskal"
    assert_is(graph, matrix(name, graph))
    assert_is(graph, matrix(name, graphml(graph)))


def test_edges_between_names_as_json_and_as_lines():
    edges = [["a", "b", 0.5], ["b", "c", 2], ["d", "d", 1]]
    assert_is(WEIGHTED, matrix("mst_kruskal", {"edges": edges}))
    assert_is(WEIGHTED, matrix("mst_kruskal", {"nodes": ["a", "b", "c", "d"], "edges": edges}))
    assert_is(WEIGHTED, matrix("mst_kruskal", "a b 0.5\nb c 2 # far\n\nd,d,1"))
    assert_is(nx.empty_graph("ab"), matrix("bridges", {"nodes": ["a", "b"], "edges": []}))
    assert matrix("bfs", "a b\nb c", source="c")[0][1] == 2
    assert matrix("bfs", "0 1\n1 2", source="2")[0][1] == 2
    assert matrix("bfs", WEIGHTED_AS_ONES, source="b")[0][1] == 1
    assert matrix("bfs", graphml(WEIGHTED_AS_ONES), source="b")[0][1] == 1


WEIGHTED_AS_ONES = nx.Graph([("a", "b"), ("b", "c")])


def test_an_undirected_graph_goes_both_ways_where_direction_counts():
    (A,), _ = matrix("dfs", nx.path_graph(4))
    np.testing.assert_array_equal(A, A.T)


def xml(inside, default="undirected", keys=""):
    return f"<graphml>{keys}<graph edgedefault='{default}'>{inside}</graph></graphml>"


NODES = "<node id='a'/><node id='b'/><node id='c'/><node id='d'/>"
KEY = "<key id='w' for='edge' attr.name='weight'><default>2</default></key>"
OTHER = "<key id='x' for='edge' attr.name='colour'><default>7</default></key>"


def test_graphml_defaults():
    edges = "<edge source='a' target='b'/><edge source='b' target='c'><data key='w'>3</data></edge>"
    found = from_graphml(xml(NODES + edges, keys=KEY + OTHER))
    assert found.value["edges"] == [[0, 1, 2.0], [1, 2, 3.0]]
    coloured = "<edge source='a' target='b'><data key='x'>9</data></edge>"
    assert from_graphml(xml(NODES + coloured, keys=OTHER)).value["edges"] == [[0, 1]]


BOMB = "<!DOCTYPE b [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><graphml>&b;</graphml>"
NAN = nx.Graph()
NAN.add_edge("a", "b", weight=float("nan"))
MIXED = nx.Graph(WEIGHTED)
MIXED.add_edge("a", "c")
BAD = [
    ("mst_kruskal", BOMB, "document type"),
    ("mst_kruskal", "<graphml><graph>", "not valid XML"),
    ("mst_kruskal", "<svg/>", "has no <graph>"),
    ("mst_kruskal", xml("<node/>"), "a <node> of the GraphML has no 'id'"),
    ("mst_kruskal", xml("<hyperedge/>"), "hyperedges"),
    ("mst_kruskal", xml("<graph/>"), "nested"),
    ("mst_kruskal", xml(NODES + "<edge source='a' target='z'/>"), "unknown node 'z'"),
    ("mst_kruskal", xml(NODES + "<edge source='a' target='b' directed='true'/>"), "both directed"),
    ("mst_kruskal", xml(NODES, keys="<graph/>" + KEY), "comes after its <graph>"),
    ("mst_kruskal", xml(NODES, default="directed"), "takes undirected graphs"),
    (
        "mst_kruskal",
        xml(NODES + "<edge source='a' target='b'><data key='w'>x</data></edge>", keys=KEY),
        "must be a number, not 'x'",
    ),
    ("mst_kruskal", nx.DiGraph(WEIGHTED), "takes undirected graphs"),
    ("mst_kruskal", nx.MultiGraph(WEIGHTED), "parallel edges"),
    ("mst_kruskal", NAN, "must be a finite number, not nan"),
    ("mst_kruskal", MIXED, "from 'a' to 'c' has no weight, others do"),
    ("mst_kruskal", nx.Graph(), "no nodes"),
    ("mst_kruskal", nx.empty_graph(5000), "at most 4096 nodes are allowed, not 5000"),
    ("bfs", WEIGHTED, "without weights"),
    ("bfs", {"edges": [["a", "b"], ["b", 3.5]], "source": "q"}, "unknown node 'q'"),
    ("bfs", {"nodes": ["a", "a"], "edges": []}, "'a' is listed twice"),
    ("bfs", {"nodes": 3, "edges": [["a", "b"]]}, "must be the list of names"),
    ("bfs", {"nodes": ["a", ["b"]], "edges": []}, "name or a number"),
    ("bfs", {"nodes": ["node", "b"], "edges": [["noed", "b"]]}, "did you mean 'node'"),
    ("bfs", {"nodes": ["a"], "edges": [["a"]]}, r"edges\[0\] must be"),
    ("bfs", {"nodes": ["a", "b"], "edges": [["a", "b"]], "sauce": 1}, "unknown key 'sauce'"),
    ("bfs", "a b\nc", "a line of edges is"),
    ("bfs", "a b\nb a", "given twice"),
    ("topological_sort", nx.DiGraph([("a", "b"), ("b", "a")]), "no cycle"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_graphs_are_refused_in_one_line(name, value, message):
    with pytest.raises(UserError, match=message) as refusal:
        matrix(name, value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "fields", "message"),
    [
        ("dfs", nx.path_graph(3), {"source": 0}, "unknown key 'source'"),
        ("bfs", nx.path_graph(3), {"target": 0}, "unknown key 'target'"),
        ("bfs", {"edges": [[0, 1]], "source": 0}, {"source": 1}, "given twice"),
        ("heapsort", nx.path_graph(3), {}, "takes no graph"),
    ],
)
def test_what_stands_beside_the_input_must_belong_to_it(name, value, fields, message):
    with pytest.raises(UserError, match=message):
        matrix(name, value, **fields)


def test_named_parts_make_one_input():
    (key, target), _ = matrix("binary_search", [1, 4, 9], target=3)
    assert (key.tolist(), target) == ([1, 4, 9], 3)
    assert len(matrix("kmp_matcher", None, haystack="ACGT", needle="GT")[0][1]) == 2


@pytest.mark.parametrize("value", ["xyx y", ["xyx", "y"], {"needle": "y", "haystack": "xyx"}])
def test_letters(value):
    assert letters(get("kmp_matcher"), value) == ["x", "y", "x", "y"]
    assert letters(get("bfs"), value) is None


@given(st.text(alphabet="<>/abc='graphmlnodeidedgesourcetarget ", max_size=60))
def test_any_text_is_read_or_refused(text):
    for value in (text, f"<graphml><graph>{text}</graph></graphml>"):
        try:
            matrix("bridges", value)
        except UserError as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017
