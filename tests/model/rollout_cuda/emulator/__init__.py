"""Runs the kernels of `model/rollout/cuda` on a CPU, each thread as a fiber (see device.h)."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jax
import pytest

from hint_relic.algorithms.kernel import cache_root
from hint_relic.model.network import Executor
from hint_relic.model.rollout.cuda import call, driver
from hint_relic.model.rollout.cuda.plan import Plan
from hint_relic.model.rollout.plan import KERNELS

HERE = Path(__file__).parent
OPTIONS = ["-O2", "-march=native", "-std=c++17", "-fPIC", "-shared", "-fno-strict-aliasing"]
OPTIONS += ["-fsanitize=alignment", "-fsanitize-undefined-trap-on-error"]  # the process dies of it
order = 1  # the seed of the order in which warps run


@cache
def missing() -> str:
    """Why the kernels can't be emulated here; nothing if they can."""
    if not shutil.which("g++"):
        return "the emulator of kernels needs g++"
    command = ["g++", "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    known = subprocess.run(command, input=b"_Float16 x;", capture_output=True).returncode == 0
    return "" if known else "the emulator of kernels needs a g++ that knows _Float16"


@cache
def library(plan: Plan) -> Any:
    """The kernels of a plan, compiled for this CPU."""
    ours = {name: (HERE / name).read_text() for name in ("device.h", "fiber.h", "emulator.cpp")}
    sources = {name: (driver.HERE / name).read_text() for name in ("steps.cu", *driver.HEADERS[1:])}
    sources |= {"shape.h": plan.header(), **ours}
    digest = hashlib.sha256("\0".join([*OPTIONS, *sources.values()]).encode()).hexdigest()[:16]
    made = cache_root() / "emulator" / f"{digest}.so"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=made.parent) as folder:
            for name, text in sources.items():
                (Path(folder) / name).write_text(text)
            command = ["g++", *OPTIONS, "emulator.cpp", "-o", "made.so"]
            subprocess.run(command, cwd=folder, check=True)
            (Path(folder) / "made.so").rename(made)
    return ctypes.CDLL(str(made))


def start(what: call.Call) -> None:
    """In place of `driver.start`."""
    arrays = (ctypes.c_void_p * len(what.arrays))(*what.arrays)
    size = ctypes.c_size_t(what.plan.shared_bytes(what.name))
    numbers = len(what.arrays), what.samples, what.room, what.blocks
    done = library(what.plan).emulate(what.name.encode(), arrays, *numbers, size, order)
    if not done & 1:
        raise ValueError(f"{what.name} takes another number of arrays than {len(what.arrays)}")


def use(patch: pytest.MonkeyPatch) -> None:
    """Let programs call kernels, on a CPU, which the emulator runs."""
    call.starts_on("cpu", start)
    patch.setenv(KERNELS, "1")
    patch.setattr(driver, "available", lambda: True)
    usual = Executor.plan

    def on_a_gpu(self: Executor, nodes: int) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jax, "default_backend", lambda: "gpu")
            return usual(self, nodes)

    patch.setattr(Executor, "plan", on_a_gpu)


def use_none(patch: pytest.MonkeyPatch) -> None:
    """Let programs take their steps in XLA's loop."""
    patch.setattr(Executor, "plan", lambda *_: None)
