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

from ..algorithms.kernel import cache_root
from ..config import TrainConfig
from ..model.flat import Layout
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


def _shape(tree: Any, place: Any) -> Any:
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place), tree)


class Programs:
    """`update`, over all seeds at once, for every shape of batch it is given."""

    def __init__(self, layout: Layout, objective: Objective, config: TrainConfig):
        one = partial(
            update, layout=layout, objective=objective, config=config.optimiser, steps=config.steps
        )
        self._jit = jax.jit(jax.vmap(one), donate_argnums=(0, 1))
        self._ready: dict[Any, Any] = {}

    @staticmethod
    def _key(batch: Batch) -> tuple[tuple[int, ...], ...]:
        return tuple(x.shape for x in jax.tree.leaves(batch))

    def lower(self, state: State, meter: Meter, batch: Batch, place: Any = None) -> Any:
        """The program for these shapes, not compiled yet. place: the device, if not this one."""
        return self._jit.lower(*(_shape(tree, place) for tree in (state, meter, batch)))

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

    def __call__(self, state: State, meter: Meter, batch: Batch) -> tuple[State, Meter]:
        if self._key(batch) not in self._ready:  # a sample longer than any of the survey
            self.prepare(state, meter, [batch])
        return self._ready[self._key(batch)](state, meter, batch)
