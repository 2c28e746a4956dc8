"""Compiled updates: one program for each shape of batch, compiled side by side."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from ..algorithms.kernel import cache_root
from ..config import TrainConfig
from ..model.flat import Layout
from ..model.rollout import ahead
from ..objectives.objective import Objective
from ..types import Batch
from .update import Meter, State, update

# Whole loops as one CUDA graph, whose independent kernels run side by side: an update is a few
# thousand small kernels, and is 1.4 times as fast so (docs/performance.md).
_GRAPHS = (
    "--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,"
    "DYNAMIC_SLICE_FUSION,WHILE,CONDITIONAL --xla_gpu_graph_min_graph_size=1 "
    "--xla_gpu_command_buffer_scheduling_mode=CONCURRENT --xla_gpu_dot_merger_threshold_mb=1"
)


def use_graphs() -> None:
    """Tell XLA how to run programs on an NVIDIA GPU, if there is one and nothing was told it.

    It listens before the first computation only. A user's own XLA_FLAGS, also empty ones, stand.
    """
    plugins = ("jax_cuda12_plugin", "jax_cuda13_plugin")
    if Path("/dev/nvidiactl").exists() and any(map(importlib.util.find_spec, plugins)):
        os.environ.setdefault("XLA_FLAGS", _GRAPHS)


def keep_compiled_programs() -> None:
    """Keep compiled programs on disk, for the next process."""
    settings: Any = jax.config
    if settings.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(cache_root() / "programs"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


def _shape(tree: Any, place: Any, seeds: int | None = None) -> Any:
    """The shapes of arrays whose first axis is that of seeds; of fewer seeds, if told."""
    return jax.tree.map(
        lambda x: jax.ShapeDtypeStruct((seeds or len(x), *x.shape[1:]), x.dtype, sharding=place),
        tree,
    )


@jax.jit
def _apart(tree: Any) -> list[Any]:
    """A tree for each seed; the axis of seeds stays."""
    seeds = range(len(jax.tree.leaves(tree)[0]))
    return [jax.tree.map(lambda x, i=i: x[i : i + 1], tree) for i in seeds]


@jax.jit
def _together(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *xs: jnp.concatenate(xs), *trees)


class Programs:
    """`update`, over all seeds, for every shape of batch it is given.

    Seeds are updated side by side, by one program; on a CPU in turn, by the program for one, since
    three side by side take four times as long as one there (docs/performance.md).
    """

    def __init__(self, layout: Layout, objective: Objective, config: TrainConfig):
        one = partial(
            update, layout=layout, objective=objective, config=config.optimiser, steps=config.steps
        )
        self._in_turn = jax.default_backend() == "cpu"
        self._jit = jax.jit(jax.vmap(one), donate_argnums=(0, 1))
        self._ready: dict[Any, Any] = {}

    @staticmethod
    def _key(batch: Batch) -> tuple[tuple[int, ...], ...]:
        return tuple(x.shape for x in jax.tree.leaves(batch))

    def lower(self, state: State, meter: Meter, batch: Batch, place: Any = None) -> Any:
        """The program for these shapes, not compiled yet. place: the device, if not this one."""
        return self._jit.lower(*_shape((state, meter, batch), place, 1 if self._in_turn else None))

    def prepare(
        self,
        state: State,
        meter: Meter,
        batches: Iterable[Batch],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Compile for all these shapes, in parallel. meanwhile: called when all have begun."""
        fresh = {self._key(b): b for b in batches if self._key(b) not in self._ready}
        with ThreadPoolExecutor(max_workers=max(1, len(fresh))) as pool:
            compiled = {
                key: pool.submit(self.lower(state, meter, batch).compile)
                for key, batch in fresh.items()
            }
            meanwhile()
            self._ready.update({key: program.result() for key, program in compiled.items()})
        ahead.wait()

    def __call__(self, state: State, meter: Meter, batch: Batch) -> tuple[State, Meter]:
        if self._key(batch) not in self._ready:  # a sample longer than any of the survey
            self.prepare(state, meter, [batch])
        program = self._ready[self._key(batch)]
        if self._in_turn and len(state.step) > 1:
            return _together([program(*given) for given in _apart((state, meter, batch))])
        return program(state, meter, batch)
