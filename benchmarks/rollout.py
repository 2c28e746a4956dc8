"""All steps by one kernel against the loop over steps, on an NVIDIA GPU: the same, and how fast.

    PYTHONPATH=src python benchmarks/rollout.py [--cells insertion_sort:baseline] [--seeds 3]

Run it before anything else is done with these kernels (`model/rollout/cuda`). For each cell
(algorithm:variant) two processes compile an update, one with kernels
(HINT_RELIC_KERNELS=1) and one without; when all have compiled, they are timed one at a time, in
turns, on the same batch of n = 16. Losses and gradients are compared as well. Writes
benchmarks/results/rollout.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from machine import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CELLS = (
    "insertion_sort:baseline_reversal,strongly_connected_components:baseline_reversal,bfs:no_hints"
)
TURNS = 2


def measure(name: str, variant: str, seeds: int, out: str) -> None:
    """Compile, say so, and take a turn whenever a line comes."""
    from dataclasses import replace

    import jax

    from hint_relic.bench import begin, times
    from hint_relic.model.rollout.plan import KERNELS
    from hint_relic.train.programs import use_graphs
    from hint_relic.train.task import Task
    from hint_relic.variants import preset

    use_graphs()
    config = replace(preset(variant, name), seeds=seeds, sizes=(16,))
    begun = begin(config)
    objective = Task.of(config).objective(config)
    layout, item = begun.layout, jax.device_put(begun.item)
    keys = jax.random.split(jax.random.key(0), seeds)

    def loss(weights, batch, key):
        return objective(layout.unflatten(weights), batch, key)

    one = jax.jit(jax.vmap(jax.value_and_grad(loss, has_aux=True)))
    forward = jax.jit(jax.vmap(lambda *x: loss(*x)[0]))
    start = time.monotonic()
    lowered = one.lower(begun.state.weights, item, keys)
    if ("hint_relic_rollout" in lowered.as_text()) != (os.environ[KERNELS] == "1"):
        raise SystemExit(f"no kernels take the steps of {name}:{variant} on this machine")
    program = lowered.compile()
    compile_s = time.monotonic() - start
    start = time.monotonic()
    (value, _), gradient = jax.block_until_ready(program(begun.state.weights, item, keys))
    first_s = time.monotonic() - start
    np.savez(out, loss=value, gradient=gradient)
    said = {"compile_s": compile_s, "first_s": first_s, "steps": int(begun.longest - 1)}
    stats = jax.devices()[0].memory_stats() or {}
    said["device_peak_mb"] = stats.get("peak_bytes_in_use", 0) / 2**20
    print(json.dumps(said), flush=True)
    for _ in sys.stdin:
        both = times(lambda: program(begun.state.weights, item, keys), 0.5)
        alone = times(lambda: forward(begun.state.weights, item, keys), 0.3)
        print(json.dumps({"both": both, "forward": alone}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only-kernels", default="", help="cells that are not compared")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*json.loads(options.measure))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        compare(options, folder)


def compare(options: argparse.Namespace, folder: str) -> None:
    """Start all processes, let them take turns, and write down what they found."""
    begun = {}
    cells = [x for x in options.cells.split(",") if x]
    for cell in [*cells, *filter(None, options.only_kernels.split(","))]:
        name, variant = cell.split(":")
        for kernels in ("1", "0") if cell in cells else ("1",):
            found = f"{folder}/{name}-{variant}-{kernels}.npz"
            env = dict(os.environ, HINT_RELIC_KERNELS=kernels, PYTHONPATH=str(ROOT / "src"))
            env["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
            what = json.dumps([name, variant, options.seeds, found])
            begun[cell, kernels] = found, subprocess.Popen(
                [sys.executable, __file__, "--measure", what],
                env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
    rows: dict = {}
    for (cell, kernels), (_, process) in begun.items():
        line = process.stdout.readline()
        rows.setdefault(cell, {})[kernels] = json.loads(line) if line else {"error": True}
        print(cell, kernels, line.strip(), flush=True)
    for _ in range(TURNS):
        for (cell, kernels), (_, process) in begun.items():
            if "error" in rows[cell][kernels]:
                continue
            process.stdin.write("go\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            for part, found in said.items():
                least = 1e3 * float(np.median(found))
                rows[cell][kernels][f"{part}_ms"] = min(
                    least, rows[cell][kernels].get(f"{part}_ms", 1e9)
                )
    for _, process in begun.values():
        process.stdin.close()
        process.wait()
    for cell, row in rows.items():
        both = [np.load(begun[cell, k][0]) for k in row if "error" not in row[k]]
        if len(both) == 2:
            for part in ("loss", "gradient"):
                x, y = (found[part].reshape(options.seeds, -1) for found in both)
                apart = np.linalg.norm(x - y, axis=1) / np.linalg.norm(y, axis=1)
                row[f"{part}_apart"] = apart.tolist()
        print(cell, json.dumps(row), flush=True)
        (options.out / "rollout.json").write_text(
            json.dumps({"cells": rows, "seeds": options.seeds, **machine()}, indent=1)
        )


if __name__ == "__main__":
    main()
