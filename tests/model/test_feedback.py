"""How predicted hints are fed back: as shares, as decisions, or as sharper shares."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.config import Feedback, Hints, ModelConfig
from hint_relic.data import Protocol
from hint_relic.errors import UserError
from hint_relic.model.feedback import fed_back
from hint_relic.model.network import Executor, Network
from hint_relic.spec import Field, Kind, Location, Stage
from hint_relic.train.task import Task
from hint_relic.variants import preset

SOFT, HARD, SHARPER = Feedback.SOFT, Feedback.HARD, Feedback.SHARPER_ON_EVAL


def fed(kind: Kind, prediction: np.ndarray, nodes: int, feedback: Feedback) -> np.ndarray:
    """Shares among so many nodes, as they are fed back."""
    live = jnp.arange(prediction.shape[-1]) < nodes
    field = Field(Stage.HINT, Location.NODE, kind)
    return np.asarray(fed_back(field, jnp.where(live, prediction, -1e9), live, feedback))


def logits(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("kind", [Kind.MASK_ONE, Kind.POINTER])
@pytest.mark.parametrize("nodes", [4, 16, 48])
def test_shares_over_nodes_become_sharper_beyond_16(kind, nodes):
    shape = (64,) if kind is Kind.MASK_ONE else (64, 64)
    given = logits(*shape)
    factor = (np.log(max(nodes, 16)) / np.log(16)) ** 2
    np.testing.assert_allclose(
        fed(kind, given, nodes, SHARPER),
        fed(kind, np.float32(given * factor), nodes, SOFT),
        rtol=1e-4,
    )


@pytest.mark.parametrize("kind", [Kind.SCALAR, Kind.MASK, Kind.CATEGORICAL])
def test_nothing_else_becomes_sharper(kind):
    given = logits(64, 3) if kind is Kind.CATEGORICAL else logits(64)
    live = jnp.ones(64, bool)
    field = Field(Stage.HINT, Location.NODE, kind)
    same = fed_back(field, given, live, SOFT)
    np.testing.assert_array_equal(fed_back(field, given, live, SHARPER), same)


def test_room_for_more_nodes_makes_nothing_sharper():
    given = logits(32)
    small, large = (
        fed(Kind.MASK_ONE, given, 20, SHARPER),
        fed(Kind.MASK_ONE, given[:20], 20, SHARPER),
    )
    np.testing.assert_allclose(small[:20], large, rtol=1e-5)


def test_what_is_meant_in_training_and_in_evaluation():
    expected = {SOFT: SOFT, HARD: HARD, Feedback.HARD_ON_EVAL: HARD, SHARPER: SHARPER}
    assert {x: x.when(training=False) for x in Feedback} == expected
    expected = {SOFT: SOFT, HARD: HARD, Feedback.HARD_ON_EVAL: SOFT, SHARPER: SOFT}
    assert {x: x.when(training=True) for x in Feedback} == expected


def test_only_larger_inputs_are_scored_otherwise():
    """And training takes the same steps, by the same machine code."""
    task = Task.of(replace(preset("baseline", "mst_prim"), sizes=(4,)))
    spec = Protocol.training("mst_prim").spec
    networks = {
        x: Network.init(0, spec, ModelConfig(hidden=8, feedback=x)) for x in (SOFT, SHARPER)
    }

    def outputs(feedback: Feedback, size: int):
        batch = task.fresh(size, 2, seed=1)
        return jax.vmap(networks[feedback])(batch).outputs["pi"]

    np.testing.assert_array_equal(outputs(SOFT, 16), outputs(SHARPER, 16))
    assert (outputs(SOFT, 20) != outputs(SHARPER, 20)).any()
    plans = [Executor(network, training=True).plan(20) for network in networks.values()]
    assert plans[0] == plans[1] is not None


def test_a_plain_word_will_do():
    assert ModelConfig(feedback="hard", hints="none") == ModelConfig(
        feedback=HARD, hints=Hints.NONE
    )
    with pytest.raises(UserError, match=r"unknown model\.feedback 'harder'; did you mean 'hard'"):
        ModelConfig(feedback="harder")
