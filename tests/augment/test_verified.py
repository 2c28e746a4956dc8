"""Verified views, verified again: run once more and compared in plain NumPy."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from augment.truth import (
    drawn,
    hint_names,
    most_nodes,
    on_old_nodes,
    same_steps,
    training_sizes,
    true_steps,
    views_of,
)
from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.augment.agree import compared
from hint_relic.augment.verified import verified_views
from hint_relic.data import Protocol
from hint_relic.types import View

VERIFIABLE = [name for name in ALGORITHMS if name != "segments_intersect"]
# Whose very first step tells how many items there are, or where the last one stands.
HOPELESS = ["binary_search", "heapsort", "quickselect", "quicksort"]
SAMPLES, SEED = 12, 11


def pairs(name: str, samples: int = SAMPLES, **options):
    for size in training_sizes(name):
        batch = drawn(name, size, samples, SEED)
        yield batch, views_of(name, batch, SEED, source="verified", **options)


@pytest.mark.parametrize("name", [name for name in VERIFIABLE if name not in HOPELESS])
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_all_steps_up_to_the_stated_one_are_the_same(name, nodes):
    hints = compared(get(name))
    for batch, view in pairs(name, nodes=nodes):
        for k, steps in enumerate(true_steps(name, view)):
            until, length = int(view.until[k]), int(batch.lengths[k])
            same = np.ones(length, bool)
            for hint in hints:
                field, ours = get(name).spec[hint], batch.hints[hint][k, :length]
                same &= same_steps(field, ours, steps[hint], view.places[k])
            assert same[: until + 1].all()
            assert until + 1 == len(same) or not same[until + 1], "it is the last such step"


@pytest.mark.parametrize("name", VERIFIABLE)
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_the_first_step_is_the_true_one(name, nodes):
    for _, view in pairs(name, nodes=nodes):
        for k, steps in enumerate(true_steps(name, view)):
            everywhere = np.arange(view.nodes[k])
            for hint in hint_names(name):
                field = get(name).spec[hint]
                made = on_old_nodes(field, view.start[hint][None, k], everywhere)[0]
                assert np.array_equal(made, steps[hint][0]), hint


@pytest.mark.parametrize("name", VERIFIABLE)
def test_old_nodes_stay_in_order_and_keep_their_inputs(name):
    spec = get(name).spec
    for batch, view in pairs(name, nodes="random"):
        assert np.all(np.diff(view.places, axis=1) > 0)
        assert np.all(view.places[:, -1] < view.nodes)
        assert np.all((view.nodes > batch.nodes) & (view.nodes <= most_nodes(name)))
        assert np.all((view.until >= 0) & (view.until < batch.lengths))
        for k, places in enumerate(view.places):
            for key in batch.inputs.keys() - {"pos"}:
                old, new = batch.inputs[key][k], view.inputs[key][k]
                if spec[key].kind == "mask_one":
                    assert new == places[old]
                elif new.ndim == 0:
                    assert new == old
                elif name == "optimal_bst" and key == "p":  # its last item is no key's
                    assert np.array_equal(new[places[:-1]], old[:-1])
                else:
                    assert np.array_equal(new[np.ix_(*[places] * new.ndim)], old), key


def live_inputs(view: View, k: int) -> dict[str, np.ndarray]:
    live = slice(view.nodes[k])
    return {key: array[k][(live,) * (array.ndim - 1)] for key, array in view.inputs.items()}


@pytest.mark.parametrize("name", VERIFIABLE)
def test_views_are_inputs_that_the_algorithm_takes(name):
    algorithm = get(name)
    undirected = "undirected" in algorithm.inputs.form or "weighted graph" in algorithm.inputs.form
    for _, view in pairs(name):
        for k, n in enumerate(view.nodes):
            inputs = {
                key: array[k][(slice(n),) * array[k].ndim] for key, array in view.inputs.items()
            }
            if "A" in inputs:
                A = inputs["A"]
                graph = nx.from_numpy_array(A, create_using=nx.DiGraph)
                assert nx.is_directed_acyclic_graph(graph) or "acyclic" not in algorithm.inputs.form
                assert np.array_equal(A, A.T) or not undirected
                assert np.array_equal(inputs["adj"], (A != 0) | np.eye(n, dtype=bool))
            if "string" in inputs:
                assert np.all(np.diff(inputs["string"]) >= 0)
                assert {*inputs["key"]} <= {0, 1, 2, 3}
                needle = inputs["string"].sum()
                assert needle > 0
                assert n - 2 * needle >= 1 or name == "lcs_length"
            if name == "binary_search":
                assert np.all(np.diff(inputs["key"]) >= 0)
            if name == "activity_selector":
                assert np.all(inputs["s"] <= inputs["f"])
            if name == "task_scheduling":
                assert np.all((inputs["d"] >= 1) & (inputs["d"] <= n) & (inputs["d"] % 1 == 0))


def search(name: str, samples: int):
    for size in training_sizes(name):
        batch = drawn(name, size, samples, SEED)
        seeds, index = np.full(samples, SEED, np.uint64), np.arange(samples, dtype=np.uint64)
        p = np.asarray(Protocol.training(name).p or (0.0,))
        settings = (most_nodes(name), seeds, index, p, False)
        yield batch, verified_views(get(name), batch, *settings)


@pytest.mark.parametrize("name", HOPELESS)
def test_some_algorithms_have_no_verified_view(name):
    """Their first step depends on the size: views are made, but valid for nothing after it."""
    for _, (view, found) in search(name, 16):
        assert not found.found.any()
        assert not view.until.any()


@pytest.mark.parametrize("name", [name for name in VERIFIABLE if name not in HOPELESS])
def test_what_is_found_is_what_is_stated(name):
    for batch, (view, found) in search(name, 16):
        assert np.array_equal(found.found, view.until + 1)
        assert np.all((found.wanted >= 1) & (found.wanted <= batch.lengths))
        assert np.all((found.wanted >= 2) | (batch.lengths == 1))


@pytest.mark.parametrize("name", ["bellman_ford", "bfs", "insertion_sort", "minimum", "mst_prim"])
def test_views_that_exist_are_found(name):
    for _, (_, found) in search(name, 64):
        assert np.all(found.found >= found.wanted)
