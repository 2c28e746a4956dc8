"""The report: how long it takes and how large its page is, for a whole grid and for 1,000 cells.

    python benchmarks/report.py

Cells are made up in a temporary folder, as large as real ones: 10,000 updates, reported every 100
and validated every 500, three seeds, an evaluation with two hints. The time is that of the whole
command, from start to exit, the median of several rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from machine import machine

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from hint_relic.config import to_dict  # noqa: E402
from hint_relic.paper import scores  # noqa: E402
from hint_relic.variants import VARIANTS, preset  # noqa: E402

OUT = Path(__file__).parent / "results" / "report.json"
ROUNDS = 3
STEPS, SEEDS, HINT_STEPS = 10_000, 3, 64


def make_cell(folder: Path, algorithm: str, variant: str, rng: random.Random) -> None:
    """A finished run folder with made-up scores."""
    folder.mkdir(parents=True)
    seeds = range(SEEDS)

    def drawn() -> list[float]:
        return [rng.uniform(0.7, 1.0) for _ in seeds]

    lines: list[dict[str, Any]] = []
    for step in range(100, STEPS + 1, 100):
        losses = {name: drawn() for name in ("pi", "pi_h", "reach_h")}
        rates = {"updates_per_s": 50.0, "elapsed_s": step / 50.0}
        train = {"loss": drawn(), "parts": losses, "gradient_norm": drawn(), **rates}
        lines.append({"step": step, "kind": "train", **train})
        for kind in ("validation", "test"):
            if step % 500 == 0:
                both = {"plain": drawn(), "average": drawn()}
                lines.append({"step": step, "kind": kind, **both})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    tests = {}
    for kind in ("best", "best_average", "last", "last_average"):
        found = drawn()
        tests[kind] = {"score": found, "outputs": {"pi": found}, "step": [STEPS] * SEEDS}
    made_by = {
        "commit": "0" * 40,
        "python": "3.12.3",
        "versions": dict.fromkeys(("jax", "equinox", "optax", "numpy", "numba"), "1.2.3"),
        "device": "made up",
        "command": f"hint-relic train {algorithm} --variant {variant}",
    }
    result = {
        "algorithm": algorithm,
        "variant": variant,
        "steps": STEPS,
        "seeds": list(seeds),
        "test": tests,
        "time": {"total_s": 250.0, "compile_s": 40.0, "waited_for_data_s": 3.0},
        "memory": {"process_peak_mb": 3000.0, "device_peak_mb": 900.0},
        **made_by,
    }
    steps = {hint: [rng.uniform(0.7, 1.0) for _ in range(HINT_STEPS)] for hint in ("pi_h", "d")}
    evaluation = {"weights": "best", "scores": {"test split": {"hint_score_at_step": steps}}}
    known = variant if variant in VARIANTS else "baseline"
    config = {"format": 1, **to_dict(preset(known, algorithm)), "variant": variant}
    for name, value in (
        ("result", result),
        ("config", config),
        ("environment", made_by),
        ("evaluation", evaluation),
    ):
        (folder / f"{name}.json").write_text(json.dumps(value, indent=2))


def keys(count: int) -> list[tuple[str, str]]:
    """So many cells: the paper's, then its algorithms with variants of other names."""
    algorithms = list(dict.fromkeys(algorithm for algorithm, _ in scores()))
    others = ((a, f"idea_{k}") for k, a in product(range(count), algorithms))
    return [*scores(), *(next(others) for _ in range(count - len(scores())))][:count]


def measure(count: int) -> dict[str, Any]:
    with TemporaryDirectory() as top:
        rng = random.Random(count)
        for algorithm, variant in keys(count):
            make_cell(Path(top) / "cells" / f"{algorithm}-{variant}", algorithm, variant, rng)
        page = Path(top) / "report.html"
        seconds = []
        before = cpu_seconds()
        for _ in range(ROUNDS):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "hint_relic", "report", top, "--csv", "--latex"],
                env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            seconds.append(time.perf_counter() - start)
        return {
            "cells": count,
            "seconds": round(statistics.median(seconds), 2),
            "rounds": [round(s, 2) for s in seconds],
            "cpu_seconds": round((cpu_seconds() - before) / ROUNDS, 2),
            "page_megabytes": round(page.stat().st_size / 1e6, 3),
        }


def cpu_seconds() -> float:
    """Processor time of all commands so far: other work on the machine hardly changes it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cells", type=int, nargs="*", help="so many only; nothing is stored")
    options = parser.parse_args()
    before, rows = machine(), []
    for count in options.cells or (len(scores()), 1000):
        rows.append(measure(count))
        row = rows[-1]
        print(f"{count} cells: {row['seconds']} s ({row['cpu_seconds']} s of CPU), "
              f"a page of {row['page_megabytes']} MB")  # fmt: skip
    if not options.cells:
        result = {"command": "python benchmarks/report.py", "machine": before, "rows": rows}
        OUT.write_text(json.dumps(result, indent=1) + "\n")
        print(f"stored in {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
