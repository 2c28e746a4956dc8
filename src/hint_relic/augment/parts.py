"""Which law a new part of a graph is drawn from: that of the inputs, where it is small enough."""

from __future__ import annotations

from ..algorithms.inputs import COMMUNITY_GRAPH, DIGRAPH, Inputs

# Communities need four nodes; fewer are joined as nodes of one community are.
_INSTEAD = {COMMUNITY_GRAPH: DIGRAPH}


def new_part(law: Inputs) -> Inputs:
    return _INSTEAD.get(law, law)
