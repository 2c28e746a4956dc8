"""Packed reasoners: what is written is read back, what was tampered with is refused."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import jax
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from hint_relic.errors import UserError
from hint_relic.evaluate.evaluate import evaluate
from hint_relic.evaluate.run import load
from hint_relic.reasoner import Reasoner, model_file
from hint_relic.reasoner.pack import pack
from hint_relic.reasoner.runs import read_run
from hint_relic.train.task import VALIDATION_SEED, Task

from .tiny import TINY, untrained

pytestmark = pytest.mark.xdist_group("reasoner")


@pytest.fixture(scope="module")
def packed(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("packed") / "bfs.safetensors"
    return out, pack(run, out, sizes=(5,), samples=4)


def test_the_card_says_what_it_is(packed, run):
    out, card = packed
    assert model_file.read_card(out) == {
        "format": 1, **card, "config": model_file.to_dict(TINY)
    }  # fmt: skip
    assert (card["algorithm"], card["variant"], card["weights"]) == (
        "bfs",
        "baseline",
        "best_average",
    )
    assert set(card["scores"]) == {"5"}
    assert 0 <= card["test_split"] <= 1
    assert card["seed"] in (0, 1)
    assert card["data"]["sizes"] == [4, 5]
    assert card["versions"]["jax"]


def test_weights_are_the_best_seeds_rounded(packed, run):
    out, card = packed
    stored = load_file(out)
    assert {array.dtype for array in stored.values()} == {np.dtype(np.float16)}
    trained = read_run(run, "best_average")
    assert card["validation"] == max(trained.validation)
    for name, array in stored.items():
        want = trained.arrays[card["seed"]][name].astype(np.float16)
        np.testing.assert_array_equal(array, want)


def test_seeds_can_be_compared_at_another_size(run, tmp_path, packed):
    card = pack(run, tmp_path / "x", sizes=(), choose_at=6)
    assert card["chosen"] == "best of 2 seeds on 64 fresh samples of n = 6"
    trained, task = read_run(run, "best_average"), Task.of(TINY)
    batch = task.fresh(6, 64, VALIDATION_SEED + 6)
    networks = [
        trained.design.network(model_file.rounded({k: a[k] for k in trained.design.layout.names}))
        for a in trained.arrays
    ]
    stack = jax.tree.map(lambda *xs: jax.numpy.stack(xs), *networks)
    scores = [s.score for s in evaluate(stack, task.spec, batch)]
    assert card["seed"] == int(np.argmax(scores))


def test_a_reasoner_can_be_packed_once_more(packed, tmp_path):
    """Its weights and how they came about stay, its scores are new."""
    out, card = packed
    again = pack(out, tmp_path / "x", sizes=(6,), samples=4, feedback="hard")
    fresh = {"scores", "outputs", "test_split"}
    assert {k: v for k, v in again.items() if k not in fresh} == {
        k: v for k, v in card.items() if k not in fresh
    }
    assert set(again["scores"]) == {"6"}
    assert Reasoner.load(tmp_path / "x").network.config.feedback == "hard"
    for name, array in load_file(tmp_path / "x").items():
        np.testing.assert_array_equal(array, load_file(out)[name])
    assert pack(out, tmp_path / "x", sizes=(5,), samples=4) == card


def test_scores_are_those_of_the_rounded_weights(packed):
    out, card = packed
    reasoner = Reasoner.load(out)
    networks = jax.tree.map(lambda x: x[None], reasoner.network)
    (scores,) = evaluate(networks, reasoner.design.spec, Task.of(TINY).official())
    assert scores.score == card["test_split"]


@pytest.mark.parametrize("kind", ["best", "best_average", "last", "last_average"])
def test_all_kinds_of_weights_are_found(run, kind):
    trained = read_run(run, kind)
    assert len(trained.arrays) == len(trained.validation) == len(trained.steps) == 2
    assert set(trained.design.layout.names) <= set(trained.arrays[0])
    if kind.startswith("best"):
        theirs = load(run, kind).networks.processor
        ours = trained.design.network(trained.arrays[1]).processor
        for a, b in zip(vars(theirs).values(), vars(ours).values()):
            if hasattr(a, "weight"):
                np.testing.assert_array_equal(a.weight[1], b.weight)


def test_pack_refuses_what_it_cannot_do(run, tmp_path, packed):
    for told in ({"weights": "last"}, {"choose_at": 6}):
        with pytest.raises(UserError, match="only a run folder"):
            pack(packed[0], tmp_path / "x", **told)
    with pytest.raises(UserError, match="no trained reasoner for lcs_length"):
        pack("lcs_length", tmp_path / "x")
    with pytest.raises(UserError, match="did you mean 'hard'"):
        pack(run, tmp_path / "x", feedback="harder")
    with pytest.raises(UserError, match="not a run folder"):
        pack(tmp_path, tmp_path / "x")
    with pytest.raises(UserError, match="did you mean 'last'"):
        pack(run, tmp_path / "x", weights="lst")
    with pytest.raises(UserError, match="in a folder that exists"):
        pack(run, tmp_path / "no" / "x")
    with pytest.raises(UserError, match="at least 2, not 1"):
        pack(run, tmp_path / "x", sizes=(1,))
    with pytest.raises(UserError, match="at least 2, not 1"):
        pack(run, tmp_path / "x", choose_at=1)
    with pytest.raises(UserError, match="half precision"):
        model_file.rounded({"w": np.array([1e6])})
    assert not list(tmp_path.iterdir())


def header_of(content):
    (size,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def with_header(header, body):
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + body


def edited_card(content, **changes):
    header, body = header_of(content)
    card = json.loads(header["__metadata__"]["facts"])
    for path, value in changes.items():
        *where, last = path.split("__")
        at = card
        for step in where:
            at = at[step]
        at[last] = value
    header["__metadata__"]["facts"] = json.dumps(card)
    return with_header(header, body)


def endless_shape(content):
    header, body = header_of(content)
    next(e for k, e in header.items() if k != "__metadata__")["shape"] = [float("inf")]
    return with_header(header, body)


TAMPERED = {
    "nothing in it": (lambda c: b"", "not a trained reasoner"),
    "not safetensors": (lambda c: b"\x80\x04pickle me" * 9, "not a trained reasoner"),
    "a header beyond the end": (lambda c: struct.pack("<Q", 2**40) + c[8:], "header is too long"),
    "no card": (lambda c: with_header({}, b""), "has no card"),
    "deep nesting": (lambda c: struct.pack("<Q", 9000) + b"[" * 9000, "not a trained reasoner"),
    "another format": (lambda c: edited_card(c, format=2), "another version"),
    "another algorithm": (lambda c: edited_card(c, config__algorithm="dfs"), "does not fit"),
    "an unknown algorithm": (lambda c: edited_card(c, config__algorithm="bsf"), "did you mean"),
    "far too wide": (lambda c: edited_card(c, config__model__hidden=10**9), "does not fit its own"),
    "too many triplets": (lambda c: edited_card(c, config__model__triplets=10**9), "does not fit"),
    "negative width": (lambda c: edited_card(c, config__model__hidden=-3), "does not fit its own"),
    "an endless shape": (endless_shape, "does not fit its own"),
    "an unknown option": (lambda c: edited_card(c, config__modle={}), "did you mean 'model'"),
    "cut short": (lambda c: c[:-20], "damaged|does not fit"),
    "a flipped bit": (lambda c: c[:-9] + bytes([c[-9] ^ 1]) + c[-8:], "checksum"),
}  # fmt: skip


@pytest.mark.parametrize("case", TAMPERED)
def test_tampered_files_are_refused(case, tmp_path):
    path = tmp_path / "file"
    untrained(TINY, path)
    change, message = TAMPERED[case]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UserError, match=message) as refusal:
        Reasoner.load(path)
    assert "\n" not in str(refusal.value)


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    path = tmp_path / "file"
    untrained(TINY, path)
    arrays, card = load_file(path), model_file.read_card(path)
    name = next(iter(arrays))
    arrays[name][:] = np.nan
    model_file.checkpoint.write(path, arrays, card)
    with pytest.raises(UserError, match="no numbers"):
        Reasoner.load(path)
    save_file({k: v.astype(np.float32) for k, v in arrays.items()}, path)
    with pytest.raises(UserError, match="no card"):
        Reasoner.load(path)


def test_what_only_the_objective_needs_is_left_out():
    config = replace(TINY, objective=replace(TINY.objective, contrastive=1.0))
    assert not [n for n in model_file.Design(config).layout.names if "projections" in n]


def test_shipped_files_are_sound():
    for name, path in model_file.shipped().items():
        design, _, card = model_file.read(path)
        assert card["algorithm"] == design.config.algorithm == name
        assert card["command"].startswith(f"hint-relic train {name} --variant ")
        assert path.stat().st_size < 3e6
