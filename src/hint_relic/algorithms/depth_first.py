"""The depth-first walk that six algorithms share.

A room starts the walk at a root and lets it `advance`, one recorded step at a time, until the
root is finished. What the step did is left in the walk, for the room's own bookkeeping:

    start(walk, s)
    record(log, walk)
    while advance(walk, A):
        if walk.at[DID] == FINISHED:
            ...
        record(log, walk)

The stack is the reference's: each node on it points at the one below (`s_prev`), the lowest
at itself, and `s_last` is its top. Three more things are the reference's. A node turns grey
when it is put on the stack, before it is entered; each return to a node looks at all of its
neighbours again, from the first; and time passes in steps of 0.01.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .arrays import ids, write
from .kernel import helper, inlined
from .record import tick

WHITE, GREY, BLACK = 0, 1, 2
ENTERED, DESCENDED, MET, FINISHED = 0, 1, 2, 3
STEP = 0.01

# color, pi, d, f, s_prev: the textbook's arrays, and the stack.
# at: the walk's own place in the graph, see below.  clock: the time, in an array of one.
# timed: are nodes below the root entered, at a time of their own?
# meets: is a step taken for each neighbour that is known already (and not the parent)?
Walk = namedtuple("Walk", "color pi d f s_prev at clock timed meets")

# The slots of `at`: the root, the node the walk is at, the neighbour it looked at last, the
# top of the stack, the neighbour to look at next, and what the last step did.
S, U, V, S_LAST, NEXT_V, DID = 0, 1, 2, 3, 4, 5


@helper
def new_walk(n, timed, meets):
    """A walk over `n` nodes that has not started yet."""
    return Walk(
        np.zeros(n, np.int8),
        ids(n),
        np.zeros(n),
        np.zeros(n),
        ids(n),
        np.zeros(6, np.int64),
        np.zeros(1),
        timed,
        meets,
    )


@helper
def start(walk, s):
    """Put the white node `s` on the empty stack, as the root of a new tree."""
    walk.at[:] = s
    walk.at[NEXT_V] = 0


@helper
def advance(walk, A):
    """Take the next step: u is entered, a white v descended to, a known v met, or u finished.

    Returns whether there was a step to take: none is left when the root is finished.
    """
    at, color, pi = walk.at, walk.color, walk.pi
    u = at[U]
    if color[u] == BLACK:
        if u == at[S]:
            return False
        at[S_LAST] = walk.s_prev[u]
        walk.s_prev[u] = u
    if u != at[S_LAST]:
        u = at[U] = at[S_LAST]
        at[NEXT_V] = 0

    if color[u] == WHITE or (walk.timed and walk.d[u] == 0.0):
        color[u] = GREY
        walk.d[u] = later(walk)
        at[DID] = ENTERED
        return True

    n = color.size
    for v in range(at[NEXT_V], n):
        if A[u, v] != 0:
            if color[v] == WHITE:
                color[v] = GREY
                pi[v] = walk.s_prev[v] = u
                at[V] = at[S_LAST] = v
                at[DID] = DESCENDED
                return True
            if walk.meets and v != pi[u]:
                at[V] = v
                at[NEXT_V] = v + 1
                at[DID] = MET
                return True

    color[u] = BLACK
    walk.f[u] = later(walk)
    at[V] = n - 1
    at[DID] = FINISHED
    return True


@helper
def later(walk):
    """The time, one step on."""
    walk.clock[0] += STEP
    return walk.clock[0]


@inlined
def record_walk(log, walk):
    """Record the colors and the stack (all but its root); the row of the step."""
    t = tick(log.cursor)
    write(walk.color, log.color[t])
    write(walk.s_prev, log.s_prev[t])
    log.u[t] = walk.at[U]
    log.v[t] = walk.at[V]
    log.s_last[t] = walk.at[S_LAST]
    return t


@inlined
def record_timed_walk(log, walk):
    """The same with the root and the times."""
    t = record_walk(log, walk)
    log.s[t] = walk.at[S]
    write(walk.d, log.d[t])
    write(walk.f, log.f[t])
    log.time[t] = walk.clock[0]
    return t


@helper
def put_first(topo, head, walk):
    """Put the node just finished before `head` in a list of successors; the new head."""
    u = walk.at[U]
    if walk.color[head] == BLACK:
        topo[u] = head
    return u


@helper
def update_low(low, walk):
    """Keep low[u]: the earliest time that u's subtree can see without its tree edges."""
    u, did = walk.at[U], walk.at[DID]
    if did == ENTERED:
        low[u] = walk.d[u]
    elif did == MET:
        low[u] = min(low[u], walk.d[walk.at[V]])
    elif did == FINISHED:
        for v in range(low.size):
            if walk.pi[v] == u:
                low[u] = min(low[u], low[v])
