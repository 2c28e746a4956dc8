"""The weights of a run folder, seed by seed, and which seed is the best."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..config import TrainConfig
from ..errors import UserError, choose
from ..evaluate.run import check_fits, read_config
from ..files import decode_json, read_bounded, read_json
from ..model.flat import Layout
from ..model.network import Network
from ..model.process import Processor
from ..train import checkpoint
from ..train.folder import MAX_METRICS
from ..train.task import Task
from .model_file import Design

KINDS = ("best_average", "best", "last", "last_average")


@dataclass(frozen=True)
class Trained:
    """One kind of weights of a run: arrays by name, scores on validation and step, by seed."""

    config: TrainConfig
    design: Design
    kind: str
    arrays: list[dict[str, np.ndarray]]
    validation: list[float]
    steps: list[int]
    result: dict[str, Any]

    @property
    def leading(self) -> list[int]:
        """The places of the seeds that score best on validation; often more than one."""
        best = max(self.validation)
        return [i for i, score in enumerate(self.validation) if score == best]


def read_run(folder: Path, kind: str | None = None, processor: Any = Processor) -> Trained:
    """The weights of a finished run; unless told, the best average, where one was kept."""
    config = read_config(folder)
    if kind is None:
        kind = "best_average" if config.optimiser.average else "best"
    choose("kind of weights", kind, KINDS)
    if "average" in kind and not config.optimiser.average:
        raise UserError(f"{folder} kept no average of its weights; ask for {kind.split('_')[0]}")
    if not (folder / "result.json").exists():
        raise UserError(f"{folder} has no finished run yet: run its train command again to go on")
    result = read_json(folder / "result.json")
    file = folder / ("best.safetensors" if kind.startswith("best") else "last.safetensors")
    arrays, facts = checkpoint.read(file)
    check_fits(config, arrays, file)
    design = Design(config, processor)
    try:
        found, scores, steps = _weights(folder, kind, design, arrays, facts, result)
        scores = [float(score) for score in scores]
        if not len(scores) == len(steps) == config.seeds:
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise UserError(f"the files in {folder} do not fit each other: is it damaged?") from None
    return Trained(config, design, kind, found, scores, steps, result)


def _weights(
    folder: Path, kind: str, design: Design, arrays: dict[str, np.ndarray], facts: Any, result: Any
) -> tuple[list[dict[str, np.ndarray]], list[float], list[int]]:
    """(arrays by name, score on validation, step), by seed."""
    seeds = range(design.config.seeds)
    stored = "average" if "average" in kind else "plain"
    if kind.startswith("best"):
        found = [_named(folder, arrays, stored, i, design) for i in seeds]
        return found, result["validation"][kind], facts[f"{stored}_step"]
    vectors = arrays[".state.average" if stored == "average" else ".state.weights"]
    found = _from_vectors(folder, design, vectors)
    return found, _last_validation(folder)[stored], [result["steps"] for _ in seeds]


def _named(folder: Path, arrays, stored: str, seed: int, design: Design) -> dict[str, np.ndarray]:
    out = {}
    for name, shape in zip(design.layout.names, design.layout.shapes):
        array = arrays.get(f"{stored}/{name}")
        if array is None or len(array) <= seed or array[seed].shape != shape:
            raise UserError(f"the weights in {folder} do not fit its config.json: {name}")
        out[name] = array[seed]
    return out


def _from_vectors(folder: Path, design: Design, vectors: np.ndarray) -> list[dict]:
    """A checkpoint keeps each network as one vector, with what only the objective needs."""
    config, task = design.config, Task.of(design.config)
    network = Network.init(0, task.spec, config.model, design.processor, task.contrasted)
    layout = Layout(network)
    if vectors.shape != (config.seeds, layout.size):
        raise UserError(f"the checkpoint in {folder} does not fit its config.json")
    return [layout.named(vector) for vector in vectors]


def _last_validation(folder: Path) -> dict[str, Any]:
    file = folder / "metrics.jsonl"
    lines = read_bounded(file, MAX_METRICS).splitlines() if file.exists() else []
    for line in reversed(lines):
        record = decode_json(line, f"a line of {file}")
        if isinstance(record, dict) and record.get("kind") == "validation":
            return record
    raise UserError(f"{folder} has no validation scores to choose a seed by")
