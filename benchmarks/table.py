"""Hours that the paper's whole table takes on this machine, projected from short runs of its cells.

    PYTHONPATH=src python benchmarks/table.py [--workers 6] [--updates 100]

Every cell (an algorithm and a variant of the paper's tables, three networks) is trained for some
updates as `hint-relic reproduce` would train it: in a process of its own, so many at a time, with
data, compilation, validation and the test at n = 64. It is then continued to its 10,000 updates by
its own pace and by what a validation took. The table takes what all cells take, divided by how many
run at a time. Caches are empty at the start and shared from then on.

Writes benchmarks/results/table<suffix>.json after each cell. Begun again with the same settings
at the same commit, it goes on with the cells that are missing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from machine import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ROUND = 20  # updates are measured in multiples of this: twice through five sizes, then a score
TESTED = 4  # kinds of weights at the end of a run: best and last, plain and averaged


def measure(name: str, variant: str, seeds: int, updates: int) -> None:
    """Train one cell for some updates, and print what it took."""
    import jax

    from hint_relic.config import Padding
    from hint_relic.train.loop import train
    from hint_relic.variants import preset

    whole = replace(preset(variant, name), seeds=seeds)
    on_cpu = jax.default_backend() == "cpu"
    short = replace(
        whole,
        steps=updates,
        report_every=5,
        validate_every=updates // 2,
        checkpoint_every=updates // 2,
        padding=Padding.OWN if on_cpu else whole.padding,  # as 10,000 updates have it
    )
    with tempfile.TemporaryDirectory() as folder:
        result = train(short, Path(folder) / "run")
        lines = (Path(folder) / "run" / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    pace, validation = [], []
    for before, after in itertools.pairwise(records):
        took = after["elapsed_s"] - before["elapsed_s"]
        if after["kind"] == "validation":
            validation.append(took)
        elif before["kind"] == "train":
            pace.append(took / (after["step"] - before["step"]))
    tests = result["test"].values()
    said = {
        "update_ms": 1e3 * statistics.fmean(pace),
        "validation_s": validation[-1],
        "compile_s": result["time"]["compile_s"],
        "test_s": result["time"]["total_s"] - records[-1]["elapsed_s"],
        "tested": len({json.dumps(test["score"]) for test in tests}),
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "steps": whole.steps,
        "validations": whole.steps // whole.validate_every,
    }
    print(json.dumps(said), flush=True)


def cell(name: str, variant: str, options: argparse.Namespace, cache: str) -> dict[str, Any]:
    """One cell, in a process of its own: what it took, and what the whole of it would."""
    env = dict(os.environ, PYTHONPATH=str(ROOT / "src"), XLA_PYTHON_CLIENT_PREALLOCATE="false")
    env |= {"JAX_COMPILATION_CACHE_DIR": cache, "HINT_RELIC_CACHE": cache}
    what = json.dumps([name, variant, options.seeds, options.updates])
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, __file__, "--measure", what],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    took = time.monotonic() - begun
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no word"])[-1][:200]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    more = (found["steps"] - options.updates) * found["update_ms"] / 1e3
    more += (found["validations"] - 2) * found["validation_s"]
    more += (TESTED / found["tested"] - 1) * found["test_s"]
    return found | {"took_s": took, "whole_s": took + more}


def projected(cells: dict[str, dict[str, Any]], workers: int) -> dict[str, Any]:
    """What all cells take together, and where it goes."""
    whole = {key: x["whole_s"] for key, x in cells.items() if "whole_s" in x}
    by_variant: dict[str, float] = {}
    for key, seconds in whole.items():
        variant = key.split(":")[1]
        by_variant[variant] = by_variant.get(variant, 0.0) + seconds / workers / 3600
    updates = sum(x["steps"] * x["update_ms"] / 1e3 for x in cells.values() if "steps" in x)
    return {
        "cells": len(whole),
        "hours": sum(whole.values()) / workers / 3600,
        "hours_by_variant": by_variant,
        "updates_percent": 100 * updates / max(sum(whole.values()), 1e-9),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--algorithms", default="", help="not all, but these")
    parser.add_argument("--variants", default="", help="not all of the paper's, but these")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=100, help=f"a multiple of {ROUND}")
    parser.add_argument("--workers", type=int, default=1, help="cells at a time")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--suffix", default="", help="of the file, to tell machines apart")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*json.loads(options.measure))
        return
    if options.updates < ROUND or options.updates % ROUND:
        parser.error(f"--updates has to be a multiple of {ROUND}")
    sys.path.insert(0, str(ROOT / "src"))
    from hint_relic.grid.plan import plan

    chosen = [x.split(",") if x else None for x in (options.algorithms, options.variants)]
    wanted = [(config.algorithm, config.variant) for config in plan(*chosen)]
    file = options.out / f"table{options.suffix}.json"
    said = {"seeds": options.seeds, "updates": options.updates, "workers": options.workers}
    said |= machine("jax", "numpy", "numba")
    kept = json.loads(file.read_text()) if file.exists() else {}
    same = all(kept.get(k) == said[k] for k in ("seeds", "updates", "workers", "commit", "cpu"))
    cells = {k: x for k, x in kept.get("table", {}).items() if same and "error" not in x}
    options.out.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(options.workers) as pool:

        def run(name: str, variant: str) -> None:
            key = f"{name}:{variant}"
            cells[key] = cell(name, variant, options, cache)
            print(f"{len(cells)}/{len(wanted)}", key, json.dumps(cells[key]), flush=True)
            found = said | {"projected": projected(cells, options.workers), "table": dict(cells)}
            file.write_text(json.dumps(found, indent=1) + "\n")

        left = [each for each in wanted if ":".join(each) not in cells]
        for future in [pool.submit(run, *each) for each in left]:
            future.result()
    print(json.dumps(projected(cells, options.workers), indent=1))


if __name__ == "__main__":
    main()
