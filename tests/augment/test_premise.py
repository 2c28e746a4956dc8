"""The paper's premise: on a view, the true algorithm takes the input's steps on the old nodes."""

from __future__ import annotations

import numpy as np
import pytest

from augment.truth import (
    drawn,
    hint_names,
    on_old_nodes,
    same_steps,
    training_sizes,
    true_steps,
    views_of,
)
from hint_relic.algorithms import ALGORITHMS, Augmentation, get

PAPER = [name for name, algorithm in ALGORITHMS.items() if algorithm.view is not None]
APPROXIMATE = ["binary_search", "bubble_sort", "heapsort", "quicksort"]
EXACT = [name for name in PAPER if name not in APPROXIMATE]
WALKS = [name for name in EXACT if "color" in get(name).spec]
ENTERED = [name for name in PAPER if get(name).view is Augmentation.ENTERED_NODE]
SEED = 7


def marks_last(mark: np.ndarray, nodes: int) -> np.ndarray:
    """A depth-first walk that finishes a node marks the last one, v = n - 1, at any size."""
    return mark == nodes - 1


def shares(name: str, samples: int, hints: list[str], **options) -> tuple[float, float]:
    """The shares of samples and of steps, up to the stated one, that are the same in the view."""
    samples_same, steps_same = [], []
    for size in training_sizes(name):
        batch = drawn(name, size, samples, SEED)
        view = views_of(name, batch, SEED, **options)
        for k, steps in enumerate(true_steps(name, view)):
            live = int(view.until[k]) + 1
            same = np.ones(live, bool)
            for hint in hints:
                ours, theirs = batch.hints[hint][k, :live], steps[hint]
                hint_same = same_steps(get(name).spec[hint], ours, theirs, view.places[k])
                if hint == "v" and name in WALKS:
                    hint_same |= marks_last(ours, size) & marks_last(theirs[:live], view.nodes[k])
                same &= hint_same
            samples_same.append(same.all())
            steps_same.extend(same)
    return float(np.mean(samples_same)), float(np.mean(steps_same))


def test_the_paper_has_seventeen_views():
    assert len(PAPER) == 17


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_exact_views_take_the_same_steps(name, nodes):
    assert shares(name, 24, hint_names(name), nodes=nodes) == (1.0, 1.0)


@pytest.mark.parametrize("name", ENTERED)
def test_views_of_the_whole_first_search_take_the_same_steps(name):
    assert shares(name, 24, hint_names(name), walk="search") == (1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_thousands_of_exact_views_take_the_same_steps(name, nodes):
    assert shares(name, 1000, hint_names(name), nodes=nodes) == (1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTERED)
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_thousands_of_views_of_the_whole_first_search_take_the_same_steps(name, nodes):
    assert shares(name, 1000, hint_names(name), nodes=nodes, walk="search") == (1.0, 1.0)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("nodes", ["largest", "random"])
def test_the_first_step_of_exact_views_is_the_true_one(name, nodes):
    spec = get(name).spec
    for size in training_sizes(name):
        batch = drawn(name, size, 24, SEED)
        view = views_of(name, batch, SEED, nodes=nodes)
        for k, steps in enumerate(true_steps(name, view)):
            everywhere = np.arange(view.nodes[k])
            for hint in hint_names(name):
                made = on_old_nodes(spec[hint], view.start[hint][None, k], everywhere)[0]
                assert np.array_equal(made, steps[hint][0]), (hint, k)


@pytest.mark.parametrize("name", ["bubble_sort", "heapsort", "quicksort"])
def test_views_of_other_sorts_only_borrow_the_steps(name):
    samples, steps = shares(name, 24, list(get(name).contrasted))
    assert samples < 0.05
    assert 0.0 < steps < 0.5


def test_views_of_kruskal_borrow_the_steps_where_new_weights_are_drawn_as_ever():
    samples, steps = shares("mst_kruskal", 24, ["pi"], weights="drawn")
    assert 0.5 < samples < 0.9  # sparse parts come late all the same
    assert samples < steps < 0.95


def test_views_of_binary_search_borrow_the_range_but_not_the_order():
    assert shares("binary_search", 24, ["pred_h"]) == (1.0, 1.0)
    samples, steps = shares("binary_search", 24, ["high", "mid"])
    assert samples < 0.1
    assert steps < 0.5


def test_the_marks_that_are_forgiven_are_those_of_depth_first_walks():
    assert {*WALKS} == {*ENTERED, "dag_shortest_paths"}
