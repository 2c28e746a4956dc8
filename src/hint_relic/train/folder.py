"""A run folder: everything about one run, readable by people and by programs.

config.json        what was asked for
environment.json   versions, commit, hardware, command
metrics.jsonl      a line for each report
events/            the same for TensorBoard
last.safetensors   the newest checkpoint; previous.safetensors: the one before it
best.safetensors   the best weights of each seed on validation
result.json        scores and how they came about; written once, at the end
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from ..config import TrainConfig, to_dict
from ..errors import UserError
from ..files import Lock, is_leftover, remove_leftovers, write_atomically
from . import checkpoint

FORMAT = 1
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
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


class RunFolder:
    """An open run folder, held by this process alone."""

    def __init__(self, path: Path, config: TrainConfig, restart: bool = False):
        self.path = path
        self._lock = Lock(path)
        try:
            if restart:
                self._clear()
            self._check_config(config)
            remove_leftovers(path)
        except BaseException:
            self.close()
            raise

    def _clear(self) -> None:
        for item in self.path.iterdir():
            if item.name == ".lock":
                continue
            if item.is_dir():
                shutil.rmtree(item)
            else:
                item.unlink()

    def _check_config(self, config: TrainConfig) -> None:
        wanted = {"format": FORMAT, **to_dict(config)}
        file = self.path / "config.json"
        if file.exists():
            try:
                found = json.loads(file.read_text())
            except ValueError as error:
                raise UserError(f"{file} is damaged; start over with --restart") from error
            changed = [k for k in wanted if k != "steps" and found.get(k) != wanted[k]]
            if changed:
                raise UserError(
                    f"{self.path} holds another run (it differs in {', '.join(changed)}); "
                    "choose another --out, or --restart to start over in it"
                )
        elif any(item.name != ".lock" and not is_leftover(item) for item in self.path.iterdir()):
            raise UserError(f"{self.path} is not a run folder and not empty; choose another --out")
        self.write_json("config.json", wanted)

    def write_json(self, name: str, value: Any) -> None:
        write_atomically(self.path / name, json.dumps(value, indent=2).encode() + b"\n")

    def result(self) -> dict[str, Any] | None:
        """The finished result, if there is one."""
        file = self.path / "result.json"
        return json.loads(file.read_text()) if file.exists() else None

    def save(self, tree: Any, facts: dict[str, Any]) -> None:
        """A new checkpoint; the last one becomes the previous."""
        last = self.path / "last.safetensors"
        if last.exists():
            os.replace(last, self.path / "previous.safetensors")
        checkpoint.write(last, tree, facts)

    def restore(self, like: Any) -> tuple[Any, dict[str, Any], list[str]] | None:
        """(tree, facts, warnings) of the newest checkpoint that can be read, if any."""
        warnings = []
        for name in ("last", "previous"):
            file = self.path / f"{name}.safetensors"
            if not file.exists():
                continue
            try:
                arrays, facts = checkpoint.read(file)
            except UserError as error:
                warnings.append(str(error))
                continue
            return checkpoint.from_arrays(like, arrays, file), facts, warnings
        if warnings:
            raise UserError("; ".join(warnings) + "; start over with --restart")
        return None

    def trim_metrics(self, step: int) -> None:
        """Drop what was reported after `step`, and a last line that a crash cut short."""
        file = self.path / "metrics.jsonl"
        if not file.exists():
            return
        kept = []
        for line in file.read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["step"] <= step:
                kept.append(line)
        write_atomically(file, "".join(f"{x}\n" for x in kept).encode())

    def report(self, record: dict[str, Any]) -> None:
        with open(self.path / "metrics.jsonl", "a") as file:
            file.write(json.dumps(record) + "\n")

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
