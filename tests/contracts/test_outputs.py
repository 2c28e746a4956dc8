"""The output of every algorithm is right, by an oracle that is not the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.spec import Kind, Stage, of_stage

from .oracles import ORACLES
from .oracles.arrays import order_of
from .runs import drawn, run
from .strategies import ARGUMENTS

SIZES = (4, 5, 9, 16, 23)


def test_every_algorithm_has_an_oracle_and_inputs():
    assert ORACLES.keys() == ALGORITHMS.keys()
    assert ARGUMENTS.keys() == ALGORITHMS.keys()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_right_on_drawn_inputs(name):
    for size in SIZES:
        for arguments in drawn(name, size, seed=size, samples=3):
            ORACLES[name](run(name, *arguments), *arguments)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_right_on_any_input(name):
    @given(ARGUMENTS[name])
    def judged(arguments):
        ORACLES[name](run(name, *arguments), *arguments)

    judged()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_oracle_notices_one_wrong_entry(name):
    """An output with one entry changed is judged wrong, whichever it is."""
    (arguments,) = drawn(name, size=9, seed=9)
    trace = run(name, *arguments)
    rng = np.random.RandomState(0)
    for key, field in of_stage(get(name).spec, Stage.OUTPUT).items():
        for _ in range(10):
            wrong = np.array(trace.outputs[key])
            place = tuple(rng.randint(d) for d in wrong.shape)
            wrong[place] = another(field, wrong[place], trace.nodes, rng)
            with pytest.raises((AssertionError, ValueError)):
                ORACLES[name](trace._replace(outputs={**trace.outputs, key: wrong}), *arguments)


def another(field, value, nodes, rng):
    """Some other value that the field could hold."""
    if field.kind is Kind.MASK:
        values = [-1, 0, 1]
    else:
        values = range(field.classes or nodes)
    return rng.choice([v for v in values if v != value])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_chains_are_read_as_they_are_written(order):
    """The reader of pointers that judges the sorts undoes what points each item at the last."""
    order = np.argsort(order, kind="stable")[::-1]
    pred = np.empty(len(order), np.int32)
    pred[order] = [order[0], *order[:-1]]
    assert order_of(pred) == order.tolist()
