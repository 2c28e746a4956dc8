"""The skeletons of the documentation work from outside the package, and the text around them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from hint_relic import algorithms
from hint_relic.algorithms import ALGORITHMS, get, register
from hint_relic.algorithms.kernel import outside
from hint_relic.cli import main
from hint_relic.config import ViewConfig, ViewSource
from hint_relic.data import Protocol, trace, user_input
from hint_relic.errors import UserError
from hint_relic.play import Recording
from hint_relic.play.page import render

pytestmark = pytest.mark.xdist_group("skeletons")

DOCS = Path(__file__).parent.parent / "docs"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.S)


@pytest.fixture
def skeletons(monkeypatch):
    """The skeletons can be imported, and what they register is forgotten again."""
    monkeypatch.syspath_prepend(str(DOCS / "skeletons"))
    known = dict(ALGORITHMS)
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(known)
    for name in ("maximum", "mean_processor"):
        sys.modules.pop(name, None)


def test_an_algorithm_from_outside_is_like_any_other(skeletons):
    import maximum

    assert get("maximum") is maximum.ALGORITHM
    assert register(maximum.ALGORITHM) is maximum.ALGORITHM  # again: nothing happens
    drawn = trace("maximum", size=9, seed=1)
    assert drawn.outputs["max"] == np.argmax(drawn.inputs["key"])
    assert user_input.run("maximum", [3, 9, 1]).outputs["max"] == 1
    protocol = Protocol.training("maximum")
    fresh = protocol.draw(5, 8, seeds=[0])
    np.testing.assert_array_equal(fresh.outputs["max"], fresh.inputs["key"].argmax(axis=1))
    verified = ViewConfig(source=ViewSource.VERIFIED)
    paired = protocol.draw_paired(5, 8, seeds=[0], view=verified, max_nodes=7)
    assert (paired.view.nodes > 5).all()


def test_the_page_on_algorithms_runs(skeletons, tmp_path, monkeypatch):
    import maximum

    monkeypatch.chdir(tmp_path)
    registration, use = blocks("adding-an-algorithm.md")
    exec(registration, {"ALGORITHM": maximum.ALGORITHM})
    scope: dict = {}
    exec(use, scope)
    assert scope["result"]["steps"] == 4
    assert scope["answer"].value in range(3)
    assert scope["answer"].steps == 3
    # Page and table know nothing of it either, and show it all the same.
    assert "maximum" in render([Recording(trace("maximum", size=5, seed=1))]).lower()
    (run,) = tmp_path.glob("**/result.json")
    assert main(["report", str(run.parent.parent), "--out", "report.html"]) == 0
    assert "maximum" in Path("report.html").read_text()


def test_the_page_on_processors_runs(skeletons, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (use,) = blocks("adding-a-processor.md")
    scope: dict = {}
    exec(use, scope)
    assert scope["result"]["steps"] == 4
    assert set(scope["answer"].value) == {0, 1, 2}


def test_entry_points_are_registered(skeletons, monkeypatch):
    import maximum

    del ALGORITHMS["maximum"]

    class Point:
        value = "maximum:ALGORITHM"

        def __init__(self, thing):
            self.load = thing

    installed = [Point(lambda: maximum.ALGORITHM)]
    monkeypatch.setattr(algorithms.metadata, "entry_points", lambda group: installed)
    algorithms._register_installed()
    assert get("maximum") is maximum.ALGORITHM
    installed[:] = [Point(lambda: 1 // 0)]
    with pytest.raises(UserError, match="maximum:ALGORITHM"):
        algorithms._register_installed()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "bfs"}, "already"),
        ({"name": "my-sort"}, "can't be the name"),
        ({"name": "mine", "spec": {}}, 'needs "pos"'),
        ({"name": "mine", "static_hints": ("pred_hh",)}, "did you mean 'pred_h'"),
    ],
)
def test_what_cannot_be_registered(change, message):
    from dataclasses import replace

    with pytest.raises(UserError, match=message):
        register(replace(get("minimum"), **change))
    assert "mine" not in ALGORITHMS


def test_a_spec_needs_hints_and_outputs():
    from dataclasses import replace

    minimum = get("minimum")
    for stage in ("hint", "output"):
        spec = {name: f for name, f in minimum.spec.items() if f.stage != stage}
        with pytest.raises(UserError, match=f"at least one {stage}"):
            register(replace(minimum, name="mine", spec=spec, static_hints=(), contrasted=()))


def test_loops_over_outside_kernels_go_with_their_source(tmp_path, monkeypatch):
    """Machine code that is kept on disk is never used for another version of a file."""
    source = "from hint_relic.algorithms.kernel import kernel\n@kernel\ndef f(): return {}\n"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    tags = []
    for i in range(2):
        (tmp_path / "own_kernel.py").write_text(source.format(i))
        sys.modules.pop("own_kernel", None)
        import own_kernel

        tags.append(outside(own_kernel.f))
    sys.modules.pop("own_kernel", None)
    assert tags[0] != tags[1]
    assert outside(get("bfs").run) == ""
