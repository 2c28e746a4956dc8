"""The training loop: the one place that touches clock, disk and screen."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..config import TrainConfig
from ..data import Stream
from ..data.splits import check_request
from ..errors import UserError
from ..evaluate.evaluate import Scores, evaluate, over_seeds, prepare
from ..memory import needs_room
from ..model.process import Processor
from ..model.rollout.op import first_time
from ..model.rollout.plan import KERNELS, available
from ..objectives.objective import Objective
from ..types import Batch
from . import checkpoint
from .best import Best, Keep, better
from .events import EventWriter, number, scalars
from .folder import EVENTS, RunFolder, environment
from .programs import Programs, keep_compiled_programs, use_graphs
from .stop import TERMINATED, Pace, Terminate
from .task import VALIDATION_SEED, Task, empty_meter, initial, stream_for
from .update import Meter, State

TEST = "the test split"


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
    report: called with every record that goes to `metrics.jsonl`, with warnings, with what compiles
    for long (`{"compiling": what}`), and with how far scoring is: `{"scoring": what, "share":
    between 0 and 1}`.
    """
    config.check()
    use_graphs()
    keep_compiled_programs()
    task = Task.of(config, processor)
    stream_for(config, task).close()  # whatever can't be drawn is refused before anything is made
    for size in config.reported_sizes:
        check_request(task.protocol.algorithm, size, 1, 0, (), None)
    with RunFolder(out, config, restart) as folder:
        done = folder.result()
        if done is not None and done["steps"] >= config.steps:
            return done
        nodes = task.protocol.algorithm.nodes(max(task.protocol.sizes(config.sizes)))
        updates = (
            f"updates of {config.seeds} networks (hidden {config.model.hidden}) on "
            f"{config.batch_size} samples of up to {nodes} nodes each"
        )
        lower = "--batch-size, --seeds or --model.hidden"
        if jax.default_backend() == "gpu" and available():
            lower += f", or set {KERNELS}=0, which is slower and takes less"
        with needs_room(updates, lower):
            objective = objective or task.objective(config)
            return _Run(config, task, folder, objective, report).go()


