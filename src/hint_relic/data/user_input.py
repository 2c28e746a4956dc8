"""An algorithm on a user's own input: read it, check it, run it.

What an input looks like for which algorithm is in `forms.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..algorithms import Algorithm, execute, get
from ..algorithms.record import NEXT, allocate
from ..errors import UserError
from ..spec import Stage, of_stage
from ..types import Trace
from .forms import FORMS, MAX_NODES, WrongFormError
from .splits import first_trace

MAX_FILE = 2**28  # bytes
MAX_HINTS = 2**31  # bytes
DERIVED = frozenset({"pos", "adj", "string"})  # inputs that follow from the others


def run(name: str, value: Any) -> Trace:
    """Run an algorithm on an input of your own.

    >>> run("insertion_sort", [5, 2, 8]).outputs["pred"].tolist()
    [1, 1, 0]
    """
    algorithm = get(name)
    inputs, nodes = arguments(algorithm, value)
    _check_room(algorithm, inputs, nodes)
    return first_trace(name, execute(algorithm, [inputs], nodes))


def arguments(algorithm: Algorithm, value: Any) -> tuple[tuple[Any, ...], int]:
    """(the kernel's arguments, the number of nodes) for an input, or a `UserError`."""
    form = FORMS[algorithm.inputs.form]
    names = tuple(name for name in of_stage(algorithm.spec, Stage.INPUT) if name not in DERIVED)
    try:
        inputs, size = form.parse(value, names)
    except WrongFormError as error:
        example = form.example.format(*names)
        raise UserError(f"{error}; {algorithm.name} takes input like {example}") from None
    if problem := algorithm.draws(size):
        raise UserError(problem)
    if algorithm.nodes(size) > MAX_NODES:
        raise UserError(f"at most {MAX_NODES} nodes are allowed, not {algorithm.nodes(size)}")
    return inputs, algorithm.nodes(size)


def read(path: str) -> Any:
    """What a file (`-`: standard input) holds: decoded JSON, or text if it isn't JSON."""
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(MAX_FILE + 1)
        else:
            with Path(path).open("rb") as source:
                raw = source.read(MAX_FILE + 1)
        text = raw.decode("utf-8-sig").strip()
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror}; check the path") from None
    except ValueError:
        raise UserError(f"{path} is not text in UTF-8; give JSON or plain numbers") from None
    if len(raw) > MAX_FILE:
        raise UserError(f"{path} is larger than {MAX_FILE >> 20} MB; give a smaller input")
    if not text:
        raise UserError(f"{path} is empty; give an input")
    return _decode(text, path) if text[0] in '[{"' else text


def _decode(text: str, path: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{path} is nested too deeply to be an input") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise UserError("a key appears twice in one JSON object; keep one of them")
    return fields


def _check_room(algorithm: Algorithm, inputs: tuple[Any, ...], nodes: int) -> None:
    """Refuse a run with too many steps to hold, found by one that keeps only its last step."""
    hints = of_stage(algorithm.spec, Stage.HINT).values()
    step = sum(np.dtype(h.dtype).itemsize * nodes ** len(h.shape(nodes)) for h in hints)

    def check(steps: int) -> None:
        if steps * step > MAX_HINTS:
            raise UserError(
                f"{algorithm.name} on {nodes} nodes would need {steps * step / 2**30:.1f} GB for "
                f"its hints, more than {MAX_HINTS >> 30} GB; give a smaller input"
            )

    check(nodes)  # a first estimate, before any work: most take at least a step for each node
    log = allocate(algorithm.log, algorithm.spec, 1, nodes, 1)
    log.cursor[:] = 0, 0, 1
    algorithm.run(log, *inputs)
    check(int(log.cursor[NEXT]))
