"""A pair as text: facts, input and view side by side, and what is contrasted. And as data."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..algorithms import Augmentation
from ..config import ViewSource
from ..data.forms import ALPHABETS
from ..spec import Kind, Location, Stage, of_stage
from .contrast import Contrast
from .pair import Pair, edges, is_directed, new_edges, shown_values

MARK = "+"  # before the name of what is new
NEW, PULLED, PUSHED = "magenta", "green", "red"
WIDTH = 98  # of the widest line: what is longer is folded
ADDED = {
    Augmentation.ENTERED_NODE: "nodes joined to node {}, which the first search enters at step {}",
    Augmentation.SUBGRAPH: "a graph that is not connected to the old one",
    Augmentation.APPENDED: "items at the end",
}


def number(x: float) -> str:
    return f"{x:.0f}" if x == round(x) else f"{x:.2f}"


def value_text(pair: Pair, name: str, value: Any) -> str:
    """A value of one node; letters for strings."""
    field = pair.algorithm.spec[name]
    return ALPHABETS[0][int(value)] if field.kind is Kind.CATEGORICAL else number(float(value))


# --- sentences, also for the picture -----------------------------------------------------------


def title(pair: Pair) -> str:
    kind = "the paper's view" if pair.source == ViewSource.PAPER else "a verified view"
    return f"{pair.algorithm.title}: an input and {kind} of it"


def what_was_added(pair: Pair) -> str:
    if pair.source == ViewSource.PAPER:
        assert pair.algorithm.view is not None
        added = ADDED[pair.algorithm.view]
        if pair.algorithm.view is Augmentation.ENTERED_NODE:
            (joined,) = np.flatnonzero(pair.view_inputs["A"][-1, : pair.nodes])
            added = added.format(joined, pair.until)
        return added
    return "random insertions, on which the algorithm was run"


def until_when(pair: Pair) -> str:
    """How long the steps agree, or are taken to where the algorithm itself takes others."""
    if pair.last == 0:
        return "agree at step 0, which is given; there is no other"
    if pair.until == 0:
        return f"agree at step 0 at most, which is given (the last is {pair.last})"
    exact = pair.exactness is None or pair.exactness.all == pair.exactness.views
    end = " (the end)" if pair.until == pair.last else f" of {pair.last}"
    return f"{'agree' if exact else 'are taken to agree'} until step {pair.until}{end}"


def how_exact(pair: Pair) -> str:
    """What the view is."""
    found = pair.exactness
    if found is None and 0 == pair.until < pair.last:
        return "of no use here: none of the insertions tried leaves a step as it was"
    if found is None:
        return "exact: the algorithm was run on it, and every hint compared on the old nodes"
    run = f"run on {found.views} such views to check, the algorithm takes the same steps"
    if found.all == found.views:
        return f"exact: {run} in all of them"
    if found.contrasted == found.views:
        hints = " and ".join(pair.contrasted)
        return (
            f"exact in {hints}, which is contrasted; in all hints, {run} in {found.all or 'none'}"
        )
    count = found.contrasted or "none"
    return f"approximate, it borrows the input's steps: {run} in {count} of them"


def point(index: tuple[int, ...], target: int) -> str:
    """`5 → 2`; for a hint of pairs `(3, 5) → 2`."""
    return f"{index[0] if len(index) == 1 else index} → {target}"


def what_is_contrasted(term: Contrast) -> str:
    """The caption's sentence."""
    moved = term.view_index != term.index or term.view_positive != term.positive
    if term.classes is not None:
        place = f" ({term.view_node} in the view)" if moved else ""
        return (
            f"Hint {term.hint} at step {term.step}: node v = {term.node}{place} of the input is "
            f"pulled towards itself in the view, and pushed away from the "
            f"{len(term.negatives)} nodes there of another class."
        )
    place = f" ({point(term.view_index, term.view_positive)} in the view)" if moved else ""
    return (
        f"Hint {term.hint} at step {term.step}: the pair {point(term.index, term.positive)}{place} "
        "of the input is pulled towards the same pair of the view, and pushed away from the "
        f"view's {len(term.negatives)} other pairs {point(term.view_index, 0)[:-1]}u."
    )


# --- tables ------------------------------------------------------------------------------------


def tables(pair: Pair, terms: list[Contrast]) -> Group:
    parts = [_facts(pair), _side_by_side(pair, terms)]
    if terms:
        parts.append(_contrasted(pair, terms))
    return Group(Text(title(pair), style="bold"), *(x for part in parts for x in ("", part)), "")


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)


def _names(pair: Pair, nodes: list[int]) -> Text:
    """Nodes of the view; new ones are marked."""
    words = [
        Text(f"{MARK}{u}", style=f"bold {NEW}") if u in pair.new else Text(str(u)) for u in nodes
    ]
    return Text(" ").join(words)


