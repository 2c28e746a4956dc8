"""Our samples equal dm-clrs 2.0.3's, as stored in tests/goldens (see its docstring)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

import goldens
from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.data import dense, sample, split
from hint_relic.data.shape import trim
from hint_relic.types import Batch

CASES = [(name, case) for name in ALGORITHMS for case in goldens.cases(ALGORITHMS[name])]


def load(name: str, prefix: str = "") -> dict[str, np.ndarray]:
    """The arrays of a golden whose names start with `prefix`, without it."""
    with np.load(goldens.path(name), allow_pickle=False) as file:
        return {k.removeprefix(prefix): file[k] for k in file.files if k.startswith(prefix)}


def chunks(name: str, batch: Batch) -> Iterator[dict[str, np.ndarray]]:
    """A batch in the reference's layout, some samples at a time."""
    for first in range(0, len(batch.lengths), goldens.CHUNK):
        part = slice(first, first + goldens.CHUNK)
        inputs, hints, outputs = (
            {k: v[part] for k, v in arrays.items()}
            for arrays in (batch.inputs, batch.hints, batch.outputs)
        )
        some = Batch(inputs, hints, outputs, batch.lengths[part], batch.nodes[part])
        yield dense(name, trim(some))


def compare(name: str, key: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    assert ours.shape == theirs.shape, f"{key}: {ours.shape} against {theirs.shape}"
    if key in goldens.inexact(name):
        np.testing.assert_allclose(ours, theirs, rtol=goldens.RTOL, atol=0.0, err_msg=key)
    else:
        differ = np.argwhere(ours != theirs)
        assert not len(differ), f"{key} differs in {len(differ)} places, first at {differ[0]}"


def test_every_algorithm_has_a_golden():
    assert not [name for name in ALGORITHMS if not goldens.path(name).exists()]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_spec(name):
    """Names in order, stage, location and type."""
    ours = [(k, str(f.stage), str(f.location), str(f.kind)) for k, f in get(name).spec.items()]
    assert ours == [tuple(row) for row in load(name)["spec"]]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(name, case):
    """Every input, hint at every step, output and length of small samples."""
    golden = load(name, f"{case}/")
    arguments = json.loads(str(golden.pop("arguments")))
    size, samples, seed = (arguments.pop(k) for k in ("size", "samples", "seed"))
    ours = dense(name, sample(name, size, samples, seed, **arguments))
    thinned = "steps" in golden
    kept = golden.pop("steps") if thinned else slice(None)
    for key in [k for k in golden if k.startswith("checksum/")]:
        hint, want = key.removeprefix("checksum/"), golden.pop(key)
        got = goldens.checksums(ours[hint])
        assert len(got) == len(want), f"{hint}: {len(got)} steps against {len(want)}"
        assert np.array_equal(got, want), f"{hint} first differs at step {(got != want).argmax()}"
    assert ours.keys() == golden.keys()
    for key, theirs in golden.items():
        mine = ours[key][kept] if key.startswith("hint/") else ours[key]
        compare(name, key, mine, theirs)


@pytest.mark.parametrize("which", goldens.SPLITS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_official_split(name, which):
    """All of the benchmark's validation and test samples, by a digest of each array."""
    want = dict(load(name)[f"{which}/digests"])
    got = goldens.digests(chunks(name, split(name, which)), leave_out=goldens.inexact(name))
    assert got.keys() == want.keys()
    assert not [key for key in want if got[key] != want[key]]


def test_digests_notice_a_change_but_not_the_sign_of_zero():
    arrays = {"input/a": np.array([[0.0, 1.0]]), "lengths": np.array([1.0])}
    minus = {**arrays, "input/a": np.array([[-0.0, 1.0]])}
    other = {**arrays, "input/a": np.array([[0.0, 1.0 + 2**-52]])}
    assert goldens.digests([arrays]) == goldens.digests([minus])
    assert goldens.digests([arrays])["input/a"] != goldens.digests([other])["input/a"]
