"""Which cells a grid has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hint_relic.errors import UserError
from hint_relic.grid.plan import plan
from hint_relic.paper import scores


def places(configs):
    return [(c.algorithm, c.variant) for c in configs]


def test_the_default_is_the_papers_table():
    assert set(places(plan())) == set(scores())
    assert len(plan()) == 17 * 6 + 3  # DFS has no views


def test_seeds_steps_and_sizes_are_the_papers():
    for config in plan():
        assert (config.seeds, config.steps, config.batch_size) == (3, 10_000, 16)
        assert config.sizes == (4, 7, 11, 13, 16)


def test_an_algorithm_without_views_is_left_out_of_what_needs_them():
    views = places(plan(variants=["baseline_views"]))
    assert len(views) == 17
    assert ("dfs", "baseline_views") not in views
    assert len(plan(["kmp_matcher"])) == 3


def test_views_by_a_setting():
    assert len(plan(["dfs"], settings={"view": {"source": "verified"}})) == 6


def test_settings_go_over_those_of_the_variant():
    (config,) = plan(["bfs"], ["hint_relic"], {"steps": 7, "model": {"hidden": 8}})
    assert (config.steps, config.model.hidden) == (7, 8)
    assert config.model.reversal
    assert config.objective.kl == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["bsf"],), "did you mean 'bfs'"),
        ((["bfs"], ["baselin"]), "did you mean 'baseline'"),
        ((["bfs", "bfs"],), "bfs is given twice in --algorithms"),
        ((["dfs"], ["hint_relic"]), "no view for dfs"),
        ((["dfs"], None, {"steps": 0}), "steps must be at least 1"),
        ((None, None, {"stpes": 1}), "did you mean 'steps'"),
        ((None, None, {"variant": "baseline"}), "use --variants"),
        ((None, None, {"algorithm": "bfs"}), "use --algorithms"),
        ((["segments_intersect"], ["hint_relic"]), "no views"),
    ],
)
def test_what_can_not_be_trained_is_refused(arguments, message):
    with pytest.raises(UserError, match=message):
        plan(*arguments)


def test_the_runner_does_without_jax():
    code = """
import sys
import hint_relic.cli_grid, hint_relic.grid.local, hint_relic.grid.ray, hint_relic.grid.run
from hint_relic.grid.plan import plan
plan()
assert not {"jax", "ray"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
