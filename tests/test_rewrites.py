"""The benchmark's three rewrites, on cases small enough to write down."""

from __future__ import annotations

import numpy as np
import pytest

from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.data import sample
from hint_relic.data.rewrites import (
    permutations,
    permutations_spec,
    random_positions,
    static_hints,
    static_hints_spec,
)
from hint_relic.spec import Field, Kind, Location, Stage
from hint_relic.types import Batch

PRED = Field(Stage.OUTPUT, Location.NODE, Kind.SHOULD_BE_PERMUTATION)
HINT = Field(Stage.HINT, Location.NODE, Kind.POINTER)
KEY = Field(Stage.INPUT, Location.NODE, Kind.SCALAR)


def batch(inputs=None, hints=None, outputs=None) -> Batch:
    return Batch(inputs or {}, hints or {}, outputs or {}, np.array([2, 1]), np.array([4, 4]))


# --- random positions ------------------------------------------------------------------------


def test_random_positions_are_one_draw_sorted():
    pos = np.array([[0.0, 0.25, 0.5, 0.75]] * 2)
    key = np.ones((2, 4))
    rewritten = random_positions(batch({"pos": pos, "key": key}), np.random.RandomState(1))
    want = np.sort(np.random.RandomState(1).uniform(size=(2, 4)), axis=1)
    assert np.array_equal(rewritten.inputs["pos"], want)
    assert rewritten.inputs["key"] is key
    assert list(rewritten.inputs) == ["pos", "key"]
    assert pos.tolist() == [[0.0, 0.25, 0.5, 0.75]] * 2, "the batch itself stays as it was"


def test_random_positions_of_two_strings_are_sorted_within_each():
    """The second string starts where the position is 0 again, in each sample at its own place."""
    pos = np.array([[0.0, 0.5, 0.0, 0.5], [0.0, 1 / 3, 2 / 3, 0.0]])
    drawn = np.random.RandomState(1).uniform(size=(2, 4))
    rewritten = random_positions(batch({"pos": pos}), np.random.RandomState(1)).inputs["pos"]
    assert rewritten[0].tolist() == [*sorted(drawn[0, :2]), *sorted(drawn[0, 2:])]
    assert rewritten[1].tolist() == [*sorted(drawn[1, :3]), drawn[1, 3]]


def test_random_positions_go_on_from_where_the_generator_is():
    rng = np.random.RandomState(1)
    pos = batch({"pos": np.array([[0.0, 0.5]] * 2)})
    first, second = (random_positions(pos, rng).inputs["pos"] for _ in range(2))
    assert not np.array_equal(first, second)


# --- static hints ----------------------------------------------------------------------------


def test_static_hints_become_inputs():
    """The first step becomes an input without the `_h`, behind those there are."""
    pred_h = np.array([[[0, 0, 1, 2]] * 3, [[0, 0, 1, 2], [0] * 4, [0] * 4]])
    i = np.zeros((2, 3), np.int32)
    before = batch({"key": np.ones((2, 4))}, {"pred_h": pred_h, "i": i})
    after = static_hints(before, ["pred_h"])
    assert list(after.inputs) == ["key", "pred"]
    assert after.inputs["pred"].tolist() == [[0, 0, 1, 2]] * 2
    assert list(after.hints) == ["i"]
    assert after.lengths is before.lengths
    assert list(before.inputs) == ["key"], "the batch itself stays as it was"


def test_static_hints_change_the_spec_in_place():
    spec = static_hints_spec({"key": KEY, "pred_h": HINT, "other_h": HINT}, ["pred_h"])
    assert list(spec) == ["key", "pred", "other_h"]
    assert spec["pred"] == Field(Stage.INPUT, Location.NODE, Kind.POINTER)
    assert spec["other_h"] == HINT


def test_no_static_hints_change_nothing():
    before = batch({"key": np.ones((2, 4))}, {"i": np.zeros((2, 3))})
    assert static_hints(before, []) == before
    assert static_hints_spec({"key": KEY, "pred_h": HINT}, []) == {"key": KEY, "pred_h": HINT}


# --- permutations ----------------------------------------------------------------------------


def test_permutations_close_the_chain():
    """2 <- 0 <- 3 <- 1 and 0 <- 1 <- 2 <- 3: the first now points at the last."""
    pred = np.array([[2, 3, 2, 0], [0, 0, 1, 2]], np.int32)
    after = permutations(batch(outputs={"pred": pred}), {"pred": PRED})
    assert after.outputs["pred"].tolist() == [[2, 3, 1, 0], [3, 0, 1, 2]]
    assert after.outputs["pred_mask"].tolist() == [2, 0]
    assert pred.tolist() == [[2, 3, 2, 0], [0, 0, 1, 2]], "the batch itself stays as it was"


def test_permutations_leave_other_pointers_alone():
    pi = np.array([[0, 0, 0, 0]] * 2)
    field = Field(Stage.OUTPUT, Location.NODE, Kind.POINTER)
    after = permutations(batch(outputs={"pi": pi}), {"pi": field})
    assert list(after.outputs) == ["pi"]
    assert after.outputs["pi"] is pi


def test_permutations_spec():
    spec = permutations_spec({"key": KEY, "pred": PRED, "pred_h": HINT})
    assert list(spec) == ["key", "pred", "pred_mask", "pred_h"]
    assert spec["pred"].kind is Kind.PERMUTATION_POINTER
    assert spec["pred_mask"] == Field(Stage.OUTPUT, Location.NODE, Kind.MASK_ONE)
    assert spec["key"] == KEY


@pytest.mark.parametrize("name", [k for k, a in ALGORITHMS.items() if "pred" in a.spec])
def test_sorted_samples_become_permutations(name):
    """Every item is pointed at once, and undoing the rewrite gives the sample's own pointers."""
    before = sample(name, 9, 16, seed=1)
    after = permutations(before, get(name).spec).outputs
    for old, cycle, first in zip(
        before.outputs["pred"], after["pred"], after["pred_mask"], strict=True
    ):
        assert sorted(cycle) == list(range(9))
        restored = cycle.copy()
        restored[first] = first
        assert restored.tolist() == old.tolist()
