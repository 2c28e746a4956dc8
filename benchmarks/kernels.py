"""What XLA makes of an update for an NVIDIA H200, without one: kernels and bytes of each loop.

    python benchmarks/kernels.py floyd_warshall [--variant baseline] [--seeds 3] [--rolled]

It needs JAX's CUDA plugin (`pip install "jax[cuda13]"`), but no GPU: the update on a batch of
n = 16 is compiled for a GPU that is described below, in a minute or two, and the kernels of every
loop over steps are listed with what they write and, at most, read. XLA can't try out which kernels
are fastest that way, so products are cuBLAS' and a few others differ from those of a real run.
With --rolled, kernels of ours take all steps (`model/rollout/cuda`), and what is left around them
is listed.
What counts is time on a GPU: this tells where to look, and which ideas are not worth a GPU's time.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SIZE, BATCH = 16, 16
H200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 4800000000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 150000000000 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 minor: 0 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
device_description_str: "NVIDIA H200"
"""
BYTES = {"pred": 1, "s8": 1, "u8": 1, "f16": 2, "bf16": 2, "s64": 8, "u64": 8, "f64": 8}
FREE = ("parameter", "get-tuple-element", "tuple", "bitcast", "constant", "while")
INSTRUCTION = re.compile(r"\s*(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)")
SCRATCH = re.compile(r", s8\[\d+\]\{0\}\)$")  # of cuBLAS


class Kernel(NamedTuple):
    name: str
    shape: str
    written: int
    read: int  # at most: where a slice of an array is read, the whole of it is counted


def compiled(name: str, variant: str, seeds: int, rolled: bool) -> str:
    """The update, as XLA's text for an H200."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")  # it asks a driver
    os.environ["XLA_FLAGS"] = (
        "--xla_gpu_dot_merger_threshold_mb=1 --xla_gpu_autotune_level=0 "
        "--xla_gpu_enable_triton_gemm=false"  # some of those have no settings but tried-out ones
    )
    import jax
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    from hint_relic.bench import begin
    from hint_relic.variants import preset

    config = replace(preset(variant, name), seeds=seeds, sizes=(SIZE,), batch_size=BATCH)
    jax.default_backend = lambda: "gpu"  # some things are put in other words for one
    if rolled:
        from hint_relic.model.rollout.cuda import call, driver

        call.starts_on("CUDA", lambda what: None)
        driver.available = lambda: True
    begun = begin(config)
    topology: Any = topologies.get_topology_desc(
        "h200", platform="cuda", topology="1x1x1", target_config=H200
    )
    place = NamedSharding(Mesh(np.array(topology.devices[:1]), "x"), PartitionSpec())
    lowered = begun.programs.lower(begun.state, begun.meter, begun.item, place)
    return lowered.compile().as_text()


def size_of(shape: str) -> int:
    """Bytes of an array or a tuple of arrays, from XLA's words for it."""
    arrays = re.findall(r"(\w+)\[([\d,]*)\]", shape)
    return sum(BYTES.get(t, 4) * math.prod(map(int, filter(None, d.split(",")))) for t, d in arrays)


def loops(text: str, rolled: bool) -> dict[str, list[Kernel]]:
    """The kernels of each loop's body, or of what is in no loop; none for a few of bookkeeping."""
    bodies = {*re.findall(r"while\(.*?body=%?([\w.\-]+)", text)}
    if rolled:
        bodies |= {*re.findall(r"ENTRY %?([\w.\-]+)", text)}
    found: dict[str, list[Kernel]] = {}
    sizes: dict[str, int] = {}
    body = ""
    for line in text.splitlines():
        if head := re.match(r"(?:ENTRY )?%?([\w.\-]+) .*\{$", line):
            body, sizes = head[1], {}
        elif body in bodies and (instruction := INSTRUCTION.match(line)):
            name, shape, kind, rest = instruction.groups()
            if kind == "custom-call":
                shape = SCRATCH.sub("", shape)
            sizes[name] = size_of(shape)
            if kind not in FREE:
                read = sum(
                    sizes.get(x, 0) for x in re.findall(r"%([\w.\-]+)", rest.split("), ")[0])
                )
                found.setdefault(body, []).append(Kernel(name, shape, sizes[name], read))
    return {body: kernels for body, kernels in found.items() if len(kernels) > 20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithm")
    parser.add_argument("--variant", default="baseline")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--top", type=int, default=12, help="kernels to list, those that write most"
    )
    parser.add_argument("--rolled", action="store_true", help="our kernels take all steps")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "src"))
    start = time.monotonic()
    text = compiled(options.algorithm, options.variant, options.seeds, options.rolled)
    print(f"compiled in {time.monotonic() - start:.0f} s")
    for body, kernels in loops(text, options.rolled).items():
        written, read = (sum(getattr(k, x) for k in kernels) for x in ("written", "read"))
        print(f"\n{body}: {len(kernels)} kernels, {written / 1e6:.0f} MB written, "
              f"at most {read / 1e6:.0f} MB read")  # fmt: skip
        for k in sorted(kernels, key=lambda k: -k.written)[: options.top]:
            print(f"{k.written / 1e6:8.1f} {k.read / 1e6:8.1f}  {k.name:40.40} {k.shape:.90}")


if __name__ == "__main__":
    main()
