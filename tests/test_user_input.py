"""A user's own input: what is accepted runs as it should, everything else is told in one line."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hint_relic.algorithms import ALGORITHMS, engine, get
from hint_relic.data import forms, trace
from hint_relic.data.show import trace_data
from hint_relic.data.user_input import arguments, read, run
from hint_relic.errors import UserError
from hint_relic.types import Trace

ONE_OF_EACH_FORM = {a.inputs.form: name for name, a in ALGORITHMS.items()}


def as_user_input(drawn: Trace) -> dict[str, Any]:
    """The inputs of a trace in the words a user would use."""
    given = {k: v for k, v in drawn.inputs.items() if k not in ("pos", "adj")}
    if "A" in given:
        words = {"A": "adjacency", "s": "source"}
        return {words[k]: v for k, v in given.items()}
    if "string" in given:
        first, second = (given["key"][given["string"] == i] for i in (0, 1))
        form = get(drawn.algorithm).inputs.form
        keys = ("haystack", "needle") if "needle" in form else ("first", "second")
        return dict(zip(keys, (first, second)))
    if form_is_weights := get(drawn.algorithm).inputs.form == "weights":
        given["p"] = given["p"][:-1]  # the spec pads it
    assert form_is_weights or len(given) <= 2
    return given


def assert_same(a: Trace, b: Trace) -> None:
    for stage in ("inputs", "hints", "outputs"):
        for name, value in getattr(a, stage).items():
            np.testing.assert_array_equal(value, getattr(b, stage)[name], err_msg=name)


def test_there_is_a_parser_for_exactly_the_forms_in_use():
    assert set(forms.FORMS) == set(ONE_OF_EACH_FORM)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_drawn_input_given_back_runs_the_same(name):
    drawn = trace(name, size=9, seed=5)
    arrays = as_user_input(drawn)
    assert_same(drawn, run(name, arrays))
    lists = {k: np.asarray(v).tolist() for k, v in arrays.items()}
    assert_same(drawn, run(name, json.loads(json.dumps(lists))))


@pytest.mark.parametrize("name", ONE_OF_EACH_FORM.values())
def test_the_example_of_each_form_runs(name):
    form = get(name).inputs.form
    names = [n for n in get(name).spec if n not in ("pos", "adj", "string")]
    example = json.loads(forms.FORMS[form].example.format(*names))
    if form == "directed graph":  # of which one drawn in four communities needs four nodes
        example["nodes"] = 4
    assert run(name, example).steps >= 1


def test_the_same_graph_in_every_notation():
    by_edges = {"nodes": 4, "edges": [[0, 1, 0.5], [1, 2, 2]], "source": 1, "directed": False}
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = 0.5
    A[1, 2] = A[2, 1] = 2
    expected = run("dijkstra", {"adjacency": A, "source": 1})
    assert expected.outputs["pi"].tolist() == [1, 1, 1, 3]
    assert_same(expected, run("dijkstra", by_edges))
    assert_same(expected, run("dijkstra", {"adjacency": A.tolist(), "source": 1.0}))
    text = "0 1 0.5  # a comment\n\n1,2,2\n3 3 1\n"
    assert run("dijkstra", text).inputs["s"] == 0
    assert run("mst_kruskal", A.tolist()).outputs["in_mst"].sum() == 4


def test_a_directed_algorithm_takes_an_undirected_graph_as_two_ways():
    both = run("dfs", {"edges": [[0, 1], [1, 2]], "directed": False})
    np.testing.assert_array_equal(both.inputs["A"], both.inputs["A"].T)


def test_arrays_as_text_list_tuple_and_array():
    for value in ("5, 2,8 1", [5, 2, 8, 1], (5, 2.0, 8, 1), np.array([5, 2, 8, 1], np.uint8)):
        assert run("quicksort", value).outputs["pred"].tolist() == [1, 3, 0, 3]


def test_pairs_can_be_listed():
    by_name = run("activity_selector", {"s": [0, 2, 1], "f": [2, 4, 3]})
    assert_same(by_name, run("activity_selector", [[0, 2], [2, 4], [1, 3]]))
    assert by_name.outputs["selected"].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("haystack", "needle", "expected"),
    [("ACGTA", "GT", [0, 1, 2, 3, 0]), ("xyzzy", "zz", [0, 1, 2, 2, 1]), ("31301", "0", None)],
)
def test_letters_are_numbered(haystack, needle, expected):
    found = run("kmp_matcher", {"haystack": haystack, "needle": needle})
    key = found.inputs["key"][: len(haystack)].tolist()
    assert key == (expected or [int(c) for c in haystack])
    assert found.outputs["match"] == haystack.index(needle)
    assert_same(found, run("kmp_matcher", f"{haystack} {needle}"))


def test_a_needle_that_is_not_there():
    assert run("naive_string_matcher", ["AAAA", "C"]).outputs["match"] == 4


def test_negative_weights_are_fine_without_cycles():
    found = run("dag_shortest_paths", {"edges": [[0, 1, 1], [0, 2, 2], [2, 1, -3]]})
    assert found.outputs["pi"].tolist() == [0, 2, 0]


GRAPH = {"nodes": 3, "edges": [[0, 1], [1, 2]]}
FLAT = [[0, 0], [1, 1], [2, 2]]
BAD = [
    ("heapsort", [], "between 1 and 4096 items, not 0"),
    ("heapsort", [1], "at least 2, not 1"),
    ("heapsort", None, "must be a list, not None; heapsort takes input like"),
    ("heapsort", 5, "must be a list"),
    ("heapsort", True, "must be a list"),
    ("heapsort", {}, "'key' is missing"),
    ("heapsort", {"kee": [1, 2]}, "did you mean 'key'"),
    ("heapsort", {7: [1, 2]}, "unknown key '7'"),
    ("heapsort", [1, "2"], r"key\[1\] must be a number, not '2'"),
    ("heapsort", [True, False], r"key\[0\] must be a number, not True"),
    ("heapsort", np.array([True, False]), "must be a number"),
    ("heapsort", np.array([1j, 2]), "must be a number"),
    ("heapsort", np.array(3.0), "must be a list"),
    ("heapsort", np.ones((2, 2)), "must be a number"),
    ("heapsort", [1, [2]], "must be a number"),
    ("heapsort", [1.0, float("nan")], r"key\[1\] must be a finite number"),
    ("heapsort", [1, float("inf")], "finite"),
    ("heapsort", [1, 10**400], "finite"),
    ("heapsort", [1, [10**5000]], "must be a number, not something"),
    ("heapsort", [0.5] * 5000, "between 1 and 4096 items, not 5000"),
    ("heapsort", "1, two, 3", "can't make numbers of"),
    ("matrix_chain_order", {"key": [1, 2]}, "Choose from: p"),
    ("binary_search", {"key": [3, 1, 2], "target": 2}, "sorted: item 1 is smaller"),
    ("binary_search", {"key": [1, 2]}, "'target' is missing"),
    ("binary_search", {"key": [1, 2], "target": "x"}, "target must be a number"),
    ("binary_search", [1, 2], "expected an object"),
    ("optimal_bst", {"p": [0.5], "q": [0.5]}, r"one item more than p \(2\), not 1"),
    ("optimal_bst", {"p": [-0.5], "q": [0.5, 1]}, "none may be negative"),
    ("optimal_bst", {"p": [1e9], "q": [0.5, 1]}, "too large"),
    ("activity_selector", {"s": [3, 0], "f": [1, 2]}, "interval 0 ends before it starts"),
    ("activity_selector", {"s": [3, 0], "f": [4]}, "s has 2 items but f has 1"),
    ("activity_selector", [[1, 2], [3]], r"item 1 must be a pair of numbers \(s, f\)"),
    ("task_scheduling", {"d": [1, 0], "w": [1, 1]}, r"positive whole numbers: d\[1\] is 0"),
    ("task_scheduling", {"d": [1.5, 1], "w": [1, 1]}, "positive whole numbers"),
    ("bfs", [], "adjacency must have between 1"),
    ("bfs", [[0, 1], [1]], "square: it has 2 rows, but row 1 has 1"),
    ("bfs", [[0, 1, 0], [1, 0, 0]], "square"),
    ("bfs", [0, 1], r"adjacency\[0\] must be a list"),
    ("bfs", {"adjacency": [[0, 1], [0, 0]]}, r"symmetric, but \(0, 1\) is 1 and \(1, 0\) is 0"),
    ("bfs", {"adjacency": [[0, 0.5], [0.5, 0]]}, "without weights"),
    ("bfs", {"adjacency": [[0]]}, "at least 2"),
    ("bfs", {**GRAPH, "source": 3}, "source must be a whole number from 0 to 2, not 3"),
    ("bfs", {**GRAPH, "source": 0.5}, "source must be a whole number"),
    ("bfs", {**GRAPH, "source": None}, "source must be a number"),
    ("bfs", {**GRAPH, "sauce": 1}, "did you mean 'source'"),
    ("bfs", {**GRAPH, "directed": True}, "takes undirected graphs"),
    ("bfs", {**GRAPH, "directed": 1}, "true or false"),
    ("bfs", {**GRAPH, "adjacency": [[0]]}, "unknown key 'adjacency'"),
    ("bfs", {"nodes": 3}, "unknown key 'nodes'"),
    ("bfs", {"nodes": 2, "edges": [[0, 2]]}, "from 0 to 1, not 2"),
    ("bfs", {"nodes": 10**9, "edges": [[0, 1]]}, "from 1 to 4096"),
    ("bfs", {"edges": [[0, 10**7]]}, "from 1 to 4096"),
    ("bfs", {"edges": [[0, -1], [0, 1]]}, "whole number from 0"),
    ("bfs", {"edges": [[0, 1], [1, 0]]}, "given twice"),
    ("bfs", {"edges": [[0, 1, 2, 3]]}, r"must be \[from, to\] or"),
    ("bfs", {"edges": []}, "edges must have between 1"),
    ("bfs", {"edges": 3}, "must be a list"),
    ("bfs", "0 one", "can't make numbers"),
    ("dfs", {**GRAPH, "source": 1}, "unknown key 'source'"),
    ("dijkstra", {"edges": [[0, 1, 0]]}, "weighs 0, which stands for no edge"),
    ("dijkstra", {"edges": [[0, 1, -0.5]]}, "negative weight, -0.5"),
    ("bellman_ford", [[0, -1], [-1, 0]], "negative"),
    ("topological_sort", {"edges": [[0, 1], [1, 2], [2, 0], [2, 3]]}, "no cycle"),
    ("topological_sort", {"edges": [[0, 0], [0, 1]]}, "0 -> 0"),
    ("topological_sort", {**GRAPH, "directed": False}, "no cycle"),
    ("dag_shortest_paths", [[0, 1], [1, 0]], "1 -> 0 -> 1|0 -> 1 -> 0"),
    ("strongly_connected_components", GRAPH, "at least 4, not 3"),
    ("kmp_matcher", {"haystack": "AC", "needle": "ACG"}, "must not be longer"),
    ("kmp_matcher", {"haystack": "ACGT", "needle": ""}, "needle must have between 1"),
    ("kmp_matcher", {"haystack": "ABCDE", "needle": "A"}, "at most 4 different letters"),
    ("kmp_matcher", {"haystack": "A", "needle": "A"}, "at least 3"),
    ("kmp_matcher", {"haystack": [0, 4], "needle": [0]}, r"haystack\[1\].* from 0 to 3"),
    ("kmp_matcher", {"haystack": 3, "needle": "A"}, "haystack must be a list"),
    ("kmp_matcher", {"haystack": "A" * 4096, "needle": "A"}, "at most 4096 nodes"),
    ("kmp_matcher", {"haystack": "A" * 9999, "needle": "A"}, "between 1 and 4096 letters"),
    ("lcs_length", ["A", "C", "G"], "expected an object"),
    ("lcs_length", "ACGT", "expected an object"),
    ("graham_scan", [[0, 0], [1, 1]], "at least 3 points"),
    ("graham_scan", FLAT, "points 0, 1, 2 lie on one line"),
    ("jarvis_march", [[0, 0], [0.1, 0.1], [5, 1], [0.3, 0.3]], "points 0, 1, 3 lie on one line"),
    ("jarvis_march", [[0, 0], [1, 0], [0, 1], [1, 0]], "points 1 and 3 are the same"),
    ("graham_scan", [[0, 0], [1, 0], [0, float("nan")]], "finite"),
    ("segments_intersect", [[0, 0], [1, 1], [2, 3]], "exactly 4 points .*not 3"),
    ("segments_intersect", {"x": [1, 2, 3, 4]}, "'y' is missing"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_input_is_refused_in_one_line(name, value, message):
    with pytest.raises(UserError, match=message) as refusal:
        run(name, value)
    assert "\n" not in str(refusal.value)


def test_a_cycle_is_a_cycle():
    edges = [[0, 1], [1, 2], [2, 3], [3, 1], [3, 4]]
    with pytest.raises(UserError) as refusal:
        run("topological_sort", {"edges": edges})
    cycle = [int(word) for word in str(refusal.value).split("has ")[-1].split(" -> ")]
    assert cycle[0] == cycle[-1]
    assert all([u, v] in edges for u, v in pairwise(cycle))


def test_unknown_algorithm():
    with pytest.raises(UserError, match="did you mean 'bfs'"):
        run("bsf", GRAPH)


@pytest.mark.parametrize("name", ["bubble_sort", "floyd_warshall"])
def test_what_would_not_fit_is_refused(name, monkeypatch):
    monkeypatch.setattr(engine, "MAX_HINTS", 20_000)
    value = [[1] * 30] * 30 if name == "floyd_warshall" else list(range(30))
    with pytest.raises(UserError, match="GB for its hints"):
        run(name, value)
    assert run(name, [[0, 1], [1, 0]] if name == "floyd_warshall" else [2, 1]).steps == 2


def test_the_input_is_not_altered():
    key = np.array([3.0, 1.0, 2.0])
    run("heapsort", key)
    assert key.tolist() == [3.0, 1.0, 2.0]


def test_hulls_of_many_points_are_checked_and_run():
    points = np.random.default_rng(0).uniform(size=(200, 2))
    (x, _), nodes = arguments(get("graham_scan"), points)
    assert nodes == 200
    np.testing.assert_array_equal(x, points[:, 0])
    points[150] = (points[3] + points[70]) / 2
    with pytest.raises(UserError, match="points 3, 70, 150 lie on one line"):
        arguments(get("graham_scan"), points)


# --- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2.5]", [1, 2.5]),
        ('\ufeff {"key": [1]} ', {"key": [1]}),
        (" 5,2,8\n", "5,2,8"),
        ("0 1 0.5\n1 2 1\n", "0 1 0.5\n1 2 1"),
    ],
)
def test_read(tmp_path, text, expected):
    path = tmp_path / "input"
    path.write_text(text, encoding="utf-8")
    assert read(str(path)) == expected


def test_read_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"[1, 2]")))
    assert read("-") == [1, 2]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[1, 2", "not valid JSON"),
        (b'{"a": 1,}', "not valid JSON"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "not valid JSON"),
        (b'{"key": [1], "key": [2]}', "appears twice"),
    ],
)
def test_unreadable_files(tmp_path, raw, message):
    path = tmp_path / "input"
    path.write_bytes(raw)
    with pytest.raises(UserError, match=message):
        read(str(path))


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        read(str(tmp_path / "missing"))
    with pytest.raises(UserError, match="directory"):
        read(str(tmp_path))


# --- anything at all -----------------------------------------------------------------------------

NUMBERS = st.integers(-3, 6) | st.floats() | st.integers()
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=6)
COLUMNS = ("key", "target", "p", "q", "s", "f", "d", "w", "x", "y")
GRAPH_KEYS = ("adjacency", "edges", "nodes", "directed", "source")
KEYS = st.sampled_from((*COLUMNS, *GRAPH_KEYS, "haystack", "needle", "first", "second"))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=30,
)


def nearly(strategy):
    """Mostly what it should be, sometimes anything."""
    return st.integers(0, 7).flatmap(lambda i: JSON if i == 0 else strategy)


def record(**fields):
    return st.fixed_dictionaries({name: nearly(field) for name, field in fields.items()})


SMALL = st.integers(0, 4)
ARRAYS = st.lists(st.integers(-5, 5) | st.floats(-1e9, 1e9), min_size=1, max_size=8)
POSITIVE = st.lists(st.integers(1, 5), min_size=3, max_size=4)
PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=7)
ENDS = st.tuples(SMALL, SMALL).map(sorted)
EDGES = st.lists(ENDS, min_size=1, max_size=6)
WEIGHTED = st.lists(st.builds(lambda e, w: [*e, w], ENDS, st.floats(-0.1, 9)), min_size=1)
SYMMETRIC = st.lists(st.sampled_from([0, 1]), min_size=9, max_size=9).map(
    lambda bits: np.maximum(np.reshape(bits, (3, 3)), np.reshape(bits, (3, 3)).T).tolist()
)
GRAPHS = SYMMETRIC | record(adjacency=SYMMETRIC) | record(edges=EDGES, nodes=st.just(5))
ROOTED = record(edges=EDGES, source=SMALL) | record(adjacency=SYMMETRIC, source=SMALL)
WEIGHTED_GRAPHS = GRAPHS | record(edges=WEIGHTED)
ROOTED_WEIGHTED = ROOTED | record(edges=WEIGHTED, nodes=st.just(5), source=SMALL)
STRINGS = st.text("ACGT", max_size=6) | st.lists(st.integers(0, 3), max_size=5)
LIKELY = {
    "array": ARRAYS,
    "sorted array and target": record(key=ARRAYS.map(sorted), target=NUMBERS),
    "weights": record(p=POSITIVE.map(lambda p: p[:3]), q=POSITIVE.map(lambda q: [*q, 1][:4])),
    "intervals": PAIRS,
    "tasks": record(d=POSITIVE, w=POSITIVE) | PAIRS,
    "directed graph": GRAPHS,
    "acyclic graph": GRAPHS,
    "undirected graph": GRAPHS,
    "undirected graph and source": ROOTED,
    "weighted graph": WEIGHTED_GRAPHS,
    "weighted graph and source": ROOTED_WEIGHTED,
    "weighted acyclic graph and source": ROOTED_WEIGHTED,
    "two strings": record(first=STRINGS, second=STRINGS),
    "haystack and needle": record(haystack=STRINGS, needle=STRINGS),
    "two segments": st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=4, max_size=4),
    "points": PAIRS,
}


@pytest.mark.parametrize("name", ONE_OF_EACH_FORM.values())
@settings(max_examples=120)
@given(data=st.data())
def test_any_value_gives_a_trace_or_one_line(name, data):
    value = data.draw(nearly(LIKELY[get(name).inputs.form]))
    complaint, found = "", None
    try:
        found = run(name, value)
    except UserError as refusal:
        complaint = str(refusal)
    if found is None:
        assert len(complaint.splitlines()) == 1
        return
    assert found.steps >= 1
    assert 2 <= found.nodes <= forms.MAX_NODES
    told = json.loads(json.dumps(trace_data(found), allow_nan=False))
    assert {*told["inputs"], *told["hints"], *told["outputs"]} == set(get(name).spec)
