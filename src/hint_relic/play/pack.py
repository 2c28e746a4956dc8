"""Many small arrays as one compressed text.

Along the steps of a run little changes, and what a good network predicts is mostly the truth.
So a true array is stored as what each step adds to the one before, a predicted one as the same
of its difference from the truth (all modulo the size of a number), and the result, mostly
zeros, is deflated. `web/data.js` undoes this in the browser.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..spec import Kind

LEVELS = 65_535  # of a number; the one after them stands for "no number"
CONFIDENCE_LEVELS = 15


@dataclass
class Pack:
    """Arrays, one after another, each with a small record that says how to read it."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, kind: Kind, value: np.ndarray, base: np.ndarray | None = None) -> dict[str, Any]:
        """Store an array, steps first; `base` is the true array that it predicts."""
        steps = len(value)
        if kind is Kind.SCALAR:
            return self._add_numbers(value.reshape(steps, -1))
        whole = value.astype(np.uint8).reshape(steps, -1)
        if base is not None:
            whole = whole - base.astype(np.uint8).reshape(steps, -1)
        form = "signed" if kind in (Kind.MASK, Kind.CATEGORICAL) else "unsigned"
        return {"form": form, **self._append(_steps(whole).tobytes()), "width": whole.shape[1]}

    def add_confidence(self, value: np.ndarray) -> dict[str, Any]:
        levels = np.rint(np.nan_to_num(value) * CONFIDENCE_LEVELS).astype(np.uint8)
        return self.add(Kind.POINTER, levels)

    def _add_numbers(self, value: np.ndarray) -> dict[str, Any]:
        """In 65,535 levels between the least and the largest; low bytes first, then high ones."""
        known = np.isfinite(value)
        low = float(value[known].min()) if known.any() else 0.0
        high = float(value[known].max()) if known.any() else 0.0
        scale = (high - low) / (LEVELS - 1) or 1.0
        levels = np.where(known, np.rint((np.where(known, value, low) - low) / scale), LEVELS)
        added = _steps(levels.astype(np.uint16))
        planes = (added & 0xFF).astype(np.uint8).tobytes() + (added >> 8).astype(np.uint8).tobytes()
        place = self._append(planes)
        return {"form": "number", **place, "width": value.shape[1], "low": low, "scale": scale}

    def _append(self, data: bytes) -> dict[str, int]:
        at = self.size
        self.parts.append(data)
        self.size += len(data)
        return {"at": at}

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self.parts))).decode("ascii")


def _steps(value: np.ndarray) -> np.ndarray:
    """The first row, then what each row adds to the one before, modulo the type's size."""
    added = value.copy()
    added[1:] -= value[:-1]
    return added
