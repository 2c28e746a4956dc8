"""What is in the goldens of traces, for the script that makes them and the test that reads them.

`<algorithm>.npz` holds, from dm-clrs 2.0.3 and in its layout (hints steps first, dense):

- `spec`: rows of (name, stage, location, type);
- for each case `<case>/arguments` (JSON) and its arrays, `<case>/input/<name>` and so on. A
  case at size 64 is thinned: `<case>/steps` tells which steps of the hints are stored, and
  `<case>/checksum/hint/<name>` has a CRC-32 of every step, which tells where a difference is;
- for the official val and test splits `<split>/digests`: rows of (array, SHA-256).

x, y and the angles of the convex hulls go through cos, sin and atan2, whose last bit depends
on the machine's mathematics library. They are stored and compared with a tolerance, and left
out of all checksums and digests.

Remake them with `make goldens`.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hint_relic.algorithms import Algorithm

FOLDER = Path(__file__).parent
SPLITS = ("val", "test")
THINNED_SIZE = 64
KEPT_STEPS = 4
CHUNK = 64  # samples that are dense in memory at a time

INEXACT = {  # what the last bit of cos, sin and atan2 reaches
    "graham_scan": ("input/x", "input/y", "hint/atans"),
    "jarvis_march": ("input/x", "input/y"),
}
RTOL = 1e-12

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    size: int
    samples: int
    seed: int
    p: tuple[float, ...] = ()
    needle: int | None = None


def cases(algorithm: Algorithm) -> dict[str, Case]:
    """The cases of an algorithm: four sizes, and the options that it has."""
    found = {
        "n4": Case(4, samples=4, seed=1004),
        "n7": Case(7, samples=3, seed=1007),
        "n16": Case(16, samples=2, seed=1016),
        "n64": Case(THINNED_SIZE, samples=1, seed=1064),
    }
    if algorithm.inputs.p:
        found["n9_p"] = Case(9, samples=4, seed=1009, p=(0.1, 0.4, 0.9))
    if algorithm.inputs.form == "haystack and needle":
        found["n12_random_needle"] = Case(12, samples=4, seed=1012, needle=-5)
        found["n11_needle"] = Case(11, samples=2, seed=1011, needle=4)
    return {name: case for name, case in found.items() if algorithm.draws(case.size) is None}


def path(name: str) -> Path:
    return FOLDER / f"{name}.npz"


def inexact(name: str) -> tuple[str, ...]:
    return INEXACT.get(name, ())


def kept_steps(steps: int) -> np.ndarray:
    """The steps that a thinned case stores: the first, the last, and some between."""
    return np.unique(np.linspace(0, steps - 1, KEPT_STEPS).round().astype(np.int32))


def plain_bytes(array: np.ndarray) -> bytes:
    """The same bytes for equal numbers, whatever their type (and zero's sign)."""
    return (np.asarray(array, np.float64) + 0.0).tobytes()


def checksums(hint: np.ndarray) -> np.ndarray:
    """A CRC-32 of each step."""
    return np.array([zlib.crc32(plain_bytes(step)) for step in hint], np.uint32)


def digests(chunks: Iterable[Arrays], leave_out: Iterable[str] = ()) -> dict[str, str]:
    """A SHA-256 of each named array: of the samples' shapes and live values, one by one."""
    hashes: dict[str, hashlib._Hash] = {}
    for arrays in chunks:
        for key in arrays.keys() - set(leave_out):
            digest = hashes.setdefault(key, hashlib.sha256())
            for sample, steps in enumerate(arrays["lengths"].astype(int)):
                hint = key.startswith("hint/")
                live = arrays[key][:steps, sample] if hint else arrays[key][sample]
                digest.update(str(live.shape).encode())
                digest.update(plain_bytes(live))
    return {key: hashes[key].hexdigest() for key in sorted(hashes)}
