"""The page as text: whole, small, closed to the outside, and with nothing in it that could run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest

from hint_relic.algorithms import ALGORITHMS
from hint_relic.data import trace
from hint_relic.errors import UserError
from hint_relic.play import Recording, render, view_of
from hint_relic.play.layout import circle, layout
from hint_relic.play.pack import CONFIDENCE_LEVELS, Pack
from hint_relic.spec import Kind

from .noise import noisy

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;"


def part(text: str, identity: str) -> str:
    return re.search(rf'<script type="[a-z/]+" id="{identity}">(.*?)</script>', text, re.S)[1]


# --- packing: what the page's script does, done here ---------------------------------------------


def restored(pack: Pack, place: dict, steps: int, base: np.ndarray | None = None) -> np.ndarray:
    raw = np.frombuffer(zlib.decompress(base64.b64decode(pack.text())), np.uint8)
    at, size = place["at"], steps * place["width"]
    low = raw[at : at + size].reshape(steps, -1)
    if place["form"] == "number":
        high = raw[at + size : at + 2 * size].reshape(steps, -1)
        levels = np.cumsum(low + 256 * high.astype(np.uint16), axis=0, dtype=np.uint16)
        return np.where(levels == 65535, np.nan, place["low"] + place["scale"] * levels)
    whole = np.cumsum(low, axis=0, dtype=np.uint8)
    if base is not None:
        whole = whole + base.astype(np.uint8)
    return whole.astype(np.int8) if place["form"] == "signed" else whole


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (Kind.POINTER, 0, 256),
        (Kind.MASK_ONE, 0, 256),
        (Kind.MASK, -1, 2),
        (Kind.CATEGORICAL, -1, 5),
    ],
)
def test_whole_numbers_come_back(kind, low, high):
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(low, high, (2, 7, 9))
    pack = Pack()
    one, two = pack.add(kind, truth), pack.add(kind, guess, truth)
    assert np.array_equal(restored(pack, one, 7), truth)
    assert np.array_equal(restored(pack, two, 7, truth), guess)


def test_numbers_come_back_nearly():
    value = np.random.default_rng(0).normal(size=(6, 3, 3))
    value[2, 1, 1], value[3, 0, 0] = np.nan, np.inf
    pack = Pack()
    pack.add(Kind.MASK, np.zeros((6, 2)))
    found = restored(pack, pack.add(Kind.SCALAR, value), 6)
    known = np.isfinite(value).reshape(6, -1)
    assert np.array_equal(np.isnan(found), ~known)
    assert np.abs(found - value.reshape(6, -1))[known].max() < 1e-4


@pytest.mark.parametrize("value", [0.0, -3.5, np.nan, 1e300])
def test_numbers_that_are_all_the_same(value):
    pack = Pack()
    found = restored(pack, pack.add(Kind.SCALAR, np.full((3, 2), value)), 3)
    assert np.array_equal(found, np.full((3, 2), value), equal_nan=True)


def test_confidence_has_few_levels():
    sure = np.linspace(0.0, 1.0, 40).reshape(4, 10)
    pack = Pack()
    found = restored(pack, pack.add_confidence(sure), 4) / CONFIDENCE_LEVELS
    assert np.abs(found - sure).max() <= 0.5 / CONFIDENCE_LEVELS + 1e-9


# --- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_page(name):
    text = render([Recording(trace(name, 8 if ALGORITHMS[name].nodes(8) > 4 else 4))])
    header = json.loads(part(text, "header"))
    (shown,) = header["recordings"]
    assert header["title"] == ALGORITHMS[name].title
    assert [hint["name"] for hint in shown["hints"]] == [
        key for key, field in ALGORITHMS[name].spec.items() if field.stage == "hint"
    ]
    assert len(shown["line"]["values"]) == shown["steps"]
    assert len(text) < 100_000


def test_nothing_from_outside_can_run():
    """Names of nodes and of runs may hold anything; the policy allows one script, one style."""
    sort = trace("insertion_sort", 4)
    text = render([Recording(sort, noisy(sort, 0.3), NASTY, (NASTY, "b", "c", "'\"\u2028"))])
    assert "<img" not in text
    assert text.count("</script>") == 3
    header = json.loads(part(text, "header"))
    assert header["source"] == NASTY
    assert header["recordings"][0]["names"][0] == NASTY
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    script = text.rpartition("<script>")[2].partition("</script>")[0]
    style = text.partition("<style>")[2].partition("</style>")[0]
    for source, kind in ((script, "script"), (style, "style")):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r"(src|href)=", text.replace(part(text, "header"), ""))
    assert "http" not in script.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", ["floyd_warshall", "bubble_sort", "bridges"])
def test_a_page_of_64_nodes_is_under_two_megabytes(name):
    """Whatever the network says: here, at every step, anything."""
    run = trace(name, 64)
    text = render([Recording(run, noisy(run, 1.0))])
    assert len(text) < 2_000_000
    assert json.loads(part(text, "header"))["left_out"] == []


@pytest.mark.parametrize(
    ("share", "left_out"), [(1.01, []), (1.0, ["sure"]), (0.01, ["guess", "sure"])]
)
def test_what_would_be_too_large_is_left_out_and_told(share, left_out, monkeypatch):
    run = trace("floyd_warshall", 16)
    recording = Recording(run, noisy(run, 1.0))
    whole = len(part(render([recording]), "packed"))
    monkeypatch.setattr("hint_relic.play.page.MAX_PAGE", share * whole)
    header = json.loads(part(render([recording]), "header"))
    assert header["left_out"] == left_out
    hints = {hint["name"]: hint for hint in header["recordings"][0]["hints"]}
    assert {"guess", "sure"} - hints["Pi_h"].keys() == set(left_out)
    assert {"guess", "sure"} <= hints["k"].keys()


def test_what_no_page_can_show_is_refused():
    with pytest.raises(UserError, match="at most 256 nodes, not 300"):
        render([Recording(trace("minimum", 300))])


def test_a_view_keeps_old_nodes_in_place():
    own = Recording(trace("bfs", 8))
    text = render([own, view_of(own, seed=0)])
    first, view = json.loads(part(text, "header"))["recordings"]
    old = [i for i in range(view["nodes"]) if i not in view["fresh"]]
    assert [view["at"][i] for i in old] == first["at"]
    assert [view["names"][i] for i in old] == first["names"]


def test_nan_predictions_are_shown_as_no_numbers():
    run = trace("dijkstra", 6)
    said = noisy(run, 0.1)
    said.hints["d"][:] = np.nan
    said.confidence["pi_h"][:] = np.nan
    text = render([replace(Recording(run), prediction=said)])
    assert "NaN" not in part(text, "header")


# --- where nodes stand ---------------------------------------------------------------------------


def test_a_graph_stands_on_a_circle():
    at = layout(trace("bfs", 8))
    assert np.linalg.norm(at - 0.5, axis=1) == pytest.approx(np.full(8, 0.5))
    assert at[0] == pytest.approx([0.5, 0.0])
    assert at[2] == pytest.approx([1.0, 0.5])


def test_points_keep_their_proportions():
    run = trace("graham_scan", 8)
    at = layout(run)
    given = np.stack([run.inputs["x"], -run.inputs["y"]], axis=1)
    scale = np.ptp(at, axis=0) / np.ptp(given, axis=0)
    assert scale[0] == pytest.approx(scale[1])
    assert layout(trace("minimum", 4)) is None
    assert circle(1).shape == (1, 2)
