"""All steps by one kernel against the loop over steps, on an NVIDIA GPU: the same, and how fast.

    PYTHONPATH=src python benchmarks/rollout.py [--cells insertion_sort:baseline] [--seeds 3]

Run it before anything else is done with these kernels (`model/rollout/cuda`). For each cell
(algorithm:variant) two processes compile an update, one with kernels
(HINT_RELIC_KERNELS=1) and one without; when all have compiled, they are timed one at a time, in
turns, on the same batch of n = 16. Losses and gradients are compared as well. Writes
benchmarks/results/rollout.json. `--loops FOLDER` writes down what the loop finds, on a CPU too;
`--against FOLDER` compares the cells of `--only-kernels` with that, which saves compiling it.
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

    from hint_relic import bench
    from hint_relic.model.rollout.plan import KERNELS
    from hint_relic.train.programs import use_graphs
    from hint_relic.train.task import Task
    from hint_relic.variants import preset

    use_graphs()
    config = replace(preset(variant, name), seeds=seeds, sizes=(16,))
    begun = bench.begin(config)
    objective = Task.of(config).objective(config)
    layout, item = begun.layout, jax.device_put(begun.item)
    keys = jax.random.split(jax.random.key(0), seeds)

    def loss(weights, batch, key):
        return objective(layout.unflatten(weights), batch, key)

    one = jax.jit(jax.vmap(jax.value_and_grad(loss, has_aux=True)))
    start = time.monotonic()
    lowered = one.lower(begun.state.weights, item, keys)
    wanted = os.environ[KERNELS] == "1"
    if ("hint_relic_rollout" in lowered.as_text()) != wanted:
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
        found = bench.times(lambda: program(begun.state.weights, item, keys), 0.5)
        print(json.dumps(found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only-kernels", default="", help="cells without the loop over steps")
    parser.add_argument("--against", type=Path, help="what the loop found in them")
    parser.add_argument("--loops", type=Path, help="only write down what the loop finds")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*json.loads(options.measure))
        return
    cells = [x for x in options.cells.split(",") if x]
    alone = [x for x in options.only_kernels.split(",") if x]
    if options.loops:
        options.loops.mkdir(parents=True, exist_ok=True)
        for cell in cells + alone:
            begin(cell, "0", options.seeds, options.loops).communicate()
        return
    options.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        wanted = [(cell, k) for cell in cells for k in "10"] + [(cell, "1") for cell in alone]
        compare(wanted, options, Path(folder))


def file_of(cell: str, kernels: str, folder: Path) -> Path:
    return folder / f"{cell.replace(':', '-')}-{kernels}.npz"


def begin(cell: str, kernels: str, seeds: int, folder: Path) -> subprocess.Popen:
    """A process that measures a cell, told what to do line by line."""
    env = dict(os.environ, HINT_RELIC_KERNELS=kernels, PYTHONPATH=str(ROOT / "src"))
    env["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    what = json.dumps([*cell.split(":"), seeds, str(file_of(cell, kernels, folder))])
    return subprocess.Popen(
        [sys.executable, __file__, "--measure", what],
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def compare(wanted: list[tuple[str, str]], options: argparse.Namespace, folder: Path) -> None:
    """Start all processes, let them take turns, and write down what they found."""
    begun = {each: begin(*each, options.seeds, folder) for each in wanted}
    rows: dict = {cell: {} for cell, _ in wanted}

    def written() -> None:
        said = {"cells": rows, "seeds": options.seeds, **machine()}
        (options.out / "rollout.json").write_text(json.dumps(said, indent=1))

    for (cell, kernels), process in begun.items():
        line = process.stdout.readline()
        rows[cell][kernels] = json.loads(line) if line else {"error": True}
        print(cell, kernels, line.strip(), flush=True)
        loop = file_of(cell, "0", folder)
        if not loop.exists() and options.against:
            loop = file_of(cell, "0", options.against)
        found = [file_of(cell, "1", folder), loop]
        if all(path.exists() for path in found):
            rows[cell]["apart"] = apart(*map(np.load, found))
            print(cell, rows[cell]["apart"], flush=True)
        written()
    for _ in range(TURNS):
        for (cell, kernels), process in begun.items():
            if "error" in rows[cell][kernels]:
                continue
            process.stdin.write("go\n")
            process.stdin.flush()
            took = 1e3 * float(np.median(json.loads(process.stdout.readline())))
            rows[cell][kernels]["ms"] = min(took, rows[cell][kernels].get("ms", took))
            print(cell, kernels, f"{took:.3f} ms", flush=True)
            written()
    for process in begun.values():
        process.communicate()


def apart(kernels: dict, loop: dict) -> dict[str, list[float]]:
    """How far losses and gradients of each network are apart, as a share of their size."""
    said = {}
    for part in ("loss", "gradient"):
        x, y = (found[part].reshape(len(found["loss"]), -1) for found in (kernels, loop))
        said[part] = (np.linalg.norm(x - y, axis=1) / np.linalg.norm(y, axis=1)).tolist()
    return said


if __name__ == "__main__":
    main()
