"""What a run needs to know of its algorithm: networks, batches and the samples that score them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms import Augmentation
from ..config import Drawn, Hints, TrainConfig, ViewSource
from ..data import Protocol, Stream
from ..data.shape import single_precision, trim
from ..data.splits import SPLITS, sample, split
from ..model.flat import Layout
from ..model.network import Network
from ..model.process import Processor
from ..model.reversal import with_reversal
from ..model.rollout.plan import plan_for
from ..objectives.objective import ALL_BUSY, Busy, Objective, objective_for
from ..spec import Field, Stage, of_stage
from ..types import Batch
from .room import room_for
from .update import Meter, State, initial_state

VALIDATION_SEED = 2**31 + 1
SURVEY_SEED = 2**30
SURVEYED_BATCHES, MOST_SURVEYED = 8, 64
MOST_VALIDATION_SAMPLES = 1024


@dataclass(frozen=True)
class Task:
    """What a run needs to know of its algorithm.

    contrasted: the hints that the objective compares between input and view.
    short_views: whether all views of a batch may agree with their inputs for few steps only.
    processor: a class to use in place of the built-in one.
    """

    protocol: Protocol
    spec: dict[str, Field]
    contrasted: tuple[str, ...] = ()
    short_views: bool = False
    processor: Any = Processor

    @classmethod
    def of(cls, config: TrainConfig, processor: Any = Processor) -> Task:
        protocol = Protocol.training(config.algorithm, keep_static_hints=config.keep_static_hints)
        spec = with_reversal(protocol.spec) if config.model.reversal else dict(protocol.spec)
        contrasted = protocol.contrasted if config.objective.contrastive else ()
        paper = config.view.source is ViewSource.PAPER
        short = not paper or protocol.algorithm.view is Augmentation.ENTERED_NODE
        return cls(protocol, spec, contrasted, short, processor)

    def rolls(self, config: TrainConfig) -> bool:
        """Whether machine code of ours takes all steps of each sample by itself (`model/rollout`):
        then how steps and sizes differ within a batch makes no difference."""
        model, views = config.model, config.objective.needs_views
        if jax.default_backend() != "cpu" or self.processor is not Processor:
            return False
        if views and not config.objective.normalise:
            return False
        nodes = self.protocol.algorithm.nodes(max(self.protocol.sizes(config.sizes))) + views
        hints = of_stage(self.spec, Stage.HINT) if model.hints is not Hints.NONE else {}
        inputs = of_stage(self.spec, Stage.INPUT)
        return plan_for(model, tuple(inputs.items()), tuple(hints.items()), nodes) is not None

    def objective(self, config: TrainConfig) -> Objective:
        # A GPU has room for all samples of a batch at once, and few would leave it idle.
        alike = jax.default_backend() != "cpu" or self.rolls(config)
        busy = ALL_BUSY if alike else self._busy(config)
        return objective_for(
            config.objective, self.contrasted, short_views=self.short_views, busy=busy
        )

    def _busy(self, config: TrainConfig) -> Busy:
        """How busy samples of the largest size are: a look at a few batches."""
        size = max(self.protocol.sizes(config.sizes))
        samples = min(config.batch_size, MOST_SURVEYED)

        def share(steps: Any) -> float:
            return float(np.mean(steps) / max(1.0, np.max(steps, axis=1).mean()))

        seeds = range(SURVEY_SEED, SURVEY_SEED + SURVEYED_BATCHES)
        if not config.objective.needs_views:
            return Busy(share([self.fresh(size, samples, seed).lengths - 1 for seed in seeds]))
        nodes = self.protocol.algorithm.nodes(size) + 1
        draw = partial(self.protocol.draw_paired, size, samples, view=config.view, max_nodes=nodes)
        pairs = [draw(seeds=[seed]) for seed in seeds]
        steps = np.stack([pair.batch.lengths for pair in pairs]) - 1
        if not self.short_views:
            return Busy(share(steps))
        together = np.minimum(np.stack([pair.view.until for pair in pairs]), steps)
        return Busy(share(together), share(steps - together))

    def fresh(self, size: int, samples: int, seed: int, drawn: Drawn = Drawn.TRAINING) -> Batch:
        """Fresh samples of some size: from the training distribution, or from the benchmark's."""
        if drawn is Drawn.BENCHMARK:
            return self._rewritten(sample(self.protocol.name, size, samples, seed))
        return trim(self.protocol.draw(size, samples, seeds=[seed]))

    def _rewritten(self, drawn: Batch) -> Batch:
        return single_precision(self.protocol.rewrite(drawn))

    def official(self, which: str = "test", *, fresh: int | None = None) -> Batch:
        """A split of the benchmark, rewritten as for training, with its own positions.

        fresh: that many other samples instead, drawn as those of the split are.
        """
        return self._rewritten(split(self.protocol.name, which, fresh=fresh))

    def validation(self, config: TrainConfig) -> Batch:
        multiplier = self.protocol.algorithm.test_multiplier
        usual = min(2 * SPLITS["val"].samples * multiplier, MOST_VALIDATION_SAMPLES)
        size = max(self.protocol.sizes(config.sizes))
        return self.fresh(size, config.validation_samples or usual, VALIDATION_SEED)


def initial(config: TrainConfig, task: Task) -> tuple[Layout, State]:
    """Fresh networks, one for each seed: the layout of their weights, and the stacked states."""
    networks = [
        Network.init(seed, task.spec, config.model, task.processor, task.contrasted)
        for seed in config.seed_list
    ]
    layout = Layout(networks[0])
    weights = jnp.asarray(np.stack([layout.flatten(network) for network in networks]))
    seeds = jnp.asarray(config.seed_list, jnp.int32)
    return layout, jax.vmap(partial(initial_state, config=config.optimiser))(seeds, weights)


def stream_for(config: TrainConfig, task: Task, start: int = 0) -> Stream:
    """The training batches of a run, from update `start` on."""
    return Stream(
        task.protocol,
        sizes=config.sizes,
        batch_size=config.batch_size,
        seeds=config.seed_list,
        start=start,
        view=config.view if config.objective.needs_views else None,
        room=partial(room_for, config, task.protocol, task.rolls(config)),
        place=jax.device_put,
    )


def empty_meter(objective: Objective, layout: Layout, state: State, item: Any) -> Meter:
    """Zeros of the shape of what an update on such an item of a stream reports."""
    one = jax.tree.map(lambda x: x[0], item)

    def parts_of(weights: Any) -> Any:
        return objective(layout.unflatten(weights), one, jax.random.key(0))[1]

    return Meter.empty(jax.eval_shape(parts_of, state.weights[0]), len(state.weights))
