"""Positions of a view's nodes.

Fresh ones are drawn as those of an input are: sorted random numbers within each run of nodes
that belong together (an array, a graph, each of two strings). Where the old nodes keep theirs,
new ones lie between their neighbours: below 1 after the last node of a run, above 0 before the
first.
"""

from __future__ import annotations

import numpy as np

from ..algorithms.arrays import sort
from ..algorithms.engine import scatter
from ..algorithms.kernel import helper, kernel
from ..algorithms.random import stream, uniform
from ..algorithms.record import positions


@kernel
def evenly(nodes, out):
    """Evenly spaced positions i / nodes for each sample."""
    for sample in range(nodes.size):
        positions(out[sample, : nodes[sample]])


@kernel
def randomly(seeds, index, nodes, places, old, kept, out):
    """Replace evenly spaced positions; `places` says where the `old` ones belong."""
    for sample in range(nodes.size):
        state = stream(seeds[sample], index[sample])
        if kept:
            around(state, places[sample], old[sample], out[sample, : nodes[sample]])
        else:
            scatter(state, out[sample, : nodes[sample]])


@helper
def around(state, places, old, out):
    """Put the old, sorted numbers in their places and draw new ones between them.

    `out` comes with a 0 where a run starts, and other numbers elsewhere.
    """
    input_node = np.empty(out.size, np.int64)
    input_node[:] = -1
    for i in range(places.size):
        input_node[places[i]] = i
    low, first = 0.0, 0  # new nodes from `first` on lie above `low`
    for v in range(out.size):
        if out[v] == 0.0:  # a run starts: whatever was left of the last one ends below 1
            _between(state, low, 1.0, out[first:v])
            low, first = 0.0, v
        if input_node[v] >= 0:
            position = old[input_node[v]]
            _between(state, low, position, out[first:v])
            out[v] = position
            low, first = position, v + 1
    _between(state, low, 1.0, out[first:])


@helper
def _between(state, low, high, out):
    for i in range(out.size):
        out[i] = uniform(state, low, high)
    sort(out)