def _facts(pair: Pair) -> Table:
    table = _table()
    table.show_header = False
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(max_width=WIDTH - 16)
    table.add_row("input", f"sample {pair.sample} of seed {pair.seed}")
    table.add_row("added", what_was_added(pair))
    table.add_row("nodes", f"{pair.nodes} in the input, {pair.view_nodes} in the view")
    table.add_row("new nodes", _names(pair, pair.new))
    if "A" in pair.inputs:
        arrow = "→" if is_directed(pair) else "–"
        added = [f"{i}{arrow}{j}" for i, j in new_edges(pair)]
        table.add_row("new edges", " ".join(added) or "none")
    for name, field in of_stage(pair.algorithm.spec, Stage.INPUT).items():
        if field.kind is Kind.MASK_ONE:
            place = int(pair.view_inputs[name])
            told = f"{int(pair.inputs[name])}" + ("" if place == int(pair.inputs[name]) else
                                                  f", in the view {place}")  # fmt: skip
            table.add_row(f"{name} (node)", told)
        elif field.location is Location.GRAPH:
            table.add_row(name, number(float(pair.inputs[name])))
    table.add_row("steps", until_when(pair))
    table.add_row("the view is", how_exact(pair))
    table.add_row("contrasted", " ".join(pair.contrasted) + ("" if pair.until else ": at no step"))
    return table


def _side_by_side(pair: Pair, terms: list[Contrast]) -> Table:
    """A row for each node of the view, beside it the node of the input that it is."""
    table, values = _table(), shown_values(pair.algorithm.spec)
    graph, state = "A" in pair.inputs, terms[0] if terms else None
    if state is not None and len(state.index) == 2:
        state = None  # a table of all pairs has no place here
    for side in ("input", "view"):
        table.add_column(side, justify="right", no_wrap=True)
        for name in values:
            table.add_column(name, justify="right", no_wrap=True)
        if graph:
            table.add_column("edges to", max_width=32)
        if side == "input":
            if state is not None:
                table.add_column(f"{state.hint}, step {state.step}", justify="right", no_wrap=True)
            table.add_column("", no_wrap=True)
    old = {place: node for node, place in enumerate(pair.places.tolist())}
    for u in range(pair.view_nodes):
        row: list[Any] = []
        if u in old:
            v = old[u]
            row += [_mark(v, state is not None and v == state.node)]
            row += [value_text(pair, name, pair.inputs[name][v]) for name in values]
            row += [_neighbours(pair, pair.inputs["A"], v, False)] if graph else []
            row += [str(pair.hints[state.hint][state.step][v])] if state is not None else []
        else:
            row += [""] * (1 + len(values) + graph + (state is not None))
        row += ["│", _names(pair, [u])]
        row += [value_text(pair, name, pair.view_inputs[name][u]) for name in values]
        row += [_neighbours(pair, pair.view_inputs["A"], u, True)] if graph else []
        table.add_row(*row, style="" if u in old else NEW)
    return table


def _mark(v: int, chosen: bool) -> Text:
    return Text(f"v = {v}", style="bold") if chosen else Text(str(v))


def _neighbours(pair: Pair, A: np.ndarray, v: int, in_view: bool) -> Text:
    weighted = bool(np.any((A != 0) & (A != 1)))
    words = []
    for u in np.flatnonzero(A[v]).tolist():
        name = Text(str(u)) if not in_view else _names(pair, [u])
        words.append(name + (f":{A[v, u]:.2f}" if weighted else ""))
    return Text(" ").join(words)


def _contrasted(pair: Pair, terms: list[Contrast]) -> Table:
    """A row for each hint: what is pulled together, and what it is pushed from on either side."""
    first = terms[0]
    table = _table()
    table.title = f"contrasted at step {first.step} for v = {first.node}"
    table.title_justify, table.title_style = "left", "bold"
    table.add_column("hint", style="cyan", no_wrap=True)
    table.add_column("input", style=PULLED, no_wrap=True)
    table.add_column("and view: positive", style=PULLED, no_wrap=True)
    table.add_column("negatives in the view, u =", style=PUSHED, max_width=34)
    table.add_column("back, in the input, u =", style=PUSHED, max_width=24)
    for term in terms:
        if term.classes is None:
            pairs = point(term.index, term.positive), point(term.view_index, term.view_positive)
        else:
            pairs = f"class {term.classes[0][term.node]}", f"node {term.view_node}"
        back = " ".join(map(str, term.input_negatives)) or "none"
        table.add_row(term.hint, *pairs, _names(pair, term.negatives) or Text("none"), back)
    return table


# --- data --------------------------------------------------------------------------------------


def data(pair: Pair, terms: list[Contrast]) -> dict[str, Any]:
    """A pair as JSON can hold it."""
    return {
        "algorithm": pair.algorithm.name,
        "view": pair.source,
        "seed": pair.seed,
        "sample": pair.sample,
        "nodes": pair.nodes,
        "view_nodes": pair.view_nodes,
        "places": pair.places.tolist(),
        "new_nodes": pair.new,
        **(
            {"new_edges": new_edges(pair), "edges": _edge_count(pair)} if "A" in pair.inputs else {}
        ),
        "inputs": {name: value.tolist() for name, value in pair.inputs.items()},
        "view_inputs": {name: value.tolist() for name, value in pair.view_inputs.items()},
        "last_step": pair.last,
        "until": pair.until,
        "exactness": None if pair.exactness is None else pair.exactness._asdict(),
        "contrasted": [_term_data(term) for term in terms],
    }


def _edge_count(pair: Pair) -> int:
    return len(edges(pair.inputs["A"], is_directed(pair)))


def _term_data(term: Contrast) -> dict[str, Any]:
    return {
        "hint": term.hint,
        "step": term.step,
        "index": list(term.index),
        "view_index": list(term.view_index),
        "positive": term.positive,
        "view_positive": term.view_positive,
        "negatives": term.negatives,
        "input_negatives": term.input_negatives,
    }
