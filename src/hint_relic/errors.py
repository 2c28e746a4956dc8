"""Mistakes a user can make, each told in one line that says what to do."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any


class UserError(Exception):
    """Bad input. The command line prints its message and exits with code 2."""


def choose(kind: str, name: str, choices: Iterable[str]) -> str:
    """`name` if it is one of `choices`; otherwise an error that names the nearest one."""
    known = [str(choice) for choice in choices]
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise UserError(f"unknown {kind} {shown(name)}{hint} Choose from: {', '.join(known)}")


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def shown(value: Any) -> str:
    """A value from a file for a message: on one line and never at length."""
    return _SHORT.repr(value)


def explain(error: BaseException) -> str:
    """An error that is not a mistake of ours, in one line."""
    if isinstance(error, MemoryError):
        return "this does not fit in memory; ask for a smaller size or fewer samples"
    if isinstance(error, OSError):
        return f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
    return " ".join(str(error).splitlines())
