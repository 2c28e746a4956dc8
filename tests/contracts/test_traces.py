"""What every trace has: shapes, types and values in range, and hints that lead to the output."""

from __future__ import annotations

import numpy as np
import pytest

from hint_relic.algorithms import ALGORITHMS, draw, engine, execute, get
from hint_relic.data import sample
from hint_relic.spec import POINTERS, Kind, Location, Stage, of_stage
from hint_relic.types import Batch

from .runs import drawn

SIZE, SAMPLES = 11, 3
NEEDLE = 2

# Hints that are recorded before a round, of algorithms whose last round can still change them:
# Floyd-Warshall's last node, and where lengths come from once the lengths themselves are known.
BEHIND = {("floyd_warshall", "Pi"), ("lcs_length", "b")}


def ours(name: str, size: int = SIZE, **options) -> Batch:
    """A batch from the training generator."""
    algorithm = get(name)
    needle = NEEDLE if algorithm.inputs.form == "haystack and needle" else 0
    return draw(algorithm, size, SAMPLES, seeds=[3], needle=needle, **options)


def arrays(batch: Batch) -> dict[str, np.ndarray]:
    return {**batch.inputs, **batch.hints, **batch.outputs}


def live(batch: Batch) -> dict[str, list[np.ndarray]]:
    """For each name the samples' arrays, of hints the live steps."""
    found = {k: list(v) for k, v in {**batch.inputs, **batch.outputs}.items()}
    for key, hint in batch.hints.items():
        found[key] = [h[:steps] for h, steps in zip(hint, batch.lengths, strict=True)]
    return found


def assert_same(a: Batch, b: Batch) -> None:
    """The same samples, whatever room the batches have for steps."""
    assert a.lengths.tolist() == b.lengths.tolist()
    first, second = live(a), live(b)
    assert first.keys() == second.keys()
    for key in first:
        for x, y in zip(first[key], second[key], strict=True):
            assert np.array_equal(x, y), key


@pytest.mark.parametrize("name", ALGORITHMS)
def test_shapes_and_types_are_the_specs(name):
    algorithm = get(name)
    nodes = algorithm.nodes(SIZE)
    for batch in (sample(name, SIZE, SAMPLES, seed=3), ours(name)):
        assert batch.nodes.tolist() == [nodes] * SAMPLES
        assert (batch.lengths >= 1).all()
        assert list(arrays(batch)) == [
            key
            for stage in (Stage.INPUT, Stage.HINT, Stage.OUTPUT)
            for key in of_stage(algorithm.spec, stage)
        ]
        for key, array in arrays(batch).items():
            field = algorithm.spec[key]
            steps = array.shape[1:2] if field.stage is Stage.HINT else ()
            assert array.shape == (SAMPLES, *steps, *field.shape(nodes)), key
            assert array.dtype == field.dtype, key


@pytest.mark.parametrize("name", ALGORITHMS)
def test_values_are_in_range(name):
    """Pointers and marks are nodes, classes are classes, masks are masks, numbers are finite."""
    spec, nodes = get(name).spec, get(name).nodes(SIZE)
    for batch in (sample(name, SIZE, SAMPLES, seed=4), ours(name)):
        for key, array in arrays(batch).items():
            kind = spec[key].kind
            if kind is Kind.SCALAR:
                assert np.isfinite(array).all(), key
            elif kind is Kind.MASK:
                assert np.isin(array, (-1, 0, 1)).all(), key
            elif kind is Kind.CATEGORICAL:
                assert ((array >= -1) & (array < spec[key].classes)).all(), key
            else:
                assert kind is Kind.MASK_ONE or kind in POINTERS
                assert ((array >= 0) & (array < nodes)).all(), key


@pytest.mark.parametrize("name", ALGORITHMS)
def test_positions_are_evenly_spaced_unless_asked_otherwise(name):
    """They start at 0, at each of two strings; random ones are sorted, and change nothing else."""
    even, scattered = ours(name), ours(name, random_positions=True)
    for row, other in zip(even.inputs["pos"], scattered.inputs["pos"], strict=True):
        starts = np.flatnonzero(row == 0.0)
        assert starts[0] == 0
        for run, random in zip(np.split(row, starts[1:]), np.split(other, starts[1:]), strict=True):
            assert np.array_equal(run, np.arange(len(run)) / len(run))
            assert (np.diff(random) > 0).all()
            assert ((random >= 0) & (random < 1)).all()
    assert_same(
        even._replace(inputs={**even.inputs, "pos": scattered.inputs["pos"]}),
        scattered,
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_hints_start_from_nothing_and_end_in_the_output(name):
    """For each output with a hint of the same name (and `_h`), at its first and last step."""
    spec = get(name).spec
    batch = sample(name, SIZE, 8, seed=5)
    traces = live(batch)
    for key, field in of_stage(spec, Stage.OUTPUT).items():
        hint = f"{key}_h"
        if hint not in spec:
            continue
        for steps, output in zip(traces[hint], traces[key], strict=True):
            if (name, key) not in BEHIND:
                assert np.array_equal(steps[-1], output), key
            at_first = steps[0]
            if field.kind is Kind.MASK:
                assert not (at_first == 1).any(), key
            elif field.location is Location.NODE and field.kind is not Kind.MASK_ONE:
                nodes = np.arange(len(at_first))
                in_place = np.maximum(nodes - 1, 0)
                assert at_first.tolist() in (nodes.tolist(), in_place.tolist()), key
            elif field.kind is Kind.MASK_ONE:
                assert at_first == 0, key


@pytest.mark.parametrize(("name", "key"), sorted(BEHIND))
def test_hints_behind_the_output_are_so_for_a_reason(name, key):
    """Some sample's last hint differs from its output: the exceptions above are needed."""
    traces = live(sample(name, SIZE, 64, seed=6))
    pairs = zip(traces[f"{key}_h"], traces[key], strict=True)
    assert any(not np.array_equal(steps[-1], output) for steps, output in pairs)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_static_hints_never_change(name):
    """The hints that become inputs are the node pointers that never change, and all of them."""
    spec = get(name).spec
    traces = live(sample(name, SIZE, 8, seed=7))
    still = {
        key
        for key in of_stage(spec, Stage.HINT)
        if key == "pred_h" and all((steps == steps[0]).all() for steps in traces[key])
    }
    assert still == {*get(name).static_hints}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_small_first_room_changes_nothing(name, monkeypatch):
    """Runs that must be repeated with more and more room give what runs with enough give."""
    arguments = drawn(name, SIZE, seed=8, samples=SAMPLES)
    nodes = get(name).nodes(SIZE)
    batches = []
    for steps in (1, 3, 2048):
        monkeypatch.setattr(engine, "FIRST_STEPS", steps)
        batches.append(execute(get(name), arguments, nodes))
    assert len({next(iter(b.hints.values())).shape[1] for b in batches}) > 1
    for batch in batches[:-1]:
        assert_same(batch, batches[-1])
    assert_same(ours(name, steps=1), ours(name, steps=2048))
