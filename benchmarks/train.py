"""Milliseconds per update, seconds to compile and peak memory, against dm-clrs in the same run.

    python benchmarks/train.py [--reference PYTHON] [--algorithms bfs,heapsort:8] [--seeds 1]

Each measurement has a process of its own: one update with the protocol's settings on 16 samples
of n = 16. When the reference and ours have compiled, they are timed in turns, three each, since a
machine's speed changes within minutes; the times are medians. With --together all algorithms
compile side by side first, which a GPU's machine has the cores and the memory for. An algorithm
can have its own number of seeds behind a colon.

A sample's number of steps varies with its input, so ours gets a batch whose longest sample has as
many as the longest of the reference's batch (or the nearest number among 200 batches); both pay for
exactly those steps. PYTHON is an interpreter that has dm-clrs 2.0.3 (`make conformance` makes one
at .reference/bin/python); without it only ours is measured.
Writes benchmarks/results/train-<platform>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from machine import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ALGORITHMS = "bfs,insertion_sort,heapsort,floyd_warshall,strongly_connected_components"
SIZE, BATCH = 16, 16
TURNS = 3
REFERENCE = "reference"


def measure_ours(name: str, variant: str, seeds: int, steps: int, budget_s: float) -> dict:
    """steps: how many the batch should take; 0 for any."""
    from dataclasses import replace

    from hint_relic.bench import ready
    from hint_relic.train.programs import use_graphs
    from hint_relic.variants import preset

    use_graphs()
    config = replace(preset(variant, name), seeds=seeds, sizes=(SIZE,), batch_size=BATCH)
    begun, once, compile_s = ready(config, steps)
    take_turns(once, budget_s)
    return result(compile_s, begun.longest - 1)


def measure_reference(name: str, budget_s: float) -> dict:
    sys.path.insert(0, str(ROOT / "conformance"))
    import jax

    import reference
    from hint_relic.config import ModelConfig
    from hint_relic.data import Protocol

    protocol = Protocol.training(name)
    options = {"p": protocol.p} if protocol.p else {}
    feedback, spec = reference.rewritten(name, SIZE, BATCH, seed=1, pos_seed=2, **options)
    steps = feedback.features.hints[0].data.shape[0] - 1
    say({"steps": steps})
    model = reference.Model(spec, feedback, ModelConfig()).model
    key = jax.random.PRNGKey(0)
    start = time.monotonic()
    jax.block_until_ready(model.feedback(key, feedback))
    compile_s = time.monotonic() - start
    take_turns(lambda: model.feedback(key, feedback), budget_s)
    return result(compile_s, steps)


def result(compile_s: float, steps: int) -> dict:
    import jax

    stats = jax.devices()[0].memory_stats() or {}
    return {
        "steps": steps,
        "compile_s": compile_s,
        "process_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "device_peak_mb": stats.get("peak_bytes_in_use", 0) / 2**20,
        "platform": jax.devices()[0].platform,
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }


def say(record: dict) -> None:
    print(json.dumps(record), flush=True)


def take_turns(once: Callable[[], Any], budget_s: float) -> None:
    """Time it whenever a line comes, until none does."""
    from hint_relic.bench import times

    say({"compiled": True})
    for _ in sys.stdin:
        say({"times": times(once, budget_s / TURNS)})


class Measurement:
    """One measurement in a process of its own, which says what it has reached, a line each."""

    def __init__(self, python: str, limit_s: float, *what: Any):
        env = dict(os.environ, PYTHONPATH=str(ROOT / "src"))
        here = str(Path(__file__).resolve())
        self.complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 (for as long as the process)
        self.compiled = cache(partial(self.reach, "compiled"))
        self.times: list[float] = []
        self.process = subprocess.Popen(
            ["timeout", str(limit_s), python, here, "--measure", json.dumps(what)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
        )

    def reach(self, what: str) -> dict:
        """The next line that has `what` in it; {"error": …} if none comes."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("{") and what in (record := json.loads(line)):
                return record
        self.process.wait()
        self.complaints.seek(0)
        complaints = self.complaints.read().strip().splitlines() or ["no word"]
        return {"error": complaints[-1][:200]}

    def turn(self) -> None:
        """Time it: its turn has come."""
        if "error" in self.compiled():
            return
        assert self.process.stdin
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.times += self.reach("times").get("times", [])

    def finish(self) -> dict:
        """What was found in all its turns."""
        if "error" in (compiled := self.compiled()):
            return compiled
        assert self.process.stdin
        self.process.stdin.close()
        found = self.reach("compile_s")
        if self.times and "steps" in found:
            seconds = statistics.median(self.times)
            found["ms_per_update"] = 1e3 * seconds
            found["ms_per_step"] = 1e3 * seconds / found["steps"]
            found["least_ms_per_update"] = 1e3 * min(self.times)
        return found


def measure_all(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The rows, by algorithm."""
    rows: dict[str, dict[str, Any]] = {}
    for algorithm in options.algorithms.split(","):
        name, _, seeds = algorithm.partition(":")
        rows[name] = {"seeds": int(seeds or options.seeds)}
    if options.together:
        begun = [(name, begin(name, row["seeds"], options)) for name, row in rows.items()]
        for _, measurements in begun:
            for measurement in measurements.values():
                measurement.compiled()  # nothing is timed beside something that compiles
        for name, measurements in begun:
            rows[name] |= in_turns(name, measurements)
        return rows
    for name, row in rows.items():
        row |= in_turns(name, begin(name, row["seeds"], options))
    return rows


def begin(name: str, seeds: int, options: argparse.Namespace) -> dict[str, Measurement]:
    """The measurements of an algorithm, begun: of the reference, if there is one, and of ours."""
    found: dict[str, Measurement] = {}
    steps = 0
    if Path(options.reference).exists():
        what: tuple[Any, ...] = (REFERENCE, name, options.budget)
        found[REFERENCE] = Measurement(options.reference, options.limit, *what)
        steps = found[REFERENCE].reach("steps").get("steps", 0)
        if not options.together:
            found[REFERENCE].compiled()
    for variant in options.variants.split(","):
        what = (name, variant, seeds, steps, options.budget)
        found[variant] = Measurement(sys.executable, options.limit, *what)
        if not options.together:
            found[variant].compiled()
    return found


def in_turns(name: str, measurements: dict[str, Measurement]) -> dict[str, dict]:
    """Time those of one algorithm."""
    for measurement in TURNS * [*measurements.values()]:
        measurement.turn()
    found = {kind: measurement.finish() for kind, measurement in measurements.items()}
    for kind, record in found.items():
        print(name, kind, json.dumps(record), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", default=str(ROOT / ".reference/bin/python"))
    parser.add_argument("--algorithms", default=ALGORITHMS)
    parser.add_argument("--variants", default="baseline")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--together", action="store_true", help="compile all side by side")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds to time an update for")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one measurement")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        kind, *what = json.loads(options.measure)
        say(measure_reference(*what) if kind == REFERENCE else measure_ours(kind, *what))
        return
    rows = measure_all(options)
    platform = ""
    for name, row in rows.items():
        theirs = row.get(REFERENCE, {}).get("ms_per_update")
        for variant in options.variants.split(","):
            ours = row[variant]
            platform = ours.get("platform", platform)
            if theirs and "ms_per_update" in ours:
                ours["times_faster"] = row["seeds"] * theirs / ours["ms_per_update"]
                print(f"{name:32}{variant:12}{ours['times_faster']:6.2f} times")
    options.out.mkdir(exist_ok=True)
    where = machine("jax", "jaxlib")
    command = " ".join(["python", "benchmarks/train.py", *sys.argv[1:]])
    what = {"command": command, "machine": where, "size": SIZE, "batch": BATCH, "rows": rows}
    written = json.dumps(what, indent=2)
    (options.out / f"train-{platform}.json").write_text(written + "\n")


if __name__ == "__main__":
    main()
