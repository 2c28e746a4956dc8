"""A run folder, killed before each call to the disk that it makes, one after the other.

Prints a line of JSON: how many kills there were. Ends with an error if one of them did harm.
Where a file was about to be flushed, it is also cut in half first, as a crash of the machine
may leave it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hint_relic.config import TrainConfig
from hint_relic.train.folder import RunFolder

CALLS = ("open", "replace", "fsync", "ftruncate", "unlink", "close", "pwrite")
STEPS = 3


class Tree(NamedTuple):
    w: np.ndarray


def work(folder: Path) -> None:
    """What training does with its folder, without the training."""
    with RunFolder(folder, TrainConfig()) as run:
        if run.result():
            return
        restored = run.restore(Tree(np.zeros(50)))
        step = restored[1]["step"] if restored else 0
        run.trim_metrics(lambda record: record["step"] <= step)
        run.write_json("environment.json", {})
        for k in range(step + 1, STEPS + 1):
            run.report({"step": k, "kind": "train"})
            run.save(Tree(np.full(50, float(k))), {"step": k})
        part = {"mean": 1.0, "stderr": None, "outputs": {"pi": [1.0]}}
        facts = {"algorithm": "bfs", "variant": "baseline", "steps": STEPS, "seeds": [0]}
        run.write_json("result.json", {**facts, "test": {"last": part}})


def left(folder: Path) -> dict[str, Any]:
    with RunFolder(folder, TrainConfig()) as run:
        restored = run.restore(Tree(np.zeros(50)))
    assert restored is not None
    return {
        "weights": restored[0].w.tolist(),
        "steps": [json.loads(x)["step"] for x in (folder / "metrics.jsonl").open()],
        "files": sorted(item.name for item in folder.iterdir()),
    }


def kill_before(number: int, halve: bool) -> None:
    """Make call `number` to the disk the last one of this process."""
    count = 0

    def call(name: str, real: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == number:
            if halve and name == "fsync":
                os.truncate(arguments[0], os.fstat(arguments[0]).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    for name in CALLS:
        setattr(os, name, partial(call, name, getattr(os, name)))


def in_child(folder: Path, number: int = 0, halve: bool = False) -> int:
    """The exit status of `work` in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            kill_before(number, halve)
            work(folder)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    warnings.filterwarnings("ignore", message="os.fork")
    kills = 0
    with tempfile.TemporaryDirectory() as top:
        assert in_child(Path(top) / "whole") == 0
        wanted = left(Path(top) / "whole")
        assert wanted["steps"] == [1, 2, 3]
        for halve in (False, True):
            number = 1
            while True:
                folder = Path(top) / f"{number}-{halve}"
                status = in_child(folder, number, halve)
                if status == 0:
                    break
                assert status == -signal.SIGKILL, status
                kills += 1
                assert in_child(folder) == 0, number
                assert left(folder) == wanted, (number, halve)
                number += 1
    print(json.dumps({"kills": kills}))


if __name__ == "__main__":
    sys.exit(main())
