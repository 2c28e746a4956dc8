"""The forms that a user's own input can take: one parser for each, in the table `FORMS`.

A parser takes what a JSON file decodes to, the same with NumPy arrays in it, or plain text. It
refuses whatever the algorithm is not made for, in one line that says what is wrong, and looks
at sizes before it takes memory.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.inputs import ALPHABET
from ..errors import UserError, choose

MAX_NODES = 4096
LARGEST = 1e100  # so that no sum of products of three overflows
INFINITE_COST = 1e9  # what the kernel of the form "weights" takes for infinity
FLAT = 1e-12  # the sine of an angle that counts as none
ALPHABETS = ("ACGT", "0123")

Names = tuple[str, ...]
Parsed = tuple[tuple[Any, ...], int]  # (the kernel's arguments, the input's size)


class WrongFormError(UserError):
    """The input is not of the algorithm's form at all: its message gets an example."""


class Form(NamedTuple):
    """A form of input: `parse(value, names)`, with the spec's names for it, and an example."""

    parse: Callable[[Any, Names], Parsed]
    example: str


# --- pieces ----------------------------------------------------------------------------------


def _short(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"something with a {type(value).__name__} in it"


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise UserError(f"{what} must be a number, not {_short(value)}")
    if not -LARGEST <= value <= LARGEST:  # nor does NaN
        raise UserError(f"{what} must be a finite number between -1e100 and 1e100")
    return float(value)


def _whole(value: Any, what: str, least: int, most: int) -> int:
    number = _number(value, what)
    if number != int(number) or not least <= number <= most:
        raise UserError(f"{what} must be a whole number from {least} to {most}, not {number:g}")
    return int(number)


def _sequence(value: Any, what: str, most: int = MAX_NODES) -> Sequence[Any]:
    listed = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if not listed:
        raise WrongFormError(f"{what} must be a list, not {_short(value)}")
    if not 0 < len(value) <= most:
        raise UserError(f"{what} must have between 1 and {most} items, not {len(value)}")
    return value


def _vector(value: Any, what: str) -> np.ndarray:
    items = _sequence(value, what)
    if _quick(items):
        numbers = np.array(items, np.float64)
        if np.all(np.abs(numbers) <= LARGEST):
            return numbers
    return np.array([_number(item, f"{what}[{i}]") for i, item in enumerate(items)])


def _quick(items: Sequence[Any]) -> bool:
    """Can NumPy make numbers of them as they are?"""
    if isinstance(items, np.ndarray):
        return items.ndim == 1 and items.dtype.kind in "iuf" and items.dtype.itemsize <= 8
    return set(map(type, items)) <= {int, float} and all(abs(item) < 2**63 for item in items)


def _square(value: Any, what: str) -> np.ndarray:
    rows = _sequence(value, what)
    matrix = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        numbers = _vector(row, f"{what}[{i}]")
        if len(numbers) != len(rows):
            raise UserError(
                f"{what} must be square: it has {len(rows)} rows, but row {i} has {len(numbers)}"
            )
        matrix[i] = numbers
    return matrix


def _fields(value: Any, required: Names, optional: Names = ()) -> dict[str, Any]:
    """The entries of an object that has all the required keys and no unknown one."""
    if not isinstance(value, dict):
        raise WrongFormError(f"expected an object, not {_short(value)}")
    for key in value:
        choose("key", key if isinstance(key, str) else _short(key), (*required, *optional))
    missing = [key for key in required if key not in value]
    if missing:
        raise WrongFormError(f"{missing[0]!r} is missing")
    return value


def _text_numbers(text: str) -> list[float]:
    words = text.replace(",", " ").split()
    try:
        return [float(word) for word in words]
    except ValueError:
        raise WrongFormError(f"can't make numbers of {_short(text)}") from None


# --- arrays ----------------------------------------------------------------------------------


def _array(value: Any, names: Names) -> Parsed:
    if isinstance(value, str):
        value = _text_numbers(value)
    if isinstance(value, dict):
        value = _fields(value, names)[names[0]]
    array = _vector(value, names[0])
    return (array,), len(array)


def _sorted_array(value: Any, names: Names) -> Parsed:
    fields = _fields(value, names)
    key, target = _vector(fields[names[0]], names[0]), _number(fields[names[1]], names[1])
    falls = np.flatnonzero(np.diff(key) < 0)
    if len(falls):
        raise UserError(
            f"{names[0]} must be sorted: item {falls[0] + 1} is smaller than the one before it"
        )
    return (key, target), len(key)


def _columns(value: Any, names: Names) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of equal length, by name or as a list of pairs."""
    if isinstance(value, dict):
        fields = _fields(value, names)
        first, second = (_vector(fields[name], name) for name in names)
    else:
        pairs = [_vector(pair, f"item {i}") for i, pair in enumerate(_sequence(value, "input"))]
        if odd := [i for i, pair in enumerate(pairs) if len(pair) != 2]:
            raise UserError(f"item {odd[0]} must be a pair of numbers ({', '.join(names)})")
        first, second = np.array(pairs).T.copy()
    if len(first) != len(second):
        raise UserError(f"{names[0]} has {len(first)} items but {names[1]} has {len(second)}")
    return first, second


def _weights(value: Any, names: Names) -> Parsed:
    fields = _fields(value, names)
    p, q = (_vector(fields[name], name) for name in names)
    if len(q) != len(p) + 1:
        raise UserError(f"q needs one item more than p ({len(p) + 1}), not {len(q)}")
    if min(p.min(), q.min()) < 0:
        raise UserError("p and q are probabilities, or weights: none may be negative")
    if (p.sum() + q.sum()) * len(q) >= INFINITE_COST:
        raise UserError("p and q are too large: divide them all by their sum")
    return (p, q), len(p)


def _intervals(value: Any, names: Names) -> Parsed:
    start, finish = _columns(value, names)
    wrong = np.flatnonzero(start > finish)
    if len(wrong):
        raise UserError(f"interval {wrong[0]} ends before it starts; swap its two numbers")
    return (start, finish), len(start)


def _tasks(value: Any, names: Names) -> Parsed:
    deadlines, weights = _columns(value, names)
    wrong = np.flatnonzero((deadlines < 1) | (deadlines != np.floor(deadlines)))
    if len(wrong):
        raise UserError(
            f"deadlines must be positive whole numbers: {names[0]}[{wrong[0]}] is "
            f"{deadlines[wrong[0]]:g}"
        )
    return (deadlines, weights), len(deadlines)


# --- graphs ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graph:
    """What an algorithm asks of its graphs."""

    directed: bool = False
    acyclic: bool = False
    weighted: bool = False
    rooted: bool = False


def _graph(kind: Graph, value: Any, names: Names) -> Parsed:
    if isinstance(value, str):
        lines = [line.split("#")[0] for line in value.splitlines()]
        value = {"edges": [_text_numbers(line) for line in lines if line.strip()]}
    elif not isinstance(value, dict):
        value = {"adjacency": value}
    form = "edges" if "edges" in value else "adjacency"
    optional = (*(("nodes",) if form == "edges" else ()), "directed")
    fields = _fields(value, (form,), (*optional, "source") if kind.rooted else optional)
    directed = _directed(kind, fields)
    A = _from_edges(fields, directed) if form == "edges" else _square(fields[form], form)
    _check_graph(kind, A, directed)
    if not kind.rooted:
        return (A,), len(A)
    return (A, _whole(fields.get("source", 0), "source", 0, len(A) - 1)), len(A)


def _directed(kind: Graph, fields: dict[str, Any]) -> bool:
    directed = fields.get("directed", kind.directed)
    if not isinstance(directed, bool):
        raise UserError(f"'directed' must be true or false, not {_short(directed)}")
    if directed and not kind.directed:
        raise UserError(
            "this algorithm takes undirected graphs: make it undirected, or leave 'directed' out"
        )
    return directed


def _from_edges(fields: dict[str, Any], directed: bool) -> np.ndarray:
    given = _sequence(fields["edges"], "edges", MAX_NODES**2)
    edges = [_vector(edge, f"edges[{i}]") for i, edge in enumerate(given)]
    for i, edge in enumerate(edges):
        if len(edge) not in (2, 3):
            raise UserError(f"edges[{i}] must be [from, to] or [from, to, weight]")
    most = fields.get("nodes", 1 + max(edge[:2].max() for edge in edges))
    nodes = _whole(most, "the number of nodes", 1, MAX_NODES)
    A = np.zeros((nodes, nodes))
    for i, edge in enumerate(edges):
        u, v = (_whole(end, f"a node of edges[{i}]", 0, nodes - 1) for end in edge[:2])
        weight = edge[2] if len(edge) == 3 else 1.0
        if weight == 0.0:
            raise UserError(f"edges[{i}] weighs 0, which stands for no edge: leave it out")
        if A[u, v] != 0.0:
            raise UserError(f"the edge from {u} to {v} is given twice; keep one")
        A[u, v] = weight
        if not directed:
            A[v, u] = weight
    return A


def _check_graph(kind: Graph, A: np.ndarray, directed: bool) -> None:
    if not kind.weighted and np.any((A != 0.0) & (A != 1.0)):
        raise UserError("this algorithm takes graphs without weights: each edge must be 1")
    if kind.weighted and not kind.acyclic and A.min() < 0.0:
        u, v = np.argwhere(A < 0.0)[0]
        raise UserError(f"the edge from {u} to {v} has a negative weight, {A[u, v]:g}")
    if not directed and np.any(A != A.T):
        u, v = np.argwhere(A != A.T)[0]
        raise UserError(
            f"an undirected graph's matrix is symmetric, but ({u}, {v}) is {A[u, v]:g} and "
            f"({v}, {u}) is {A[v, u]:g}"
        )
    if kind.acyclic and (cycle := _cycle(A)):
        raise UserError(f"the graph must have no cycle, but it has {' -> '.join(map(str, cycle))}")


def _cycle(A: np.ndarray) -> list[int]:
    """Some cycle of the graph, its first node repeated at the end; empty if there is none."""
    edge = A != 0.0
    left, incoming = np.ones(len(A), bool), edge.sum(axis=0)
    free = list(np.flatnonzero(incoming == 0))
    while free:
        u = free.pop()
        left[u] = False
        incoming -= edge[u]
        free += list(np.flatnonzero(edge[u] & (incoming == 0)))
    if not left.any():
        return []
    path = [int(np.flatnonzero(left)[0])]
    while path[-1] not in path[:-1]:  # backwards; whatever is left has a node before it
        path.append(int(np.flatnonzero(left & edge[:, path[-1]])[0]))
    return path[path.index(path[-1]) :][::-1]


# --- strings ---------------------------------------------------------------------------------


def _two_strings(keys: Names, value: Any, names: Names) -> Parsed:
    if isinstance(value, str):
        value = value.split()
    if isinstance(value, list | tuple) and len(value) == 2:
        value = dict(zip(keys, value))
    fields = _fields(value, keys)
    strings = [_letters(fields[key], key) for key in keys]
    letters = sorted(set().union(*strings))
    if len(letters) > ALPHABET:
        raise UserError(
            f"at most {ALPHABET} different letters are allowed, not {len(letters)}: "
            f"{_short(''.join(letters))}"
        )
    alphabet = next((a for a in ALPHABETS if set(letters) <= set(a)), "".join(letters))
    first, second = (np.array([alphabet.index(c) for c in string]) for string in strings)
    return (first, second), len(first) + len(second)


def _letters(value: Any, what: str) -> str:
    """A string, or a list of the numbers 0 to 3 as one."""
    if isinstance(value, str):
        if not 0 < len(value) <= MAX_NODES:
            raise UserError(f"{what} must have between 1 and {MAX_NODES} letters, not {len(value)}")
        return value
    items = enumerate(_sequence(value, what))
    return "".join(str(_whole(item, f"{what}[{i}]", 0, ALPHABET - 1)) for i, item in items)


def _haystack(value: Any, names: Names) -> Parsed:
    (text, pattern), size = _two_strings(("haystack", "needle"), value, names)
    if len(pattern) > len(text):
        raise UserError(
            f"the needle ({len(pattern)} letters) must not be longer than the haystack "
            f"({len(text)})"
        )
    return (text, pattern), size


# --- points of the plane -----------------------------------------------------------------------


def _segments(value: Any, names: Names) -> Parsed:
    x, y = _columns(value, names)
    if len(x) != 4:
        raise UserError(f"two segments need exactly 4 points (0 to 1, 2 to 3), not {len(x)}")
    return (x, y), len(x)


def _points(value: Any, names: Names) -> Parsed:
    x, y = _columns(value, names)
    if len(x) < 3:
        raise UserError(f"a hull needs at least 3 points, not {len(x)}")
    _, first, place = np.unique(np.stack([x, y]), axis=1, return_index=True, return_inverse=True)
    earlier = first[place.ravel()]
    if len(again := np.flatnonzero(earlier != np.arange(len(x)))):
        raise UserError(f"points {earlier[again[0]]} and {again[0]} are the same; keep one")
    if flat := _on_a_line(x, y):
        raise UserError(
            f"points {', '.join(map(str, flat))} lie on one line, which leaves the steps "
            "undefined: move one a little"
        )
    return (x, y), len(x)


def _on_a_line(x: np.ndarray, y: np.ndarray) -> list[int]:
    """Three points on a line, if there are any; no two may be the same.

    Seen from each point, the others are sorted by the direction of the line to them; those on
    one line are then neighbours.
    """
    for i in range(len(x) - 2):
        dx, dy = x[i + 1 :] - x[i], y[i + 1 :] - y[i]
        length = np.hypot(dx, dy)
        ux, uy = dx / length, dy / length
        order = np.argsort(np.arctan2(uy, ux) % np.pi)
        a, b = order, np.roll(order, -1)
        sine = np.abs(ux[a] * uy[b] - ux[b] * uy[a])
        flat = np.flatnonzero(sine < FLAT)
        if len(flat):
            return sorted([i, i + 1 + int(a[flat[0]]), i + 1 + int(b[flat[0]])])
    return []


GRAPH_EXAMPLE = '{{"nodes": 3, "edges": [[0, 1], [1, 2]]}}'
ROOTED_EXAMPLE = '{{"nodes": 3, "edges": [[0, 1], [1, 2]], "source": 0}}'
WEIGHTED_EXAMPLE = '{{"nodes": 3, "edges": [[0, 1, 0.5], [1, 2, 0.7]]}}'
ROOTED_WEIGHTED_EXAMPLE = '{{"nodes": 3, "edges": [[0, 1, 0.5], [1, 2, 0.7]], "source": 0}}'

FORMS = {
    "array": Form(_array, "[5, 2, 8]"),
    "sorted array and target": Form(_sorted_array, '{{"{}": [1, 4, 9], "{}": 3}}'),
    "weights": Form(_weights, '{{"{}": [0.2, 0.3], "{}": [0.1, 0.2, 0.2]}}'),
    "intervals": Form(_intervals, '{{"{}": [0, 2, 1], "{}": [2, 4, 3]}}'),
    "tasks": Form(_tasks, '{{"{}": [1, 2, 2], "{}": [0.5, 0.1, 0.9]}}'),
    "directed graph": Form(partial(_graph, Graph(directed=True)), GRAPH_EXAMPLE),
    "acyclic graph": Form(partial(_graph, Graph(directed=True, acyclic=True)), GRAPH_EXAMPLE),
    "undirected graph": Form(partial(_graph, Graph()), GRAPH_EXAMPLE),
    "undirected graph and source": Form(partial(_graph, Graph(rooted=True)), ROOTED_EXAMPLE),
    "weighted graph": Form(partial(_graph, Graph(weighted=True)), WEIGHTED_EXAMPLE),
    "weighted graph and source": Form(
        partial(_graph, Graph(weighted=True, rooted=True)), ROOTED_WEIGHTED_EXAMPLE
    ),
    "weighted acyclic graph and source": Form(
        partial(_graph, Graph(directed=True, acyclic=True, weighted=True, rooted=True)),
        ROOTED_WEIGHTED_EXAMPLE,
    ),
    "two strings": Form(
        partial(_two_strings, ("first", "second")), '{{"first": "ACGT", "second": "AGT"}}'
    ),
    "haystack and needle": Form(_haystack, '{{"haystack": "ACGTAC", "needle": "GT"}}'),
    "two segments": Form(_segments, "[[0, 0], [1, 1], [0, 1], [1, 0]]"),
    "points": Form(_points, "[[0, 0], [1, 0], [0, 1], [0.3, 0.2]]"),
}
