"""An algorithm on a user's own input: read it, check it, run it.

What an input looks like for which algorithm is in `forms.py`.
"""

from __future__ import annotations

import os
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
FILE_ENDINGS = (".json", ".txt", ".csv", ".tsv", ".edges", ".edgelist", ".graphml", ".xml")
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


def given(text: str) -> Any:
    """What `--input` says: the input itself, such as 5,2,8, or a file (`-`: standard input)."""
    return decode(text.strip(), "--input") if is_literal(text) else read(text)


def is_literal(text: str) -> bool:
    """Is it the input itself? A file that is there, or a word that can only mean one, is not."""
    if text == "-":
        return False
    try:
        there = Path(text).is_file()
    except (OSError, ValueError):  # too long for a path
        there = False
    looks_like_one = text.lower().endswith(FILE_ENDINGS) or os.sep in text.split("\n")[0]
    return not there and (text.lstrip()[:1] in set('[{"<') or not looks_like_one)


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
    return decode(text, source)


def decode(text: str, source: str) -> Any:
    """What a text says: decoded JSON, or the text itself, for the algorithm's own form."""
    if not text:
        raise UserError(f"{source} is empty; give an array or a graph, such as 5,2,8,1")
    return decode_json(text, source) if text[0] in '[{"' else text
