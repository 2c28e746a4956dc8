"""Many bad inputs, to everything that reads files: none may crash, hang or end in a traceback.

    PYTHONPATH=src:tests python -m trust.fuzz --inputs 1000000

What finds something is kept in tests/trust/found/, where `test_hostile.py` tries it from then on.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from types import FrameType

from .mutate import mutated
from .targets import Target, survives, targets

FOUND = Path(__file__).parent / "found"
LONGEST = 20  # seconds of CPU for one input


class HangError(Exception):
    """An input that took too long."""


def hang(_: int, frame: FrameType | None) -> None:
    raise HangError


def name_of(target: str, content: bytes) -> str:
    return f"{target.replace(' ', '_')}-{hashlib.sha256(content).hexdigest()[:12]}"


def keep(target: str, content: bytes, error: BaseException, seen: set[str]) -> None:
    """Store an input that found something; say what, once for each place in the code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{target}: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    if place in seen:
        return
    seen.add(place)
    FOUND.mkdir(exist_ok=True)
    (FOUND / name_of(target, content)).write_bytes(content)
    print(place, file=sys.stderr)
    traceback.print_exception(error, limit=-4)


def fuzz(known: dict[str, Target], inputs: int, seed: int, seconds: float) -> tuple[Counter, int]:
    """(inputs for each target, how many places were found)."""
    rng = random.Random(seed)
    signal.signal(signal.SIGVTALRM, hang)
    begin, seen, counts = time.monotonic(), set[str](), Counter[str]()
    names = list(known)
    with tempfile.NamedTemporaryFile(prefix="fuzz-last-input-") as last:
        for count in range(inputs):
            name = names[count % len(names)]
            content = mutated(known[name].seeds, known[name].kind, rng)
            last.seek(0)
            last.truncate()
            last.write(name.encode() + b"\n" + content)
            last.flush()  # for whoever looks after a crash of the interpreter
            signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
            try:
                survives(known[name], content)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                keep(name, content, error, seen)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            counts[name] += 1
            if count % 1000 == 0:
                if sys.stderr.isatty():
                    print(f"\r{count:,} inputs, {len(seen)} found", end="", file=sys.stderr)
                if time.monotonic() - begin > seconds:
                    break
    return counts, len(seen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a word in the names of the targets")
    options = parser.parse_args()
    faulthandler.enable()
    begin = time.process_time()
    with targets() as known:
        chosen = {k: v for k, v in known.items() if options.only in k}
        counts, found = fuzz(chosen, options.inputs, options.seed, options.seconds)
    took = time.process_time() - begin
    for name, count in counts.items():
        print(f"{count:9,}  {name}")
    print(
        f"{sum(counts.values()):9,}  in {took:.0f} s of CPU; places where one came through: {found}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
