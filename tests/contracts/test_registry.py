"""Every algorithm's record is complete and agrees with itself."""

from __future__ import annotations

import pytest

from hint_relic.algorithms import ALGORITHMS, ROOMS, Family, draw, get
from hint_relic.algorithms.record import attribute
from hint_relic.errors import UserError
from hint_relic.spec import Kind, Location, Stage, of_stage


def test_thirty_algorithms_each_in_the_room_of_its_name():
    assert len(ALGORITHMS) == len(ROOMS) == 30
    for room in ROOMS:
        assert room.__name__.rpartition(".")[2] == room.ALGORITHM.name
        assert room.ALGORITHM.spec is room.SPEC
    assert list(ALGORITHMS) == sorted(ALGORITHMS)
    assert {a.family for a in ALGORITHMS.values()} == set(Family)


def test_an_unknown_name_is_told_the_nearest():
    with pytest.raises(UserError, match="'insertion_sort'"):
        get("insertion_sorted")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_spec_has_all_stages_and_kinds_where_they_belong(name):
    spec = get(name).spec
    stages = [field.stage for field in spec.values()]
    assert {*stages} == set(Stage)
    order = [Stage.INPUT, Stage.OUTPUT, Stage.HINT]
    assert stages == sorted(stages, key=order.index), "inputs come first, then outputs, then hints"
    assert spec["pos"].stage is Stage.INPUT
    for key, field in spec.items():
        assert (field.classes > 0) == (field.kind is Kind.CATEGORICAL), key
        if field.kind in (Kind.MASK_ONE, Kind.SHOULD_BE_PERMUTATION):
            assert field.location is Location.NODE, key
        if field.kind is Kind.SHOULD_BE_PERMUTATION:
            assert field.stage is Stage.OUTPUT, key
        assert field.kind is not Kind.PERMUTATION_POINTER, "that is made by a rewrite only"
        if field.reverses:
            assert spec[field.reverses].kind is Kind.POINTER, key


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_log_has_an_array_for_each_name(name):
    algorithm = get(name)
    assert algorithm.log._fields == ("cursor", *map(attribute, algorithm.spec))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_named_hints_are_hints(name):
    algorithm = get(name)
    hints = of_stage(algorithm.spec, Stage.HINT)
    assert {*algorithm.static_hints} <= hints.keys()
    assert {*algorithm.contrasted} <= hints.keys()
    assert bool(algorithm.contrasted) == (algorithm.view is not None)
    for hint in algorithm.static_hints:
        assert hint.removesuffix("_h") not in algorithm.spec, "it would take an input's name"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_sizes_below_the_least_are_refused(name):
    algorithm = get(name)
    least = algorithm.inputs.min_size
    assert algorithm.draws(least) is None
    assert str(least) in algorithm.draws(least - 1)
    with pytest.raises(UserError, match=f"at least {least}, not {least - 1}"):
        draw(algorithm, least - 1, 1, seeds=[0])
