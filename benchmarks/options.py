"""What the choices that the paper leaves open are worth, on the proxy that two CPU cores run.

    python benchmarks/options.py [--algorithms insertion_sort,mst_prim] [--options "KL left out"]
        [--steps 1500] [--seeds 3]

Each option is `hint_relic` with one setting changed (docs/paper.md lists them), 32 wide, trained
on sizes up to 8 and scored on fresh inputs of 8, 16 and 32, by the average of the weights; the test
split is not looked at. Stored in benchmarks/results/options.json as they come: what is there is
not run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hint_relic.config import TrainConfig, from_dict, to_dict
from hint_relic.train.loop import train
from hint_relic.train.programs import keep_compiled_programs
from hint_relic.variants import preset, proxy
from hint_relic.worker import merged
from machine import machine

OUT = Path(__file__).resolve().parent / "results" / "options.json"
OPTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "as it is": {},
    "KL left out": {"objective": {"kl": 0.0}},
    "a tenth of the weight": {"objective": {"contrastive": 0.1, "kl": 0.1}},
    "KL through the view only": {"objective": {"stop_gradient": "input"}},
    "KL through the input only": {"objective": {"stop_gradient": "view"}},
    "positive left out below": {"objective": {"positive_in_denominator": False}},
    "sums instead of means": {"objective": {"reduce": "sum"}},
    "temperature 0.5": {"objective": {"temperature": 0.5}},
    "views of any size": {"view": {"nodes": "random"}},
    "positions kept": {"view": {"positions": "kept"}},
    "not normalised": {"objective": {"normalise": False}},
}
SIZES = (8, 16, 32)


class ScoredError(Exception):
    """The last validation is there; what would follow is the test split."""


def config_of(algorithm: str, option: str, steps: int, seeds: int) -> TrainConfig:
    """The proxy of `hint_relic`, with one option changed."""
    small = proxy(preset("hint_relic", algorithm))
    values = to_dict(replace(small, steps=steps, seeds=seeds, validate_every=500))
    return from_dict(TrainConfig, merged(values, OPTIONS[option]))


def measure(config: TrainConfig) -> dict[str, Any]:
    """Train, and keep the scores of each validation."""
    found: dict[str, Any] = {"scores": {}}

    def see(record: dict[str, Any]) -> None:
        if record.get("kind") == "train":
            found["gradient_norm"] = record["gradient_norm"]
        if record.get("kind") != "validation":
            return
        of_sizes = [record["average"], *(record[f"average_{size}"] for size in SIZES[1:])]
        found["scores"][record["step"]] = [[round(100 * x, 2) for x in seeds] for seeds in of_sizes]
        if record["step"] == config.steps:
            raise ScoredError

    with tempfile.TemporaryDirectory() as folder:
        try:
            train(config, Path(folder) / "run", report=see)
        except ScoredError:
            return found
    raise RuntimeError("the run ended before its last validation")


def shown(name: str, found: dict[str, Any]) -> str:
    of_sizes = found["scores"][max(found["scores"], key=int)]
    means = "".join(f"{statistics.fmean(seeds):8.1f}" for seeds in of_sizes)
    return f"{name:28}{means}   {' '.join(f'{x:.0f}' for x in of_sizes[-1])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--algorithms", default="insertion_sort,mst_prim,strongly_connected_components"
    )
    parser.add_argument("--options", default=",".join(OPTIONS))
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=3)
    told = parser.parse_args()
    keep_compiled_programs()
    stored = json.loads(OUT.read_text()) if OUT.exists() else {"runs": {}}
    for algorithm in told.algorithms.split(","):
        print(
            f"\n{algorithm}, {told.steps} updates; n = {', '.join(map(str, SIZES))}; seeds",
            flush=True,
        )
        runs = stored["runs"].setdefault(f"{algorithm}, {told.steps} updates", {})
        for option in told.options.split(","):
            known = runs.get(option)
            if known is None or len(next(iter(known["scores"].values()))[0]) < told.seeds:
                runs[option] = measure(config_of(algorithm, option, told.steps, told.seeds))
                stored["machine"] = machine("jax", "numpy")
                OUT.write_text(json.dumps(stored) + "\n")
            print(shown(option, json.loads(json.dumps(runs[option]))), flush=True)


if __name__ == "__main__":
    main()
