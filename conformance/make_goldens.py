"""Remake tests/goldens from dm-clrs 2.0.3 (a few minutes; the convex hulls take the longest).

    make goldens

or, in an environment that has dm-clrs 2.0.3 and this package:

    python conformance/make_goldens.py [NAME ...]

The files depend on the arguments in `tests/goldens/__init__.py` alone: a second run writes the
same bytes. What the files hold is told there too. No array is pickled.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import clrs
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "conformance")]

import goldens  # noqa: E402
from hint_relic.algorithms import ALGORITHMS, get  # noqa: E402
from reference import feedback_arrays, sampler_arrays  # noqa: E402


def smallest(array: np.ndarray) -> np.ndarray:
    """The same numbers in the smallest type that holds them exactly."""
    for dtype in (np.int8, np.int16):
        if np.array_equal(array, array.astype(dtype)):
            return array.astype(dtype)
    return array.astype(np.float64)


def options(case: goldens.Case) -> dict[str, Any]:
    """A case's options by the reference's names."""
    p = {"p": case.p} if case.p else {}
    return p if case.needle is None else {**p, "length_needle": case.needle}


def case_arrays(name: str, case: goldens.Case) -> dict[str, np.ndarray]:
    arrays, _ = sampler_arrays(name, case.size, case.samples, case.seed, **options(case))
    found = {"arguments": np.array(json.dumps(asdict(case)))}
    if case.size == goldens.THINNED_SIZE:
        kept = goldens.kept_steps(int(arrays["lengths"].max()))
        found["steps"] = kept
        for key in [k for k in arrays if k.startswith("hint/")]:
            if key not in goldens.inexact(name):
                found[f"checksum/{key}"] = goldens.checksums(arrays[key])
            arrays[key] = arrays[key][kept]
    return found | {key: smallest(array) for key, array in arrays.items()}


def chunks(name: str, split: str) -> Iterator[dict[str, np.ndarray]]:
    """An official split, some samples at a time (the sampler draws them one after the other)."""
    settings = clrs.CLRS30[split]
    samples = settings["num_samples"] * clrs.CLRS_30_ALGS_SETTINGS[name]["num_samples_multiplier"]
    sampler, _ = clrs.build_sampler(
        name, -1, seed=settings["seed"], length=settings["length"], track_max_steps=False
    )
    for first in range(0, samples, goldens.CHUNK):
        yield feedback_arrays(sampler.next(min(goldens.CHUNK, samples - first)))


def golden(name: str) -> dict[str, np.ndarray]:
    rows = [(k, *map(str, row)) for k, row in clrs.SPECS[name].items()]
    found = {"spec": np.array(rows)}
    for case_name, case in goldens.cases(get(name)).items():
        found |= {f"{case_name}/{k}": v for k, v in case_arrays(name, case).items()}
    for split in goldens.SPLITS:
        digests = goldens.digests(chunks(name, split), leave_out=goldens.inexact(name))
        found[f"{split}/digests"] = np.array(list(digests.items()))
    return found


def main(names: list[str]) -> None:
    for name in names or ALGORITHMS:
        np.savez_compressed(goldens.path(name), allow_pickle=False, **golden(name))
        print(f"{name:32} {goldens.path(name).stat().st_size / 1e3:8.1f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
