"""How many nodes a view adds."""

from __future__ import annotations

from ..algorithms.kernel import helper
from ..algorithms.random import integer


@helper
def view_nodes(state, n, most, random):
    """The nodes of a view of `n` nodes: `most`, or uniform from n + 1 to `most`."""
    return n + 1 + integer(state, most - n) if random else most
