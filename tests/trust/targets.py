"""Everything that reads what somebody else wrote: bytes in, at most a `UserError` out.

A target's `read` takes the bytes of one file; `seeds` are sound ones, to start mutations from.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hint_relic.algorithms import get
from hint_relic.cli_grid import duration, status_data, summary
from hint_relic.cli_solve import models_table
from hint_relic.cli_train import result_table, train_defaults
from hint_relic.config import ModelConfig, TrainConfig, to_dict
from hint_relic.data import user_input
from hint_relic.data.user_input import arguments
from hint_relic.errors import UserError
from hint_relic.evaluate.run import check_fits, read_config
from hint_relic.grid.expect import Overview
from hint_relic.grid.folder import Grid
from hint_relic.model.network import Network
from hint_relic.reasoner import model_file
from hint_relic.reasoner.runs import _last_validation
from hint_relic.reasoner.taken import take
from hint_relic.report.cells import planned
from hint_relic.report.cells import read as read_cell
from hint_relic.train import checkpoint
from hint_relic.train.events import scalars
from hint_relic.train.folder import RunFolder
from hint_relic.worker import read_config as read_worker_config

CONFIG = TrainConfig(algorithm="bfs", model=ModelConfig(hidden=4, triplets=2))


class Tree(NamedTuple):
    weights: np.ndarray
    step: np.ndarray


LIKE = Tree(np.zeros((2, 30), np.float32), np.zeros(2, np.int32))


@dataclass(frozen=True)
class Target:
    read: Callable[[bytes], Any]
    seeds: list[bytes]
    kind: str  # of mutation: json, text or safetensors


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _result() -> dict[str, Any]:
    part = {"score": [0.5, 0.6], "mean": 0.55, "stderr": 0.05, "outputs": {"pi": [0.5, 0.6]},
            "step": [3, 3]}  # fmt: skip
    return {
        "algorithm": "bfs", "variant": "baseline", "steps": 6, "seeds": [0, 1],
        "test": {"best": part, "last": part}, "validation": {"best": [0.5, 0.5]},
        "parameters_sha256": ["a", "b"], "time": {"total_s": 1.0}, "memory": {},
        "commit": None, "versions": {"jax": "1"}, "device": "cpu", "command": "x",
    }  # fmt: skip


METRICS = b"".join(
    as_json(record) + b"\n"
    for record in (
        {"step": 2, "kind": "train", "loss": [1.0, 2.0], "parts": {"a": [1.0]}, "elapsed_s": 1.0},
        {"step": 3, "kind": "validation", "plain": [0.5, 0.5], "average": [0.5, 0.5]},
    )
)
ERROR = as_json({"message": "it broke", "traceback": "Traceback: here", "unix_time": 1.5})
EVALUATION = as_json(
    {"weights": "best", "scores": {"16": {"hint_score_at_step": {"pi_h": [0.5, -1.0]}}}}
)
GRAPHS = [
    {"nodes": 4, "edges": [[0, 1, 0.5], [1, 2, 2]], "source": 1, "directed": False},
    {"adjacency": [[0, 1, 0], [1, 0, 1], [0, 1, 0]], "source": 0},
    {"nodes": ["a", "b", "c"], "edges": [["a", "b", 1], ["b", "c", 2]], "source": "a"},
]
GRAPHML = (
    b"<graphml><key id='w' for='edge' attr.name='weight'><default>2</default></key>"
    b"<graph edgedefault='undirected'><node id='a'/><node id='b'/>"
    b"<edge source='a' target='b'><data key='w'>3</data></edge></graph></graphml>"
)
INPUTS = {
    "bfs": [as_json(GRAPHS[1]), b"0 1\n1 2\n", b"a b\nb c\n", GRAPHML.replace(b">3<", b">1<")],
    "dijkstra": [*map(as_json, GRAPHS), b"0 1 0.5\n1 2 2\n", GRAPHML],
    "topological_sort": [as_json({"nodes": 4, "edges": [[0, 1], [1, 2]]})],
    "insertion_sort": [b"[5, 2, 8]", b"5,2,8 1", b'{"key": [5, 2, 8]}'],
    "binary_search": [b'{"key": [1, 2, 8], "target": 2}'],
    "activity_selector": [b'{"s": [0, 2, 1], "f": [2, 4, 3]}', b"[[0, 2], [2, 4], [1, 3]]"],
    "kmp_matcher": [b'{"haystack": "ACGTA", "needle": "GT"}', b"ACGTA GT"],
    "optimal_bst": [b'{"p": [0.2, 0.2], "q": [0.2, 0.2, 0.2]}'],
    "matrix_chain_order": [b"[5, 2, 8, 3]"],
    "graham_scan": [b'{"x": [0, 1, 2, 1], "y": [0, 1, 0, 3]}'],
    "segments_intersect": [b'{"x": [0, 1, 2, 1], "y": [0, 1, 0, 3]}'],
}
TOML = b'variant = "baseline"\nsteps = 7\nsizes = [4, 5]\n[model]\nhidden = 16\nhints = "none"\n'


@contextmanager
def in_memory() -> Iterator[Path]:
    """A folder that is soon gone; in memory, where there is such a place."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as top:
        yield Path(top)


@contextmanager
def targets() -> Iterator[dict[str, Target]]:
    """All of them, with a folder of their own to put files in."""
    with in_memory() as top:
        yield targets_in(top)


