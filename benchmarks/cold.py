"""How long the first draw of an algorithm takes, while its kernels are compiled.

    python benchmarks/cold.py

For each algorithm a new process with an empty cache folder draws four training samples of size
16, then the same with views (the paper's where it has one, else verified). One more process
does this for all algorithms in turn, which share what they can. Processor seconds, imports not
counted. The figures are stored in benchmarks/results/cold.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import machine

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "benchmarks" / "results" / "cold.json"
SIZE, SAMPLES = 16, 4


def first_draws(names: list[str]) -> list[dict[str, float | str]]:
    """Draw from each algorithm, in this process; the seconds each took."""
    from hint_relic.augment.enlarge import can_enlarge
    from hint_relic.config import ViewConfig, ViewSource
    from hint_relic.data import Protocol

    rows: list[dict[str, float | str]] = []
    for name in names:
        protocol = Protocol.training(name)
        (size,) = protocol.sizes((SIZE,))
        start = time.process_time()
        protocol.draw(size, SAMPLES, seeds=[0])
        row: dict[str, float | str] = {"name": name, "draw": time.process_time() - start}
        if can_enlarge(protocol.algorithm.inputs):
            source = ViewSource.PAPER if protocol.algorithm.view else ViewSource.VERIFIED
            room = protocol.algorithm.nodes(size) + 1
            view = ViewConfig(source=source)
            start = time.process_time()
            protocol.draw_paired(size, SAMPLES, seeds=[0], view=view, max_nodes=room)
            row |= {"view": time.process_time() - start, "source": str(source)}
        rows.append(row)
    return rows


def cold(names: list[str]) -> list[dict[str, float | str]]:
    """`first_draws` in a new process with an empty cache folder."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "HINT_RELIC_CACHE": folder,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }
        command = [sys.executable, __file__, "--worker", *names]
        answer = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    return json.loads(answer.stdout)


def total(rows: list[dict[str, float | str]], what: str) -> float:
    return sum(float(row.get(what, 0.0)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="*", help="these algorithms only; nothing is stored")
    parser.add_argument("--worker", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return print(json.dumps(first_draws(options.worker)))

    sys.path.insert(0, str(ROOT / "src"))
    from hint_relic.algorithms import ALGORITHMS

    before = machine("numpy", "numba")
    rows = []
    for name in options.only or ALGORITHMS:
        rows += cold([name])
        row = rows[-1]
        print(f"{name:32} {row['draw']:6.1f} {row.get('view', 0.0):6.1f}", flush=True)
    together = cold([str(row["name"]) for row in rows])
    summary = {"longest_draw": max(float(row["draw"]) for row in rows)}
    for part, times in (("apart", rows), ("together", together)):
        for what in ("draw", "view"):
            summary[f"{what}_{part}"] = total(times, what)
    for what, seconds in summary.items():
        print(f"{what:32} {seconds:6.1f}")
    if not options.only:
        result = {
            "command": "python benchmarks/cold.py",
            "machine": before,
            "unit": "processor seconds",
            "summary": summary,
            "rows": rows,
            "together": together,
        }
        OUT.write_text(json.dumps(result, indent=1) + "\n")
        print(f"stored in {OUT.relative_to(ROOT)}")
    return None


if __name__ == "__main__":
    main()
