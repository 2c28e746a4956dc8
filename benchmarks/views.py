"""Views: how exact the paper's are, how often verified ones are found, and what both cost.

    python benchmarks/views.py

Inputs are drawn as in training, at all training sizes, with views of up to one node more than
the largest has. Shares are over all samples of all sizes; times are at the largest size, for 16
samples of each of three seeds at a time, on one core, the median of several rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from machine import machine

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from hint_relic.algorithms import ALGORITHMS, Algorithm, draw, execute  # noqa: E402
from hint_relic.augment import make_views  # noqa: E402
from hint_relic.augment.enlarge import can_enlarge  # noqa: E402
from hint_relic.augment.verified import verified_views  # noqa: E402
from hint_relic.config import ViewConfig  # noqa: E402
from hint_relic.data import TRAIN_SIZES, Protocol  # noqa: E402
from hint_relic.spec import Kind, Location, Stage, of_stage  # noqa: E402
from hint_relic.types import Batch, View  # noqa: E402

OUT = Path(__file__).parent / "results" / "views.json"
SAMPLES = 1000  # of each size, for shares
SEEDS, BATCH = 3, 16  # for times
ROUNDS, SECONDS = 5, 0.1
SEED = 1


class Case:
    """One algorithm under its training protocol."""

    def __init__(self, name: str):
        self.algorithm: Algorithm = ALGORITHMS[name]
        self.protocol = Protocol.training(name)
        self.sizes = self.protocol.sizes(TRAIN_SIZES)
        self.most = self.algorithm.nodes(max(self.sizes)) + 1

    def draw(self, size: int, samples: int, steps: int = 32) -> Batch:
        settings = {"p": self.protocol.p, "needle": self.protocol.needle, "steps": steps}
        return draw(self.algorithm, size, samples, seeds=[SEED], random_positions=True, **settings)

    def keys(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        return np.full(samples, SEED, np.uint64), np.arange(samples, dtype=np.uint64)

    def views(self, batch: Batch, source: str) -> View:
        seeds, index = self.keys(batch.samples)
        return make_views(
            self.algorithm,
            batch,
            max_nodes=self.most,
            seeds=seeds,
            index=index,
            p=self.protocol.p,
            options=ViewConfig(source=source),
        )

    def search(self, batch: Batch):
        p = np.asarray(self.protocol.p or (0.0,))
        return verified_views(self.algorithm, batch, self.most, *self.keys(batch.samples), p, False)


# --- how exact the paper's views are ------------------------------------------------------------


def true_run(algorithm: Algorithm, view: View) -> Batch:
    """The algorithm's own run on the paper's views, which all have the same number of nodes."""
    inputs = view.inputs
    names = [name for name in inputs if name not in ("pos", "adj")]
    names.sort(key=lambda name: name != "A")
    arguments = [tuple(inputs[name][k] for name in names) for k in range(len(view.nodes))]
    if "s" in inputs:
        arguments = [(A, int(s)) for A, s in arguments]
    return execute(algorithm, arguments, int(view.nodes[0]))


def same_steps(algorithm: Algorithm, hint: str, batch: Batch, run: Batch) -> np.ndarray:
    """(samples, steps): does the view's run show a hint as the input's does on old nodes?"""
    field, ours, theirs = algorithm.spec[hint], batch.hints[hint], run.hints[hint]
    n, steps = batch.inputs["pos"].shape[1], ours.shape[1]
    theirs = theirs[:, :steps]
    if field.location is not Location.GRAPH and field.kind is not Kind.MASK_ONE:
        theirs = theirs[(slice(None), slice(None), *[slice(n)] * (ours.ndim - 2))]
    short = steps - theirs.shape[1]
    theirs = np.pad(theirs, [(0, 0), (0, short)] + [(0, 0)] * (ours.ndim - 2))
    same = (ours == theirs).reshape(*ours.shape[:2], -1).all(axis=2)
    return same & (np.arange(steps) < run.lengths[:, None])


def all_hints(algorithm: Algorithm) -> list[str]:
    """All but `v` of a depth-first walk: where a node is finished it marks the last one."""
    hints = of_stage(algorithm.spec, Stage.HINT)
    return [name for name in hints if not (name == "v" and "color" in hints)]


def exactness(case: Case, hints: list[str]) -> dict[str, float]:
    """Shares of samples and of steps, after the first and up to the stated one, that the true
    run takes as well."""
    samples, same_count, step_count = [], 0, 0
    for size in case.sizes:
        batch = case.draw(size, SAMPLES)
        view = case.views(batch, "paper")
        run = true_run(case.algorithm, view)
        step = np.arange(next(iter(batch.hints.values())).shape[1])
        live = (step > 0) & (step <= view.until[:, None])
        same = np.ones(live.shape, bool)
        for hint in hints:
            same &= same_steps(case.algorithm, hint, batch, run)
        samples.append((same | ~live).all(axis=1).mean())
        same_count += int((same & live).sum())
        step_count += int(live.sum())
    return {"samples": float(np.mean(samples)), "steps": same_count / step_count}


# --- verified views -----------------------------------------------------------------------------


def found(case: Case) -> dict[str, float]:
    """Means over samples; but `steps` and `no_step` count the steps after the first only.

    steps: the share of them that the views are valid for.
    no_step: the share of samples that have such steps, but no view valid for one.
    new_nodes: the share of the nodes there is room for that the views add.
    inside: the share of views that add some of them before the last old node.
    """
    rows, verified, asked = [], 0, 0
    for size in case.sizes:
        batch = case.draw(size, SAMPLES)
        view, search = case.search(batch)
        accepted, new = search.found >= search.wanted, view.nodes - batch.nodes
        rows.append(
            {
                "accepted": accepted.mean(),
                "first_try": (accepted & (search.tries == 1)).mean(),
                "tries": search.tries.mean(),
                "no_step": (search.found < 2)[batch.lengths > 1].mean(),
                "new_nodes": (new / (case.most - batch.nodes)).mean(),
                "inside": (view.places[:, -1] >= batch.nodes).mean(),
            }
        )
        verified += int(view.until.sum())
        asked += int((batch.lengths - 1).sum())
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return {"steps": verified / asked, **means}


# --- times ----------------------------------------------------------------------------------------


def microseconds(work, samples: int) -> float:
    """Per sample."""
    rounds = []
    for _ in range(ROUNDS):
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < SECONDS:
            work()
            count += 1
        rounds.append((time.perf_counter() - begin) / count / samples * 1e6)
    return statistics.median(rounds)


def times(case: Case) -> dict[str, float]:
    size, samples = max(case.sizes), SEEDS * BATCH
    steps = case.protocol.steps(size)
    batch = case.draw(size, samples, steps)
    sources = ["verified"] if case.algorithm.view is None else ["paper", "verified"]
    for source in sources:
        case.views(batch, source)  # compiled
    out = {"input": microseconds(lambda: case.draw(size, samples, steps), samples)}
    for source in sources:
        out[source] = microseconds(lambda source=source: case.views(batch, source), samples)
    return out


# --- the whole run --------------------------------------------------------------------------------


def measure(name: str) -> dict[str, Any]:
    case = Case(name)
    row: dict[str, Any] = {"name": name, "microseconds": times(case), "verified": found(case)}
    if case.algorithm.view is not None:
        row["paper"] = {
            "contrasted": exactness(case, list(case.algorithm.contrasted)),
            "all": exactness(case, all_hints(case.algorithm)),
        }
    return row


def print_tables(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=120)
    paper = Table("paper's view of", "samples", "steps", "samples, all hints", "steps", "µs")
    for row in rows:
        if "paper" in row:
            shares = [
                row["paper"][of][what]
                for of in ("contrasted", "all")
                for what in ("samples", "steps")
            ]
            cost = row["microseconds"]["paper"]
            paper.add_row(row["name"], *(f"{share:.3f}" for share in shares), f"{cost:.0f}")
    console.print(paper)
    columns = ("accepted", "steps", "no_step", "first_try", "tries", "new_nodes", "inside")
    verified = Table("verified view of", *columns, "µs", "µs, input")
    for row in rows:
        cost = row["microseconds"]
        figures = [f"{row['verified'][column]:.3f}" for column in columns]
        verified.add_row(row["name"], *figures, f"{cost['verified']:.0f}", f"{cost['input']:.0f}")
    console.print(verified)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="*", help="these algorithms only; nothing is stored")
    options = parser.parse_args()
    known = [name for name, algorithm in ALGORITHMS.items() if can_enlarge(algorithm.inputs)]
    before, rows = machine("numpy", "numba"), []
    for name in options.only or known:
        rows.append(measure(name))
        print(f"{name} done", file=sys.stderr)
    print_tables(rows)
    if not options.only:
        result = {"command": "python benchmarks/views.py", "machine": before, "rows": rows}
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(result, indent=1) + "\n")
        print(f"stored in {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
