"""The training loop: the one place that touches clock, disk and screen."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..config import Padding, TrainConfig
from ..data import Protocol, Stream
from ..data.shape import single_precision, trim
from ..data.splits import SPLITS, split
from ..errors import UserError
from ..evaluate.evaluate import Scores, evaluate
from ..model.flat import Layout
from ..model.network import Network
from ..model.process import Processor
from ..model.reversal import with_reversal
from ..objectives.objective import Objective, objective_for
from ..spec import Field
from ..types import Batch
from . import checkpoint
from .events import EventWriter
from .folder import RunFolder, environment
from .programs import Programs, keep_compiled_programs, use_graphs
from .update import Meter, State, initial_state

VALIDATION_SEED = 2**31 + 1
MOST_VALIDATION_SAMPLES = 1024


class Best(NamedTuple):
    """The best weights on validation so far, of each seed; latest among equals."""

    weights: Any  # (seeds, size)
    score: Any  # (seeds,)
    step: Any  # (seeds,)


class Keep(NamedTuple):
    """What a checkpoint holds."""

    state: State
    plain: Best
    average: Best


@dataclass(frozen=True)
class Task:
    """What a run needs to know of its algorithm.

    contrasted: the hints that the objective compares between input and view.
    """

    protocol: Protocol
    spec: dict[str, Field]
    contrasted: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: TrainConfig) -> Task:
        protocol = Protocol.training(config.algorithm, keep_static_hints=config.keep_static_hints)
        for size in config.reported_sizes:
            if problem := protocol.algorithm.draws(size):
                raise UserError(problem)
        spec = with_reversal(protocol.spec) if config.model.reversal else dict(protocol.spec)
        return cls(protocol, spec, protocol.contrasted if config.objective.contrastive else ())

    def fresh(self, size: int, samples: int, seed: int) -> Batch:
        """Fresh samples from the training distribution at some size."""
        return trim(self.protocol.draw(size, samples, seeds=[seed]))

    def official(self, which: str = "test") -> Batch:
        """A split of the benchmark, rewritten as for training, with its own positions."""
        return single_precision(self.protocol.rewrite(split(self.protocol.name, which)))

    def validation(self, config: TrainConfig) -> Batch:
        multiplier = self.protocol.algorithm.test_multiplier
        usual = min(2 * SPLITS["val"].samples * multiplier, MOST_VALIDATION_SAMPLES)
        size = max(self.protocol.sizes(config.sizes))
        return self.fresh(size, config.validation_samples or usual, VALIDATION_SEED)


def initial(config: TrainConfig, task: Task, processor: Any = Processor) -> tuple[Layout, State]:
    """Fresh networks, one for each seed: the layout of their weights, and the stacked states."""
    networks = [
        Network.init(seed, task.spec, config.model, processor, task.contrasted)
        for seed in config.seed_list
    ]
    layout = Layout(networks[0])
    weights = jnp.asarray(np.stack([layout.flatten(network) for network in networks]))
    seeds = jnp.asarray(config.seed_list, jnp.int32)
    return layout, jax.vmap(partial(initial_state, config=config.optimiser))(seeds, weights)


def train(
    config: TrainConfig,
    out: Path,
    *,
    restart: bool = False,
    objective: Objective | None = None,
    processor: Any = Processor,
    report: Callable[[dict[str, Any]], None] = lambda record: None,
) -> dict[str, Any]:
    """Train, or go on where the run folder left off; the result, also in `result.json`.

    objective, processor: a researcher's own, in place of the built-in ones.
    report: called with every record that goes to `metrics.jsonl`, and with warnings.
    """
    config.check()
    use_graphs()
    keep_compiled_programs()
    task = Task.of(config)
    stream_for(config, task).close()  # whatever can't be drawn is refused before anything is made
    objective = objective or objective_for(config.objective, task.contrasted)
    with RunFolder(out, config, restart) as folder:
        done = folder.result()
        if done is not None and done["steps"] >= config.steps:
            return done
        return _Run(config, task, folder, objective, processor, report).go()


def stream_for(config: TrainConfig, task: Task, start: int = 0) -> Stream:
    """The training batches of a run, from update `start` on."""
    return Stream(
        task.protocol,
        sizes=config.sizes,
        batch_size=config.batch_size,
        seeds=config.seed_list,
        start=start,
        view=config.view if config.objective.needs_views else None,
        one_shape=config.padding is Padding.LARGEST
        or (config.padding is Padding.AUTO and jax.default_backend() != "cpu"),
    )


class _Run:
    """One run in progress."""

    def __init__(self, config, task, folder, objective, processor, report):
        self.config, self.task, self.folder, self.report = config, task, folder, report
        self.started = time.monotonic()
        self.waited = 0.0
        self.layout, state = initial(config, task, processor)
        worst = jnp.full((config.seeds,), -1.0)
        never = jnp.zeros((config.seeds,), jnp.int32)
        self.keep = Keep(
            state, Best(state.weights, worst, never), Best(state.average, worst, never)
        )
        self.elapsed_before = 0.0
        if restored := folder.restore(self.keep):
            self.keep, facts, warnings = restored
            self.elapsed_before = facts["elapsed_s"]
            for warning in warnings:
                report({"warning": f"{warning}; going on from the checkpoint before it"})
        self.keep = jax.tree.map(jnp.array, self.keep)  # own buffers: updates donate them
        folder.trim_metrics(self.step)
        folder.write_json("environment.json", environment())
        self.programs = Programs(self.layout, objective, config)
        self.meter = self._empty_meter(objective)
        self.validation = task.validation(config)
        self.stopping = False

    @property
    def step(self) -> int:
        return int(self.keep.state.step[0])

    def _empty_meter(self, objective: Objective) -> Meter:
        """Zeros of the shape of what an update reports."""
        with stream_for(self.config, self.task) as stream:
            batch = jax.tree.map(lambda x: x[0], stream.batch(0))

        def parts_of(weights):
            return objective(self.layout.unflatten(weights), batch, jax.random.key(0))[1]

        parts = jax.eval_shape(parts_of, self.keep.state.weights[0])
        zero = jnp.zeros((self.config.seeds,))
        return Meter(zero, dict.fromkeys(parts, zero), zero, zero)

    def go(self) -> dict[str, Any]:
        config, state = self.config, self.keep.state
        first = self.step
        events = EventWriter(self.folder.path / "events")
        before = signal.signal(signal.SIGTERM, self._on_terminate) if _main_thread() else None
        try:
            with stream_for(config, self.task, first) as stream:
                compile_start = time.monotonic()
                cycle = [stream.batch(k) for k in range(len(stream.sizes))]
                self.programs.prepare(state, self.meter, cycle)
                self.compile_s = time.monotonic() - compile_start
                self.loop_start = time.monotonic()
                meter = jax.tree.map(jnp.copy, self.meter)
                batches = iter(stream)
                for k in range(first, config.steps):
                    batch = self._next(batches)
                    state, meter = self.programs(state, meter, batch)
                    step = k + 1
                    last = step == config.steps
                    if step % config.report_every == 0 or last or self.stopping:
                        self._report_training(events, step, meter, first)
                        meter = jax.tree.map(jnp.copy, self.meter)
                    if step % config.validate_every == 0 or last:
                        self._validate(events, step, state)
                    if config.test_every and step % config.test_every == 0:
                        self._test(events, step, state)
                    if step % config.checkpoint_every == 0 or last or self.stopping:
                        self._save(state)
                    if self.stopping:
                        raise SystemExit(143)
            return self._finish()
        finally:
            events.close()
            if before is not None:
                signal.signal(signal.SIGTERM, before)

    def _on_terminate(self, *_: object) -> None:
        self.stopping = True

    def _next(self, batches: Iterator[Batch]) -> Batch:
        start = time.monotonic()
        batch = jax.device_put(next(batches))
        self.waited += time.monotonic() - start
        return batch

    def _elapsed(self) -> float:
        return self.elapsed_before + time.monotonic() - self.started

    def _emit(self, events: EventWriter, record: dict[str, Any], values: dict[str, float]):
        self.folder.report(record)
        events.scalars(record["step"], values)
        self.report(record)

    def _report_training(self, events, step: int, meter: Meter, first: int) -> None:
        read = jax.device_get(meter)
        count = np.maximum(read.updates, 1.0)
        loss, gradient = read.loss / count, read.gradient / count
        if not (np.isfinite(loss).all() and np.isfinite(gradient).all()):
            bad = [s for s, x in zip(self.config.seed_list, loss + gradient) if not np.isfinite(x)]
            raise UserError(
                f"the loss or its gradient is no longer finite by update {step} (seeds {bad}); the "
                f"last good checkpoint is kept in {self.folder.path}. A lower "
                "--optimiser.learning-rate may help"
            )
        rate = (step - first) / max(time.monotonic() - self.loop_start, 1e-9)
        record = {
            "step": step,
            "kind": "train",
            "loss": loss.tolist(),
            "parts": {k: (v / count).tolist() for k, v in read.parts.items()},
            "gradient_norm": gradient.tolist(),
            "updates_per_s": rate,
            "elapsed_s": self._elapsed(),
        }
        values = {f"loss/seed{s}": float(x) for s, x in zip(self.config.seed_list, loss)}
        self._emit(events, record, values | {"updates_per_s": rate})

    def _evaluate(self, weights: Any, batch: Batch) -> list[Scores]:
        return evaluate(jax.vmap(self.layout.unflatten)(weights), self.task.spec, batch)

    def _both(self, state: State, batch: Batch) -> tuple[list[float], list[float]]:
        """Scores of the plain weights and of their average, for each seed."""
        plain = [s.score for s in self._evaluate(state.weights, batch)]
        if not self.config.optimiser.average:
            return plain, plain
        return plain, [s.score for s in self._evaluate(state.average, batch)]

    def _validate(self, events, step: int, state: State) -> None:
        plain, average = self._both(state, self.validation)
        record: dict[str, Any] = {"step": step, "kind": "validation"}
        record |= {"plain": plain, "average": average}
        for size in self.config.reported_sizes:
            samples = max(32, len(self.validation.lengths) // 4)
            batch = self.task.fresh(size, samples, VALIDATION_SEED + size)
            record[f"plain_{size}"], record[f"average_{size}"] = self._both(state, batch)
            if size == self.config.choose_at:
                plain, average = record[f"plain_{size}"], record[f"average_{size}"]
        self.keep = Keep(
            state,
            _better(self.keep.plain, state.weights, plain, step),
            _better(self.keep.average, state.average, average, step),
        )
        values = {
            f"validation/{k}": float(np.mean(v)) for k, v in record.items() if isinstance(v, list)
        }
        self._emit(events, record | {"elapsed_s": self._elapsed()}, values)

    def _test(self, events, step: int, state: State) -> None:
        plain, average = self._both(state, self.task.official())
        record = {"step": step, "kind": "test", "plain": plain, "average": average}
        values = {"test/plain": float(np.mean(plain)), "test/average": float(np.mean(average))}
        self._emit(events, record, values)

    def _save(self, state: State) -> None:
        self.keep = self.keep._replace(state=state)
        self.folder.save(self.keep, {"elapsed_s": self._elapsed(), "step": self.step})

    def _named(self, stacks: dict[str, Any]) -> dict[str, np.ndarray]:
        """Arrays by name, a leading axis for the seeds."""
        out: dict[str, np.ndarray] = {}
        for kind, stack in stacks.items():
            each = [self.layout.named(weights) for weights in stack]
            out |= {f"{kind}/{k}": np.stack([named[k] for named in each]) for k in each[0]}
        return out

    def _finish(self) -> dict[str, Any]:
        plain, average = self.keep.plain, self.keep.average
        checkpoint.write(
            self.folder.path / "best.safetensors",
            self._named({"plain": plain.weights, "average": average.weights}),
            {
                "plain_step": np.asarray(plain.step).tolist(),
                "average_step": np.asarray(average.step).tolist(),
            },
        )
        test = self.task.official()
        scored = {
            "best": (plain.weights, plain.step),
            "best_average": (average.weights, average.step),
            "last": (self.keep.state.weights, self.keep.state.step),
            "last_average": (self.keep.state.average, self.keep.state.step),
        }
        if not self.config.optimiser.average:
            scored = {k: v for k, v in scored.items() if "average" not in k}
        tests = {
            name: _summary(self._evaluate(weights, test), step)
            for name, (weights, step) in scored.items()
        }
        result = {
            "algorithm": self.config.algorithm,
            "variant": self.config.variant,
            "steps": self.config.steps,
            "seeds": self.config.seed_list,
            "test": tests,
            "validation": {
                "best": np.asarray(plain.score).tolist(),
                "best_average": np.asarray(average.score).tolist(),
            },
            "parameters_sha256": [
                checkpoint.digest(self.layout.named(weights)) for weights in self.keep.state.weights
            ],
            "time": {
                "total_s": self._elapsed(),
                "compile_s": self.compile_s,
                "waited_for_data_s": self.waited,
            },
            "memory": memory(),
            **environment(),
        }
        self.folder.write_json("result.json", result)
        return result


def _better(best: Best, weights: Any, scores: list[float], step: int) -> Best:
    """Take over the weights of the seeds that score at least as well as before."""
    score = jnp.asarray(scores, jnp.float32)
    better = score >= best.score
    return Best(
        jnp.where(better[:, None], weights, best.weights),
        jnp.maximum(score, best.score),
        jnp.where(better, step, best.step).astype(jnp.int32),
    )


def _summary(scores: list[Scores], step: Any) -> dict[str, Any]:
    values = np.array([s.score for s in scores])
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return {
        "score": values.tolist(),
        "mean": float(values.mean()),
        "stderr": None if np.isnan(error) else float(error),
        "outputs": {k: [s.outputs[k] for s in scores] for k in scores[0].outputs},
        "step": np.asarray(step).tolist(),
    }


def memory() -> dict[str, Any]:
    """Peak memory of the process, and of the device where it tells."""
    out: dict[str, Any] = {
        "process_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    }
    stats = jax.devices()[0].memory_stats()
    if stats and "peak_bytes_in_use" in stats:
        out["device_peak_mb"] = stats["peak_bytes_in_use"] / 2**20
    return out


def _main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()
