"""What a reasoner answers, and how that compares with the true algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..spec import Field, Kind, Spec, Stage, of_stage
from ..types import Trace

NAMED = 4  # places of a difference that are spelled out


class Difference(NamedTuple):
    """Where a prediction and the truth part: at a step, in a hint, at some nodes (or pairs)."""

    step: int
    hint: str
    places: list[Any]
    predicted: list[Any]
    true: list[Any]


@dataclass(frozen=True)
class Check:
    """A prediction beside the truth.

    score: the benchmark's single number for this one input; outputs: the same of each output.
    hints: name -> the share that is right at each step (a scalar: its squared error); NaN where
    nothing is scored. Step 0 is given to the network, so it is always right.
    first: the first difference among the hints, or None (scalars are never compared for equality).
    """

    steps: int
    score: float
    outputs: Mapping[str, float]
    hints: Mapping[str, np.ndarray]
    first: Difference | None

    @property
    def right(self) -> bool:
        """Are all outputs as they should be?"""
        return self.score == 1.0

    def __str__(self) -> str:
        lines = [f"outputs: {100 * self.score:.1f} % right"]
        if not self.hints:
            lines.append("trajectory: this network predicts none")
        elif self.first is None:
            lines.append(f"trajectory: all {self.steps} steps as they should be")
        else:
            at, hint, places, predicted, true = self.first
            told = ", ".join(
                f"{_at(place)}{p} instead of {t}"
                for place, p, t in list(zip(places, predicted, true))[:NAMED]
            )
            more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
            lines.append(
                f"trajectory: parts from the true one at step {at} of {self.steps - 1}, "
                f"in {hint}: {told}{more}"
            )
        return "\n".join(lines)


def _at(place: Any) -> str:
    return "" if place is None else f"at {place} "


@dataclass(frozen=True)
class Answer:
    """What a network made of one input.

    value: the answer in the algorithm's own terms (`readings.py`).
    problem: what is wrong with it as an answer of that kind, "" if nothing is.
    outputs: the predicted arrays, as a trace stores them.
    trajectory: name -> (steps, …), the predicted hints; step 0 is given to the network. Hints
    that never change are inputs of the network and not among them.
    confidence: name -> (steps, …), the probability that the network gave to each entry.
    output_confidence: the same for the outputs. Scalars have none.
    notes: what one should know about how the input was taken.
    truth: the true algorithm's run on what the network was given.
    """

    algorithm: str
    value: Any
    problem: str
    outputs: Mapping[str, np.ndarray]
    trajectory: Mapping[str, np.ndarray]
    confidence: Mapping[str, np.ndarray]
    output_confidence: Mapping[str, np.ndarray]
    notes: Sequence[str]
    truth: Trace = field(repr=False)
    labels: Sequence[Any] = field(repr=False, default=())

    @property
    def steps(self) -> int:
        """How many steps the true algorithm takes, and the network was run for."""
        return self.truth.steps

    @property
    def step_confidence(self) -> np.ndarray:
        """(steps,): how sure the network was of each step: the mean over its hints."""
        means = [c.reshape(len(c), -1).mean(1) for c in self.confidence.values()]
        return np.mean(means, axis=0) if means else np.ones(0)

    def check(self) -> Check:
        """Compare with the true algorithm: outputs, and where the trajectories part."""
        spec = self.truth.spec
        outputs = {
            name: score(spec[name], self.truth.outputs[name], guess)
            for name, guess in self.outputs.items()
        }
        hints = {
            name: np.array([score(spec[name], t, g) for t, g in zip(self.truth.hints[name], guess)])
            for name, guess in self.trajectory.items()
        }
        return Check(
            steps=self.steps,
            score=float(np.mean(list(outputs.values()))),
            outputs=outputs,
            hints=hints,
            first=first_difference(spec, self.truth.hints, self.trajectory, self.labels),
        )


def _scored(kind: Field, truth: np.ndarray) -> np.ndarray:
    """Which entries count: -1 stands for one that doesn't."""
    masked = kind.kind in (Kind.MASK, Kind.CATEGORICAL)
    return truth >= 0 if masked else np.ones(np.shape(truth), bool)


def score(kind: Field, truth: np.ndarray, guess: np.ndarray) -> float:
    """The benchmark's measure of one array: F1 of a mask, squared error, or share that is right."""
    scored = _scored(kind, truth)
    if not scored.any() and kind.kind is not Kind.MASK:
        return float("nan")
    if kind.kind is Kind.SCALAR:
        return float(np.mean((np.asarray(guess) - truth) ** 2))
    if kind.kind is not Kind.MASK:
        return float(np.mean((guess == truth)[scored]))
    said, true = (guess > 0) & scored, (truth > 0) & scored
    hit = np.sum(said & true)
    precision = hit / said.sum() if said.any() else 1.0
    recall = hit / true.sum() if true.any() else 1.0
    both = precision + recall
    return float(2 * precision * recall / both) if both else 0.0


def first_difference(
    spec: Spec,
    truth: Mapping[str, np.ndarray],
    guess: Mapping[str, np.ndarray],
    labels: Sequence[Any],
) -> Difference | None:
    """The earliest step at which a hint is not as it should be, and the first such hint in it."""
    found = None
    for name, kind in of_stage(spec, Stage.HINT).items():
        if kind.kind is Kind.SCALAR or name not in guess:
            continue
        wrong = (guess[name] != truth[name]) & _scored(kind, truth[name])
        steps = np.flatnonzero(wrong.reshape(len(wrong), -1).any(1))
        if steps.size and (found is None or steps[0] < found.step):
            found = _difference(int(steps[0]), name, kind, wrong, truth, guess, labels)
    return found


def _difference(step, name, kind, wrong, truth, guess, labels) -> Difference:
    where = np.argwhere(wrong[step])
    places = [_place(labels, tuple(map(int, w))) for w in where]
    nodes = kind.kind in (Kind.MASK_ONE, Kind.POINTER)

    def told(array: np.ndarray) -> list[Any]:
        values = [int(array[step][tuple(w)]) for w in where]
        return [labels[v] if nodes and labels else v for v in values]

    return Difference(step, name, places, told(guess[name]), told(truth[name]))


def _place(labels: Sequence[Any], where: tuple[int, ...]) -> Any:
    """A node, a pair of nodes, or None for the whole graph."""
    named = tuple(labels[i] for i in where) if labels else where
    return None if not named else named[0] if len(named) == 1 else named
