"""An algorithm on a user's own input: read it, check it, run it.

What an input looks like for which algorithm is in `forms.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..algorithms import Algorithm, execute, get
from ..errors import UserError
from ..files import decode_json
from ..spec import Stage, of_stage
from ..types import Trace
from .forms import FORMS, WrongFormError
from .splits import check_nodes, first_trace

MAX_FILE = 2**28  # bytes
DERIVED = frozenset({"pos", "adj", "string"})  # inputs that follow from the others


def run(name: str, value: Any) -> Trace:
    """Run an algorithm on an input of your own.

    >>> run("insertion_sort", [5, 2, 8]).outputs["pred"].tolist()
    [1, 1, 0]
    """
    algorithm = get(name)
    inputs, nodes = arguments(algorithm, value)
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
    return inputs, check_nodes(algorithm, size)


def read(path: str) -> Any:
    """What a file (`-`: standard input) holds: decoded JSON, or text if it isn't JSON."""
    source = "standard input" if path == "-" else path
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(MAX_FILE + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(MAX_FILE + 1)
        text = raw.decode("utf-8-sig").strip()
    except OSError as error:
        raise UserError(f"can't read {source}: {error.strerror}; check the path") from None
    except ValueError:
        raise UserError(f"{source} is not text in UTF-8; give JSON or plain numbers") from None
    if len(raw) > MAX_FILE:
        raise UserError(f"{source} is larger than {MAX_FILE >> 20} MB; give a smaller input")
    if not text:
        raise UserError(f"{source} is empty; give an input")
    return decode(text, source) if text[0] in '[{"' else text


def decode(text: str, source: str) -> Any:
    """The value of some JSON text."""
    return decode_json(text, source)
