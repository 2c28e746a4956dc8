"""Checkpoints: arrays by name in one safetensors file, written so that a crash can't spoil them.

A file is written aside, flushed to disk and then renamed over the old one; the name `last` and
the one before it are both kept, so that damage to the newest loses little. A digest of the
content is stored in it and checked when it is read. Nothing in a checkpoint is code.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ..errors import UserError
from ..files import decode_json, read_bounded, write_atomically

DIGEST = "sha256"
MAX_FILE = 2**33  # bytes: hundreds of seeds of the full size


def names(tree: Any) -> list[str]:
    """A stable name for each array of a tree."""
    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]


def digest(arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and bytes."""
    sha = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        sha.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()


def to_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a tree by name; a dict of arrays has its names already."""
    if isinstance(tree, dict):
        return tree
    leaves = jax.device_get(jax.tree.leaves(tree))
    return {n: np.asarray(leaf) for n, leaf in zip(names(tree), leaves, strict=True)}


def from_arrays(like: Any, arrays: dict[str, np.ndarray], source: Path) -> Any:
    """A tree shaped like `like` (arrays or shapes) with the named arrays in it."""
    leaves = []
    for name, leaf in zip(names(like), jax.tree.leaves(like), strict=True):
        found = arrays.get(name)
        if found is None or found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise UserError(
                f"{source} does not fit this run: {name} is missing or has another shape"
            )
        leaves.append(found)
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def write(path: Path, tree: Any, facts: dict[str, Any], keep: Path | None = None) -> None:
    """Write a tree and some JSON facts about it. keep: where the file it replaces goes."""
    arrays = to_arrays(tree)
    metadata = {"facts": json.dumps(facts), DIGEST: digest(arrays)}
    write_atomically(path, save(arrays, metadata), keep)


def read(path: Path, *, follow: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays by name, facts). An error if the file is damaged, saying so.

    The header is checked (by safetensors) before an array is made: none can lie outside the
    file or take more memory than it. follow: whether it may be a link.
    """
    try:
        content = read_bounded(path, MAX_FILE, follow=follow)
        arrays = load(content)
        (size,) = struct.unpack("<Q", content[:8])
        metadata = decode_json(content[8 : 8 + size], "its header")["__metadata__"]
        facts = decode_json(metadata["facts"], "what it says of itself")
        if not isinstance(facts, dict):
            raise ValueError("it says nothing of itself")
    except UserError as error:
        raise UserError(f"{path} is damaged or not a checkpoint ({error})") from error
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, struct.error) as error:
        raise UserError(f"{path} is damaged or not a checkpoint ({_told(error)})") from error
    if digest(arrays) != metadata.get(DIGEST):
        raise UserError(f"{path} is damaged: its content does not match its checksum")
    return arrays, facts


def _told(error: Exception) -> str:
    """In one line, and not at length: a name in the file may be as long as the file."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split())[:200]
