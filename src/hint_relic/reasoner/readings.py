"""From output arrays to an answer in the algorithm's own terms: a sorted array, a tree, a path.

`READINGS` goes by the names of the outputs, not by the algorithm: whatever returns `pi` over a
graph returns a tree. All other outputs are read by their kind. A network's outputs need not
make sense (pointers can run in a circle); then the reading gives as much as there is and says
what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..spec import Field, Kind, Location, Spec, Stage, of_stage

Outputs = Mapping[str, np.ndarray]


class Given(NamedTuple):
    """The input: its arrays as in a trace, and what each node is called (a letter: itself)."""

    inputs: Mapping[str, np.ndarray]
    labels: Sequence[Any]


class Reading(NamedTuple):
    """An answer, and what is wrong with it, in words."""

    value: Any
    problem: str = ""


class Rule(NamedTuple):
    """How some outputs are read, where the input has these arrays."""

    inputs: frozenset[str]
    read: Callable[[Given, Outputs], Reading]


def read(spec: Spec, given: Given, outputs: Outputs) -> Reading:
    """The answer that the outputs of an algorithm with this spec give."""
    fields = of_stage(spec, Stage.OUTPUT)
    rule = READINGS.get(tuple(fields))
    if rule is not None and rule.inputs <= given.inputs.keys():
        return rule.read(given, outputs)
    values = {name: _by_kind(field, given, outputs[name]) for name, field in fields.items()}
    return Reading(next(iter(values.values())) if len(values) == 1 else values)


def _by_kind(field: Field, given: Given, array: np.ndarray) -> Any:
    """A number, the nodes or pairs that a mask holds, a node, or a node for each node."""
    names, array = given.labels, np.asarray(array)
    if field.kind is Kind.MASK_ONE:
        return names[int(array)]
    if field.location is Location.GRAPH:
        return bool(array > 0) if field.kind is Kind.MASK else array.item()
    if field.kind is Kind.MASK and field.location is Location.NODE:
        return [names[i] for i in np.flatnonzero(array > 0).tolist()]
    if field.kind is Kind.MASK:
        return [(names[i], names[j]) for i, j in np.argwhere(array > 0).tolist()]
    if field.kind in (Kind.SCALAR, Kind.CATEGORICAL) or field.location is Location.EDGE:
        return array
    return {names[i]: names[p] for i, p in enumerate(array)}


# --- arrays ------------------------------------------------------------------------------------


def sorted_items(given: Given, outputs: Outputs) -> Reading:
    """The items in the order in which they point at each other."""
    pred, key = outputs["pred"], given.inputs["key"]
    n = len(pred)
    after: dict[int, list[int]] = {}
    for i, p in enumerate(pred):
        if p != i:
            after.setdefault(int(p), []).append(i)
    first = int(np.argmax(pred == np.arange(n)))
    order, seen = [first], {first}
    while onward := [i for i in after.get(order[-1], []) if i not in seen]:
        order.append(onward[0])
        seen.add(onward[0])
    wrong = f"the predicted pointers put only {len(order)} of {n} items in line"
    return Reading(key[order], "" if len(order) == n else wrong)


# --- graphs ------------------------------------------------------------------------------------


def tree(given: Given, outputs: Outputs) -> Reading:
    """Each node's parent; None for a root and for what is out of reach."""
    parent, problem = _tree(given, outputs["pi"], _source(given))
    return Reading(parent, problem)


def _source(given: Given) -> int | None:
    return int(given.inputs["s"]) if "s" in given.inputs else None


def _tree(given: Given, pi: np.ndarray, source: int | None) -> tuple[dict[Any, Any], str]:
    names, A, nodes = given.labels, given.inputs["A"], range(len(pi))
    parent = {names[v]: None if pi[v] == v else names[pi[v]] for v in nodes}
    if source is not None and pi[source] != source:
        return parent, f"the source, {names[source]}, is given a parent"
    for v in nodes:
        if pi[v] != v and A[pi[v], v] == 0:
            return parent, f"there is no edge from {names[pi[v]]} to {names[v]}"
    rooted = {v for v in nodes if pi[v] == v}
    for v in nodes:
        path = [v]
        while path[-1] not in rooted and len(path) <= len(pi):
            path.append(int(pi[path[-1]]))
        if path[-1] not in rooted:
            return parent, f"the parents of {names[v]} run in a circle"
        rooted.update(path)
    return parent, ""


def all_pairs(given: Given, outputs: Outputs) -> Reading:
    """For each node the tree of shortest paths from it: {from: {to: the node before it}}."""
    Pi, A, names = outputs["Pi"], given.inputs["A"], given.labels
    value, problems = {}, []
    for i in range(len(Pi)):
        pi = Pi[i].copy()
        out_of_reach = (pi == i) & (A[i] == 0)
        pi[out_of_reach] = np.flatnonzero(out_of_reach)
        pi[i] = i
        value[names[i]], problem = _tree(given, pi, i)
        if problem:
            problems.append(f"in the paths from {names[i]}, {problem}")
    return Reading(value, problems[0] if problems else "")


