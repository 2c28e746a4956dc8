"""What the objective contrasts at one step for one node: the positive pair and the negatives.

For a pointer hint the pairs are (v, u), "v points at u": that of the input with the true pointer p
is pulled to that of the view, and pushed from all other pairs (v, u) of the view; and the same
with input and view exchanged. An edge pointer (a, v) is the same for each a. For a category the
pair is the node v itself, and the negatives are the nodes of another class (`objectives/relic.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import UserError, choose
from ..spec import Kind, Location
from .pair import Pair

Index = tuple[int, ...]


@dataclass(frozen=True)
class Contrast:
    """One term of the objective.

    index: (v,), or (a, v) for a hint of pairs; as nodes of the input, and of the view.
    positive: the node that v points at (v itself for a category), likewise in both.
    negatives: the other candidates, among the nodes of the view, and among those of the input.
    classes: for a category, those of the input's and of the view's nodes.
    """

    hint: str
    step: int
    index: Index
    view_index: Index
    positive: int
    view_positive: int
    negatives: list[int]
    input_negatives: list[int]
    classes: tuple[list[int], list[int]] | None = None

    @property
    def node(self) -> int:
        return self.index[-1]

    @property
    def view_node(self) -> int:
        return self.view_index[-1]


def contrasts(
    pair: Pair, hint: str | None = None, step: int | None = None, node: Index | None = None
) -> list[Contrast]:
    """The terms of one node at one step, the chosen hint's first.

    What is not given is chosen: a hint, step and node where a pointer changes, as late as it
    does. Nothing is contrasted if input and view share no step after the first.
    """
    if hint is not None:
        choose("contrasted hint", hint, pair.contrasted)
    _check_step(pair, step)
    _check_node(pair, hint, node)
    if pair.until == 0:
        if node is not None:
            raise UserError(f"{_agreement(pair)}, so nothing is contrasted: leave out --node")
        return []
    hints = [hint] if hint is not None else _fitting(pair, node)
    first = max((_pick(pair, name, step, node) for name in hints), key=lambda found: found.rank)
    terms = [_contrast(pair, first.hint, first.step, first.index)]
    for name in pair.contrasted:
        if name != first.hint:
            same = first.index if _axes(pair, name) == len(first.index) else first.index[-1:]
            found = _pick(pair, name, first.step, same)
            terms.append(_contrast(pair, name, first.step, found.index))
    return terms


# --- bad input ---------------------------------------------------------------------------------


def _agreement(pair: Pair) -> str:
    if pair.until == 0:
        return "input and view have no step in common after the first, which is given"
    return f"input and view take the same steps until {pair.until}"


def _check_step(pair: Pair, step: int | None) -> None:
    if step is None or 1 <= step <= pair.until:
        return
    if step > pair.last:
        raise UserError(f"there is no step {step}: the last one of this run is {pair.last}")
    if pair.until == 0:
        raise UserError(f"{_agreement(pair)}, so nothing is contrasted: leave out --step")
    if step < 1:
        raise UserError(f"the first step that is contrasted is 1, not {step}: step 0 is given")
    raise UserError(f"{_agreement(pair)} only; choose a step from 1 to {pair.until}, not {step}")


def _check_node(pair: Pair, hint: str | None, node: Index | None) -> None:
    for v in node or ():
        if not 0 <= v < pair.nodes:
            raise UserError(f"the input has no node {v}: its nodes are 0 to {pair.nodes - 1}")
    if node is not None and len(node) == 2:
        pairs = [name for name in pair.contrasted if _axes(pair, name) == 2]
        if not pairs or (hint is not None and hint not in pairs):
            raise UserError(f"{hint or pair.contrasted[0]} is a hint of nodes: give one --node")


# --- choosing ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pick:
    hint: str
    step: int
    index: Index
    rank: tuple[bool, bool, int]


def _axes(pair: Pair, hint: str) -> int:
    return 2 if pair.algorithm.spec[hint].location is Location.EDGE else 1


def _fitting(pair: Pair, node: Index | None) -> list[str]:
    wanted = 0 if node is None else len(node)
    return [name for name in pair.contrasted if _axes(pair, name) >= wanted]


def _indices(pair: Pair, hint: str, node: Index | None) -> Iterator[Index]:
    """The indices of a hint that end with `node`."""
    for index in np.ndindex(pair.hints[hint].shape[1:]):
        if node is None or index[-len(node) :] == node:
            yield index


def _pick(pair: Pair, hint: str, step: int | None, node: Index | None) -> _Pick:
    """The best thing to look at: a pointer that changes and points elsewhere, late in the run."""
    values, pointer = pair.hints[hint], pair.algorithm.spec[hint].kind is not Kind.CATEGORICAL
    found: _Pick | None = None
    for t in [step] if step is not None else range(pair.until, 0, -1):
        for index in _indices(pair, hint, node):
            changed = bool(values[t][index] != values[t - 1][index])
            elsewhere = pointer and int(values[t][index]) not in index
            elsewhere &= len(set(index)) == len(index)
            rank = (changed and pointer, elsewhere, t if changed else 0)
            if found is None or rank > found.rank:
                found = _Pick(hint, t, index, rank)
        if found is not None and found.rank[0] and found.rank[1]:
            break
    assert found is not None
    return found


def _contrast(pair: Pair, hint: str, step: int, index: Index) -> Contrast:
    field, value, places = pair.algorithm.spec[hint], pair.hints[hint][step], pair.places.tolist()
    v, classes = index[-1], None
    if field.kind is Kind.CATEGORICAL:
        positive, of_view = v, pair.view_start[hint].copy()  # new nodes: as they start
        of_view[pair.places] = value
        negatives = np.flatnonzero(of_view != value[v]).tolist()
        input_negatives = np.flatnonzero(value != value[v]).tolist()
        classes = value.tolist(), of_view.tolist()
    else:
        positive = int(value[index])
        negatives = [u for u in range(pair.view_nodes) if u != places[positive]]
        input_negatives = [u for u in range(pair.nodes) if u != positive]
    return Contrast(
        hint=hint,
        step=step,
        index=index,
        view_index=tuple(places[i] for i in index),
        positive=positive,
        view_positive=places[positive],
        negatives=negatives,
        input_negatives=input_negatives,
        classes=classes,
    )
