"""Kruskal's minimum spanning tree: add the lightest edge that joins two trees, again and again.

Trees are kept as a disjoint-set forest. For each edge the roots of its two ends are looked
for (phase 1, then 2), and all nodes passed on the way (`mask_u`, `mask_v`) are pointed at the
node come to; phase 0 ends the edge. The root with the smaller index is put under the other.
Edges of equal weight are taken in index order, which the reference leaves to NumPy's sort (and
so to the machine).
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .algorithm import Algorithm, Augmentation, Family, reads, returns, shows
from .arrays import argsort, ids, write
from .inputs import SPARSE_WEIGHTED_GRAPH
from .kernel import helper, kernel
from .record import log_type, open_graph, tick

SPEC = {
    "pos": reads("node", "scalar"),
    "A": reads("edge", "scalar"),
    "adj": reads("edge", "mask"),
    "in_mst": returns("edge", "mask"),
    "in_mst_h": shows("edge", "mask"),
    "pi": shows("node", "pointer"),
    "u": shows("node", "mask_one"),
    "v": shows("node", "mask_one"),
    "root_u": shows("node", "mask_one"),
    "root_v": shows("node", "mask_one"),
    "mask_u": shows("node", "mask"),
    "mask_v": shows("node", "mask"),
    "phase": shows("graph", "categorical", classes=3),
}
Log = log_type(__name__, SPEC)
Forest = namedtuple("Forest", "in_mst pi mask_u mask_v")


@helper
def record(log, forest, u, v, root_u, root_v, phase):
    t = tick(log.cursor)
    write(forest.in_mst, log.in_mst_h[t])
    write(forest.pi, log.pi[t])
    log.u[t] = u
    log.v[t] = v
    log.root_u[t] = root_u
    log.root_v[t] = root_v
    write(forest.mask_u, log.mask_u[t])
    write(forest.mask_v, log.mask_v[t])
    log.phase[t] = phase


@helper
def by_weight(A):
    """The edges (u, v) with u < v, each as the number u * n + v, lightest first."""
    n, count = A.shape[0], 0
    edges, weights = np.empty(n * n, np.int64), np.empty(n * n)
    for u in range(n):
        for v in range(u + 1, n):
            if A[u, v] > 0:
                edges[count], weights[count] = u * n + v, A[u, v]
                count += 1
    order = argsort(weights[:count])
    for rank in range(count):
        order[rank] = edges[order[rank]]
    return order


@helper
def climb(pi, root, mask):
    """Go one node up; point all nodes passed at it."""
    root = pi[root]
    for i in range(mask.size):
        if mask[i]:
            pi[i] = root
    mask[root] = 1
    return root


@helper
def join(log, forest, u, v):
    """Add the edge (u, v) to the forest, unless it would close a cycle."""
    in_mst, pi, mask_u, mask_v = forest
    mask_u[:] = 0
    mask_v[:] = 0
    mask_u[u] = mask_v[v] = 1
    root_u, root_v = u, v
    record(log, forest, u, v, root_u, root_v, 1)
    while pi[root_u] != root_u:
        root_u = climb(pi, root_u, mask_u)
        record(log, forest, u, v, root_u, root_v, 1)
    while pi[root_v] != root_v:
        root_v = climb(pi, root_v, mask_v)
        record(log, forest, u, v, root_u, root_v, 2)
    if root_u != root_v:
        in_mst[u, v] = in_mst[v, u] = 1
        pi[min(root_u, root_v)] = max(root_u, root_v)
    record(log, forest, u, v, root_u, root_v, 0)


@kernel
def run(log, A):
    row = open_graph(log, A)
    n = A.shape[0]
    forest = Forest(
        np.zeros((n, n), np.int8),
        ids(n),
        np.zeros(n, np.int8),
        np.zeros(n, np.int8),
    )
    record(log, forest, 0, 0, 0, 0, 0)
    for edge in by_weight(A):
        join(log, forest, edge // n, edge % n)
    write(forest.in_mst, log.in_mst[row])


ALGORITHM = Algorithm(
    name="mst_kruskal",
    title="Kruskal's minimum spanning tree",
    family=Family.GRAPHS,
    spec=SPEC,
    inputs=SPARSE_WEIGHTED_GRAPH,
    run=run,
    log=Log,
    sparse=True,
    view=Augmentation.SUBGRAPH,
    contrasted=("pi",),
    by_weight=True,
)
