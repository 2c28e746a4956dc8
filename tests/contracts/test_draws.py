"""Sample k of a seed depends on the seed and on k alone: not on its batch, nor on threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hint_relic.algorithms import ALGORITHMS, draw, get
from hint_relic.types import Batch

SIZE, STEPS = 9, 512


def drawn(name: str, samples: int, seeds: list[int], first: int = 0) -> Batch:
    algorithm = get(name)
    return draw(
        algorithm,
        SIZE,
        samples,
        seeds=seeds,
        first=first,
        p=(0.2, 0.6) if algorithm.inputs.p else (),
        needle=-3 if algorithm.inputs.form == "haystack and needle" else 0,
        random_positions=True,
        steps=STEPS,
    )


def stacked(batch: Batch) -> dict[str, np.ndarray]:
    return {**batch.inputs, **batch.hints, **batch.outputs, "lengths": batch.lengths}


def assert_rows_equal(a: Batch, rows_a: slice, b: Batch, rows_b: slice) -> None:
    ours, theirs = stacked(a), stacked(b)
    for key in ours:
        assert np.array_equal(ours[key][rows_a], theirs[key][rows_b]), key


ALL = slice(None)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_sample_is_the_same_in_every_batch(name):
    batch = drawn(name, samples=6, seeds=[11, 2**40 + 1])
    assert_rows_equal(batch, ALL, drawn(name, samples=6, seeds=[11, 2**40 + 1]), ALL)
    assert_rows_equal(batch, slice(6), drawn(name, samples=6, seeds=[11]), ALL)
    assert_rows_equal(batch, slice(6, 12), drawn(name, samples=6, seeds=[2**40 + 1]), ALL)
    assert_rows_equal(batch, slice(3, 5), drawn(name, samples=2, seeds=[11], first=3), ALL)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_samples_and_seeds_differ(name):
    batch = drawn(name, samples=16, seeds=[1, 2])
    rows = np.concatenate([v.reshape(32, -1).astype(float) for v in batch.inputs.values()], axis=1)
    assert len(np.unique(rows, axis=0)) == 32


@pytest.mark.parametrize("name", ALGORITHMS)
def test_threads_do_not_disturb_each_other(name):
    alone = drawn(name, samples=32, seeds=[5])
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda k: drawn(name, samples=4, seeds=[5], first=4 * k), range(8))
        for k, part in enumerate(parts):
            assert_rows_equal(alone, slice(4 * k, 4 * k + 4), part, ALL)
