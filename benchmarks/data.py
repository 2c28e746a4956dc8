"""Traces per second: this package against dm-clrs, two threads against one, and memory.

    python benchmarks/data.py --reference .reference/bin/python

Both sides draw inputs from the same distributions (edge probabilities as in training, needles of
a fifth of the size), run the algorithm and record all hints, on one core, in turns. Every figure
is the median of several rounds, in seconds of processor time, which other work on the machine
disturbs little. Two threads against one is a matter of wall time, so rounds in which other
processes ran are repeated, for a while, and left out if the machine is never quiet.

Ours draws as training does, 16 samples for each of three seeds at a time; the reference makes one
trace at a time, `sampler.next(1)`. Both keep the memory that they have freed (`KEEP_MEMORY`), as a
long run does for all but the largest arrays; otherwise one measures how the system hands out
pages. Where there is no reference, only our figures are printed and stored.

The file also runs under the reference's Python (`--worker`), so it imports little at the top.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from machine import machine, versions

if TYPE_CHECKING:
    from hint_relic.types import Batch

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / ".reference" / "bin" / "python"
OUT = Path(__file__).parent / "results" / "data.json"
SIZES = (16, 64)
SEEDS = (0, 1, 2)
SAMPLES = 16
TRACES = SAMPLES * len(SEEDS)  # at a time
CALL_SECONDS, CALL_BYTES, CALLS = 4e-3, 16e6, 60  # of the threads' draws
ROUNDS = 3
OUR_SECONDS = 0.2  # a round
SURVEY = 20  # batches that tell how many steps to make room for
STREAM_BATCHES = 40


# --- the reference, in its own Python -----------------------------------------------------------


def serve_reference() -> None:
    """Tell the versions, then answer each request (a JSON line) with seconds per trace."""
    import logging

    logging.disable(logging.WARNING)
    import clrs

    print(json.dumps(versions("dm-clrs", "numpy")), flush=True)
    samplers: dict[tuple[str, int], Any] = {}
    for line in sys.stdin:
        ask = json.loads(line)
        key = ask["name"], ask["size"]
        if key not in samplers:
            options = {"length": ask["size"], **ask["options"]}
            sampler, _ = clrs.build_sampler(
                ask["name"], -1, seed=0, track_max_steps=False, **options
            )
            sampler.next(1)
            samplers[key] = sampler
        begin = time.process_time()
        for done in count(1):  # noqa: B007 (read below)
            samplers[key].next(1)
            if time.process_time() - begin >= ask["seconds"]:
                break
        seconds = time.process_time() - begin
        print(json.dumps(seconds / done), flush=True)


class Reference:
    """The reference in a process of its own."""

    def __init__(self, python: str):
        self.process = subprocess.Popen(
            [python, __file__, "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": ""},
            text=True,
        )
        self.versions = self._answer()

    def seconds(self, name: str, size: int, options: dict[str, Any], budget: float) -> float:
        ask = {"name": name, "size": size, "options": options, "seconds": budget}
        print(json.dumps(ask), file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout
        if line := self.process.stdout.readline():
            return json.loads(line)
        raise SystemExit("the reference stopped: is dm-clrs installed in that Python?")

    def close(self) -> None:
        self.process.communicate()


ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000"}


# --- ours ---------------------------------------------------------------------------------------


class Ours:
    """Our draws of one algorithm at one size, with room for its steps found beforehand."""

    def __init__(self, name: str, size: int):
        from hint_relic.algorithms import draw, get
        from hint_relic.algorithms.inputs import default_needle
        from hint_relic.data import Protocol

        protocol = Protocol.training(name)
        self.algorithm, self.size, self.draw = get(name), size, draw
        self.options: dict[str, Any] = {
            "p": protocol.p,
            "needle": default_needle(size) if protocol.needle else 0,
        }
        most = max(int(self.batch(k).lengths.max()) for k in range(SURVEY))
        self.options["steps"] = most + most // 16  # as the stream finds it, from fewer samples

    def batch(self, k: int, samples: int = SAMPLES) -> Batch:
        first = k * samples
        return self.draw(
            self.algorithm, self.size, samples, seeds=SEEDS, first=first, **self.options
        )

    def reference_options(self) -> dict[str, Any]:
        """The same options in the reference's words."""
        p, needle = self.options["p"], self.options["needle"]
        return {**({"p": p} if p else {}), **({"length_needle": needle} if needle else {})}

    def seconds(self) -> float:
        """Seconds per trace, on this thread."""
        begin = time.process_time()
        for k in count(1):
            self.batch(k)
            if time.process_time() - begin >= OUR_SECONDS:
                return (time.process_time() - begin) / (k * TRACES)
        raise AssertionError

    def call_samples(self) -> int:
        """Samples of each seed for a call of a few milliseconds and at most a few megabytes.

        Then threads wait for neither the interpreter nor the system.
        """
        trace_bytes = sum(hint.nbytes for hint in self.batch(0).hints.values()) / TRACES
        traces = min(CALL_SECONDS / self.seconds(), CALL_BYTES / trace_bytes)
        return max(1, int(traces / len(SEEDS)))

    def seconds_on(self, threads: int, samples: int) -> float:
        """Seconds for so many samples a call, and a fixed number of calls, on so many threads."""

        def work(k: int) -> None:
            self.batch(k, samples)  # dropped at once

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
            begin = time.perf_counter()
            list(pool.map(work, range(CALLS)))
            return time.perf_counter() - begin


