"""Our network is the same function as dm-clrs 2.0.3's, on the goldens made from it.

`make conformance` checks this for all 30 algorithms, live; see there for the tolerance.
"""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from hint_relic.config import ModelConfig
from hint_relic.data import Protocol
from hint_relic.data.shape import with_nodes, with_steps
from hint_relic.evaluate.score import count_outputs, score
from hint_relic.model.flat import Layout
from hint_relic.model.network import Network
from hint_relic.objectives.objective import supervised_objective
from hint_relic.objectives.supervised import mean_losses, supervised
from hint_relic.types import Batch

GOLDENS = sorted((Path(__file__).parent.parent / "goldens").glob("model_*.npz"))
TOLERANCE = 2e-5


def part(golden, name: str) -> dict[str, np.ndarray]:
    return {k.split("/", 1)[1]: v for k, v in golden.items() if k.startswith(f"{name}/")}


def read(path: Path):
    """(golden, spec, network with the reference's weights, its layout, batch)."""
    with np.load(path, allow_pickle=False) as file:
        golden = dict(file)
    spec = Protocol.training(path.stem.removeprefix("model_")).spec
    layout = Layout(Network.init(0, spec, ModelConfig(hidden=8)))
    batch = Batch(
        part(golden, "inputs"),
        part(golden, "hints"),
        part(golden, "outputs"),
        golden["lengths"],
        golden["nodes"],
    )
    return golden, spec, layout.unflatten(golden["weights"]), layout, batch


def close(ours, theirs) -> None:
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    keep = np.abs(theirs) < 1e5  # not the -1e6 of forbidden diagonals
    size = max(1.0, np.abs(theirs[keep]).max())
    assert np.abs(ours - theirs)[keep].max() < TOLERANCE * size


@pytest.mark.parametrize("path", GOLDENS, ids=lambda p: p.stem)
def test_predictions_loss_and_gradients(path):
    golden, spec, network, layout, batch = read(path)
    predictions = jax.jit(jax.vmap(lambda s: network(s, training=True)))(batch)
    for name, value in part(golden, "predicted_outputs").items():
        close(predictions.outputs[name], value)
    for name, value in part(golden, "predicted_hints").items():
        ours = np.swapaxes(np.asarray(predictions.hints[name]), 0, 1)
        alive = np.arange(len(value))[:, None] < np.maximum(batch.lengths - 1, 1)
        close(ours[: len(value)][alive], value[alive])

    def loss(weights):
        one = jax.vmap(lambda s: supervised(layout.unflatten(weights), s))
        return sum(mean_losses(one(batch)).values())

    value, gradient = jax.jit(jax.value_and_grad(loss))(golden["weights"])
    assert abs(value - golden["loss"]) < TOLERANCE * abs(golden["loss"])
    close(
        gradient / np.abs(golden["gradients"]).max(),
        golden["gradients"] / np.abs(golden["gradients"]).max(),
    )

    counts = jax.vmap(lambda s, p: count_outputs(spec, p, s))(batch, predictions)
    for name, value in part(golden, "score").items():
        if name != "score":
            total = type(counts[name])(*(np.asarray(x).sum() for x in counts[name]))
            assert abs(float(score(spec[name], total)) - float(value)) < 1e-6


@pytest.mark.parametrize("path", GOLDENS, ids=lambda p: p.stem)
def test_padding_changes_nothing(path):
    """More nodes and more steps than needed: the same predictions, losses and gradients."""
    _, spec, network, layout, batch = read(path)
    nodes = batch.inputs["pos"].shape[1]
    steps = next(iter(batch.hints.values())).shape[1]
    roomy = with_steps(with_nodes(batch, spec, nodes + 4), steps + 3)
    weights = layout.flatten(network)
    key = jax.random.key(0)

    def everything(weights, batch, spare):
        network = layout.unflatten(weights)
        quiet = jax.vmap(lambda s: supervised(network, s))(batch)
        outputs = jax.vmap(network)(batch).outputs
        return sum(mean_losses(quiet).values()), outputs

    for spare in (0, 4):
        grad = jax.jit(jax.value_and_grad(lambda w, b, s=spare: everything(w, b, s), has_aux=True))
        if spare == 0:
            (loss, outputs), gradient = grad(weights, batch)
        else:
            (padded_loss, padded), padded_gradient = grad(weights, roomy)
    np.testing.assert_allclose(padded_loss, loss, rtol=1e-5)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(padded_gradient / scale, gradient / scale, atol=2e-5)
    for name, value in outputs.items():
        cut = tuple(slice(0, d) for d in value.shape)
        close(np.asarray(padded[name])[cut], value)
    assert supervised_objective is not None and key is not None
