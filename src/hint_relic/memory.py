"""Too little memory on the device, told as what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import jax

from .errors import UserError

_SIGNS = ("RESOURCE_EXHAUSTED", "Out of memory", "out of memory")
_WANTED = re.compile(r"\d[\d.]* ?(?:[KMGT]i?B\b|bytes)")


@contextmanager
def needs_room(what: str, lower: str) -> Iterator[None]:
    """Turn XLA's complaint about memory into one line: what it was for, and what to lower."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if not any(sign in str(error) for sign in _SIGNS):
            raise
        wanted = _WANTED.search(str(error))
        more = f" ({wanted[0]} more were asked for)" if wanted else ""
        raise UserError(
            f"the device ({jax.devices()[0].device_kind}) has too little memory for "
            f"{what}{more}; lower {lower}"
        ) from None
