"""Run folders as training leaves them, made by hand for tests of the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KINDS = ("best", "best_average", "last", "last_average")


def result(
    algorithm: str, variant: str, scores: dict[str, list[float]], steps: int = 10_000
) -> dict[str, Any]:
    """A result.json; scores between 0 and 1, for each kind of weights and seed."""
    return {
        "algorithm": algorithm,
        "variant": variant,
        "steps": steps,
        "seeds": list(range(len(next(iter(scores.values()))))),
        "test": {
            kind: {
                "score": values,
                "mean": sum(values) / len(values),
                "stderr": None,
                "outputs": {"pi": values},
                "step": [steps] * len(values),
            }
            for kind, values in scores.items()
        },
        "time": {"total_s": 250.0, "compile_s": 30.0, "waited_for_data_s": 1.0},
        "memory": {"process_peak_mb": 3000.0},
        "commit": "0123abc",
        "python": "3.11.7",
        "versions": {"jax": "0.10.2", "hint-relic": None},
        "device": "a device",
        "platform": "cpu",
        "devices": 1,
        "cpus": 2,
        "command": f"hint-relic train {algorithm} --variant {variant}",
    }


def cell(
    top: Path,
    algorithm: str,
    variant: str,
    scores: list[float] | dict[str, list[float]] | None = None,
    *,
    steps: int = 10_000,
    folder: str | None = None,
    config: dict[str, Any] | None = None,
) -> Path:
    """A run folder with curves, and with a result where there are scores."""
    path = top / (folder or f"{algorithm}-{variant}")
    path.mkdir(parents=True)
    if isinstance(scores, list):
        scores = dict.fromkeys(KINDS, scores)
    if scores is not None:
        write(path / "result.json", result(algorithm, variant, scores, steps))
    if config is not None:
        write(path / "config.json", {"algorithm": algorithm, "variant": variant, **config})
    lines = []
    for step in range(1000, steps + 1, 1000):
        value = step / 20_000
        seeds = [value, value + 0.1, value + 0.2]
        for kind in ("validation", "test"):
            record = {"step": step, "kind": kind, "plain": seeds, "average": seeds}
            lines.append(json.dumps(record))
    (path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    return path


def write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value))
