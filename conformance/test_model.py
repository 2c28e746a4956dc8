"""Our network is the same function as dm-clrs 2.0.3's: predictions, losses, gradients, scores.

Tolerance. Both sides compute in float32 but add numbers up in another order (ours composes
the edge encoders with the layers behind them), so results agree to rounding: each step of the
scan adds a few units of 1e-7 relative to the size of the numbers involved, and errors pass
through up to a few dozen recurrent steps and, for permutations, through a division by the
temperature 0.1. We allow 2e-4 relative to the largest entry of each array; a wrong formula
misses by 1e-2 and more.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest

import reference
from hint_relic.algorithms import ALGORITHMS
from hint_relic.config import Hints, ModelConfig
from hint_relic.data import Protocol
from hint_relic.data.shape import with_nodes, with_steps
from hint_relic.evaluate.score import count_outputs, score
from hint_relic.objectives.supervised import mean_losses, supervised

TOLERANCE = 2e-4
PADDING = 3


def close(ours, theirs, what: str) -> None:
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    assert ours.shape == theirs.shape, f"{what}: {ours.shape} against {theirs.shape}"
    keep = np.abs(theirs) < 1e5  # the -1e6 of forbidden diagonals is not a number to compare
    if not keep.any():
        return
    error = np.abs(ours - theirs)[keep].max() / max(1.0, np.abs(theirs[keep]).max())
    assert error < TOLERANCE, f"{what}: off by {error:.1e} of its size"


def live(array, nodes: int, extra: int):
    """Cut every axis that was lengthened by padding back to the live nodes."""
    cut = tuple(slice(None, nodes) if d == nodes + extra else slice(None) for d in array.shape)
    return array[cut]


CASES = [
    *[(name, Hints.FEEDBACK, {}) for name in ALGORITHMS],
    *[(name, Hints.NONE, {}) for name in ALGORITHMS],
    ("bfs", Hints.DECODED, {}),
    ("bfs", Hints.FEEDBACK, {"triplets": 0, "gated": False}),
    ("dijkstra", Hints.FEEDBACK, {"triplets": 0, "fully_connected": False}),
    ("bridges", Hints.FEEDBACK, {"fully_connected": False, "layer_norm": False}),
    ("insertion_sort", Hints.FEEDBACK, {"feedback": "hard"}),
    ("dfs", Hints.FEEDBACK, {"feedback": "hard_on_eval"}),
]


@pytest.mark.parametrize(("name", "hints", "options"), CASES)
def test_same_function(name, hints, options):
    config = ModelConfig(hidden=32, hints=hints, **options)
    size = 7 if name in ("bubble_sort", "mst_kruskal", "jarvis_march", "heapsort") else 9
    needle = {"length_needle": 2} if "matcher" in name else {}
    feedback, their_spec = reference.rewritten(name, size, 4, seed=5, pos_seed=6, **needle)
    theirs = reference.Model(their_spec, feedback, config)
    protocol = Protocol.training(name)
    spec = protocol.spec
    network = reference.network_from(theirs.parameters, spec, config)
    batch = reference.our_batch(name, feedback, spec)
    nodes = batch.inputs["pos"].shape[1]
    steps = next(iter(batch.hints.values())).shape[1]
    roomy = with_steps(with_nodes(batch, spec, nodes + PADDING), steps + PADDING)

    for training in (False, True):
        outputs, hint_preds = theirs.run(training=training)
        ours = jax.jit(lambda n, b, t=training: jax.vmap(lambda s: n(s, training=t))(b))(
            network, roomy
        )
        for key, value in outputs.items():
            close(live(ours.outputs[key], nodes, PADDING), value, f"{name} output {key}")
        for key, value in hint_preds.items():
            mine = np.swapaxes(np.asarray(ours.hints[key]), 0, 1)[: len(value)]
            mine = mine[(slice(None), slice(None), *[slice(0, d) for d in value.shape[2:]])]
            steps = np.arange(len(value))[:, None] < np.maximum(batch.lengths - 1, 1)
            close(mine[steps], value[steps], f"{name} hint {key}")

    def loss(network):
        return sum(mean_losses(supervised(network, roomy)).values())

    mine, gradients = jax.jit(jax.value_and_grad(loss))(network)
    want, their_gradients = theirs.loss_and_gradients()
    assert abs(mine - want) < TOLERANCE * max(1.0, abs(want)), f"loss {mine} against {want}"
    want = reference.network_from(their_gradients, spec, config)
    structure = jax.tree.structure(gradients)
    flat_want, structure_want = jax.tree.flatten(want)
    assert structure == structure_want
    scale = max(float(np.abs(g).max()) for g in flat_want)
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(gradients), flat_want, strict=True):
        error = np.abs(np.asarray(a) - np.asarray(b)).max() / max(scale, 1e-3)
        assert error < TOLERANCE, f"gradient {jax.tree_util.keystr(path)} off by {error:.1e}"

    counts = jax.jit(lambda n, b: jax.vmap(lambda s: count_outputs(spec, n(s), s))(b))(
        network, roomy
    )
    for key, value in theirs.scores().items():
        if key != "score":
            total = type(counts[key])(*(np.asarray(x).sum() for x in counts[key]))
            assert abs(float(score(spec[key], total)) - value) < 1e-6, f"score of {key}"
