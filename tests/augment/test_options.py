"""Views of either source: what they depend on, how they are stored, and what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from augment.truth import drawn, most_nodes, training_sizes, views_of
from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.augment import check_views
from hint_relic.config import ViewConfig
from hint_relic.errors import UserError
from hint_relic.spec import Stage, of_stage
from hint_relic.types import View

SOURCES = [
    pytest.param(name, source, id=f"{name}-{source}")
    for name, algorithm in ALGORITHMS.items()
    if name != "segments_intersect"
    for source in ("paper", "verified")
    if algorithm.view is not None or source == "verified"
]
SEED = 5


def flat(view: View) -> dict[str, np.ndarray]:
    named = {f"input/{key}": array for key, array in view.inputs.items()}
    named |= {f"start/{key}": array for key, array in view.start.items()}
    return named | {"nodes": view.nodes, "places": view.places, "until": view.until}


def assert_same_rows(a: View, rows: slice, b: View) -> None:
    for (key, ours), theirs in zip(flat(a).items(), flat(b).values(), strict=True):
        assert np.array_equal(ours[rows], theirs), key


def middle_size(name: str) -> int:
    sizes = training_sizes(name)
    return sizes[len(sizes) // 2]


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_a_view_depends_on_its_sample_alone(name, source):
    size, options = middle_size(name), {"source": source, "nodes": "random"}
    whole = views_of(name, drawn(name, size, 12, SEED), SEED, **options)
    assert_same_rows(whole, slice(12), views_of(name, drawn(name, size, 12, SEED), SEED, **options))
    part = views_of(name, drawn(name, size, 3, SEED, first=4), SEED, first=4, **options)
    assert_same_rows(whole, slice(4, 7), part)


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_seeds_and_samples_have_views_of_their_own(name, source):
    size = middle_size(name)
    batch = drawn(name, size, 1, SEED)
    twice = {key: np.repeat(array, 8, axis=0) for key, array in batch.inputs.items()}
    hints = {key: np.repeat(array, 8, axis=0) for key, array in batch.hints.items()}
    repeated = batch._replace(
        inputs=twice,
        hints=hints,
        lengths=np.repeat(batch.lengths, 8),
        nodes=np.repeat(batch.nodes, 8),
    )
    a, b = (views_of(name, repeated, seed, source=source) for seed in (1, 2))
    assert len(np.unique(np.concatenate([a.inputs["pos"], b.inputs["pos"]]), axis=0)) == 16


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_arrays_are_stored_as_the_spec_says_and_padded_with_zeros(name, source):
    spec = get(name).spec
    most = most_nodes(name) + 3
    batch = drawn(name, middle_size(name), 8, SEED)
    view = views_of(name, batch, SEED, source=source, nodes="random", max_nodes=most)
    fields = [(view.inputs, Stage.INPUT), (view.start, Stage.HINT)]
    for arrays, stage in fields:
        assert list(arrays) == list(of_stage(spec, stage))
        for key, array in arrays.items():
            assert array.dtype == spec[key].dtype
            assert array.shape == (8, *spec[key].shape(most))
            beyond = array.copy()
            for row, n in zip(beyond, view.nodes, strict=True):
                if row.ndim:
                    row[(slice(n),) * row.ndim] = 0
            assert array.ndim == 1 or not beyond.any(), key
    assert view.nodes.dtype == view.places.dtype == view.until.dtype == np.int32
    assert view.places.shape == batch.inputs["pos"].shape


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_the_batch_is_left_as_it_was(name, source):
    batch = drawn(name, middle_size(name), 4, SEED)
    before = {key: array.copy() for key, array in {**batch.inputs, **batch.hints}.items()}
    view = views_of(name, batch, SEED, source=source)
    for array in [*view.inputs.values(), *view.start.values()]:
        array[...] = 0
    for key, array in {**batch.inputs, **batch.hints}.items():
        assert np.array_equal(array, before[key]), key


@pytest.mark.parametrize("name", ["topological_sort", "task_scheduling"])
def test_threads_do_not_disturb_each_other(name):
    source = "verified" if get(name).view is None else "paper"
    alone = views_of(name, drawn(name, 9, 32, SEED), SEED, source=source)

    def part(k: int) -> View:
        batch = drawn(name, 9, 4, SEED, first=4 * k)
        return views_of(name, batch, SEED, first=4 * k, source=source)

    with ThreadPoolExecutor(4) as pool:
        for k, view in enumerate(pool.map(part, range(8))):
            assert_same_rows(alone, slice(4 * k, 4 * k + 4), view)


# --- positions -------------------------------------------------------------------------------


def runs(view: View, k: int) -> list[slice]:
    """The nodes of each run: one, or two in strings."""
    n = int(view.nodes[k])
    head = n - int(view.inputs["string"][k].sum()) if "string" in view.inputs else n
    return [slice(a, b) for a, b in pairwise([0, head, n]) if a < b]


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_positions_are_sorted_within_each_run(name, source):
    batch = drawn(name, middle_size(name), 8, SEED)
    for positions in ("fresh", "kept"):
        view = views_of(name, batch, SEED, source=source, positions=positions)
        for k, pos in enumerate(view.inputs["pos"]):
            assert all(np.all(np.diff(pos[run]) >= 0) for run in runs(view, k))
            assert np.all((pos >= 0.0) & (pos < 1.0))
            kept = np.array_equal(pos[view.places[k]], batch.inputs["pos"][k])
            assert kept == (positions == "kept")
    fresh = views_of(name, batch, SEED, source=source)
    kept_view = views_of(name, batch, SEED, source=source, positions="kept")
    for key, array in flat(fresh).items():
        if key != "input/pos":
            assert np.array_equal(array, flat(kept_view)[key]), "nothing else depends on them"


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_positions_are_even_where_the_inputs_are(name, source):
    batch = drawn(name, middle_size(name), 4, SEED, random_positions=False)
    for positions in ("fresh", "kept"):
        options = {"source": source, "positions": positions, "nodes": "random"}
        view = views_of(name, batch, SEED, random_positions=False, **options)
        for k, pos in enumerate(view.inputs["pos"]):
            for run in runs(view, k):
                n = run.stop - run.start
                assert np.array_equal(pos[run], np.arange(n) / n)


# --- bad input -------------------------------------------------------------------------------


def test_unknown_options_are_told_the_nearest():
    with pytest.raises(UserError, match="'verified'"):
        ViewConfig(source="verifed")
    with pytest.raises(UserError, match=r"unknown view\.nodes"):
        ViewConfig(nodes="most")
    with pytest.raises(UserError, match=r"unknown view\.positions"):
        ViewConfig(positions="old")


def test_without_a_paper_view_the_option_that_gives_one_is_named():
    with pytest.raises(UserError, match=r"--view\.source verified"):
        check_views(get("dfs"), ViewConfig(), (4,), 17)
    check_views(get("dfs"), ViewConfig(source="verified"), (4,), 17)
    with pytest.raises(UserError, match=r"--view\.source verified"):
        views_of("dfs", drawn("dfs", 4, 1, SEED), SEED)


@pytest.mark.parametrize("source", ["paper", "verified"])
def test_segments_have_no_views(source):
    with pytest.raises(UserError, match="4 nodes at every size"):
        check_views(get("segments_intersect"), ViewConfig(source=source), (4,), 17)


@pytest.mark.parametrize("source", ["paper", "verified"])
def test_a_view_that_does_not_fit_is_refused(source):
    options = ViewConfig(source=source)
    check_views(get("bfs"), options, (4, 16), 17)
    with pytest.raises(UserError, match="does not fit"):
        check_views(get("bfs"), options, (4, 16), 16)
    with pytest.raises(UserError, match="does not fit"):
        views_of("bfs", drawn("bfs", 8, 2, SEED), SEED, source=source, max_nodes=8)


def test_nodes_count_not_sizes():
    verified = ViewConfig(source="verified")
    with pytest.raises(UserError, match="17 nodes"):
        check_views(get("optimal_bst"), verified, (16,), 17)
    check_views(get("optimal_bst"), verified, (16,), 18)
