"""How an update and a scoring grow with the number of nodes, and what memory they take.

    python benchmarks/growth.py [--sizes 16,32,64,128]

`baseline`, full size, one seed, batch 16; scoring: one network on 8 samples. Each figure from a
process of its own, so that its peak memory is its own. Written to benchmarks/results/growth.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from hint_relic.bench import measure, timed
from hint_relic.config import TrainConfig
from hint_relic.evaluate.evaluate import evaluate
from hint_relic.train.task import Task, initial

RESULTS = Path(__file__).parent / "results" / "growth.json"
SCORED = 8


def update(algorithm: str, size: int) -> dict[str, Any]:
    cost = measure(replace(TrainConfig(algorithm=algorithm), seeds=1, sizes=(size,)))
    return {"steps": cost.steps, "seconds": cost.update_s}


def scoring(algorithm: str, size: int) -> dict[str, Any]:
    config = TrainConfig(algorithm=algorithm, seeds=1)
    task = Task.of(config)
    layout, state = initial(config, task)
    networks = jax.vmap(layout.unflatten)(state.weights)
    batch = task.fresh(size, SCORED, seed=1)
    seconds = timed(lambda: evaluate(networks, task.spec, batch), budget_s=5.0)
    return {"steps": int(batch.lengths.max()) - 1, "seconds": seconds}


WHAT = {"update": update, "scoring": scoring}
PLAN = (("bfs", "update"), ("bfs", "scoring"), ("insertion_sort", "scoring"))


def alone(what: str, algorithm: str, size: int) -> dict[str, Any]:
    """One figure, in a process of its own."""
    command = [sys.executable, __file__, "--one", what, algorithm, str(size)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        return {"failed": found.stderr.strip().splitlines()[-1:]}
    return json.loads(found.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="16,32,64,128")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, algorithm, size = options.one
        figure = WHAT[what](algorithm, int(size))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(figure | {"peak_mb": peak}))
        return
    rows = []
    print(f"{'':22}{'n':>5}{'steps':>7}{'seconds':>10}{'ms a step':>11}{'peak MB':>9}")
    for algorithm, what in PLAN:
        for size in map(int, options.sizes.split(",")):
            row = {"algorithm": algorithm, "what": what, "n": size} | alone(what, algorithm, size)
            rows.append(row)
            if "failed" in row:
                print(f"{algorithm:15}{what:7}{size:5}  failed: {row['failed']}", flush=True)
                continue
            each = 1000 * row["seconds"] / row["steps"]
            print(
                f"{algorithm:15}{what:7}{size:5}{row['steps']:7}{row['seconds']:10.2f}"
                f"{each:11.1f}{row['peak_mb']:9.0f}",
                flush=True,
            )
    facts = {"machine": platform.machine(), "jax": jax.__version__, "device": jax.default_backend()}
    RESULTS.write_text(json.dumps(facts | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
