"""A trained reasoner as one small file: one network's weights in half precision, and its card.

The file is safetensors, so nothing in it is code. Its card (JSON) says what the network was
trained on, by which command, and what it scores. Before anything is loaded the header is held
against what a network of that algorithm and config must look like; so a file can neither take
more memory than its own size says, nor put an array where it doesn't belong.
"""

from __future__ import annotations

import json
import math
import re
import stat
import struct
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..algorithms import ALGORITHMS
from ..config import TrainConfig, from_dict, to_dict
from ..data import Protocol
from ..errors import UserError
from ..model.flat import Layout
from ..model.network import Network
from ..model.process import Processor
from ..model.reversal import with_reversal
from ..spec import Field
from ..train import checkpoint

FORMAT = 1
MAX_FILE = 2**26  # bytes
MAX_HEADER = 2**20
HALF = "F16"
SHIPPED = "weights"  # the folder of the package with the files that are shipped


@dataclass(frozen=True)
class Design:
    """What follows from a run's config: its protocol, its spec, and the layout of a network.

    The layout is that of a network which only predicts: without the projections that the
    contrastive objective trains beside it.
    """

    config: TrainConfig
    processor: Any = Processor

    @cached_property
    def protocol(self) -> Protocol:
        keep = self.config.keep_static_hints
        return Protocol.training(self.config.algorithm, keep_static_hints=keep)

    @cached_property
    def spec(self) -> dict[str, Field]:
        spec = self.protocol.spec
        return with_reversal(spec) if self.config.model.reversal else dict(spec)

    @cached_property
    def layout(self) -> Layout:
        return Layout(Network.init(0, self.spec, self.config.model, self.processor))

    def network(self, arrays: dict[str, np.ndarray]) -> Network:
        """The network with these weights, which must be of the layout's names and shapes."""
        vector = np.concatenate([np.ravel(arrays[name]) for name in self.layout.names])
        return self.layout.unflatten(jnp.asarray(vector, jnp.float32))


def write(path: Path, config: TrainConfig, arrays: dict[str, np.ndarray], card: dict[str, Any]):
    """Write weights, rounded to half precision, and their card."""
    half = rounded(arrays)
    checkpoint.write(path, half, {"format": FORMAT, **card, "config": to_dict(config)})


def rounded(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The weights as a file keeps them."""
    with np.errstate(over="ignore"):
        half = {name: array.astype(np.float16) for name, array in arrays.items()}
    if wild := [name for name, array in half.items() if not np.isfinite(array).all()]:
        raise UserError(f"{wild[0]} holds numbers that half precision can't: is the run sound?")
    return half


def read_card(path: Path) -> dict[str, Any]:
    """What a file says of itself; only its header is read."""
    return _facts(path, _header(path))


def read(
    path: Path, processor: Any = Processor
) -> tuple[Design, dict[str, np.ndarray], dict[str, Any]]:
    """(design, weights by name, card) of a file, or an error that says what is wrong with it."""
    header = _header(path)
    card = _facts(path, header)
    design = Design(from_dict(TrainConfig, card["config"]), processor)
    _check(path, header, design)
    arrays, _ = checkpoint.read(path, follow=True)
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise UserError(f"{path} is damaged: it holds weights that are no numbers")
    return design, arrays, card


def _header(path: Path) -> dict[str, Any]:
    """The JSON at the beginning of a safetensors file, its length bounded."""
    try:
        about = path.stat()
        size = about.st_size
        if not stat.S_ISREG(about.st_mode):
            raise UserError(f"{path} is not a trained reasoner (it is not a plain file)")
        if size > MAX_FILE:
            raise UserError(f"{path} is larger than {MAX_FILE >> 20} MB, which no reasoner is")
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(MAX_HEADER, size - 8):
                raise ValueError("its header is too long")
            header = json.loads(file.read(length))
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror}") from None
    except (ValueError, RecursionError, struct.error) as error:
        raise UserError(f"{path} is not a trained reasoner ({error})") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__"), dict):
        raise UserError(f"{path} is not a trained reasoner (it has no card)")
    return header


def _facts(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    try:
        card = json.loads(header["__metadata__"]["facts"])
    except (KeyError, TypeError, ValueError, RecursionError):
        card = None
    if not isinstance(card, dict) or "format" not in card:
        raise UserError(f"{path} is not a trained reasoner (it has no card)")
    if card["format"] != FORMAT or not isinstance(card.get("config"), dict):
        raise UserError(f"{path} was written by another version of hint-relic")
    scores = card.get("scores", {})
    if not isinstance(scores, dict) or not all(map(re.compile("[0-9]{1,6}").fullmatch, scores)):
        raise UserError(f"{path} is not a trained reasoner (its scores are of no sizes)")
    known = [score for score in [*scores.values(), card.get("test_split")] if score is not None]
    if not all(type(score) in (int, float) and 0 <= score <= 1 for score in known):
        raise UserError(f"{path} is not a trained reasoner (its scores are no numbers)")
    return card


def _check(path: Path, header: dict[str, Any], design: Design) -> None:
    """Does the file hold exactly the arrays that its config asks for?"""
    wrong = UserError(f"{path} does not fit its own card: another network is stored in it")
    found = {name: entry for name, entry in header.items() if name != "__metadata__"}
    try:
        kinds = {entry["dtype"] for entry in found.values()}
        shapes = {name: tuple(map(int, entry["shape"])) for name, entry in found.items()}
    except (KeyError, TypeError, ValueError, OverflowError):  # JSON has an infinity, too
        raise wrong from None
    # So wide a network has more numbers than this, and the file has room for all it names: a
    # config can't ask for more memory than a few times the file.
    model, numbers = design.config.model, sum(map(math.prod, shapes.values()))
    if model.hidden < 1 or model.triplets < 0 or 2 * numbers > path.stat().st_size:
        raise wrong
    if max(8 * model.hidden, model.triplets) * model.hidden > numbers:
        raise wrong
    design.config.check()
    if kinds != {HALF} or shapes != dict(zip(design.layout.names, design.layout.shapes)):
        raise wrong


def find(source: str | Path) -> Path:
    """Where a run or a reasoner lies. source: a path, or an algorithm whose reasoner is shipped."""
    known = shipped()
    if not isinstance(source, str) or source not in {*known, *ALGORITHMS}:
        return Path(source)
    if source not in known:
        raise UserError(
            f"no trained reasoner for {source} is shipped; train one with `hint-relic train "
            f"{source}` and load its run folder"
        )
    return known[source]


def shipped() -> dict[str, Path]:
    """The reasoners that come with the package: name of the algorithm -> file."""
    folder = resources.files(__package__.rpartition(".")[0]) / SHIPPED
    if not isinstance(folder, Path) or not folder.is_dir():
        return {}
    return {file.stem: file for file in sorted(folder.glob("*.safetensors"))}