def stream_seconds(name: str, threads: int) -> float:
    """Seconds for a few hundred training batches, made ahead by so many threads."""
    from hint_relic.data import Protocol, Stream

    with Stream(Protocol.training(name), seeds=SEEDS, threads=threads) as stream:
        batches = iter(stream)
        for _ in islice(batches, STREAM_BATCHES):
            pass
        begin = time.perf_counter()
        for _ in islice(batches, 5 * STREAM_BATCHES):
            pass
        return time.perf_counter() - begin


def stream_peaks(name: str) -> dict[str, int]:
    """Most bytes held while training batches are drawn and dropped, and by the survey before.

    The survey finds out, once for each size, how many steps to make room for.
    """
    from hint_relic.data import Protocol, Stream

    protocol = Protocol.training(name)
    type(protocol).steps.cache_clear()
    tracemalloc.start()
    with Stream(protocol, seeds=SEEDS) as stream:
        for size in stream.sizes:
            protocol.steps(size)
        survey = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        for _ in islice(stream, STREAM_BATCHES):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()  # only once the threads are gone: CPython can crash otherwise
    return {"peak_bytes": peak, "survey_peak_bytes": survey}


# --- two threads against one ----------------------------------------------------------------------


class Undisturbed:
    """Repeats what other work on the machine disturbs, until its patience is used up."""

    def __init__(self, patience: float):
        self.patience = patience

    def ratio(self, seconds: Callable[[int], float]) -> float | None:
        """Median over rounds of seconds(1 thread) / seconds(2 threads); None if never quiet."""
        found: list[float] = []
        while len(found) < ROUNDS:
            begin, others = time.perf_counter(), processor_time_of_others()
            value = seconds(1) / seconds(2)
            spent = time.perf_counter() - begin
            if processor_time_of_others() - others < 0.05 * spent:
                found.append(value)
            elif self.patience > 0:
                time.sleep(1)
                self.patience -= spent + 1
            else:
                break
        return statistics.median(found) if found else None