def components(given: Given, outputs: Outputs) -> Reading:
    """Lists of the nodes that belong together."""
    found: dict[int, list[Any]] = {}
    for v, name in enumerate(outputs["scc_id"]):
        found.setdefault(int(name), []).append(given.labels[v])
    odd = [c for c in found if outputs["scc_id"][c] != c]
    wrong = f"{given.labels[odd[0]]} names a component that it is not in" if odd else ""
    return Reading(list(found.values()), wrong)


def topological_order(given: Given, outputs: Outputs) -> Reading:
    """All nodes, in an order in which every edge points forward."""
    topo, order = outputs["topo"], [int(outputs["topo_head"])]
    while topo[order[-1]] != order[-1] and len(order) <= len(topo):
        order.append(int(topo[order[-1]]))
    whole = sorted(order) == list(range(len(topo)))
    names = [given.labels[v] for v in dict.fromkeys(order)]
    wrong = f"the predicted list holds only {len(names)} of {len(topo)} nodes"
    return Reading(names, "" if whole else wrong)


def _edges(name: str) -> Callable[[Given, Outputs], Reading]:
    """A mask over the edges of an undirected graph: a list of pairs."""

    def read_edges(given: Given, outputs: Outputs) -> Reading:
        A, names = given.inputs["A"], given.labels
        chosen = (outputs[name] > 0) & (A != 0)
        pairs = np.argwhere(np.triu(chosen | chosen.T)).tolist()
        both = np.array_equal(chosen, chosen.T)
        wrong = "some edges are predicted in one direction only"
        return Reading([(names[u], names[v]) for u, v in pairs], "" if both else wrong)

    return read_edges


# --- tables ------------------------------------------------------------------------------------


def brackets(given: Given, outputs: Outputs) -> Reading:
    """How to bracket the product of matrices 1, 2, …: nested pairs, such as ((1, 2), 3)."""
    s, problem = outputs["s"], ""

    def product(i: int, j: int) -> Any:
        nonlocal problem
        if i == j:
            return i
        k = int(s[i, j])
        if not i <= k < j:
            problem = f"matrices {i} to {j} are split after {k}, which is not among them"
            return tuple(range(i, j + 1))
        return product(i, k), product(k + 1, j)

    value = product(1, len(s) - 1) if len(s) > 1 else ()
    return Reading(value, problem)


def search_tree(given: Given, outputs: Outputs) -> Reading:
    """Each key's parent in the tree; None for the root."""
    root, problem = outputs["root"], ""
    parent: dict[int, int | None] = {}
    ranges: list[tuple[int, int, int | None]] = [(0, len(root) - 1, None)]
    while ranges:
        i, j, above = ranges.pop()
        if i == j:
            continue
        r = int(root[i, j])
        if not i <= r < j:
            problem = f"the root of keys {i} to {j - 1} is {r}, which is not among them"
            continue
        parent[r] = above
        ranges += [(i, r, r), (r + 1, j, r)]
    return Reading(dict(sorted(parent.items())), problem)


# --- strings -----------------------------------------------------------------------------------


def match(given: Given, outputs: Outputs) -> Reading:
    """Where the needle stands first in the haystack; None where it doesn't."""
    n, place = int(np.sum(given.inputs["string"] == 0)), int(outputs["match"])
    wrong = "the predicted place lies within the needle"
    return Reading(place if place < n else None, wrong if place > n else "")


def common_letters(given: Given, outputs: Outputs) -> Reading:
    """A longest common subsequence: a string, or a list where the letters are numbers."""
    n = int(np.sum(given.inputs["string"] == 0))
    table, letters = outputs["b"][:n, n:], given.labels
    match_here, shorter_x, shorter_y = 0, 1, 2
    i, j, found, problem = n - 1, table.shape[1] - 1, [], ""
    while i >= 0 and j >= 0:
        way = int(table[i, j])
        if way == match_here:
            found.append(letters[i])
            if letters[i] != letters[n + j]:
                problem = f"letters {i} and {j} are matched, but they differ"
        i, j = i - (way != shorter_y), j - (way != shorter_x)
    value: Any = found[::-1]
    return Reading("".join(value) if all(isinstance(c, str) for c in value) else value, problem)


READINGS: dict[tuple[str, ...], Rule] = {
    ("pred",): Rule(frozenset({"key"}), sorted_items),
    ("pi",): Rule(frozenset({"A"}), tree),
    ("Pi",): Rule(frozenset({"A"}), all_pairs),
    ("scc_id",): Rule(frozenset({"A"}), components),
    ("topo", "topo_head"): Rule(frozenset({"A"}), topological_order),
    ("in_mst",): Rule(frozenset({"A"}), _edges("in_mst")),
    ("is_bridge",): Rule(frozenset({"A"}), _edges("is_bridge")),
    ("s",): Rule(frozenset({"p"}), brackets),
    ("root",): Rule(frozenset({"p", "q"}), search_tree),
    ("match",): Rule(frozenset({"string"}), match),
    ("b",): Rule(frozenset({"string"}), common_letters),
}
