"""Judges for what depth-first search finds, by networkx and by a search of another make."""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx as nx
import numpy as np

from .arrays import members
from .paths import directed, undirected


@dataclass
class Search:
    """The textbook's recursive search, roots and neighbours in index order."""

    A: np.ndarray
    parent: dict[int, int] = field(default_factory=dict)
    entered: dict[int, int] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)
    time: int = 0

    def __post_init__(self) -> None:
        for root in range(len(self.A)):
            if root not in self.entered:
                self.parent[root] = root
                self.visit(root)

    def visit(self, u: int) -> None:
        self.time += 1
        self.entered[u] = self.time
        for v in map(int, np.flatnonzero(self.A[u])):
            if v not in self.entered:
                self.parent[v] = u
                self.visit(v)
        self.time += 1
        self.left[u] = self.time


def depth_first(trace, A):
    """The tree, and at the last step the times, of the textbook's search."""
    search = Search(A)
    nodes = range(len(A))
    assert trace.outputs["pi"].tolist() == [search.parent[v] for v in nodes]
    for hint, times in (("d", search.entered), ("f", search.left)):
        hundredths = (trace.hints[hint][-1] / 0.01).round().astype(int)
        assert hundredths.tolist() == [times[v] for v in nodes]


def topological(trace, A):
    """A list of all nodes, from `topo_head` on, in which every edge points forward."""
    topo, order = trace.outputs["topo"], [int(trace.outputs["topo_head"])]
    while topo[order[-1]] != order[-1] and len(order) <= len(A):
        order.append(int(topo[order[-1]]))
    assert sorted(order) == list(range(len(A)))
    place = np.argsort(order)
    u, v = np.nonzero(A)
    assert (place[u] < place[v]).all()


def strongly_connected(trace, A):
    """Each component is named after its node that a first search leaves last."""
    left = Search(A).left
    name = {
        v: max(part, key=left.__getitem__)
        for part in nx.strongly_connected_components(directed(A))
        for v in part
    }
    assert trace.outputs["scc_id"].tolist() == [name[v] for v in range(len(A))]


def _without_loops(A):
    return undirected(np.where(np.eye(len(A), dtype=bool), 0.0, A))


def articulation_points(trace, A):
    want = sorted(nx.articulation_points(_without_loops(A)))
    assert members(trace.outputs["is_cut"]) == want


def bridges(trace, A):
    """1 both ways for a bridge, 0 for other edges and the diagonal, masked where no edge is."""
    want = np.where((A != 0) | np.eye(len(A), dtype=bool), 0, -1)
    for u, v in nx.bridges(_without_loops(A)):
        want[u, v] = want[v, u] = 1
    assert trace.outputs["is_bridge"].tolist() == want.tolist()
