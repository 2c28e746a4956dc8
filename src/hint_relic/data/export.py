"""Writing batches as `.npz`, in the reference's layout: all of the file or nothing.

Keys are `input/<name>`, `hint/<name>` (steps first), `output/<name>` and `lengths`. Arrays are
made dense and compressed one at a time, so that a split needs little more memory than its
largest array. The same request gives the same bytes.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import files
from ..errors import UserError
from ..types import Batch
from .splits import dense

Named = tuple[str, np.ndarray]
FAST = 1  # one-hots compress a hundredfold at any level


def count(batch: Batch) -> int:
    """The number of arrays that `named_arrays` will give."""
    return len(batch.inputs) + len(batch.hints) + len(batch.outputs) + 1


def named_arrays(name: str, batch: Batch) -> Iterator[Named]:
    """The arrays of `dense`, made one at a time."""
    empty = batch._replace(inputs={}, hints={}, outputs={})
    for stage in ("inputs", "hints", "outputs"):
        for key, value in getattr(batch, stage).items():
            yield next(iter(dense(name, empty._replace(**{stage: {key: value}})).items()))
    yield "lengths", dense(name, empty)["lengths"]


def save(path: str | Path, name: str, batch: Batch) -> None:
    """Write a batch of an algorithm's traces."""
    write(path, named_arrays(name, batch))


def check_path(path: str | Path) -> Path:
    """Where to write, links followed; refuses what can't become a file, before any work."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise UserError(f"can't write {path}: there is no folder {target.parent}; make it first")
    if target.is_dir():
        raise UserError(f"can't write {path}: it is a folder; give a file name in it")
    if target.exists() and not target.is_file():
        raise UserError(f"can't write {path}: it is not a regular file; choose another name")
    return target


def write(path: str | Path, arrays: Iterable[Named]) -> None:
    """Write the arrays to `path`, as a whole or not at all."""
    write_whole(path, lambda file: _write_npz(file, arrays))


def write_whole(path: str | Path, fill: Callable[[Any], None]) -> None:
    """Let `fill` write a file: aside, in the same folder, then renamed when on disk."""
    files.write_whole(check_path(path), fill)


def _write_npz(file, arrays: Iterable[Named]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=FAST) as archive:
        for name, array in arrays:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as out:  # dated 1980
                np.lib.format.write_array(out, np.ascontiguousarray(array), allow_pickle=False)
