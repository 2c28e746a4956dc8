"""How long `hint-relic solve` takes on the CPU, at n = 16: from a cold start, and called again.

    python benchmarks/solve.py [--algorithms heapsort,bfs] [--calls 30]

The networks are full size (hidden 128) and fresh: weights don't change the time. Three figures
for each algorithm: the first start ever (nothing compiled), a later one (kernels and programs in
the cache folder), and a call in a process that has answered before. Wall time and the process's
own CPU time stand side by side, since a busy machine stretches the first only. Written to
benchmarks/results/solve.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from hint_relic.algorithms import get
from hint_relic.config import TrainConfig
from hint_relic.data import trace
from hint_relic.model.network import Network
from hint_relic.reasoner import Reasoner
from hint_relic.reasoner.model_file import Design, write

RESULTS = Path(__file__).parent / "results" / "solve.json"
SIZE = 16
WORDS = {"A": "adjacency", "s": "source"}


def make_model(name: str, folder: Path) -> Path:
    """A full-size network for an algorithm, packed."""
    config = TrainConfig(algorithm=name)
    design = Design(config)
    network = Network.init(0, design.spec, config.model)
    path = folder / f"{name}.safetensors"
    write(path, config, design.layout.named(design.layout.flatten(network)), {})
    return path


def make_input(name: str) -> dict[str, Any]:
    """A drawn input, as a user would give it."""
    inputs = {k: v for k, v in trace(name, SIZE, 0).inputs.items() if k not in ("pos", "adj")}
    return {WORDS.get(k, k): np.asarray(v).tolist() for k, v in inputs.items()}


def start(name: str, model: Path, given: str, cache: str) -> dict[str, float]:
    """One command from its start to its answer: wall time and CPU time, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "hint_relic", "solve", name, "--input", given]
    subprocess.run(
        [*command, "--model", str(model), "--json"],
        env={**os.environ, "HINT_RELIC_CACHE": cache},
        check=True,
        capture_output=True,
    )
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(wall, 2), "cpu_s": round(used, 2)}


def calls(model: Path, value: Any, count: int) -> dict[str, float]:
    """Calls in a process that has answered before: medians, in milliseconds."""
    reasoner = Reasoner.load(model)
    steps = reasoner(value).steps
    wall, cpu = [], []
    for _ in range(count):
        began, used = time.perf_counter(), time.process_time()
        reasoner(value)
        wall.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - used))
    return {
        "steps": steps,
        "wall_ms": round(statistics.median(wall), 1),
        "fastest_ms": round(min(wall), 1),
        "cpu_ms": round(statistics.median(cpu), 1),
    }


def measure(name: str, count: int) -> dict[str, Any]:
    get(name)
    with tempfile.TemporaryDirectory() as folder:
        model, value = make_model(name, Path(folder)), make_input(name)
        given, cache = json.dumps(value), f"{folder}/cache"
        return {
            "algorithm": name,
            "nodes": SIZE,
            "file_kb": round(model.stat().st_size / 1000),
            "first_start": start(name, model, given, cache),
            "later_start": min(
                (start(name, model, given, cache) for _ in range(3)), key=lambda x: x["wall_s"]
            ),
            "call": calls(model, value, count),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--algorithms", default="heapsort,insertion_sort,bfs,floyd_warshall")
    parser.add_argument("--calls", type=int, default=30)
    options = parser.parse_args()
    rows = []
    for name in options.algorithms.split(","):
        rows.append(measure(name, options.calls))
        print(json.dumps(rows[-1]), flush=True)
    result = {
        "command": " ".join(["python", "benchmarks/solve.py", *sys.argv[1:]]),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