class _Run:
    """One run in progress."""

    def __init__(self, config, task, folder, objective, report):
        self.config, self.task, self.folder, self.report = config, task, folder, report
        self.started = time.monotonic()
        self.waited = 0.0
        self.layout, state = initial(config, task)
        worst = jnp.full((config.seeds,), -1.0)
        never = jnp.zeros((config.seeds,), jnp.int32)
        self.keep = Keep(
            state, Best(state.weights, worst, never), Best(state.average, worst, never)
        )
        self.elapsed_before, self.metered = 0.0, None
        if restored := folder.restore(self.keep):
            self.keep, facts, warnings = restored
            self.elapsed_before, self.metered = number(facts.get("elapsed_s")), facts.get("meter")
            for warning in warnings:
                report({"warning": f"{warning}; going on from the checkpoint before it"})
            self._check_step()
        self.keep = jax.tree.map(jnp.array, self.keep)  # own buffers: updates donate them
        self.known = folder.trim_metrics(partial(_stays, self.step))
        self.environment = environment()  # what was loaded: the files may change while we run
        folder.write_json("environment.json", self.environment)
        self.programs = Programs(self.layout, objective, config)
        with stream_for(config, task) as stream:
            self.meter = empty_meter(objective, self.layout, self.keep.state, stream.batch(0))
        self.validation = task.validation(config)
        self.scoring = []  # programs that are being compiled
        self.terminate = Terminate()

    @property
    def step(self) -> int:
        return int(self.keep.state.step[0])

    def _check_step(self) -> None:
        """Refuse a checkpoint that is beyond what is asked for, or of no update at all."""
        steps = sorted({*self.keep.state.step.tolist()})
        if len(steps) > 1 or not 0 <= self.step <= self.config.steps:
            found = " and ".join(map(str, steps[:2]))
            raise UserError(
                f"the checkpoint in {self.folder.path} is of update {found}, not of one between 0 "
                f"and {self.config.steps}; ask for more --steps, or start over with --restart"
            )

    def _meter_of(self, stored: Any) -> Meter | None:
        """The meter as a checkpoint keeps it; None where it keeps none that fits."""
        try:
            leaves = [jnp.asarray(np.array(values, np.float32)) for values in stored]
        except (TypeError, ValueError):
            return None
        if [x.shape for x in leaves] != [x.shape for x in jax.tree.leaves(self.meter)]:
            return None
        return jax.tree.unflatten(jax.tree.structure(self.meter), leaves)

    def go(self) -> dict[str, Any]:
        events = EventWriter(self.folder.path / EVENTS)
        try:
            for record in self.known:
                self._show(events, record, ago=self._elapsed() - number(record.get("elapsed_s")))
            with stream_for(self.config, self.task, self.step) as stream:
                self._updates(events, stream)
            return self._finish()
        finally:
            events.close()

    def _updates(self, events: EventWriter, stream: Stream) -> None:
        """All updates from here on, with what is reported, scored and saved in between.

        The checkpoint comes before the scores of the same update. Whoever goes on from it scores
        first, so a process that is stopped while it scores, which may take long, loses nothing.
        """
        config, state, first = self.config, self.keep.state, self.step
        compile_start = time.monotonic()
        if first < config.steps:
            cycle = [stream.batch(k) for k in range(len(stream.sizes))]
            if self.task.rolls(config) and first_time():
                self.report({"compiling": "for this machine, once: about a minute"})
            self.programs.prepare(state, self.meter, cycle, self._prepare_scoring)
        self.compile_s = time.monotonic() - compile_start
        self.loop_start = time.monotonic()
        self._score(events, first, state)
        meter = self._meter_of(self.metered) or jax.tree.map(jnp.copy, self.meter)
        batches, pace = iter(stream), Pace()
        with self.terminate as terminate:
            for step in range(first + 1, config.steps + 1):
                state, meter = self.programs(state, meter, self._next(batches))
                pace(state)
                if step % config.report_every == 0 or step == config.steps:
                    self._report_training(events, step, meter, first)
                    meter = jax.tree.map(jnp.copy, self.meter)
                to_score = self._to_score(step)
                if step % config.checkpoint_every == 0 or to_score or terminate.asked:
                    self._save(step, state, meter)
                if terminate.asked:
                    raise SystemExit(TERMINATED)
                if to_score:
                    with terminate.at_once():
                        self._score(events, step, state)

    def _prepare_scoring(self) -> None:
        """Compile what scores, on a device beside which the processors have nothing to do."""
        if jax.default_backend() == "cpu":
            return
        networks = jax.vmap(self.layout.unflatten)(self.keep.state.weights)
        further = [partial(self._fresh, size) for size in self.config.reported_sizes]
        draws: list[Callable[[], Batch]] = [lambda: self.validation, *further, self.task.official]
        pool = ThreadPoolExecutor(len(draws))
        self.scoring = [pool.submit(lambda d: prepare(networks, d()), draw) for draw in draws]
        pool.shutdown(wait=False)

    def _fresh(self, size: int) -> Batch:
        """What validation scores at a further size."""
        samples = max(32, len(self.validation.lengths) // 4)
        return self.task.fresh(size, samples, VALIDATION_SEED + size, self.config.validation_drawn)

    def _to_score(self, step: int) -> bool:
        config = self.config
        test = config.test_every and step % config.test_every == 0
        return bool(step % config.validate_every == 0 or step == config.steps or test)

    def _score(self, events: EventWriter, step: int, state: State) -> None:
        """The scores that are due after update `step`."""
        config = self.config
        if step and (step % config.validate_every == 0 or step == config.steps):
            self._validate(events, step, state)
        if step and config.test_every and step % config.test_every == 0:
            self._test(events, step, state)

    def _next(self, batches: Iterator[Batch]) -> Batch:
        start = time.monotonic()
        batch = next(batches)
        self.waited += time.monotonic() - start
        return batch

    def _elapsed(self) -> float:
        return self.elapsed_before + time.monotonic() - self.started

    def _emit(self, events: EventWriter, record: dict[str, Any]) -> None:
        self.folder.report(record)
        self._show(events, record)
        self.report(record)

    def _show(self, events: EventWriter, record: dict[str, Any], ago: float = 0.0) -> None:
        events.scalars(record["step"], scalars(record, self.config.seed_list), ago)

    def _report_training(self, events, step: int, meter: Meter, first: int) -> None:
        read = jax.device_get(meter)
        skip = self.config.optimiser.skip
        too_large = f", or above {skip:g}," if skip else ""
        remedies = "--optimiser.learning-rate" + (" or a higher --optimiser.skip" if skip else "")
        if (lost := (read.updates == 0.0) & (read.skipped > 0.0)).any():
            seeds = np.array(self.config.seed_list)[lost].tolist()
            raise UserError(
                f"the loss or its gradient is no longer finite{too_large} by update {step} "
                f"(seeds {seeds}); the last good checkpoint is kept in {self.folder.path}. A lower "
                f"{remedies} may help"
            )
        if skipped := int(read.skipped.sum()):
            times = "once" if skipped == 1 else f"{skipped} times"
            found = f"the loss or its gradient was not finite{too_large}"
            self.report({"warning": f"{found} {times} by update {step}: skipped"})
        count = np.maximum(read.updates, 1.0)
        loss, gradient = read.loss / count, read.gradient / count
        rate = (step - first) / max(time.monotonic() - self.loop_start, 1e-9)
        record = {
            "step": step,
            "kind": "train",
            "loss": loss.tolist(),
            "parts": {k: (v / count).tolist() for k, v in read.parts.items()},
            "gradient_norm": gradient.tolist(),
            **({"skipped": read.skipped.tolist()} if skipped else {}),
            "updates_per_s": rate,
            "elapsed_s": self._elapsed(),
        }
        self._emit(events, record)

    def _evaluate(self, batch: Batch, what: str, kinds: dict[str, Any]) -> dict[str, list[Scores]]:
        """The scores of several kinds of weights, for each seed; equal ones are scored once."""
        for program in self.scoring:
            program.result()
        keys = {kind: np.asarray(weights).tobytes() for kind, weights in kinds.items()}
        found: dict[bytes, list[Scores]] = {}
        for kind, weights in kinds.items():
            if keys[kind] not in found:
                networks = jax.vmap(self.layout.unflatten)(weights)
                tell = partial(self._tell, what, len(found), len({*keys.values()}))
                found[keys[kind]] = evaluate(networks, self.task.spec, batch, progress=tell)
        return {kind: found[key] for kind, key in keys.items()}

    def _tell(self, what: str, done: int, of: int, share: float) -> None:
        self.report({"scoring": what, "share": (done + share) / of})

    def _both(self, state: State, batch: Batch, what: str) -> tuple[list[float], list[float]]:
        """Scores of the plain weights and of their average, for each seed."""
        kinds = {"plain": state.weights}
        if self.config.optimiser.average:
            kinds["average"] = state.average
        found = self._evaluate(batch, what, kinds)
        scores = [[s.score for s in found[kind]] for kind in kinds]
        return scores[0], scores[-1]

    def _validate(self, events, step: int, state: State) -> None:
        plain, average = self._both(state, self.validation, "validation")
        record: dict[str, Any] = {"step": step, "kind": "validation"}
        record |= {"plain": plain, "average": average}
        for size in self.config.reported_sizes:
            record[f"plain_{size}"], record[f"average_{size}"] = self._both(
                state, self._fresh(size), f"n = {size}"
            )
            if size == self.config.choose_at:
                plain, average = record[f"plain_{size}"], record[f"average_{size}"]
        self.keep = Keep(
            state,
            better(self.keep.plain, state.weights, plain, step),
            better(self.keep.average, state.average, average, step),
        )
        self._emit(events, record | {"elapsed_s": self._elapsed()})

    def _test(self, events, step: int, state: State) -> None:
        plain, average = self._both(state, self.task.official(), TEST)
        record = {"step": step, "kind": "test", "plain": plain, "average": average}
        self._emit(events, record | {"elapsed_s": self._elapsed()})

    def _save(self, step: int, state: State, meter: Meter) -> None:
        self.keep = self.keep._replace(state=state)
        facts = {
            "elapsed_s": self._elapsed(),
            "step": step,
            "meter": [x.tolist() for x in jax.tree.leaves(jax.device_get(meter))],
        }
        self.folder.save(self.keep, facts)

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
        scored = {
            "best": (plain.weights, plain.step),
            "best_average": (average.weights, average.step),
            "last": (self.keep.state.weights, self.keep.state.step),
            "last_average": (self.keep.state.average, self.keep.state.step),
        }
        if not self.config.optimiser.average:
            scored = {k: v for k, v in scored.items() if "average" not in k}
        found = self._evaluate(self.task.official(), TEST, {k: v[0] for k, v in scored.items()})
        tests = {k: _summary(found[k], step) for k, (_, step) in scored.items()}
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
            **self.environment,
        }
        self.folder.write_json("result.json", result)
        return result


def _stays(step: int, record: dict[str, Any]) -> bool:
    """Whether a record is kept by who goes on after update `step`: its scores are still due."""
    return record["step"] < step or (record["step"] == step and record.get("kind") == "train")


def _summary(scores: list[Scores], step: Any) -> dict[str, Any]:
    values = [s.score for s in scores]
    return {
        "score": values,
        **over_seeds(values),
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
