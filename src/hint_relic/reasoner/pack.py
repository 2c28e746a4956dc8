"""From a run folder to a file that can be shipped: one seed, rounded, with its card; or from such
a file to another, scored anew.

The seed is the best on validation. Where several are equally good there (many reach 100 %), they
are compared on fresh samples of twice the largest training size; if asked to, all of them are, at
any size. The test split chooses nothing.
All scores on the card are measured from the rounded weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..config import TrainConfig, with_feedback
from ..errors import UserError
from ..evaluate.run import Trained as Stack
from ..evaluate.run import fresh
from ..train.task import VALIDATION_SEED, Task
from . import model_file
from .model_file import Design
from .runs import Trained, read_run

SIZES = (16, 32, 64)
SAMPLES = 64
Report = Callable[[str, float], None]


@dataclass(frozen=True)
class Candidate:
    """A seed's rounded weights."""

    seed: int
    validation: float
    step: int
    arrays: dict[str, np.ndarray]


@dataclass(frozen=True)
class Chosen:
    """The rounded weights that are written, and what their card says of how they came about."""

    design: Design
    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


# What a card says of how its weights came about: from the result of a run, and with its choice.
TRAINED = ("command", "commit", "device", "versions")
FACTS = ("weights", "seed", "step", "chosen", "validation", *TRAINED)


def pack(
    source: str | Path,
    out: Path,
    *,
    weights: str | None = None,
    sizes: tuple[int, ...] = SIZES,
    samples: int = SAMPLES,
    choose_at: int = 0,
    feedback: str | None = None,
    report: Report = lambda what, share: None,
) -> dict[str, Any]:
    """Write the best seed of a run, or a reasoner once more, as one file; its card.

    source: the run folder; or a reasoner's file, or its algorithm if it is shipped.
    choose_at: the size to compare a run's seeds at, on fresh samples; 0: as validation did.
    feedback: how hints are fed back from now on, if not as they were.
    report: called with a few words for each thing that takes time, and the share that is done.
    """
    if out.is_dir() or not out.parent.is_dir():
        raise UserError(f"can't write {out}: give the path of a file in a folder that exists")
    if samples < 1:
        raise UserError(f"at least 1 sample is needed, not {samples}")
    asked = (*sizes, *([choose_at] if choose_at else []))
    path = model_file.find(source)
    if path.is_file():
        if weights is not None or choose_at:
            raise UserError("only a run folder holds several networks to choose from")
        chosen = _of_reasoner(path, feedback)
        task = _task(chosen.design.config, asked)
    else:
        run = _fed_back(read_run(path, weights), feedback)
        task = _task(run.config, asked)
        chosen = _of_run(run, task, choose_at, report)
    config, scores, outputs = chosen.design.config, {}, {}
    stack = _stack(chosen.design, task, [chosen.arrays])
    for size in sizes:
        report(what := f"scoring at n = {size}", 0.0)
        batch = fresh(replace(stack, task=_even(task)), size, samples)
        (found,) = stack.score(batch, hints=False, progress=partial(report, what))
        scores[str(size)], outputs[str(size)] = found.score, found.outputs
    report(what := "scoring on the benchmark's test split", 0.0)
    (test,) = stack.score(task.official(), hints=False, progress=partial(report, what))
    card = {
        "algorithm": config.algorithm,
        "variant": config.variant,
        **chosen.facts,
        "scores": scores,
        "outputs": outputs,
        "samples": samples,
        "test_split": test.score,
        "data": _data(config, task),
        "parameters": chosen.design.layout.size,
    }
    model_file.write(out, config, chosen.arrays, card)
    return card


def _task(config: TrainConfig, sizes: tuple[int, ...]) -> Task:
    task = Task.of(config)
    for size in sizes:
        if problem := task.protocol.algorithm.draws(size):
            raise UserError(problem)
    return task


def _fed_back(run: Trained, feedback: str | None) -> Trained:
    config = with_feedback(run.config, feedback)
    return replace(run, config=config, design=replace(run.design, config=config))


def _of_reasoner(path: Path, feedback: str | None) -> Chosen:
    design, arrays, card = model_file.read(path)
    design = replace(design, config=with_feedback(design.config, feedback))
    return Chosen(design, arrays, {name: card.get(name) for name in FACTS})


def _of_run(run: Trained, task: Task, choose_at: int, report: Report) -> Chosen:
    best, why = _choose(run, task, choose_at, report)
    facts = {
        "weights": run.kind,
        "seed": best.seed,
        "step": best.step,
        "chosen": why,
        "validation": best.validation,
    }
    return Chosen(run.design, best.arrays, facts | {name: run.result.get(name) for name in TRAINED})


def _choose(run: Trained, task: Task, choose_at: int, report: Report) -> tuple[Candidate, str]:
    """The best seed on validation, and how it was found, in words."""
    names, seeds = run.design.layout.names, run.config.seeds
    candidates = [
        Candidate(
            run.config.seed_list[i],
            run.validation[i],
            run.steps[i],
            model_file.rounded({name: run.arrays[i][name] for name in names}),
        )
        for i in (range(seeds) if choose_at else run.leading)
    ]
    why = f"best of {seeds} seeds on validation"
    if len(candidates) == 1:
        return candidates[0], why
    size = choose_at or 2 * max(task.protocol.sizes(run.config.sizes))
    report(what := f"comparing {len(candidates)} seeds at n = {size}", 0.0)
    batch = task.fresh(size, SAMPLES, VALIDATION_SEED + size, run.config.validation_drawn)
    stack = _stack(run.design, task, [candidate.arrays for candidate in candidates])
    found = stack.score(batch, hints=False, progress=partial(report, what))
    if choose_at:
        why = f"best of {seeds} seeds on {SAMPLES} fresh samples of n = {size}"
    else:
        why += f"; {len(candidates)} were equal there, and compared on fresh samples of n = {size}"
    return candidates[int(np.argmax([scores.score for scores in found]))], why


def _stack(design: Design, task: Task, weights: list[dict[str, np.ndarray]]) -> Stack:
    """Networks with rounded weights, as `evaluate` takes them."""
    networks = [design.network(arrays) for arrays in weights]
    return Stack(design.config, task, jax.tree.map(lambda *xs: jnp.stack(xs), *networks))


def _even(task: Task) -> Task:
    """The task with needles as long as in the benchmark's splits, whatever the size."""
    return replace(task, protocol=replace(task.protocol, needle=0))


def _data(config: TrainConfig, task: Task) -> dict[str, Any]:
    """What the network was trained on."""
    protocol = task.protocol
    return {
        "benchmark": "CLRS-30, drawn as by dm-clrs 2.0.3",
        "sizes": list(protocol.sizes(config.sizes)),
        "positions": "random sorted in training, evenly spaced in every score",
        "edge_probabilities": list(protocol.p),
        "needle": protocol.needle,
        "hints_turned_into_inputs": list(protocol.moved_hints),
    }