def processor_time_of_others() -> float:
    """Seconds that all other processes have used; 0 where the system doesn't tell."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system = map(int, stat.read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK") - time.process_time()


# --- the whole run --------------------------------------------------------------------------------


def measure(
    name: str, size: int, reference: Reference | None, budget: float, quiet: Undisturbed
) -> dict[str, Any]:
    ours = Ours(name, size)
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(ours.seconds())
        if reference:
            seconds = reference.seconds(name, size, ours.reference_options(), budget / ROUNDS)
            theirs.append(seconds)
    samples = ours.call_samples()
    found: dict[str, Any] = {
        "name": name,
        "size": size,
        "traces_per_second": 1 / statistics.median(mine),
        "two_threads": quiet.ratio(lambda threads: ours.seconds_on(threads, samples)),
    }
    if theirs:
        found["reference_traces_per_second"] = 1 / statistics.median(theirs)
        found["times_reference"] = found["traces_per_second"] / found["reference_traces_per_second"]
    return found


def measure_stream(name: str, quiet: Undisturbed) -> dict[str, Any]:
    ratio = quiet.ratio(lambda threads: stream_seconds(name, threads))
    return {"name": name, **stream_peaks(name), "two_threads": ratio}


def geometric_mean(values: Iterable[float | None]) -> float | None:
    logs = [math.log(value) for value in values if value is not None]
    return math.exp(statistics.fmean(logs)) if logs else None


def summary(rows: list[dict[str, Any]], streams: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "two_threads_geometric_mean": geometric_mean(row["two_threads"] for row in rows),
        "stream_two_threads_geometric_mean": geometric_mean(s["two_threads"] for s in streams),
        "stream_peak_bytes": max(s["peak_bytes"] for s in streams),
        "survey_peak_bytes": max(s["survey_peak_bytes"] for s in streams),
    }
    compared = [row for row in rows if "times_reference" in row]
    for size in SIZES:
        of_size = [row["times_reference"] for row in compared if row["size"] == size]
        if of_size:
            found[f"times_reference_{size}"] = geometric_mean(of_size)
    if compared:
        found["times_reference"] = geometric_mean(row["times_reference"] for row in compared)
        found["least_times_reference"] = min(row["times_reference"] for row in compared)
    return found


def print_tables(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("algorithm", "size", "traces/s", "dm-clrs", "times", "two threads")
    for row in result["rows"]:
        table.add_row(
            row["name"],
            str(row["size"]),
            f"{row['traces_per_second']:,.0f}",
            f"{row['reference_traces_per_second']:,.1f}" if "times_reference" in row else "",
            f"{row['times_reference']:,.0f}" if "times_reference" in row else "",
            plain(row["two_threads"]),
        )
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(table)
    streams = Table("stream of", "peak MB", "survey MB", "two threads")
    for row in result["streams"]:
        peak, survey = row["peak_bytes"] / 1e6, row["survey_peak_bytes"] / 1e6
        streams.add_row(row["name"], f"{peak:.1f}", f"{survey:.1f}", plain(row["two_threads"]))
    console.print(streams)
    for name, value in result["summary"].items():
        console.print(
            f"{name}: {value / 1e6:,.0f} MB" if "bytes" in name else f"{name}: {plain(value)}"
        )


def plain(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    known = str(REFERENCE) if REFERENCE.exists() else None
    parser.add_argument("--reference", default=known, help="a Python that has dm-clrs 2.0.3")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds for each reference row")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds to wait for quiet")
    parser.add_argument("--fresh-memory", action="store_true", help="leave memory to the C library")
    parser.add_argument("--only", nargs="*", help="these algorithms only; nothing is stored")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return serve_reference()

    kept = options.fresh_memory or KEEP_MEMORY.keys() <= os.environ.keys()
    if not kept:  # the C library reads them as it starts
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP_MEMORY})
    sys.path.insert(0, str(ROOT / "src"))
    from hint_relic.algorithms import ALGORITHMS

    names = options.only or list(ALGORITHMS)
    reference = Reference(options.reference) if options.reference else None
    before, quiet = machine("numpy", "numba"), Undisturbed(options.patience)
    rows, streams = [], []
    for name in names:
        for size in SIZES:
            rows.append(measure(name, size, reference, options.budget, quiet))
        streams.append(measure_stream(name, quiet))
        print(f"{name} done", file=sys.stderr)
    if reference:
        reference.close()
    result = {
        "command": "python benchmarks/data.py"
        + (" --reference PYTHON" if reference else "")
        + f" --budget {options.budget:g} --patience {options.patience:g}",
        "machine": before,
        "reference": reference.versions if reference else None,
        "summary": summary(rows, streams),
        "rows": rows,
        "streams": streams,
    }
    print_tables(result)
    if not options.only:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(result, indent=1) + "\n")
        print(f"stored in {OUT.relative_to(ROOT)}")
    return None


if __name__ == "__main__":
    main()
