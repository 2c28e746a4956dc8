"""GraphML, the part of it that says what a graph is: nodes, edges, weights, directed or not.

The file is read element by element and nothing outside it is looked at. A document type (the
only place where entities, and so bombs made of them, can be declared) is refused.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser

from ..data.forms import MAX_NODES
from ..errors import UserError
from .graphs import Named, numbered

MAX_TEXT = 2**26  # characters
WEIGHT = "weight"
NOT_TAKEN = {"hyperedge": "hyperedges", "port": "ports"}


def from_graphml(text: str, source: Any = None) -> Named:
    """The one graph of a GraphML file; weights are the edges' data named `weight`."""
    if len(text) > MAX_TEXT:
        raise UserError(f"the GraphML is longer than {MAX_TEXT >> 20} MB; give a smaller graph")
    found = _Graph()
    parser = XMLParser(target=found)
    try:
        parser.feed(text)
        parser.close()
    except ParseError as error:
        raise UserError(f"this is not valid XML: {error}") from None
    if found.directed is None:
        raise UserError("this XML is not GraphML: it has no <graph>")
    return numbered(found.nodes, found.edges, found.directed, source)


class _Graph:
    """What `XMLParser` tells of each element, put together."""

    def __init__(self) -> None:
        self.directed: bool | None = None
        self.nodes: list[str] = []
        self.edges: list[tuple[str, str, float | None]] = []
        self.weight_key: str | None = None
        self.default: float | None = None
        self._open: list[str] = []
        self._text: list[str] | None = None
        self._reads_weight = self._opens_weight = False

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise UserError("GraphML with a document type (<!DOCTYPE>) is refused: take it out")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._open.append(name)
        if name in NOT_TAKEN:
            raise UserError(f"GraphML with {NOT_TAKEN[name]} is not taken: plain edges only")
        if name == "key":
            self._key(attributes)
        elif name == "graph":
            if self.directed is not None:
                raise UserError("GraphML with more than one graph, or nested ones, is not taken")
            self.directed = attributes.get("edgedefault") == "directed"
        elif name == "node":
            if len(self.nodes) >= MAX_NODES:
                raise UserError(f"at most {MAX_NODES} nodes are allowed")
            self.nodes.append(_required(attributes, "id", name))
        elif name == "edge":
            self._edge(attributes)
        elif name in ("data", "default"):
            self._text = []
            self._reads_weight = attributes.get("key") == self.weight_key

    def _key(self, attributes: dict[str, str]) -> None:
        if self.directed is not None:
            raise UserError("GraphML whose <key> comes after its <graph> is not taken: move it up")
        of_edges = attributes.get("for", "all") in ("edge", "all")
        self._opens_weight = of_edges and attributes.get("attr.name") == WEIGHT
        if self._opens_weight:
            self.weight_key = _required(attributes, "id", "key")

    def _edge(self, attributes: dict[str, str]) -> None:
        if len(self.edges) >= MAX_NODES**2:
            raise UserError(f"at most {MAX_NODES**2} edges are allowed")
        own = attributes.get("directed")
        if own is not None and (own == "true") != self.directed:
            raise UserError("GraphML with both directed and undirected edges is not taken")
        ends = _required(attributes, "source", "edge"), _required(attributes, "target", "edge")
        self.edges.append((*ends, self.default))

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = self._open.pop()
        if name not in ("data", "default"):
            return
        text, self._text = "".join(self._text or []).strip(), None
        inside = self._open[-1] if self._open else ""
        if name == "data" and inside == "edge" and self._reads_weight and self.weight_key:
            self.edges[-1] = (*self.edges[-1][:2], _number(text))
        elif name == "default" and inside == "key" and self._opens_weight:
            self.default = _number(text)

    def close(self) -> None:
        return None


def _required(attributes: dict[str, str], name: str, of: str) -> str:
    if name not in attributes:
        raise UserError(f"a <{of}> of the GraphML has no {name!r}")
    return attributes[name]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"a weight must be a number, not {text[:40]!r}") from None
