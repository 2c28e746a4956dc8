"""The benchmark's three rewrites of a batch, each with what it does to the spec.

- random positions: evenly spaced `pos` becomes sorted random numbers;
- static hints: a hint that never changes becomes an input (`pred_h` becomes `pred`);
- permutations: an output that should be a permutation becomes one that is, by letting the
  first node, which points at itself, point at the last instead, plus a mask of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..spec import Field, Kind, Location, Spec, Stage
from ..types import Batch


def random_positions(batch: Batch, rng: np.random.RandomState) -> Batch:
    """As dm-clrs draws them: one uniform matrix, sorted within each run that starts at 0."""
    pos = batch.inputs["pos"]
    drawn = rng.uniform(size=pos.shape)
    for row, old in zip(drawn, pos, strict=True):
        starts = np.flatnonzero(old == 0.0)
        for start, end in zip(starts, [*starts[1:], len(row)], strict=True):
            row[start:end].sort()
    return batch._replace(inputs={**batch.inputs, "pos": drawn})


def moved_name(hint: str) -> str:
    """What a static hint is called as an input."""
    return hint.removesuffix("_h")


def static_hints_spec(spec: Spec, names: Sequence[str]) -> dict[str, Field]:
    return {
        (moved_name(name) if name in names else name): (
            replace(field, stage=Stage.INPUT) if name in names else field
        )
        for name, field in spec.items()
    }


def static_hints(batch: Batch, names: Sequence[str]) -> Batch:
    moved = {moved_name(name): batch.hints[name][:, 0] for name in names}
    kept = {name: hint for name, hint in batch.hints.items() if name not in names}
    return batch._replace(inputs={**batch.inputs, **moved}, hints=kept)


def permutations_spec(spec: Spec) -> dict[str, Field]:
    out: dict[str, Field] = {}
    for name, field in spec.items():
        if field.kind is Kind.SHOULD_BE_PERMUTATION:
            out[name] = replace(field, kind=Kind.PERMUTATION_POINTER)
            out[f"{name}_mask"] = Field(field.stage, Location.NODE, Kind.MASK_ONE)
        else:
            out[name] = field
    return out


def permutations(batch: Batch, spec: Spec) -> Batch:
    outputs: dict[str, np.ndarray] = {}
    for name, array in batch.outputs.items():
        if spec[name].kind is Kind.SHOULD_BE_PERMUTATION:
            outputs[name], outputs[f"{name}_mask"] = _close_cycle(array)
        else:
            outputs[name] = array
    return batch._replace(outputs=outputs)


def _close_cycle(pred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(predecessors with the first pointing at the last, the first) for each sample."""
    rows, n = np.arange(len(pred)), pred.shape[1]
    pointed_at = np.zeros(pred.shape, bool)
    pointed_at[rows[:, None], pred] = True
    last = pointed_at.argmin(axis=1)
    first = (pred == np.arange(n)).argmax(axis=1).astype(np.int32)
    cycle = pred.copy()
    cycle[rows, first] = last
    return cycle, first
