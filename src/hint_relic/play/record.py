"""What a page plays: one run of an algorithm and, where a network tried it, what that said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..spec import Kind
from ..types import Trace

if TYPE_CHECKING:
    from ..reasoner import Answer

Arrays = dict[str, np.ndarray]


class Prediction(NamedTuple):
    """What a network said, in the compact form of `spec.py`.

    hints: name -> (steps, ...); row 0 is the first step, which every network is given.
    confidence: the same shapes, the probability of each decision; numbers have none.
    outputs, output_confidence: name -> (...), likewise.
    A hint that the network was given as an input, or does not show, is missing.
    """

    hints: Arrays
    confidence: Arrays
    outputs: Arrays
    output_confidence: Arrays


@dataclass(frozen=True)
class Recording:
    """A run of an algorithm to look at.

    source: where the predictions are from, in words.
    labels: what the nodes are called, if not by their numbers.
    notes: what one should know about the predictions.
    places, until: for the view of another run, which of its nodes each node of that run is, and
    the last step that is made to be the same in both.
    """

    trace: Trace
    prediction: Prediction | None = None
    source: str = ""
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    places: np.ndarray | None = None
    until: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels or tuple(map(str, range(self.trace.nodes)))


# --- right and wrong -----------------------------------------------------------------------------


def judged(kind: Kind, truth: np.ndarray) -> np.ndarray:
    """Which values a prediction can be right or wrong about: no numbers, nothing unscored."""
    if kind is Kind.SCALAR:
        return np.zeros(truth.shape, bool)
    return truth >= 0


def accuracy(recording: Recording) -> np.ndarray:
    """The share of right values at each step: the mean over hints; NaN where none is judged."""
    steps, prediction = recording.trace.steps, recording.prediction
    shares = []
    for name, guess in (prediction.hints if prediction else {}).items():
        truth = recording.trace.hints[name]
        counts = judged(recording.trace.spec[name].kind, truth).reshape(steps, -1)
        right = counts & (truth == guess).reshape(steps, -1)
        total = counts.sum(axis=1)
        shares.append(np.where(total > 0, right.sum(axis=1) / np.maximum(total, 1), np.nan))
    if not shares:
        return np.full(steps, np.nan)
    known = ~np.isnan(shares)
    found = np.nansum(shares, axis=0) / np.maximum(known.sum(axis=0), 1)
    found[~known.any(axis=0)] = np.nan
    found[0] = np.nan  # given, not predicted
    return found


def activity(trace: Trace) -> np.ndarray:
    """How many values each step changes."""
    counts = np.zeros(trace.steps, np.int64)
    for hint in trace.hints.values():
        counts[1:] += (hint[1:] != hint[:-1]).sum(axis=tuple(range(1, hint.ndim)))
    return counts


# --- a network's own run -------------------------------------------------------------------------


def predicted(recording: Recording, answer: Answer, source: str) -> Recording:
    """A recording with what a reasoner said about it, on the numbers that it was given."""
    prediction = Prediction(
        hints=dict(answer.trajectory),
        confidence=dict(answer.confidence),
        outputs=dict(answer.outputs),
        output_confidence={
            k: v for k, v in answer.output_confidence.items() if k in answer.outputs
        },
    )
    return replace(
        recording,
        trace=answer.truth,
        prediction=prediction,
        source=source,
        notes=tuple(answer.notes),
    )
