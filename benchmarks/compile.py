"""Seconds until the programs of a training run are compiled, with an empty cache.

    python benchmarks/compile.py [--runs insertion_sort:baseline,heapsort:hint_relic]
        [--ways 10000:own,10000:auto,200:auto]

A way is a number of updates and a padding, on which the number of programs depends. Each run in a
process of its own, three seeds, default settings otherwise: its updates for all training sizes,
then (on a CPU that comes later) what scores at n = 16 and 64. Wall and processor seconds, imports
and data not counted. Each twice: with nothing kept, as on the first run after installing, and with
the machine code of `model/rollout` kept, which all algorithms share. Stored in
benchmarks/results/compile.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import machine

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "benchmarks" / "results" / "compile.json"
RUNS = "insertion_sort:baseline,insertion_sort:hint_relic,heapsort:baseline,heapsort:hint_relic"


class Watch:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self.wall, self.processor = time.monotonic(), time.process_time()

    def read(self) -> dict[str, float]:
        return {
            "wall_s": round(time.monotonic() - self.wall, 1),
            "processor_s": round(time.process_time() - self.processor, 1),
        }


def measure(algorithm: str, variant: str, updates: int, padding: str) -> dict[str, Any]:
    """Compile the programs of one run, in this process."""
    from dataclasses import replace

    import jax

    from hint_relic.config import Padding
    from hint_relic.evaluate.evaluate import prepare
    from hint_relic.train.programs import Programs
    from hint_relic.train.task import Task, empty_meter, initial, stream_for
    from hint_relic.variants import preset

    jax.config.update("jax_enable_compilation_cache", False)
    config = replace(preset(variant, algorithm), steps=updates, padding=Padding(padding))
    task = Task.of(config)
    layout, state = initial(config, task)
    with stream_for(config, task) as stream:
        cycle = [stream.batch(k) for k in range(len(stream.sizes))]
    scored = [task.validation(config), task.official()]
    watch = Watch()
    objective = task.objective(config)
    programs = Programs(layout, objective, config)
    programs.prepare(state, empty_meter(objective, layout, state, cycle[0]), cycle)
    of_updates, watch = watch.read(), Watch()
    networks = jax.vmap(layout.unflatten)(state.weights)
    for batch in scored:
        prepare(networks, batch)
    shapes = {tuple(x.shape for x in jax.tree.leaves(item)) for item in cycle}
    return {"programs": len(shapes), "updates": of_updates, "scoring": watch.read()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", default=RUNS)
    parser.add_argument("--ways", default="10000:own,10000:auto,200:auto")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "src"))
    if options.worker:
        algorithm, variant, updates, padding = options.worker
        return print(json.dumps(measure(algorithm, variant, int(updates), padding)))

    command = " ".join(["python", "benchmarks/compile.py", *sys.argv[1:]])
    result: dict[str, Any] = {"command": command, "machine": machine("jax", "jaxlib"), "rows": []}
    for run, way in itertools.product(options.runs.split(","), options.ways.split(",")):
        updates, padding = way.split(":")
        worker = [sys.executable, __file__, "--worker", *run.split(":"), updates, padding]
        row: dict[str, Any] = {"run": run, "of": int(updates), "padding": padding}
        with tempfile.TemporaryDirectory() as folder:
            environment = {
                **os.environ,
                "PYTHONPATH": str(ROOT / "src"),
                "HINT_RELIC_CACHE": folder,
            }
            for kept in ("nothing_kept", "rollout_kept"):
                process = subprocess.run(
                    worker, env=environment, stdout=subprocess.PIPE, check=True
                )
                row[kept] = json.loads(process.stdout)
        result["rows"].append(row)
        first, later = row["nothing_kept"], row["rollout_kept"]
        print(
            f"{run:28} {updates:>6} updates, {padding:8} {later['programs']} programs: "
            f"{first['updates']['wall_s']:6.1f} s, with kernels kept "
            f"{later['updates']['wall_s']:6.1f} s ({later['updates']['processor_s']:.1f} of "
            f"processors), scoring {later['scoring']['wall_s']:5.1f} s",
            flush=True,
        )
        OUT.write_text(json.dumps(result, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
