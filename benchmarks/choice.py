"""Which checkpoint to take: what each rule would have scored at n = 64, over all recorded runs.

    python benchmarks/choice.py [results]

Reads the metrics of every run that was tested as it went and validated at n = 32 as well. Among
equal scores the latest checkpoint is taken, for each seed on its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

RULES = ("n = 16", "n = 32", "last", "best possible")


def scores(run: Path, weights: str) -> dict[str, float] | None:
    """For each rule, the mean test score over seeds; None if the run doesn't have the numbers."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    test = {r["step"]: r for r in records if r["kind"] == "test"}
    seen = {r["step"]: r for r in records if r["kind"] == "validation" and "plain_32" in r}
    steps = sorted(test.keys() & seen.keys())
    if len(steps) < 5:
        return None
    tested = np.array([test[s][weights] for s in steps])
    choices = {
        "n = 16": np.array([seen[s][weights] for s in steps]),
        "n = 32": np.array([seen[s][f"{weights}_32"] for s in steps]),
        "last": np.broadcast_to(np.arange(len(steps))[:, None], tested.shape),
        "best possible": tested,
    }
    each = np.arange(tested.shape[1])
    return {
        rule: 100 * float(tested[len(steps) - 1 - np.argmax(by[::-1], axis=0), each].mean())
        for rule, by in choices.items()
    }


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    runs = sorted(p.parent for p in folder.glob("*/metrics.jsonl"))
    for weights in ("plain", "average"):
        print(f"\n{weights + ' weights, chosen at':40}" + "".join(f"{r:>15}" for r in RULES))
        found = {run.name: s for run in runs if (s := scores(run, weights))}
        for name, by_rule in found.items():
            print(f"{name:40}" + "".join(f"{by_rule[r]:15.1f}" for r in RULES))
        means = {r: np.mean([s[r] for s in found.values()]) for r in RULES}
        print(f"{f'mean of {len(found)}':40}" + "".join(f"{means[r]:15.2f}" for r in RULES))


if __name__ == "__main__":
    main()
