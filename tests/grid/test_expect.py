"""Times that are expected from times that were measured."""

from __future__ import annotations

import pytest

from hint_relic.files import Lock
from hint_relic.grid.expect import Overview, fitted
from hint_relic.grid.folder import Grid

from .conftest import fabricated, finish, report


def test_nothing_measured_nothing_known():
    assert fitted({}, [("a", "x")]) == {("a", "x"): None}


def test_an_algorithm_and_a_variant_each_have_their_factor():
    times = {("a", "x"): 10.0, ("a", "y"): 20.0, ("b", "x"): 30.0}
    found = fitted(times, [("b", "y"), ("a", "x")])
    assert found[("b", "y")] == pytest.approx(60.0, rel=1e-3)
    assert found[("a", "x")] == pytest.approx(10.0, rel=1e-3)


def test_what_was_never_measured_counts_as_average():
    assert fitted({("a", "x"): 10.0, ("b", "x"): 40.0}, [("c", "z")]) == {
        ("c", "z"): pytest.approx(20.0)
    }


def test_the_time_left_of_each_cell(tmp_path):
    """10 s for each cell; the speed of a running one goes before."""
    names = [f"bfs-{v}" for v in ("no_hints", "baseline", "baseline_reversal", "hint_relic")]
    done, running, stopped, failed = fabricated(tmp_path, *names, steps=100).cells
    finish(done, seconds=10.0)
    report(running, 50, 5.0, 10.0)
    report(stopped, 25, 2.5, 10.0)
    failed.fail("it broke", "")
    with Lock(running.folder):
        overview = Overview.of(Grid.open(tmp_path))
    assert overview.left == {running: pytest.approx(5.0), stopped: pytest.approx(7.5)}
    assert overview.left_s() == pytest.approx(12.5)
    assert overview.left_s(workers=2) == pytest.approx(6.25)
    assert set(overview.count.values()) == {1}


def test_the_time_left_is_unknown_until_something_was_measured(tmp_path):
    grid = fabricated(tmp_path, "bfs-baseline", "dfs-baseline")
    assert Overview.of(grid).left_s() is None
