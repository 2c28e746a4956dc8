"""Our samples are dm-clrs 2.0.3's, value for value: live, on fresh seeds, sizes and options.

What is drawn depends on the day; `HINT_RELIC_SEED` overrides that, to repeat another day's run.
Both sides run on this machine, with the same mathematics library, so nothing is compared with
a tolerance. The test splits that the reference takes 20 to 80 seconds for are left out (see
`SLOW_TEST_SPLITS`); `make test` checks those by their digests in tests/goldens.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from datetime import date
from typing import Any

import clrs
import numpy as np
import pytest

import reference
from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.data import SPLITS, Protocol, dense, sample, split
from hint_relic.data.rewrites import random_positions
from hint_relic.data.shape import trim
from hint_relic.spec import Spec
from hint_relic.types import Batch

SEED = int(os.environ.get("HINT_RELIC_SEED", f"{date.today():%Y%m%d}"))
SIZES = range(4, 25)
LARGE = 64
DRAWS = 8  # sets of arguments for each algorithm
SAMPLES = 3
CHUNK = 64  # samples of a split compared at a time
TRAIN_SAMPLES = 64  # of the 1000
SLOW_TEST_SPLITS = {"graham_scan", "jarvis_march", "matrix_chain_order"}


def generator(*key: Any) -> np.random.RandomState:
    """Of the day, and of what it is for."""
    return np.random.RandomState([SEED % 2**32, zlib.crc32(repr(key).encode())])


def fresh_arguments(name: str, k: int) -> dict[str, Any]:
    """A size, a seed and options; every other set leaves the options as they are."""
    rng, algorithm = generator(name, k), get(name)
    size = int(rng.choice([n for n in SIZES if algorithm.draws(n) is None]))
    found: dict[str, Any] = {"size": size, "seed": int(rng.randint(2**32, dtype=np.uint64))}
    if k % 2:
        if algorithm.inputs.p:
            choices = [0.0, 1.0, *rng.uniform(size=6).round(3)]
            found["p"] = tuple(map(float, rng.choice(choices, size=rng.randint(1, 5))))
        elif algorithm.inputs.form == "haystack and needle":
            longest = int(rng.randint(1, (size - 1) // 2 + 1))
            found["needle"] = int(rng.choice([-longest, longest]))
    return found


def reference_options(*, p: tuple[float, ...] = (), needle: int | None = None) -> dict[str, Any]:
    named = {"p": p} if p else {}
    return named if needle is None else {**named, "length_needle": needle}


def assert_equal(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray], what: str) -> None:
    """The same names in the same order, and the same numbers."""
    assert list(ours) == list(theirs), what
    for key, array in theirs.items():
        assert ours[key].shape == array.shape, f"{key} of {what}"
        differ = np.argwhere(ours[key] != array)
        assert not len(differ), f"{key} of {what} differs, first at {differ[0]}"


def as_rows(spec: Spec) -> list[tuple[str, str, str, str]]:
    return [(k, str(f.stage), str(f.location), str(f.kind)) for k, f in spec.items()]


def test_the_seed_of_the_day_is_told(capsys):
    with capsys.disabled():
        print(f"\nfresh samples of HINT_RELIC_SEED={SEED}")
    assert SEED >= 0


# --- samples ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_spec(name):
    """Names in order, stage, location and type."""
    assert as_rows(get(name).spec) == [(k, *row) for k, row in clrs.SPECS[name].items()]


def test_there_are_no_other_algorithms():
    assert {*ALGORITHMS} == {*clrs.CLRS_30_ALGS_SETTINGS}


@pytest.mark.parametrize("k", range(DRAWS))
@pytest.mark.parametrize("name", ALGORITHMS)
def test_fresh_samples(name, k):
    """Every input, every hint at every step, every output and length."""
    arguments = fresh_arguments(name, k)
    what = f"{name} with {arguments}"
    size, seed = arguments.pop("size"), arguments.pop("seed")
    options = reference_options(**arguments)
    theirs, _ = reference.sampler_arrays(name, size, SAMPLES, seed, **options)
    assert_equal(dense(name, sample(name, size, SAMPLES, seed, **arguments)), theirs, what)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_large_sample(name):
    seed = int(generator(name, LARGE).randint(2**32, dtype=np.uint64))
    theirs, _ = reference.sampler_arrays(name, LARGE, 1, seed)
    what = f"{name} of size {LARGE} with seed {seed}"
    assert_equal(dense(name, sample(name, LARGE, 1, seed)), theirs, what)


# --- splits ----------------------------------------------------------------------------------


def reference_chunks(name: str, which: str, samples: int) -> Iterator[dict[str, np.ndarray]]:
    """A split, some samples at a time: the sampler draws them one after the other."""
    settings = clrs.CLRS30[which]
    sampler, _ = clrs.build_sampler(
        name, -1, seed=settings["seed"], length=settings["length"], track_max_steps=False
    )
    for first in range(0, samples, CHUNK):
        yield reference.feedback_arrays(sampler.next(min(CHUNK, samples - first)))


def rows(batch: Batch, part: slice) -> Batch:
    inputs, hints, outputs = (
        {k: v[part] for k, v in arrays.items()}
        for arrays in (batch.inputs, batch.hints, batch.outputs)
    )
    return trim(Batch(inputs, hints, outputs, batch.lengths[part], batch.nodes[part]))


def compare_split(name: str, which: str, samples: int) -> None:
    ours = split(name, which)
    for k, theirs in enumerate(reference_chunks(name, which, samples)):
        part = slice(k * CHUNK, min((k + 1) * CHUNK, samples))
        assert_equal(dense(name, rows(ours, part)), theirs, f"{name}, {which} split, {part}")


def official_samples(name: str, which: str) -> int:
    """As dm-clrs' dataset counts them."""
    multiplier = clrs.CLRS_30_ALGS_SETTINGS[name]["num_samples_multiplier"]
    return clrs.CLRS30[which]["num_samples"] * (1 if which == "train" else multiplier)


