"""Our network is the same function as dm-clrs 2.0.3's, on goldens made from it; so it is padded.

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
from hint_relic.objectives.supervised import mean_losses, supervised
from hint_relic.types import Batch
from tiny import QUICKLY

GOLDENS = sorted((Path(__file__).parent.parent / "goldens").glob("model_*.npz"))
TOLERANCE = 2e-5


def part(golden, name: str) -> dict[str, np.ndarray]:
    return {k.split("/", 1)[1]: v for k, v in golden.items() if k.startswith(f"{name}/")}


def read(path: Path):
    """(golden, spec, layout of the weights, batch)."""
    with np.load(path, allow_pickle=False) as file:
        golden = dict(file)
    spec = Protocol.training(path.stem.removeprefix("model_")).spec
    layout = Layout(Network.init(0, spec, ModelConfig(hidden=8)))
    parts = (part(golden, name) for name in ("inputs", "hints", "outputs"))
    return golden, spec, layout, Batch(*parts, golden["lengths"], golden["nodes"])


def close(ours, theirs) -> None:
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    keep = np.abs(theirs) < 1e5  # not the -1e6 of forbidden diagonals
    size = max(1.0, np.abs(theirs[keep]).max())
    assert np.abs(ours - theirs)[keep].max() < TOLERANCE * size


def everything(spec, layout, weights, batch):
    """(loss, predictions, counts of right outputs), gradient: all without Gumbel noise."""

    def loss(weights):
        network = layout.unflatten(weights)
        losses = mean_losses(supervised(network, batch))
        predictions = jax.vmap(lambda s: network(s, training=True))(batch)
        counts = jax.vmap(lambda s, p: count_outputs(spec, p, s))(batch, predictions)
        return sum(losses.values()), (predictions, counts)

    run = jax.jit(jax.value_and_grad(loss, has_aux=True), compiler_options=QUICKLY)
    (value, rest), gradient = run(weights)
    return float(value), *jax.device_get(rest), np.asarray(gradient)


@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("path", GOLDENS, ids=lambda p: p.stem)
def test_same_function(path, padding):
    """Predictions, loss, gradients and scores; also with dead nodes and dead steps added."""
    golden, spec, layout, batch = read(path)
    nodes = batch.inputs["pos"].shape[1]
    steps = next(iter(batch.hints.values())).shape[1]
    roomy = with_steps(with_nodes(batch, spec, nodes + padding), steps + padding)
    loss, predictions, counts, gradient = everything(spec, layout, golden["weights"], roomy)

    for name, value in part(golden, "predicted_outputs").items():
        live = tuple(slice(0, d) for d in value.shape)
        close(predictions.outputs[name][live], value)
    for name, value in part(golden, "predicted_hints").items():
        ours = np.swapaxes(predictions.hints[name], 0, 1)
        live = tuple(slice(0, d) for d in value.shape)
        alive = np.arange(len(value))[:, None] < np.maximum(batch.lengths - 1, 1)
        close(ours[live][alive], value[alive])

    assert abs(loss - golden["loss"]) < TOLERANCE * abs(golden["loss"])
    scale = np.abs(golden["gradients"]).max()
    close(gradient / scale, golden["gradients"] / scale)

    for name, value in part(golden, "score").items():
        if name != "score":
            total = type(counts[name])(*(x.sum() for x in counts[name]))
            assert abs(float(score(spec[name], total)) - float(value)) < 1e-6
