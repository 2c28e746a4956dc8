"""How a reasoner takes an input: from whatever a user has to what `data/user_input.py` reads.

Numbers, arrays, matrices and text go there as they are. Graphs whose nodes have names are
numbered first (`graphs.py`), and keep their names for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algorithms import Algorithm
from ..data.user_input import DERIVED
from ..errors import UserError
from ..spec import Stage, of_stage
from .graphml import from_graphml
from .graphs import Named, from_lines, from_names, from_networkx, has_names, is_graph


class Taken(NamedTuple):
    """An input as `data/user_input.py` reads it; its nodes' names, None where they have none."""

    value: Any
    labels: Sequence[Any] | None = None


def take(algorithm: Algorithm, value: Any, fields: dict[str, Any]) -> Taken:
    """An input and what was said beside it (`source=`, `target=`, …), as one."""
    if "A" not in algorithm.spec:
        if is_graph(value):
            raise UserError(f"{algorithm.name} takes no graph")
        return Taken(_joined(algorithm, value, fields))
    found = _graph(algorithm, value, fields)
    return Taken(found.value, found.labels) if isinstance(found, Named) else Taken(found)


def _graph(algorithm: Algorithm, value: Any, fields: dict[str, Any]) -> Any:
    if is_graph(value) or isinstance(value, str):
        if unknown := sorted(set(fields) - {"source"}):
            raise UserError(f"unknown key {unknown[0]!r}; beside a graph only source is taken")
        source = fields.get("source")
        if is_graph(value):
            return from_networkx(value, source)
        if value.lstrip().startswith("<"):
            return from_graphml(value, source)
        return from_lines(value, _number(source))
    joined = _joined(algorithm, value, fields)
    if isinstance(joined, dict) and has_names(joined):
        return from_names(joined)
    return joined


def _number(source: Any) -> Any:
    """A source as it stands on a command line, where numbers are text too."""
    return int(source) if isinstance(source, str) and source.isdigit() else source


def _joined(algorithm: Algorithm, value: Any, fields: dict[str, Any]) -> Any:
    if not fields:
        return value
    if value is None:
        return fields
    if isinstance(value, dict):
        if twice := sorted(fields.keys() & value.keys()):
            raise UserError(f"{twice[0]!r} is given twice; keep one")
        return {**value, **fields}
    names = [name for name in of_stage(algorithm.spec, Stage.INPUT) if name not in DERIVED]
    return {"adjacency" if "A" in algorithm.spec else names[0]: value, **fields}


def letters(algorithm: Algorithm, value: Any) -> list[Any] | None:
    """The letters of two strings end to end; None where the input is no strings.

    The input has been read before, so it is of a form that `data/forms.py` takes.
    """
    if "string" not in algorithm.spec:
        return None
    if isinstance(value, str):
        value = value.split()
    if isinstance(value, dict):
        order = ("haystack", "needle") if "haystack" in value else ("first", "second")
        value = [value[key] for key in order]
    return [letter for string in value for letter in string]
