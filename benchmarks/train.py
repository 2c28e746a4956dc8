"""Milliseconds per update, seconds to compile and peak memory, against dm-clrs in the same run.

    python benchmarks/train.py [--reference PYTHON] [--algorithms bfs,heapsort] [--seeds 1]

One process for each measurement, ours and the reference's in turn, on the same batch shape: 16
samples of n = 16, one update of `baseline` with the protocol's settings. PYTHON is an interpreter
that has dm-clrs 2.0.3 (`make conformance` makes one at .reference/bin/python); without it only ours
is measured. Writes benchmarks/results/train-<platform>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ALGORITHMS = "bfs,insertion_sort,heapsort,floyd_warshall,strongly_connected_components"
SIZE, BATCH = 16, 16


def timed(update, ready, budget_s: float = 20.0) -> float:
    """Median seconds of an update, after one to warm up."""
    ready(update())
    times: list[float] = []
    start = time.monotonic()
    while len(times) < 3 or (time.monotonic() - start < budget_s and len(times) < 20):
        before = time.monotonic()
        ready(update())
        times.append(time.monotonic() - before)
    return statistics.median(times)


def measure_ours(name: str, seeds: int) -> dict:
    import jax
    import jax.numpy as jnp

    from hint_relic.config import TrainConfig
    from hint_relic.data import Stream
    from hint_relic.objectives.objective import supervised_objective
    from hint_relic.train.loop import Task, initial
    from hint_relic.train.programs import Programs
    from hint_relic.train.update import Meter

    config = TrainConfig(algorithm=name, seeds=seeds, sizes=(SIZE,), batch_size=BATCH)
    task = Task.of(config)
    layout, state = initial(config, task)
    with Stream(task.protocol, sizes=(SIZE,), seeds=config.seed_list) as stream:
        batch = stream.batch(0)
    one = jax.tree.map(lambda x: x[0], batch)

    def parts_of(weights):
        return supervised_objective(layout.unflatten(weights), one, jax.random.key(0))[1]

    zero = jnp.zeros(seeds)
    meter = Meter(zero, dict.fromkeys(jax.eval_shape(parts_of, state.weights[0]), zero), zero, zero)
    state, meter = jax.tree.map(jnp.array, (state, meter))
    programs = Programs(layout, supervised_objective, config.optimiser)
    start = time.monotonic()
    programs.prepare(state, meter, [batch])
    compile_s = time.monotonic() - start
    batch = jax.device_put(batch)
    kept = [state, meter]

    def update():
        kept[:] = programs(*kept, batch)
        return kept[0].step

    seconds = timed(update, jax.block_until_ready)
    return result(seconds, compile_s, int(next(iter(batch.hints.values())).shape[2]) - 1)


def measure_reference(name: str) -> dict:
    sys.path.insert(0, str(ROOT / "conformance"))
    import jax

    import reference
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
    seconds = timed(lambda: model.feedback(key, feedback), jax.block_until_ready)
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


def in_process(python: str, mode: str, name: str, seeds: int, limit_s: float) -> dict:
    """One measurement in a process of its own."""
    env = dict(os.environ, PYTHONPATH=str(ROOT / "src"), HINT_RELIC_NO_PROGRAM_CACHE="1")
    command = [python, str(Path(__file__).resolve()), "--measure", mode, name, str(seeds)]
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
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        mode, name, seeds = options.measure
        found = measure_reference(name) if mode == "reference" else measure_ours(name, int(seeds))
        print(json.dumps(found))
        return
    rows = {}
    for name in options.algorithms.split(","):
        row = {"ours": in_process(sys.executable, "ours", name, options.seeds, options.limit)}
        if Path(options.reference).exists():
            row["reference"] = in_process(
                options.reference, "reference", name, options.seeds, options.limit
            )
        both = [row.get(k, {}).get("ms_per_step") for k in ("ours", "reference")]
        row["times_faster_per_step"] = both[1] / both[0] if all(both) else None
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
