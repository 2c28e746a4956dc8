"""A run folder: everything about one run, readable by people and by programs.

config.json        what was asked for
environment.json   versions, commit, hardware, command
metrics.jsonl      a line for each report
events/            the same for TensorBoard
last.safetensors   the newest checkpoint; previous.safetensors: the one before it
damaged.safetensors  a checkpoint that was found damaged, put out of the way
best.safetensors   the best weights of each seed on validation
result.json        scores and how they came about; written once, at the end
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from ..config import TrainConfig, from_dict, to_dict
from ..errors import UserError
from ..files import Lock, is_leftover, read_bounded, read_json, remove_leftovers, write_atomically
from . import checkpoint

FORMAT = 1
FILES = (
    "config.json", "environment.json", "metrics.jsonl", "result.json",
    "last.safetensors", "previous.safetensors", "damaged.safetensors", "best.safetensors",
)  # fmt: skip
EVENTS = "events"
_MADE_AGAIN = "remove it, and the same command makes it again from the checkpoint"
MAX_METRICS = 2**31  # bytes
PACKAGES = ("hint-relic", "jax", "jaxlib", "equinox", "optax", "numpy", "numba", "safetensors")


def _commit() -> str | None:
    """The commit of the source tree this runs from, if it is one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None


def environment() -> dict[str, Any]:
    """What made a result: versions, commit, hardware and command."""
    import jax

    from ..model.rollout.plan import available

    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    device = jax.devices()[0]
    return {
        "commit": _commit() or os.environ.get("HINT_RELIC_COMMIT"),
        "python": platform.python_version(),
        "versions": versions,
        "device": device.device_kind,
        "platform": device.platform,
        "devices": jax.device_count(),
        "cpus": os.cpu_count(),
        "kernels": available(),
        "command": _command(),
    }


def _command() -> str:
    """How this process was started, as one would type it."""
    program, module = sys.argv[0], getattr(sys.modules["__main__"], "__spec__", None)
    if module is not None and program == module.origin:  # python -m
        name = f"python -m {module.name.removesuffix('.__main__')}"
    else:
        name = Path(program).name
    return " ".join([name, *map(shlex.quote, sys.argv[1:])])


def _is_result(found: Any) -> bool:
    """Whether a result holds at least what is shown of it."""
    try:
        parts = list(found["test"].values())
        words = [found["algorithm"], found["variant"]]
        scores = [x for part in parts for v in part["outputs"].values() for x in [*v, 1 / len(v)]]
        errors = [part["stderr"] for part in parts if part["stderr"] is not None]
        means = [part["mean"] for part in parts]
        counts = [found["steps"], len(found["seeds"])]
    except (KeyError, TypeError, AttributeError, ZeroDivisionError):
        return False
    numbers = all(type(x) in (int, float) and not abs(x) > 1e9 for x in scores + errors + means)
    return (
        bool(parts) and numbers and {*map(type, words)} == {str} and {*map(type, counts)} == {int}
    )


def _settings(found: dict[str, Any]) -> dict[str, Any]:
    """A stored config in full: what an older version did not know yet has its default."""
    try:
        values = {k: v for k, v in found.items() if k != "format"}
        return {"format": found.get("format"), **to_dict(from_dict(TrainConfig, values))}
    except UserError:
        return found