def targets_in(top: Path) -> dict[str, Target]:
    run = top / "bfs-baseline"
    with RunFolder(run, CONFIG):
        config = (run / "config.json").read_bytes()
    (run / "result.json").write_bytes(as_json(_result()))
    (run / "metrics.jsonl").write_bytes(METRICS)
    checkpoint.write(run / "last.safetensors", LIKE, {"elapsed_s": 1.0, "step": 2})
    packed = top / "packed.safetensors"
    _pack(packed)
    known = {
        "worker config": Target(
            partial(_worker, top), [as_json({"steps": 3}), as_json(to_dict(CONFIG))], "json"
        ),
        "toml": Target(partial(_toml, top), [TOML], "text"),
        "run config": Target(partial(_config, run), [config], "json"),
        "result": Target(partial(_result_of, run), [as_json(_result())], "json"),
        "metrics": Target(partial(_metrics, run), [METRICS], "text"),
        "checkpoint": Target(
            partial(_checkpoint, run), [(run / "last.safetensors").read_bytes()], "safetensors"
        ),
        "packed": Target(partial(_packed, top), [packed.read_bytes()], "safetensors"),
    }
    files = {name: (run / name).read_bytes() for name in ("config.json", "result.json")}
    files |= {"error.json": ERROR, "metrics.jsonl": METRICS}
    grid = Grid.make(_folder(top / "grid"), [CONFIG], "0.1.0", ["hint-relic", "reproduce"])
    plan = (grid.path / "grid.json").read_bytes()
    known["grid"] = Target(partial(_grid, grid.path, grid.path / "grid.json"), [plan], "json")
    for name, seed in files.items():
        kind = "text" if name == "metrics.jsonl" else "json"
        known[f"report {name}"] = Target(partial(_cell, top, name), [seed], kind)
        if name != "config.json":  # which a grid does not look at
            here = _folder(grid.cells[0].folder) / name
            known[f"grid {name}"] = Target(partial(_grid, grid.path, here), [seed], kind)
    known["report evaluation.json"] = Target(
        partial(_cell, top, "evaluation.json"), [EVALUATION], "json"
    )
    known["report grid.json"] = Target(partial(_plan, top), [plan], "json")
    for name, seeds in INPUTS.items():
        known[f"input {name}"] = Target(partial(_input, name), seeds, "text")
    return known


def _pack(path: Path) -> None:
    design = model_file.Design(CONFIG)
    network = Network.init(0, design.spec, CONFIG.model)
    card = {"scores": {"16": 0.5}, "test_split": 0.5, "variant": "baseline"}
    model_file.write(path, CONFIG, design.layout.named(design.layout.flatten(network)), card)


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _worker(top: Path, content: bytes) -> None:
    read_worker_config(_put(top / "c.json", content)).check()


def _toml(top: Path, content: bytes) -> None:
    file = _put(top / "c.toml", content)
    train_defaults(["bfs", "--config", str(file)]).settings.check()


def _config(run: Path, content: bytes) -> None:
    file = _put(run / "config.json", content)
    check_fits(read_config(run), {"w": np.zeros(10_000)}, file)


def _result_of(run: Path, content: bytes) -> None:
    _put(run / "result.json", content)
    folder = RunFolder.__new__(RunFolder)
    folder.path = run
    result_table(folder.result())


def _metrics(run: Path, content: bytes) -> None:
    _put(run / "metrics.jsonl", content)
    folder = RunFolder.__new__(RunFolder)
    folder.path = run
    for record in folder.trim_metrics(lambda record: record["step"] <= 3):
        scalars(record, [0, 1])
    _put(run / "metrics.jsonl", content)
    _last_validation(run)


def _checkpoint(run: Path, content: bytes) -> None:
    file = _put(run / "x.safetensors", content)
    arrays, _ = checkpoint.read(file)
    checkpoint.from_arrays(LIKE, arrays, file)


def _packed(top: Path, content: bytes) -> None:
    file = _put(top / "x.safetensors", content)
    models_table({"x": (model_file.read_card(file), 1)})
    model_file.read(file)


def _cell(top: Path, name: str, content: bytes) -> None:
    folder = _folder(top / "cells" / "bfs-baseline")
    _put(folder / name, content)
    try:
        read_cell(folder, top / "cells")
    finally:
        (folder / name).unlink()


def _grid(top: Path, file: Path, content: bytes) -> None:
    before = file.read_bytes() if file.exists() else None
    _put(file, content)
    try:
        grid = Grid.open(top)
        overview = Overview.of(grid)
        status_data(grid, overview)
        summary(overview)
        duration(overview.left_s())
    finally:
        file.unlink()
        if before is not None:
            file.write_bytes(before)


def _plan(top: Path, content: bytes) -> None:
    planned(_put(_folder(top / "planned") / "grid.json", content).parent)


def _input(name: str, content: bytes) -> None:
    try:
        text = content.decode("utf-8-sig").strip()
    except ValueError:
        return
    value = user_input.decode(text, "it")
    arguments(get(name), take(get(name), value, {}).value)


def survives(target: Target, content: bytes) -> None:
    """Read bad input: a `UserError` of one short line, or nothing at all."""
    try:
        target.read(content)
    except UserError as error:
        message = str(error)
    else:
        return
    assert "\n" not in message, f"more than one line: {message}"
    assert len(message) < 5000, f"told at length: {message[:200]}"
