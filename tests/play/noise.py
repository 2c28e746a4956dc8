"""Predictions to test pages with: the truth, with a share of it replaced by chance."""

from __future__ import annotations

import numpy as np

from hint_relic.play import Prediction
from hint_relic.spec import Field, Kind
from hint_relic.types import Trace


def noisy(trace: Trace, share: float, seed: int = 0) -> Prediction:
    """The first step, which is given, stays right."""
    rng = np.random.default_rng(seed)

    def changed(field: Field, truth: np.ndarray) -> np.ndarray:
        if field.kind is Kind.SCALAR:
            return truth + share * rng.normal(size=truth.shape)
        many = {Kind.MASK: 2, Kind.CATEGORICAL: field.classes}.get(field.kind, trace.nodes)
        replaced = rng.random(truth.shape) < share
        return np.where(replaced, rng.integers(0, many, truth.shape), truth).astype(truth.dtype)

    def sure(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        judged = {k: v for k, v in arrays.items() if trace.spec[k].kind is not Kind.SCALAR}
        return {k: rng.uniform(0.3, 1.0, np.shape(v)) for k, v in judged.items()}

    hints = {k: changed(trace.spec[k], v) for k, v in trace.hints.items()}
    for name, hint in hints.items():
        hint[0] = trace.hints[name][0]
    outputs = {k: changed(trace.spec[k], np.asarray(v)) for k, v in trace.outputs.items()}
    return Prediction(hints, sure(hints), outputs, sure(outputs))