def test_the_splits_have_the_reference_s_arguments():
    assert {
        k: {"num_samples": v.samples, "length": v.size, "seed": v.seed} for k, v in SPLITS.items()
    } == clrs.CLRS30


@pytest.mark.parametrize("which", SPLITS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_splits_have_the_reference_s_number_of_samples(name, which):
    assert len(split(name, which).lengths) == official_samples(name, which)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_train_split(name):
    """Its beginning."""
    compare_split(name, "train", TRAIN_SAMPLES)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_val_split(name):
    compare_split(name, "val", official_samples(name, "val"))


@pytest.mark.parametrize("name", sorted({*ALGORITHMS} - SLOW_TEST_SPLITS))
def test_test_split(name):
    compare_split(name, "test", official_samples(name, "test"))


# --- rewrites --------------------------------------------------------------------------------


def dense_by(spec: Spec, batch: Batch) -> dict[str, np.ndarray]:
    """The reference's layout of a rewritten batch, all of whose samples are equally long."""
    nodes = int(batch.nodes[0])
    found = {f"input/{k}": spec[k].dense(v, nodes) for k, v in batch.inputs.items()}
    for key, hint in batch.hints.items():
        found[f"hint/{key}"] = spec[key].dense(np.swapaxes(hint, 0, 1), nodes)
    found |= {f"output/{k}": spec[k].dense(v, nodes) for k, v in batch.outputs.items()}
    return {**found, "lengths": batch.lengths}


def blank_beyond(lengths: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same with zeros for hints beyond a sample's length."""
    blanked = dict(arrays)
    for key in [k for k in arrays if k.startswith("hint/")]:
        live = np.arange(len(arrays[key]))[:, None] < lengths
        blanked[key] = arrays[key] * live.reshape(*live.shape, *[1] * (arrays[key].ndim - 2))
    return blanked


@pytest.mark.parametrize("k", range(2))
@pytest.mark.parametrize("name", ALGORITHMS)
def test_rewrites(name, k):
    """Random positions, static hints as inputs and permutations, one after the other."""
    arguments = fresh_arguments(name, k)
    pos_seed = int(generator(name, k, "positions").randint(2**31))
    what = f"{name} with {arguments}, positions of seed {pos_seed}"
    size, seed = arguments.pop("size"), arguments.pop("seed")
    feedback, their_spec = reference.rewritten(
        name, size, SAMPLES, seed, pos_seed, **reference_options(**arguments)
    )
    protocol = Protocol.training(name)
    assert as_rows(protocol.spec) == [(k, *row) for k, row in their_spec.items()]

    batch = sample(name, size, SAMPLES, seed, **arguments)
    batch = protocol.rewrite(random_positions(batch, np.random.RandomState(pos_seed)))
    ours = blank_beyond(batch.lengths, dense_by(protocol.spec, batch))
    assert_equal(ours, reference.feedback_arrays(feedback), what)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_hints_are_static(name):
    """The algorithms that dm-clrs' training script turns `pred_h` into an input for."""
    want = ("pred_h",) if name in reference.STATIC_PRED else ()
    assert get(name).static_hints == want
