"""Where the kernels that take all steps spend their time on an NVIDIA GPU: cycles between barriers.

    PYTHONPATH=src python benchmarks/phases.py [--cells insertion_sort:baseline] [--seeds 3]

Compiles the kernels (`model/rollout/cuda`) with a clock that the first block reads at each barrier,
runs one update of n = 16, and prints, for each kernel and each barrier, how many cycles a step
waited for it: the time that what stands above it took. Writes benchmarks/results/phases.json.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from machine import machine

HERE = Path(__file__).resolve().parent
CELLS = "insertion_sort:baseline_reversal,strongly_connected_components:baseline_reversal"
LINES = 1000  # more than a file has
RUNS = 5
BARRIER = "DEVICE void wait_for_all() { __syncthreads(); }"
MEMORY = "extern __shared__ __align__(128) unsigned char name[]"
CLOCK = """
__device__ unsigned long long CLOCKS[8 * LINES];
__device__ long long CLOCK;
DEVICE void begin_clock() {
  if (threadIdx.x == 0 && blockIdx.x == 0) CLOCK = clock64();
}
DEVICE void read_clock(int line) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  const long long now = clock64();
  CLOCKS[line] += now - CLOCK, CLOCK = now;
}
#define wait_for_all() (__syncthreads(), read_clock(__LINE__))
""".replace("LINES", str(LINES))


def with_clocks(sources: list[str], headers: tuple[str, ...]) -> list[str]:
    """The sources of kernels, which then count the cycles before each barrier, by its line."""
    main, *texts, shape = sources
    found = dict(zip(headers, texts, strict=True))
    device = found["device.h"]
    if BARRIER not in device or MEMORY not in device:
        raise SystemExit("device.h has changed: phases.py no longer finds its barrier")
    device = device.replace(MEMORY, f"{MEMORY}; begin_clock()").replace(BARRIER, CLOCK)
    found["device.h"] = device
    numbered = [
        text if name == "device.h" else f"#line {LINES * i + 1}\n{text}"
        for i, (name, text) in enumerate(found.items())
    ]
    return [main, *numbered, shape]


def cycles_of(cell: str, seeds: int) -> dict[str, Any]:
    """Each kernel's barriers, and the cycles before each in one update."""
    import jax

    from hint_relic.bench import begin
    from hint_relic.model.rollout.cuda import driver
    from hint_relic.train.task import Task
    from hint_relic.variants import preset

    name, variant = cell.split(":")
    config = replace(preset(variant, name), seeds=seeds, sizes=(16,))
    begun = begin(config)
    objective, layout = Task.of(config).objective(config), begun.layout

    def loss(weights: Any, batch: Any, key: Any) -> Any:
        return objective(layout.unflatten(weights), batch, key)

    program = jax.jit(jax.vmap(jax.value_and_grad(loss, has_aux=True)))
    keys = jax.random.split(jax.random.key(0), seeds)
    arguments = begun.state.weights, jax.device_put(begun.item), keys
    steps = int(begun.longest - 1)
    seen: dict[str, dict[int, int]] = {}
    found: dict[str, dict[int, int]] = {}
    for _ in range(RUNS):  # others may use the GPU: the least counts
        jax.block_until_ready(program(*arguments))
        for kernel, counted in counts_of(driver).items():
            before = seen.get(kernel, {})
            new = {line: cycles - before.get(line, 0) for line, cycles in counted.items()}
            if kernel not in found or sum(new.values()) < sum(found[kernel].values()):
                found[kernel] = new
            seen[kernel] = counted
    return {"steps": steps, **found}


def counts_of(driver: Any) -> dict[str, dict[int, int]]:
    """What each kernel's clock has counted so far, by line."""
    found = {}
    counts = (ctypes.c_uint64 * (8 * LINES))()
    for (context, _, kernel), function in driver._loaded.items():
        module, at = ctypes.c_void_p(), ctypes.c_uint64()
        size = ctypes.c_size_t()
        driver._checked(driver._driver().cuCtxPushCurrent_v2(ctypes.c_void_p(context)))
        driver._checked(driver._driver().cuFuncGetModule(ctypes.byref(module), function))
        where = ctypes.byref(at), ctypes.byref(size)
        driver._checked(driver._driver().cuModuleGetGlobal_v2(*where, module, b"CLOCKS"))
        driver._checked(driver._driver().cuMemcpyDtoH_v2(counts, at, size))
        found[kernel] = {i: x for i, x in enumerate(counts) if x}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    os.environ["HINT_RELIC_KERNELS"] = "1"
    folder = TemporaryDirectory()  # kernels with clocks are nobody else's
    os.environ["HINT_RELIC_CACHE"] = folder.name
    from hint_relic.model.rollout.cuda import driver

    plain = driver._compile
    driver._compile = lambda sources, *x: plain(with_clocks(sources, driver.HEADERS), *x)
    lines = {}
    for i, name in enumerate(driver.HEADERS):
        text = (driver.HERE / name).read_text().splitlines()
        lines |= {LINES * i + k: (name, k, line.strip()) for k, line in enumerate(text, 1)}
    cells = {}
    for cell in options.cells.split(","):
        cells[cell] = cycles_of(cell, options.seeds)
        steps = cells[cell].pop("steps")
        for kernel, counted in cells[cell].items():
            print(f"{cell} {kernel}: {sum(counted.values()) / steps:,.0f} cycles a step")
            for line, cycles in counted.items():
                name, k, text = lines[line]
                print(f"  {cycles / steps:10,.0f}  {name}:{k}  {text[:70]}")
    options.out.mkdir(parents=True, exist_ok=True)
    said = {"cells": cells, "seeds": options.seeds, **machine()}
    (options.out / "phases.json").write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
