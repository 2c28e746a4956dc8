"""Bad inputs steered by coverage: atheris keeps those that reach new code, and changes them again.

    PYTHONPATH=src:tests python -m trust.guided --inputs 1000000

Each target of `targets.py` gets a process of its own, as libFuzzer ends the one it runs in. Half of
the changes are libFuzzer's, half those of `mutate.py`, which know the formats. What finds something
is kept in tests/trust/found/.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import atheris

# Only what reads: Numba can't compile code that atheris has marked.
READERS = [
    "json", "tomllib", "hint_relic.files", "hint_relic.config", "hint_relic.worker",
    "hint_relic.cli_train", "hint_relic.cli_grid", "hint_relic.data.user_input",
    "hint_relic.evaluate.run", "hint_relic.grid", "hint_relic.reasoner", "hint_relic.report",
    "hint_relic.train.checkpoint", "hint_relic.train.events", "hint_relic.train.folder",
]  # fmt: skip
with atheris.instrument_imports(include=READERS):
    from .fuzz import LONGEST, keep
    from .mutate import mutated
    from .targets import Target, in_memory, survives, targets, targets_in

MOST_MB = 4096  # of memory


def guide(name: str, inputs: int, seed: int) -> None:
    """So many inputs for one target. Ends the process, and leaves files in the temporary folder."""
    top = Path(tempfile.mkdtemp())
    target: Target = targets_in(top / "files")[name]
    seen = set[str]()

    def one(content: bytes) -> None:
        try:
            survives(target, content)
        except Exception as error:
            keep(name, content, error, seen)
            raise

    def change(content: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return atheris.Mutate(content, most)
        return mutated([content], target.kind, rng)[:most]

    corpus = top / "corpus"
    corpus.mkdir()
    for number, content in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(content)
    longest = 4 * max(4096, *map(len, target.seeds))
    options = {"runs": inputs, "seed": seed + 1, "timeout": LONGEST, "rss_limit_mb": MOST_MB,
               "max_len": longest, "artifact_prefix": f"{top}/", "verbosity": 0}  # fmt: skip
    words = [sys.argv[0], *(f"-{k}={v}" for k, v in options.items()), str(corpus)]
    atheris.Setup(words, one, custom_mutator=change)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="for all targets together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a word in the names of the targets")
    parser.add_argument("--target", help="this one alone, in this process")
    options = parser.parse_args()
    if options.target is not None:
        guide(options.target, options.inputs, options.seed)
    with targets() as known:
        names = [name for name in known if options.only in name]
    each, found = -(-options.inputs // len(names)), 0
    begin = time.monotonic()
    for name in names:
        words = ["--target", name, "--inputs", str(each), "--seed", str(options.seed)]
        start = time.monotonic()
        with in_memory() as folder:
            done = subprocess.run(
                [sys.executable, "-m", "trust.guided", *words],
                env={**os.environ, "TMPDIR": str(folder)},
                stderr=subprocess.PIPE,
                text=True,
            )
        if done.returncode:
            found += 1
            print(done.stderr[-3000:], file=sys.stderr)
        print(f"{each:9,}  {name} ({time.monotonic() - start:.0f} s)", flush=True)
    took = time.monotonic() - begin
    print(f"{each * len(names):9,}  in {took:.0f} s; targets where one came through: {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
