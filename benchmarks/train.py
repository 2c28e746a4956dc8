"""Milliseconds per update, seconds to compile and peak memory, against dm-clrs in the same run.

    python benchmarks/train.py [--reference PYTHON] [--algorithms bfs,heapsort] [--seeds 1]

One process for each measurement, the reference's and ours in turn: one `baseline` update with the
protocol's settings on 16 samples of n = 16. A sample's number of steps varies with its input, so
ours gets a batch whose longest sample has as many as the longest of the reference's batch (or the
nearest number among 200 batches); both pay for exactly those steps. PYTHON is an interpreter
that has dm-clrs 2.0.3 (`make conformance` makes one at .reference/bin/python); without it only ours
is measured. Writes benchmarks/results/train-<platform>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ALGORITHMS = "bfs,insertion_sort,heapsort,floyd_warshall,strongly_connected_components"
SIZE, BATCH = 16, 16


def measure_ours(name: str, seeds: int, steps: int) -> dict:
    """steps: how many the batch should take; 0 for any."""
    from hint_relic.bench import measure
    from hint_relic.config import TrainConfig
    from hint_relic.train.programs import use_graphs

    use_graphs()
    config = TrainConfig(algorithm=name, seeds=seeds, sizes=(SIZE,), batch_size=BATCH)
    cost = measure(config, steps=steps, budget_s=20.0)
    return result(cost.update_s, cost.compile_s, cost.steps)


def measure_reference(name: str) -> dict:
    sys.path.insert(0, str(ROOT / "conformance"))
    import jax

    import reference
    from hint_relic.bench import timed
    from hint_relic.config import ModelConfig
    from hint_relic.data import Protocol

    protocol = Protocol.training(name)
    options = {"p": protocol.p} if protocol.p else {}
    feedback, spec = reference.rewritten(name, SIZE, BATCH, seed=1, pos_seed=2, **options)
    model = reference.Model(spec, feedback, ModelConfig()).model
    key = jax.random.PRNGKey(0)
    start = time.monotonic()
    jax.block_until_ready(model.feedback(key, feedback))
    compile_s = time.monotonic() - start
    seconds = timed(lambda: model.feedback(key, feedback), budget_s=20.0)
    return result(seconds, compile_s, feedback.features.hints[0].data.shape[0] - 1)


def result(seconds: float, compile_s: float, steps: int) -> dict:
    import jax

    stats = jax.devices()[0].memory_stats() or {}
    return {
        "ms_per_update": 1e3 * seconds,
        "ms_per_step": 1e3 * seconds / steps,
        "steps": steps,
        "compile_s": compile_s,
        "process_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "device_peak_mb": stats.get("peak_bytes_in_use", 0) / 2**20,
        "platform": jax.devices()[0].platform,
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }


def in_process(python: str, mode: str, name: str, numbers: list[int], limit_s: float) -> dict:
    """One measurement in a process of its own."""
    env = dict(os.environ, PYTHONPATH=str(ROOT / "src"), HINT_RELIC_NO_PROGRAM_CACHE="1")
    command = [python, str(Path(__file__).resolve()), "--measure", mode, name, *map(str, numbers)]
    try:
        found = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit_s:.0f} s"}
    if found.returncode:
        return {"error": found.stderr.strip().splitlines()[-1][:200]}
    return json.loads(found.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", default=str(ROOT / ".reference/bin/python"))
    parser.add_argument("--algorithms", default=ALGORITHMS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one measurement")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        mode, name, *numbers = options.measure
        found = (
            measure_reference(name)
            if mode == "reference"
            else measure_ours(name, *map(int, numbers))
        )
        print(json.dumps(found))
        return
    rows = {}
    for name in options.algorithms.split(","):
        row, ask = {}, partial(in_process, limit_s=options.limit)
        if Path(options.reference).exists():
            row["reference"] = ask(options.reference, "reference", name, [1, 0])
        steps = row.get("reference", {}).get("steps", 0)
        row["ours"] = ask(sys.executable, "ours", name, [options.seeds, steps])
        both = [row.get(k, {}).get("ms_per_update") for k in ("ours", "reference")]
        row["times_faster"] = options.seeds * both[1] / both[0] if all(both) else None
        rows[name] = row
        print(name, json.dumps(row, indent=1), flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    platform = next(
        (r["ours"].get("platform") for r in rows.values() if "platform" in r["ours"]), ""
    )
    target = HERE / "results" / f"train-{platform}.json"
    target.parent.mkdir(exist_ok=True)
    what = {"size": SIZE, "batch": BATCH, "seeds": options.seeds, "cpus": os.cpu_count()}
    target.write_text(json.dumps({"commit": commit, **what, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
