"""JSON files that others wrote: read with suspicion, complained about in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TypeGuard

from ..errors import UserError
from ..files import MAX_JSON, read_bounded

DEEPEST = 16
MAX_METRICS = 2**28  # bytes
LARGEST = sys.float_info.max
MOST = 2**53  # of whole numbers: beyond it, drawing would round them


class UnreadableError(Exception):
    """A file that can't be read, or does not hold what it should; the line to show for it."""


def load(file: Path, kind: type = dict) -> Any:
    """A JSON file of the kind expected; None where there is none."""
    try:
        value = json.loads(read_bounded(file, MAX_JSON))
    except FileNotFoundError:
        return None
    except (UserError, ValueError, RecursionError) as error:
        raise UnreadableError(f"{file.name} can't be read: {_told(error)}") from None
    if not isinstance(value, kind) or _deeper(value, DEEPEST):
        raise UnreadableError(f"{file.name} does not hold a plain object")
    return value


def load_lines(file: Path, skip: bytes) -> tuple[list[dict[str, Any]], int]:
    """The objects of a file of JSON lines, and how many lines are something else.

    Lines that hold `skip` are not even read, but for the last.
    """
    try:
        lines = read_bounded(file, MAX_METRICS).splitlines()
    except FileNotFoundError:
        return [], 0
    except UserError as error:
        raise UnreadableError(f"{file.name} can't be read: {_told(error)}") from None
    records, odd = [], 0
    for line in lines:
        if skip in line and line is not lines[-1]:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            records.append(value)
        else:
            odd += 1
    return records, odd


def _told(error: Exception) -> str:
    if isinstance(error, UserError):
        return str(error).rpartition(": ")[2]  # without the path: it is of this machine
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _deeper(value: Any, levels: int) -> bool:
    """Whether values are nested beyond what anything here writes: such can't even be printed."""
    if not isinstance(value, (dict, list)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(item, levels - 1) for item in inside)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite number (JSON's may be neither finite nor small enough)."""
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def number(value: Any, where: str) -> float:
    if not is_number(value):
        raise UnreadableError(f"{where} is not a number")
    return float(value)


def numbers(values: Any, where: str) -> list[float]:
    if not isinstance(values, list):
        raise UnreadableError(f"{where} is not a list")
    return [number(value, where) for value in values]


def whole(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise UnreadableError(f"{where} is not a whole number")
    return value


def text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise UnreadableError(f"{where} is not a name")
    return value
