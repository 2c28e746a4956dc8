"""From a run folder to a file that can be shipped: one seed, rounded, with its card.

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

from ..errors import UserError
from ..evaluate.run import Trained as Stack
from ..evaluate.run import fresh
from ..train.task import VALIDATION_SEED, Task
from . import model_file
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


def pack(
    folder: Path,
    out: Path,
    *,
    weights: str | None = None,
    sizes: tuple[int, ...] = SIZES,
    samples: int = SAMPLES,
    choose_at: int = 0,
    report: Report = lambda what, share: None,
) -> dict[str, Any]:
    """Write the best seed of a run as one file; its card.

    choose_at: the size to compare the seeds at, on fresh samples; 0: as validation did.
    report: called with a few words for each thing that takes time, and the share that is done.
    """
    if out.is_dir() or not out.parent.is_dir():
        raise UserError(f"can't write {out}: give the path of a file in a folder that exists")
    if samples < 1:
        raise UserError(f"at least 1 sample is needed, not {samples}")
    run = read_run(folder, weights)
    task = Task.of(run.config)
    for size in (*sizes, *([choose_at] if choose_at else [])):
        if problem := task.protocol.algorithm.draws(size):
            raise UserError(problem)
    chosen, why = _choose(run, task, choose_at, report)
    stack = _stack(run, task, [chosen])
    scores, outputs = {}, {}
    for size in sizes:
        report(what := f"scoring at n = {size}", 0.0)
        batch = fresh(replace(stack, task=_even(task)), size, samples)
        (found,) = stack.score(batch, hints=False, progress=partial(report, what))
        scores[str(size)], outputs[str(size)] = found.score, found.outputs
    report(what := "scoring on the benchmark's test split", 0.0)
    (test,) = stack.score(task.official(), hints=False, progress=partial(report, what))
    card = {
        "algorithm": run.config.algorithm,
        "variant": run.config.variant,
        "weights": run.kind,
        "seed": chosen.seed,
        "step": chosen.step,
        "chosen": why,
        "validation": chosen.validation,
        "scores": scores,
        "outputs": outputs,
        "samples": samples,
        "test_split": test.score,
        "data": _data(run, task),
        "parameters": run.design.layout.size,
        **{k: run.result.get(k) for k in ("command", "commit", "device", "versions")},
    }
    model_file.write(out, run.config, chosen.arrays, card)
    return card


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
    stack = _stack(run, task, candidates)
    found = stack.score(batch, hints=False, progress=partial(report, what))
    if choose_at:
        why = f"best of {seeds} seeds on {SAMPLES} fresh samples of n = {size}"
    else:
        why += f"; {len(candidates)} were equal there, and compared on fresh samples of n = {size}"
    return candidates[int(np.argmax([scores.score for scores in found]))], why


def _stack(run: Trained, task: Task, candidates: list[Candidate]) -> Stack:
    """Networks with rounded weights, as `evaluate` takes them."""
    networks = [run.design.network(candidate.arrays) for candidate in candidates]
    return Stack(run.config, task, jax.tree.map(lambda *xs: jnp.stack(xs), *networks))


def _even(task: Task) -> Task:
    """The task with needles as long as in the benchmark's splits, whatever the size."""
    return replace(task, protocol=replace(task.protocol, needle=0))


def _data(run: Trained, task: Task) -> dict[str, Any]:
    """What the network was trained on."""
    protocol = task.protocol
    return {
        "benchmark": "CLRS-30, drawn as by dm-clrs 2.0.3",
        "sizes": list(protocol.sizes(run.config.sizes)),
        "positions": "random sorted in training, evenly spaced in every score",
        "edge_probabilities": list(protocol.p),
        "needle": protocol.needle,
        "hints_turned_into_inputs": list(protocol.moved_hints),
    }
