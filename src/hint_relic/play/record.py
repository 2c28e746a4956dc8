"""What a page plays: one run of an algorithm and, where a network tried it, what that said."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import UserError
from ..spec import Field, Kind, Stage, of_stage
from ..types import Batch, Trace

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
    places, until: for the view of another run, which of its nodes each node of that run is, and
    the last step that is made to be the same in both.
    """

    trace: Trace
    prediction: Prediction | None = None
    source: str = ""
    labels: tuple[str, ...] = ()
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
        counts[1:] += (hint[1:] != hint[:-1]).reshape(trace.steps - 1, -1).sum(axis=1)
    return counts


# --- a network's own run -------------------------------------------------------------------------


def as_batch(trace: Trace) -> Batch:
    """A trace as a batch of one."""
    return Batch(
        inputs={name: np.asarray(value)[None] for name, value in trace.inputs.items()},
        hints={name: value[None] for name, value in trace.hints.items()},
        outputs={name: np.asarray(value)[None] for name, value in trace.outputs.items()},
        lengths=np.array([trace.steps], np.int32),
        nodes=np.array([trace.nodes], np.int32),
    )


def predict(trace: Trace, folder: Path, weights: str = "best") -> Prediction:
    """Let the first network of a run folder take the steps of a trace."""
    import jax
    import jax.numpy as jnp

    from ..data.shape import single_precision
    from ..evaluate.run import load, read_config
    from ..model.feedback import decided
    from ..model.network import Network, Seen
    from ..train.programs import keep_compiled_programs

    learned = read_config(folder).algorithm
    if learned != trace.algorithm:
        raise UserError(f"{folder} learned {learned}, not {trace.algorithm}; give another --model")
    keep_compiled_programs()
    trained = load(folder, weights)
    network: Network = jax.tree.map(itemgetter(0), trained.networks)
    sample = jax.tree.map(
        itemgetter(0), single_precision(trained.task.protocol.rewrite(as_batch(trace)))
    )
    live = jnp.ones(trace.nodes, bool)

    def judge(field: Field, logits):
        return decided(field, logits, live), _confidence(field, logits)

    def observe(_, seen: Seen):
        shown = of_stage(trace.spec, Stage.HINT)  # the network may have more: reversed pointers
        said = seen.predicted.items()
        return {name: judge(network.spec[name], x) for name, x in said if name in shown}

    @jax.jit
    def run(sample):
        found = network(sample, observe=observe)
        outputs = {name: judge(network.spec[name], x) for name, x in found.outputs.items()}
        return found.hints, outputs

    hints, outputs = jax.device_get(run(sample))
    return assembled(trace, hints, outputs)


def _confidence(field: Field, logits):
    """The probability of what is decided."""
    import jax
    import jax.numpy as jnp

    if field.kind is Kind.SCALAR:
        return None
    if field.kind is Kind.MASK:
        return jax.nn.sigmoid(jnp.abs(logits))
    return jax.nn.softmax(logits).max(-1)


def assembled(trace: Trace, hints: dict, outputs: dict) -> Prediction:
    """Row t of `hints` is about step t + 1: shift it, and put the given first step before it."""
    guesses, sure = {}, {}
    for name, (guess, confidence) in hints.items():
        first = trace.hints[name][:1]
        guesses[name] = np.concatenate([first, guess[: trace.steps - 1].astype(first.dtype)])
        if confidence is not None:
            rows = confidence[: trace.steps - 1]
            sure[name] = np.concatenate([np.ones((1, *rows.shape[1:]), rows.dtype), rows])
    decided = {name: guess for name, (guess, _) in outputs.items()}
    for name, value in trace.outputs.items():
        if trace.spec[name].kind is Kind.SHOULD_BE_PERMUTATION:  # the first points at itself
            decided[name] = np.where(
                np.arange(len(value)) == decided[f"{name}_mask"], np.arange(len(value)),
                decided[name],
            )  # fmt: skip
    return Prediction(
        guesses,
        sure,
        {name: decided[name].astype(value.dtype) for name, value in trace.outputs.items()},
        {k: c for k, (_, c) in outputs.items() if c is not None and k in trace.outputs},
    )
