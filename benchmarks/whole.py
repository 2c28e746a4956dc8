"""Seconds of a whole training run, from start to test score, against dm-clrs' own script.

    python benchmarks/whole.py [--reference PYTHON] [--algorithm insertion_sort] [--seeds 8]

Ours is trained for --updates updates with empty caches, then extended to 10,000 by its own pace:
compilation, data, updates, validation every 500 and the test at n = 64 are all in it. Of dm-clrs
2.0.3 the parts of its script (`clrs/examples/run.py`, its defaults but the paper's batch of 16)
are measured, each cold and warm: set-up, five training sizes, validation every 50 updates, and
the test, on generated samples of n = 64. Writing checkpoints and logs is left out there.

Also measured: how long the device waits for data. The same updates are timed on batches that
lie on the device already; what training takes beyond that is waiting.
Writes benchmarks/results/whole-<algorithm><suffix>.json, where --side replaces one side and keeps
the other; a side that is not done after --limit seconds leaves the parts it has measured.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import commit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
UPDATES, OUR_VALIDATIONS, THEIR_VALIDATIONS = 10_000, 500, 50
SIZES, TEST_SIZE, BATCH, SCORED = (4, 7, 11, 13, 16), 64, 16, 32
STAGED, ROUNDS = 100, 5


def say(parts: dict[str, Any]) -> None:
    print(json.dumps(parts), flush=True)


def seconds(run: Callable[[], Any]) -> float:
    start = time.monotonic()
    run()
    return time.monotonic() - start


def measure_ours(name: str, seeds: int, updates: int) -> None:
    from dataclasses import replace

    import jax

    from hint_relic.train.loop import train
    from hint_relic.variants import preset

    every = min(OUR_VALIDATIONS, max(1, updates // 2))
    config = replace(
        preset("baseline", name), seeds=seeds, steps=updates, batch_size=BATCH, sizes=SIZES,
        report_every=max(1, every // 5), validate_every=every, checkpoint_every=every,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        result = train(config, Path(folder) / "run")
        total_s = time.monotonic() - begun
        lines = (Path(folder) / "run" / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    update_s, validations = [], []
    for before, after in itertools.pairwise(records):
        took = after["elapsed_s"] - before["elapsed_s"]
        if after["kind"] == "validation":
            validations.append(took)
        elif before["kind"] == "train":
            update_s.append(took / (after["step"] - before["step"]))
    pace, validation_s = statistics.median(update_s), statistics.median(validations[1:])
    more = UPDATES - updates
    say({
        "seeds": seeds,
        "updates_measured": updates,
        "total_s": total_s,
        "compile_update_s": result["time"]["compile_s"],
        "first_validation_s": validations[0],
        "validation_s": validation_s,
        "test_s": result["time"]["total_s"] - records[-1]["elapsed_s"],
        "ms_per_update": 1e3 * pace,
        "whole_s": total_s + more * pace + more / OUR_VALIDATIONS * validation_s,
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    })  # fmt: skip
    staged = staged_update(config)
    waits = 100 * max(0.0, 1 - staged / pace)
    say({"ms_per_update_staged": 1e3 * staged, "device_waits_percent": waits})


def staged_update(config: Any) -> float:
    """Seconds of an update whose batch is on the device already; median of a few rounds."""
    import jax
    import jax.numpy as jnp

    from hint_relic.train.programs import Programs
    from hint_relic.train.task import Task, empty_meter, initial, stream_for

    task = Task.of(config)
    layout, state = initial(config, task)
    objective = task.objective(config)
    with stream_for(config, task) as stream:
        cycle = len(stream.sizes)
        batches = [stream.batch(k) for k in range(min(STAGED, config.steps // cycle * cycle))]
    meter = empty_meter(objective, layout, state, batches[0])
    state, meter = jax.tree.map(jnp.array, (state, meter))  # own buffers: updates donate them
    programs = Programs(layout, objective, config)
    programs.prepare(state, meter, batches[:cycle])
    batches = jax.block_until_ready(jax.device_put(batches))

    def all_batches() -> None:
        nonlocal state, meter
        for batch in batches:
            state, meter = programs(state, meter, batch)
        jax.block_until_ready(state.step)

    all_batches()
    return statistics.median(seconds(all_batches) for _ in range(ROUNDS)) / len(batches)


def measure_reference(name: str, updates: int) -> None:
    sys.path.insert(0, str(ROOT / "conformance"))
    import clrs
    import jax
    import numpy as np

    import reference
    from hint_relic.config import ModelConfig
    from hint_relic.data import Protocol

    begun = time.monotonic()
    rng = np.random.RandomState(42)
    protocol = Protocol.training(name)
    multiplier = clrs.CLRS_30_ALGS_SETTINGS[name]["num_samples_multiplier"]

    def sampler(size: int, samples: int, batch: int, **options: Any) -> tuple[Any, Any]:
        seed = rng.randint(2**31)
        return reference.batches(name, size, samples, seed, rng, batch, **options)

    density = {"p": protocol.p} if protocol.p else {}
    training = [sampler(size, -1, BATCH, **density)[0] for size in SIZES]
    validated = 2 * SCORED * multiplier
    validation, spec = sampler(max(SIZES), validated, SCORED, **density)
    first = next(validation)
    model = reference.Model(spec, first, ModelConfig()).model
    setup_s = time.monotonic() - begun
    say({"seeds": 1, "setup_s": setup_s})
    key = jax.random.PRNGKey(0)

    def score(batches: Any, samples: int) -> None:
        outputs, predicted = [], []
        for _ in range(-(-samples // SCORED)):
            feedback = next(batches)
            outputs.append(feedback.outputs)
            predicted.append(model.predict(key, feedback.features)[0])

        def join(parts: list) -> Any:
            return jax.tree_util.tree_map(lambda *x: np.concatenate(x, 0), *parts)

        clrs.evaluate(join(outputs), join(predicted))

    data_s, update_s = [], []
    for step in range(updates):
        begun = time.monotonic()
        feedback = next(training[step % len(SIZES)])
        data_s.append(time.monotonic() - begun)
        begun = time.monotonic()
        float(model.feedback(key, feedback))
        update_s.append(time.monotonic() - begun)
        if step < len(SIZES):
            say({f"first_update_s_{SIZES[step]}": update_s[-1]})
    # a program for each size, and one more whenever a longer trajectory turns up
    usual = statistics.median(update_s[updates // 2 :])
    compiling = [s for s in update_s if s > 1.0 + usual]
    compile_s = sum(compiling) - usual * len(compiling)
    first_data_s = sum(data_s[: len(SIZES)])  # the first batch of a size compiles, too
    data = statistics.fmean(data_s[len(SIZES) :])
    each = (sum(update_s) - compile_s) / updates
    training_s = setup_s + compile_s + first_data_s + UPDATES * (each + data)
    say({
        "updates_measured": updates,
        "compile_update_s": compile_s,
        "ms_per_update": 1e3 * each,
        "first_data_s": first_data_s,
        "ms_data_per_update": 1e3 * data,
    })  # fmt: skip
    validation_cold = seconds(lambda: score(validation, validated))
    validation_s = statistics.median(
        seconds(lambda: score(validation, validated)) for _ in range(3)
    )
    say({"first_validation_s": validation_cold, "validation_s": validation_s})
    test, _ = sampler(TEST_SIZE, SCORED * multiplier, SCORED)
    test_s = seconds(lambda: score(test, SCORED * multiplier))
    scores_s = validation_cold + (UPDATES / THEIR_VALIDATIONS - 1) * validation_s
    say({
        "test_s": test_s,
        "without_validation_s": training_s + test_s,
        "whole_s": training_s + scores_s + test_s,
    })  # fmt: skip


def run(python: str, limit_s: float, *what: Any) -> dict[str, Any]:
    """One side, in a process of its own with empty caches: all parts that it tells of."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryFile("w+") as complaints:
        env = dict(
            os.environ, PYTHONPATH=str(ROOT / "src"), PYTHONUNBUFFERED="1",
            JAX_COMPILATION_CACHE_DIR=cache, HINT_RELIC_CACHE=cache,
        )  # fmt: skip
        command = ["timeout", str(limit_s), python, str(Path(__file__).resolve())]
        with subprocess.Popen(
            [*command, "--measure", json.dumps(what)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        ) as process:
            for line in process.stdout or ():
                if line.startswith("{"):
                    found |= json.loads(line)
                    print(line, end="", flush=True)
        if process.returncode:
            complaints.seek(0)
            last = (complaints.read().strip().splitlines() or ["out of time"])[-1]
            found["error"] = last[:200]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", default=str(ROOT / ".reference/bin/python"))
    parser.add_argument("--algorithm", default="insertion_sort")
    parser.add_argument("--side", choices=("ours", "reference", "both"), default="both")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--updates", type=int, default=2000, help="of ours, measured")
    parser.add_argument("--their-updates", type=int, default=200, help="of dm-clrs, measured")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for a side")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--suffix", default="", help="of the file, to tell machines apart")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        kind, *what = json.loads(options.measure)
        {"ours": measure_ours, "reference": measure_reference}[kind](*what)
        return
    name = options.algorithm
    file = options.out / f"whole-{name}{options.suffix}.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    sides = {
        "ours": (sys.executable, options.limit, "ours", name, options.seeds, options.updates),
        "reference": (options.reference, options.limit, "reference", name, options.their_updates),
    }
    for side, what in sides.items():
        if options.side in (side, "both") and Path(what[0]).exists():
            found[side] = {"commit": commit(), "cpus": os.cpu_count(), "batch": BATCH} | run(*what)
    ours, theirs = (found.get(side, {}) for side in sides)
    if "whole_s" in ours and "whole_s" in theirs:
        a_seed = ours["whole_s"] / ours["seeds"]
        found["times_faster"] = theirs["whole_s"] / a_seed
        found["times_faster_without_validation"] = theirs["without_validation_s"] / a_seed
        print(f"{found['times_faster']:.1f} times, for a seed")
    options.out.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
