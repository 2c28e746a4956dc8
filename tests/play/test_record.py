"""What a page plays: right and wrong, a network's own run, the view beside the input."""

from __future__ import annotations

import numpy as np
import pytest

from hint_relic.algorithms import get
from hint_relic.augment.agree import compared
from hint_relic.data import trace
from hint_relic.errors import UserError
from hint_relic.play import Prediction, Recording, predicted, view_of
from hint_relic.play.record import accuracy, activity
from hint_relic.reasoner import Reasoner
from hint_relic.spec import POINTERS, Kind, Location


def test_accuracy_is_the_mean_over_hints_of_what_is_right():
    sort = trace("insertion_sort", 4)
    guess = {name: hint.copy() for name, hint in sort.hints.items()}
    guess["pred_h"][2, 0] = (guess["pred_h"][2, 0] + 1) % 4
    found = accuracy(Recording(sort, Prediction(guess, {}, {}, {})))
    assert np.isnan(found[0])  # given
    assert found[1:].tolist() == [1.0, pytest.approx((0.75 + 1.0 + 1.0) / 3.0), 1.0]


def test_what_is_not_scored_and_numbers_are_not_judged():
    strings = trace("lcs_length", 8)
    assert (strings.hints["b_h"] < 0).any()
    guess = {name: hint.copy() for name, hint in strings.hints.items()}
    guess["b_h"] = np.where(guess["b_h"] < 0, 2, guess["b_h"]).astype(np.int8)
    guess["c"] = guess["c"] + 1.0
    assert set(accuracy(Recording(strings, Prediction(guess, {}, {}, {})))[1:]) == {1.0}


def test_without_predictions_there_is_no_accuracy_but_activity():
    sort = trace("insertion_sort", 4)
    assert np.isnan(accuracy(Recording(sort))).all()
    assert activity(sort)[0] == 0
    assert activity(sort)[1:].min() > 0


def test_a_trace_of_one_step_changes_nothing():
    lonely = trace("bfs", 4, 0)
    one = lonely._replace(hints={k: v[:1] for k, v in lonely.hints.items()})
    assert activity(one).tolist() == [0]


def test_a_reasoner_takes_the_steps():
    search = Recording(trace("bfs", 6))
    answer = Reasoner.load("bfs").follow(search.trace)
    found = predicted(search, answer, "a network").prediction
    assert found is not None
    assert set(found.hints) == set(search.trace.hints)  # no reversed pointers
    for name, guess in found.hints.items():
        assert guess.shape == search.trace.hints[name].shape
        assert np.array_equal(guess[0], search.trace.hints[name][0])
        assert found.confidence[name].shape == guess.shape
        assert np.all((found.confidence[name] > 0.0) & (found.confidence[name] <= 1.0))
    assert found.outputs["pi"].shape == found.output_confidence["pi"].shape == (6,)


def test_another_algorithms_network_is_refused():
    with pytest.raises(UserError, match="trained on bfs, not minimum"):
        Reasoner.load("bfs").follow(trace("minimum", 6))


@pytest.mark.parametrize("name", ["insertion_sort", "bfs", "topological_sort"])
def test_a_view_takes_the_same_steps_until(name):
    own = Recording(trace(name, 10))
    view = view_of(own, seed=3)
    assert view.places is not None
    assert view.until is not None
    assert view.trace.nodes > own.trace.nodes
    assert [view.names[p] for p in view.places] == list(own.names)
    assert sum(label.startswith("+") for label in view.names) == view.trace.nodes - own.trace.nodes
    for hint in compared(get(name)):
        field = own.trace.spec[hint]
        ours = own.trace.hints[hint][: view.until + 1]
        theirs = view.trace.hints[hint][: view.until + 1]
        if field.kind in POINTERS or field.kind is Kind.MASK_ONE:
            ours = view.places[ours]
        if field.kind is not Kind.MASK_ONE and field.location is not Location.GRAPH:
            theirs = theirs[:, view.places]
        assert np.array_equal(ours, theirs)


def test_what_has_no_view_is_told():
    with pytest.raises(UserError, match="no views"):
        view_of(Recording(trace("segments_intersect", 4)), seed=0)
