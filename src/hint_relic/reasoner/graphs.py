"""Graphs whose nodes have names, as the numbered ones that `data/forms.py` reads.

A networkx graph (or anything that answers to the same few names: networkx itself is not
needed), GraphML, a list of edges between names. What comes out is an adjacency matrix and the
names of its rows, so that an answer can be told in those names again.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..data.forms import LARGEST, MAX_NODES
from ..errors import UserError, shown


class Named(NamedTuple):
    """An input as `data/forms.py` takes it, and what its nodes are called."""

    value: dict[str, Any]
    labels: list[Any]


Edge = tuple[Any, Any, Any]  # from, to, weight; None where it has none


def is_graph(value: Any) -> bool:
    """Does it look like a networkx graph?"""
    wanted = ("number_of_nodes", "is_directed", "is_multigraph", "edges", "nodes")
    return all(hasattr(value, name) for name in wanted)


def from_networkx(graph: Any, source: Any = None) -> Named:
    """Weights are the edges' attribute `weight`: of all edges, or of none."""
    if graph.is_multigraph():
        raise UserError("a graph with parallel edges is not taken: keep one edge of each pair")
    if graph.number_of_nodes() > MAX_NODES:
        raise UserError(f"at most {MAX_NODES} nodes are allowed, not {graph.number_of_nodes()}")
    edges = graph.edges(data="weight", default=None)
    return numbered(list(graph.nodes), edges, graph.is_directed(), source)


def has_names(value: dict[str, Any]) -> bool:
    """Does this object, as JSON gives it, name its nodes instead of numbering them?"""
    if isinstance(value.get("nodes"), list | tuple):
        return True
    edges = value.get("edges")
    if not isinstance(edges, list | tuple):
        return False
    ends = (end for edge in edges if isinstance(edge, list | tuple) for end in edge[:2])
    return any(isinstance(end, str) for end in ends)


def from_names(value: dict[str, Any]) -> Named:
    """An object with `edges` between names; `nodes` lists the names, or they are as they come."""
    if unknown := sorted(set(map(str, value)) - {"nodes", "edges", "directed", "source"}):
        raise UserError(
            f"unknown key {shown(unknown[0])}; a graph of names has nodes, edges, source"
        )
    edges = value.get("edges", [])
    if not isinstance(edges, list | tuple):
        raise UserError("edges must be a list of [from, to] or [from, to, weight]")
    for i, edge in enumerate(edges):
        if not isinstance(edge, list | tuple) or len(edge) not in (2, 3):
            raise UserError(f"edges[{i}] must be [from, to] or [from, to, weight]")
    triples = [(*edge[:2], edge[2] if len(edge) == 3 else None) for edge in edges]
    given = value.get("nodes")
    if not isinstance(given, list | tuple):  # a number would leave nodes without a name
        if given is not None:
            raise UserError("where edges name their nodes, 'nodes' must be the list of names")
        given = _as_they_come(triples)
    return numbered(list(given), triples, value.get("directed"), value.get("source"))


def from_lines(text: str, source: Any = None) -> Named | dict[str, Any]:
    """Lines `from to [weight]`; where all nodes are numbers, they number themselves."""
    lines = [line.split("#")[0].replace(",", " ").split() for line in text.splitlines()]
    edges = [words for words in lines if words]
    for words in edges:
        if len(words) not in (2, 3) or not all(map(_is_number, words[2:])):
            raise UserError(f"a line of edges is `from to [weight]`, not {' '.join(words)[:60]!r}")
    if all(_is_number(word) for words in edges for word in words[:2]):
        graph: dict[str, Any] = {"edges": [[float(word) for word in words] for words in edges]}
        return graph if source is None else {**graph, "source": source}
    triples = [(w[0], w[1], float(w[2]) if len(w) == 3 else None) for w in edges]
    return numbered(_as_they_come(triples), triples, None, source)


def numbered(nodes: list[Any], edges: Iterable[Edge], directed: bool | None, source: Any) -> Named:
    """Nodes by their place in the list. `directed` is left to the algorithm where it is None."""
    if not nodes:
        raise UserError("the graph has no nodes; give at least two")
    if len(nodes) > MAX_NODES:
        raise UserError(f"at most {MAX_NODES} nodes are allowed, not {len(nodes)}")
    if odd := [node for node in nodes if not isinstance(node, Hashable)]:
        raise UserError(f"a node must have a name or a number, not {shown(odd[0])}")
    place = {node: i for i, node in enumerate(nodes)}
    if len(place) < len(nodes):
        twice = next(node for i, node in enumerate(nodes) if place[node] != i)
        raise UserError(f"node {shown(twice)} is listed twice; keep one")

    known = [(_place(place, u), _place(place, v), w) for u, v, w in edges]
    with_weight = sum(w is not None for _, _, w in known)
    if 0 < with_weight < len(known):
        u, v, _ = next(edge for edge in known if edge[2] is None)
        raise UserError(
            f"the edge from {shown(nodes[u])} to {shown(nodes[v])} has no weight, others do"
        )
    value: dict[str, Any] = {"nodes": len(nodes)}
    value["edges"] = [[u, v] if w is None else [u, v, _weight(nodes, u, v, w)] for u, v, w in known]
    if not known:  # no edge can say so in a list of edges
        value = {"adjacency": np.zeros((len(nodes), len(nodes)))}
    if directed is not None:
        value["directed"] = directed
    if source is not None:
        value["source"] = _place(place, source)
    return Named(value, nodes)


def _as_they_come(edges: list[Edge]) -> list[Any]:
    try:
        return list(dict.fromkeys(end for u, v, _ in edges for end in (u, v)))
    except TypeError:
        raise UserError("a node of an edge must be a name or a number") from None


def _place(place: dict[Any, int], node: Any) -> int:
    if isinstance(node, Hashable) and node in place:
        return place[node]
    near = difflib.get_close_matches(str(node), [str(name) for name in place], n=1)
    raise UserError(
        f"unknown node {shown(node)}" + (f"; did you mean {shown(near[0])}?" if near else "")
    )


def _weight(nodes: list[Any], u: int, v: int, weight: Any) -> float:
    plain = isinstance(weight, int | float | np.integer | np.floating)
    if isinstance(weight, bool) or not plain or not -LARGEST <= weight <= LARGEST:
        ends = f"{shown(nodes[u])} to {shown(nodes[v])}"
        raise UserError(
            f"the weight of the edge from {ends} must be a finite number, not {shown(weight)}"
        )
    return float(weight)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
