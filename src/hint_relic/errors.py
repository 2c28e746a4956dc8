"""Mistakes a user can make, each told in one line that says what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Bad input. The command line prints its message and exits with code 2."""


def choose(kind: str, name: str, choices: Iterable[str]) -> str:
    """`name` if it is one of `choices`; otherwise an error that names the nearest one."""
    known = [str(choice) for choice in choices]
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise UserError(f"unknown {kind} {name!r}{hint} Choose from: {', '.join(known)}")