class RunFolder:
    """An open run folder, held by this process alone."""

    def __init__(self, path: Path, config: TrainConfig, restart: bool = False):
        self.path = path
        self._refuse_others()
        self._lock = Lock(path)
        try:
            self._refuse_others()
            remove_leftovers(path)
            if restart:
                self._clear()
            self._check_config(config)
        except BaseException:
            self.close()
            raise

    def _refuse_others(self) -> None:
        """Somebody's folder that holds something else is left alone, also by --restart."""
        try:
            names = {item.name for item in self.path.iterdir() if not is_leftover(item)}
        except FileNotFoundError:
            return
        except OSError as error:
            raise UserError(f"can't use {self.path} as a run folder: {error.strerror}") from error
        if names - {".lock"} and "config.json" not in names:
            raise UserError(f"{self.path} is not a run folder and not empty; choose another --out")

    def _clear(self) -> None:
        """Remove a run, and nothing else that may lie in its folder."""
        for name in FILES:
            (self.path / name).unlink(missing_ok=True)
        events = self.path / EVENTS
        if events.is_symlink():
            events.unlink()
        elif events.is_dir():
            shutil.rmtree(events)

    def _check_config(self, config: TrainConfig) -> None:
        wanted = {"format": FORMAT, **to_dict(config)}
        file = self.path / "config.json"
        if os.path.lexists(file):
            try:
                found = read_json(file)
            except UserError as error:
                raise UserError(f"{error}; start over with --restart") from error
            if not isinstance(found, dict):
                raise UserError(f"{file} is damaged; start over with --restart")
            before = _settings(found)
            changed = [k for k in wanted if k != "steps" and before.get(k) != wanted[k]]
            if changed:
                raise UserError(
                    f"{self.path} holds another run (it differs in {', '.join(changed)}); "
                    "choose another --out, or --restart to start over in it"
                )
        self.write_json("config.json", wanted)

    def write_json(self, name: str, value: Any) -> None:
        write_atomically(self.path / name, json.dumps(value, indent=2).encode() + b"\n")

    def result(self) -> dict[str, Any] | None:
        """The finished result, if there is one."""
        file = self.path / "result.json"
        try:
            found = read_json(file)
        except FileNotFoundError:
            return None
        except UserError as error:
            raise UserError(f"{error}; {_MADE_AGAIN}") from error
        if not _is_result(found):
            raise UserError(f"{file} is damaged; {_MADE_AGAIN}")
        return found

    def save(self, tree: Any, facts: dict[str, Any]) -> None:
        """A new checkpoint; the last one becomes the previous.

        What was reported until now is on disk before it, so that no crash can lose a line.
        """
        with suppress(FileNotFoundError), open(self.path / "metrics.jsonl", "rb") as file:
            os.fsync(file.fileno())
        last = self.path / "last.safetensors"
        checkpoint.write(last, tree, facts, keep=self.path / "previous.safetensors")

    def restore(self, like: Any) -> tuple[Any, dict[str, Any], list[str]] | None:
        """(tree, facts, warnings) of the newest checkpoint that can be read, if any.

        A damaged one is put out of the way: it must not take the place of the good one before
        it when the next is saved.
        """
        warnings = []
        for name in ("last", "previous"):
            file = self.path / f"{name}.safetensors"
            if not os.path.lexists(file):
                continue
            try:
                arrays, facts = checkpoint.read(file)
            except UserError as error:
                warnings.append(str(error))
                continue
            tree = checkpoint.from_arrays(like, arrays, file)
            if warnings:
                last = self.path / "last.safetensors"
                os.replace(last, self.path / "damaged.safetensors")
            return tree, facts, warnings
        if warnings:
            raise UserError("; ".join(warnings) + "; start over with --restart")
        return None

    def trim_metrics(self, keep: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Keep some of the records, and return them; never a last line that a crash cut short."""
        file = self.path / "metrics.jsonl"
        try:
            lines = read_bounded(file, MAX_METRICS).splitlines()
        except FileNotFoundError:
            return []
        kept, records = [], []
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and type(record.get("step")) is int and keep(record):
                kept.append(line)
                records.append(record)
        write_atomically(file, b"".join(line + b"\n" for line in kept))
        return records

    def report(self, record: dict[str, Any]) -> None:
        file = self.path / "metrics.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with open(os.open(file, flags, 0o666), "wb") as out:
                out.write(json.dumps(record).encode() + b"\n")
        except OSError as error:
            raise UserError(f"can't write {file}: {error.strerror}") from error

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
