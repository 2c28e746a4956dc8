"""The priority loop that Prim and Dijkstra share: always take the nearest node seen so far.

Where they differ is what "near" means, the key a node is offered at:

    while waits(search):
        u = take_nearest(search)
        for v in range(n):
            if A[u, v] != 0:
                offer(search, u, v, A[u, v])
        record(log, search, u)

The queue starts with the source alone; keys of nodes never seen are 0. Of nodes equally near
the first is taken, which the reference leaves to NumPy's sort (and so to the machine).
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .arrays import ids, write
from .kernel import helper, inlined
from .record import tick

# key, pi: a node's nearness and the node it is near to.  in_queue: seen.  mark: taken.
Search = namedtuple("Search", "key pi in_queue mark")


@helper
def new_search(n, s):
    search = Search(np.zeros(n), ids(n), np.zeros(n, np.int8), np.zeros(n, np.int8))
    search.in_queue[s] = 1
    return search


@helper
def waits(search):
    """Is there a node in the queue?"""
    for v in range(search.in_queue.size):  # noqa: SIM110 (kernels have no generators)
        if search.in_queue[v]:
            return True
    return False


@helper
def take_nearest(search):
    """Take the node of least key (of several, the first) from the queue, which has one."""
    nearest = -1
    for v in range(search.key.size):
        if search.in_queue[v] and (nearest < 0 or search.key[v] < search.key[nearest]):
            nearest = v
    search.in_queue[nearest] = 0
    search.mark[nearest] = 1
    return nearest


@helper
def offer(search, u, v, key):
    """Reach v from u at `key`, if v is not taken yet and that is its best offer."""
    if not search.mark[v] and (not search.in_queue[v] or key < search.key[v]):
        search.pi[v] = u
        search.key[v] = key
        search.in_queue[v] = 1


@inlined
def record_search(log, search, u):
    """Record all but the keys; the row of the step."""
    t = tick(log.cursor)
    write(search.pi, log.pi_h[t])
    write(search.mark, log.mark[t])
    write(search.in_queue, log.in_queue[t])
    log.u[t] = u
    return t
