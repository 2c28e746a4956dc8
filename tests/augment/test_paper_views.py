"""What the paper's views are made of: the input, and new nodes with larger ids."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from augment.truth import drawn, most_nodes, training_sizes, views_of
from hint_relic.algorithms import ALGORITHMS, Augmentation
from hint_relic.augment.subgraph import HEAVIEST

BY_KIND = {
    kind: [name for name, algorithm in ALGORITHMS.items() if algorithm.view is kind]
    for kind in Augmentation
}
PAPER = [name for names in BY_KIND.values() for name in names]
GRAPHS = BY_KIND[Augmentation.SUBGRAPH] + BY_KIND[Augmentation.ENTERED_NODE]
UNDIRECTED = ["articulation_points", "bridges"]
SAMPLES, SEED = 64, 3


def pairs(name: str, samples: int = SAMPLES, **options):
    for size in training_sizes(name):
        batch = drawn(name, size, samples, SEED)
        yield size, batch, views_of(name, batch, SEED, **options)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_old_nodes_come_first_and_are_unchanged(name, nodes):
    for size, batch, view in pairs(name, nodes=nodes):
        assert np.array_equal(view.places, np.tile(np.arange(size), (SAMPLES, 1)))
        for key in batch.inputs.keys() - {"pos"}:
            old = batch.inputs[key]
            assert np.array_equal(view.inputs[key][tuple(map(slice, old.shape))], old), key


@pytest.mark.parametrize("name", PAPER)
def test_views_have_more_nodes_and_never_too_many(name):
    most = most_nodes(name)
    assert most == 17
    for _, _, view in pairs(name):
        assert np.all(view.nodes == most)
        assert view.nodes.dtype == np.int32
        assert view.inputs["pos"].shape == (SAMPLES, most)
    for size, _, view in pairs(name, nodes="random"):
        assert np.all((size < view.nodes) & (view.nodes <= most))
        assert {*view.nodes} >= {size + 1, most} or size < 11


@pytest.mark.parametrize("name", PAPER)
def test_adjacency_is_that_of_the_weights_with_self_loops(name):
    for _, _, view in pairs(name, nodes="random"):
        if "adj" in view.inputs:
            for A, adj, n in zip(view.inputs["A"], view.inputs["adj"], view.nodes, strict=True):
                assert np.array_equal(adj[:n, :n], (A[:n, :n] != 0) | np.eye(n, dtype=bool))


def first_walk(batch, k, walk="root") -> list[tuple[int, int]]:
    """The steps of the first depth-first walk at which a node is entered, and the nodes."""
    hints = {key: hint[k, : batch.lengths[k]] for key, hint in batch.hints.items()}
    color, first = hints["color"], np.ones(batch.lengths[k], bool)
    if walk == "root":
        first &= hints["s"] == hints["s"][0]
    if "phase" in hints:
        first &= hints["phase"] == 0
    steps = np.flatnonzero(first[1:]) + 1
    return [(t, v) for t in steps for v in np.flatnonzero((color[t - 1] == 0) & (color[t] == 1))]


@pytest.mark.parametrize("name", BY_KIND[Augmentation.ENTERED_NODE])
@pytest.mark.parametrize("walk", ["root", "search"])
def test_new_nodes_are_joined_to_a_node_as_it_is_entered(name, walk):
    for n, batch, view in pairs(name, walk=walk):
        for k, A in enumerate(view.inputs["A"]):
            entered = dict(first_walk(batch, k, walk))
            v = entered[int(view.until[k])]
            others = np.arange(n) != v
            assert np.all(A[n:, v] == 1.0)
            assert np.all(A[v, n:] == (1.0 if name in UNDIRECTED else 0.0))
            assert not A[n:, :n][:, others].any()
            assert not A[:n, n:][others].any()


@pytest.mark.parametrize("name", BY_KIND[Augmentation.ENTERED_NODE])
def test_the_first_search_enters_every_node_once(name):
    for n, batch, _ in pairs(name, walk="search"):
        for k in range(batch.samples):
            assert sorted(v for _, v in first_walk(batch, k, "search")) == [*range(n)]


@pytest.mark.parametrize("name", BY_KIND[Augmentation.ENTERED_NODE])
@pytest.mark.parametrize("walk", ["root", "search"])
def test_the_step_is_uniform_among_those_of_the_first_walk(name, walk):
    """Each rank among the entries is drawn as often as it should be, within five deviations."""
    size = 7
    batch = drawn(name, size, 4000, SEED)
    view = views_of(name, batch, SEED, walk=walk)
    drawn_rank, expected = np.zeros(size), np.zeros(size)
    for k, until in enumerate(view.until):
        steps = [t for t, _ in first_walk(batch, k, walk)]
        drawn_rank[steps.index(until)] += 1
        expected[: len(steps)] += 1 / len(steps)
    assert np.all(np.abs(drawn_rank - expected) <= 5 * np.sqrt(expected) + 1e-9)


@pytest.mark.parametrize("name", BY_KIND[Augmentation.SUBGRAPH])
def test_subgraphs_are_disconnected_and_valid_to_the_end(name):
    for n, batch, view in pairs(name):
        assert np.array_equal(view.until, batch.lengths - 1)
        assert not view.inputs["A"][:, :n, n:].any()
        assert not view.inputs["A"][:, n:, :n].any()


@pytest.mark.parametrize(
    "name", BY_KIND[Augmentation.SUBGRAPH] + BY_KIND[Augmentation.ENTERED_NODE]
)
def test_new_parts_are_as_dense_and_as_heavy_as_inputs(name):
    """Over many samples the part among new nodes looks like an input of its size."""
    batch = drawn(name, 8, 3000, SEED)
    new = views_of(name, batch, SEED, max_nodes=16).inputs["A"][:, 8:, 8:]
    other = drawn(name, 8, 3000, SEED + 1).inputs["A"]
    if name != "strongly_connected_components":  # whose inputs are several communities
        assert np.mean(new != 0) == pytest.approx(np.mean(other != 0), abs=0.02)
    if name != "mst_kruskal":
        assert np.mean(new[new != 0]) == pytest.approx(np.mean(other[other != 0]), abs=0.02)
    if np.array_equal(other, other.swapaxes(1, 2)):
        assert np.array_equal(new, new.swapaxes(1, 2))


@pytest.mark.parametrize("name", ["dag_shortest_paths", "topological_sort"])
def test_acyclic_graphs_stay_acyclic(name):
    for _, _, view in pairs(name, samples=16):
        for A in view.inputs["A"]:
            assert nx.is_directed_acyclic_graph(nx.from_numpy_array(A, create_using=nx.DiGraph))


def test_kruskals_new_edges_are_the_heaviest():
    for n, _, view in pairs("mst_kruskal"):
        for A in view.inputs["A"]:
            new = A[n:, n:][A[n:, n:] != 0]
            assert np.all(new > A[:n, :n].max(initial=0.0))
            assert np.all(new < HEAVIEST)


def test_kruskals_new_edges_may_weigh_what_others_do():
    batch = drawn("mst_kruskal", 8, 3000, SEED)
    view = views_of("mst_kruskal", batch, SEED, max_nodes=16, weights="drawn").inputs["A"]
    old, new = view[:, :8, :8], view[:, 8:, 8:]
    assert np.mean(new[new != 0]) == pytest.approx(np.mean(old[old != 0]), abs=0.02)
    assert not view[:, :8, 8:].any()


@pytest.mark.parametrize("name", BY_KIND[Augmentation.APPENDED])
def test_appended_items_are_uniform(name):
    for n, batch, view in pairs(name, samples=500):
        assert np.array_equal(view.until, batch.lengths - 1)
        new = view.inputs["key"][:, n:]
        assert np.all((new >= 0.0) & (new < 1.0))
        assert np.mean(new) == pytest.approx(0.5, abs=0.07)
        assert np.std(new) == pytest.approx(np.sqrt(1 / 12), abs=0.05)
        if "target" in view.inputs:
            assert not np.any(new == view.inputs["target"][:, None])


def test_heapsorts_new_items_are_not_in_the_heap():
    for n, batch, view in pairs("heapsort"):
        assert np.all(view.start["parent"][:, n:] == np.arange(n, 17))
        assert np.all(view.start["pred_h"][:, n:] == np.arange(n - 1, 16))
        for hint in ("i", "j", "largest", "heap_size", "phase"):
            assert np.array_equal(view.start[hint], batch.hints[hint][:, 0])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_only_edge_hints_of_views_have_a_start_of_their_own(name):
    algorithm = ALGORITHMS[name]
    for hint in algorithm.starts:
        assert algorithm.view is not None
        assert algorithm.spec[hint].stage == "hint"
        assert algorithm.spec[hint].location == "edge"
