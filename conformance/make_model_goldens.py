"""Remake tests/goldens/model_*.npz: dm-clrs 2.0.3's own network on small batches.

    .reference/bin/python conformance/make_model_goldens.py

Each file holds the reference's initial parameters (in our layout, by name), a batch, and what the
reference predicts for it, its loss and its gradients.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import reference
from hint_relic.config import ModelConfig
from hint_relic.data import Protocol
from hint_relic.model.flat import Layout

CASES = {
    "bfs": 6,
    "insertion_sort": 5,
    "floyd_warshall": 5,
    "lcs_length": 6,
    "bridges": 5,
    "dag_shortest_paths": 5,
}
FOLDER = Path(__file__).resolve().parent.parent / "tests" / "goldens"


def main() -> None:
    for name, size in CASES.items():
        config = ModelConfig(hidden=8)
        spec = Protocol.training(name).spec
        feedback, their_spec = reference.rewritten(name, size, 3, seed=3, pos_seed=4)
        model = reference.Model(their_spec, feedback, config)
        network = reference.network_from(model.parameters, spec, config)
        layout = Layout(network)
        outputs, hints = model.run(training=True)
        loss, gradients = model.loss_and_gradients()
        batch = reference.our_batch(name, feedback, spec)
        arrays = {
            "weights": layout.flatten(network),
            "gradients": layout.flatten(reference.network_from(gradients, spec, config)),
            "loss": np.float64(loss),
            "lengths": batch.lengths,
            "nodes": batch.nodes,
        }
        for part in ("inputs", "hints", "outputs"):
            arrays |= {f"{part}/{k}": v for k, v in getattr(batch, part).items()}
        arrays |= {f"predicted_outputs/{k}": v for k, v in outputs.items()}
        arrays |= {f"predicted_hints/{k}": v for k, v in hints.items()}
        arrays |= {f"score/{k}": np.float64(v) for k, v in model.scores().items()}
        np.savez_compressed(FOLDER / f"model_{name}.npz", **arrays)
        print(name, "written")


if __name__ == "__main__":
    main()
