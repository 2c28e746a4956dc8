"""Evaluating the networks of a run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..config import TrainConfig, from_dict, with_feedback
from ..data.splits import FRESH_SEED
from ..errors import UserError, choose
from ..files import read_json
from ..model.flat import Layout
from ..model.network import Network
from ..train import checkpoint
from ..train.task import Task, initial
from ..types import Batch
from .evaluate import Scores, evaluate, over_seeds

KINDS = ("best", "best_average")


@dataclass(frozen=True)
class Trained:
    """The networks of a finished run, one for each seed."""

    config: TrainConfig
    task: Task
    networks: Network  # stacked

    def score(
        self,
        batch: Batch,
        *,
        hints: bool = True,
        progress: Callable[[float], None] = lambda share: None,
    ) -> list[Scores]:
        return evaluate(self.networks, self.task.spec, batch, hints=hints, progress=progress)

    def fed_back(self, feedback: str | None) -> Trained:
        """The same networks, with hints fed back in another way, if told."""
        config = with_feedback(self.config, feedback)
        return replace(self, config=config, networks=replace(self.networks, config=config.model))


def read_config(folder: Path) -> TrainConfig:
    """The config of a run folder."""
    file = folder / "config.json"
    try:
        values = read_json(file)
    except FileNotFoundError:
        raise UserError(f"{folder} is not a run folder: it has no config.json") from None
    if not isinstance(values, dict) or values.pop("format", None) != 1:
        raise UserError(f"{file} was written by another version of hint-relic")
    config = from_dict(TrainConfig, values)
    config.check()
    return config


def check_fits(config: TrainConfig, arrays: dict[str, np.ndarray], file: Path) -> None:
    """Refuse a config of networks larger than its weights, before memory is taken for them."""
    if not all(np.isfinite(a).all() for a in arrays.values() if a.dtype.kind == "f"):
        raise UserError(f"{file} holds weights that are no numbers")
    hidden, triplets = config.model.hidden, config.model.triplets
    if config.seeds * hidden * max(8 * hidden, triplets) > sum(a.size for a in arrays.values()):
        raise UserError(f"{file} does not fit its config.json: that is of larger networks")


def load(folder: Path, weights: str = "best") -> Trained:
    """The best networks on validation, of the plain weights or of their average."""
    choose("kind of weights", weights, KINDS)
    config = read_config(folder)
    file = folder / "best.safetensors"
    if not file.exists():
        raise UserError(f"{folder} has no finished run yet: run its train command again to go on")
    arrays, _ = checkpoint.read(file)
    check_fits(config, arrays, file)
    task = Task.of(config)
    layout, _ = initial(config, task)
    kind = "plain" if weights == "best" else "average"
    vectors = []
    for seed in range(config.seeds):
        try:
            parts = [np.ravel(arrays[f"{kind}/{name}"][seed]) for name in layout.names]
        except (KeyError, IndexError):
            raise UserError(f"{file} does not fit {folder / 'config.json'}") from None
        vectors.append(_checked(np.concatenate(parts), layout, file))
    networks = jax.vmap(layout.unflatten)(jnp.asarray(np.stack(vectors)))
    return Trained(config, task, networks)


def _checked(vector: np.ndarray, layout: Layout, file: Path) -> np.ndarray:
    if vector.size != layout.size:
        raise UserError(f"{file} holds a network of another shape")
    return vector


def fresh(trained: Trained, size: int, samples: int) -> Batch:
    """Fresh samples of a size, positions evenly spaced as in the benchmark's test split."""
    from dataclasses import replace

    from ..data.shape import trim

    if problem := trained.task.protocol.algorithm.draws(size):
        raise UserError(problem)
    protocol = replace(trained.task.protocol, random_positions=False)
    return trim(protocol.draw(size, samples, seeds=[FRESH_SEED]))


def summary(scores: list[Scores]) -> dict[str, Any]:
    """Means and standard errors over seeds, ready for JSON."""

    def told(values: list[float]) -> dict[str, Any]:
        return {**over_seeds(values), "seeds": list(map(float, values))}

    steps = {
        name: np.nan_to_num(np.mean([s.steps[name] for s in scores], axis=0), nan=-1.0).tolist()
        for name in scores[0].steps
    }
    return {
        "score": told([s.score for s in scores]),
        "outputs": {k: told([s.outputs[k] for s in scores]) for k in scores[0].outputs},
        "hints": {k: told([s.hints[k] for s in scores]) for k in scores[0].hints},
        "hint_score_at_step": steps,
    }
