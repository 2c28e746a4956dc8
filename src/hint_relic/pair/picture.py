"""A pair as an SVG picture: input and view, what is new, and what is contrasted (figure 4).

Whatever has a colour has a second sign, too: new parts and negatives are dashed, the positive
pointer is thick, the chosen node is filled and named.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape

import numpy as np

from ..spec import Kind, Location, Stage, of_stage
from .contrast import Contrast
from .layout import LINE, RADIUS, STEP, Layout, Link, Row, circle, plane, row
from .pair import Pair, edges, is_directed, new_edges, shown_values
from .text import how_exact, number, title, until_when, value_text, what_is_contrasted

EDGE = 28  # around the picture, and between its panels
HEAD = 28  # of a panel, for its name
BEND = 0.16  # of pointers, so that they don't lie on the edges
LETTER = 6.9  # the width of one in the caption, about

ARROWS = {  # as the lines in STYLE
    "input": "#1d4ed8",
    "view": "#047857",
    "negative": "#dc2626",
    "state": "#94a3b8",
    "edge": "#94a3b8",
    "added": "#c084fc",
}
STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #0f172a }
.title { font-size: 16px; font-weight: 600 }
.name { font-weight: 600 }
.note { fill: #475569 }
.small { font-size: 10.5px; fill: #64748b }
.middle { text-anchor: middle }
.body { fill: #fff; stroke: #334155; stroke-width: 1.4 }
.new .body { fill: #faf5ff; stroke: #9333ea; stroke-dasharray: 4 3 }
.new text { fill: #7e22ce }
.chosen .body { fill: #fde68a; stroke-width: 2.6 }
.partner .body { fill: #fef9c3 }
.class1 .body { fill: #cbd5e1 }
.class2 .body { fill: #475569 }
.class2 text { fill: #fff }
path, line { fill: none }
.edge { stroke: #b4c0d0; stroke-width: 1.5 }
.edge.new { stroke: #c084fc; stroke-dasharray: 4 3 }
.state { stroke: #94a3b8; stroke-width: 1.2 }
.negative { fill: none; stroke: #dc2626; stroke-width: 1; stroke-dasharray: 3 4; opacity: .8 }
.positive { fill: none; stroke-width: 3 }
.positive.input { stroke: #1d4ed8 }
.positive.view { stroke: #047857 }
"""


def picture(pair: Pair, term: Contrast | None) -> str:
    """The picture; without a term (nothing is contrasted), only what was added."""
    panels = [Panel(pair, term, side) for side in ("input", "view")]
    stacked = isinstance(panels[0].grid, Row)
    widths = [panel.grid.width for panel in panels]
    width = max(max(widths) if stacked else sum(widths) + EDGE, 9.6 * len(title(pair)))
    parts, left, top, bottom = [], float(EDGE), EDGE + 26.0, 0.0
    for panel in panels:
        parts.append(_at(left, top, panel.draw()))
        bottom = top + panel.height
        if stacked:
            top = bottom
        else:
            left += panel.grid.width + EDGE
    for line in _legend(pair, term, width):
        parts.append(_at(EDGE, bottom, line))
        bottom += 22
    for line in textwrap.wrap(_caption(pair, term), int(width / LETTER)):
        parts.append(_at(EDGE, bottom + 8, f'<text class="note" y="14">{escape(line)}</text>'))
        bottom += 18
    w, h = int(width + 2 * EDGE), int(bottom + EDGE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" '
        f'viewBox="0 0 {w} {h}" role="img" aria-label="{escape(title(pair))}">'
        f"<style>{STYLE}</style><defs>{''.join(_arrowheads())}</defs>"
        f'<rect width="{w}" height="{h}" fill="#fff"/>'
        f'<text class="title" x="{EDGE}" y="{EDGE + 6}">{escape(title(pair))}</text>'
        f"{''.join(parts)}</svg>\n"
    )


def _at(x: float, y: float, drawn: str) -> str:
    return f'<g transform="translate({x:.0f} {y:.0f})">{drawn}</g>'


def _caption(pair: Pair, term: Contrast | None) -> str:
    contrasted = "Nothing is contrasted." if term is None else what_is_contrasted(term)
    same = f"The steps of input and view {until_when(pair)}."
    return f"{contrasted} {same} The view is {how_exact(pair)}."


def _arrowheads() -> Iterator[str]:
    for name, colour in ARROWS.items():
        size = 4 if name in ("input", "view") else 7
        yield (
            f'<marker id="to-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{size}" '
            f'markerHeight="{size}" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:{colour}"/>'
            "</marker>"
        )


def _legend(pair: Pair, term: Contrast | None, width: float) -> Iterator[str]:
    """Lines of samples, each with its meaning."""
    box = '<g class="{}"><rect class="body" x="1" y="4" width="24" height="12" rx="3"/></g>'
    line = '<line x1="0" x2="26" y1="10" y2="10" class="{}"/>'
    items = [(box.format("new"), "new")]
    if term is not None:
        negatives = "negative pairs" if term.classes is None else "negatives: of another class"
        items += [
            *([(box.format("partner"), "a, of the pair (a, v)")] if len(term.index) == 2 else []),
            (box.format("chosen"), "v"),
            (line.format("positive input"), "in the input"),
            (line.format("positive view"), "in the view: the positive"),
            (line.format("negative"), negatives),
        ]
        if "A" not in pair.inputs and len(term.index) == 1:
            items.append((line.format("state"), f"other pointers of {term.hint}"))
    drawn, x = "", 0.0
    for sample, meaning in items:
        wide = 33 + LETTER * len(meaning) + 18
        if x + wide > width:
            yield drawn
            drawn, x = "", 0.0
        text = f'<text class="note" x="33" y="14.5">{escape(meaning)}</text>'
        drawn += _at(x, 0, sample + text)
        x += wide
    yield drawn


class Panel:
    """One side of the picture. Nodes are named as in the view; the input has only the old ones."""

    def __init__(self, pair: Pair, term: Contrast | None, side: str):
        self.pair, self.term, self.side = pair, term, side
        self.in_view = side == "view"
        self.nodes = list(range(pair.view_nodes)) if self.in_view else pair.places.tolist()
        self.names = {u: u if self.in_view else k for k, u in enumerate(self.nodes)}
        self.inputs = pair.view_inputs if self.in_view else pair.inputs
        self.values = shown_values(pair.algorithm.spec)
        self.positive, self.negatives = self._contrasted()
        self.state = self._state()
        self.grid = self._layout()
        self.height = HEAD + self.grid.height + 20

    def _contrasted(self) -> tuple[list[Link], list[Link]]:
        if self.term is None:
            return [], []
        v = self.term.view_node
        negatives = [(v, u) for u in self.term.negatives] if self.in_view else []
        return [(v, self.term.view_positive)], negatives

    def _state(self) -> list[Link]:
        """Where all other old nodes point; left out of graphs, which have lines enough."""
        pair, term = self.pair, self.term
        if term is None or term.classes is not None or len(term.index) == 2 or "A" in pair.inputs:
            return []
        pointers = pair.places[pair.hints[term.hint][term.step]].tolist()
        links = zip(pair.places.tolist(), pointers)
        return [(v, p) for v, p in links if v not in (p, term.view_node)]

    def _layout(self) -> Layout:
        pair = self.pair
        if "A" in pair.inputs:
            return circle(pair.view_nodes)
        if {"x", "y"} <= set(pair.inputs):
            return plane(pair.view_inputs["x"], pair.view_inputs["y"])
        above = self.positive + self.negatives
        return row(pair.view_nodes, len(self.values), above, self.state)

    def draw(self) -> str:
        lines = [
            *self._edges(),
            *(self._line(link, "state", "state", 1) for link in self.state),
            *(self._mark(link, "negative", "negative") for link in self.negatives),
            *(self._mark(link, f"positive {self.side}", self.side) for link in self.positive),
        ]
        nodes = [self._node(u) for u in self.nodes]
        return (
            f'<text class="name" y="12">{escape(self._heading())}</text>'
            f'<g transform="translate(0 {HEAD})">{"".join(lines)}{"".join(nodes)}</g>'
        )

    def _heading(self) -> str:
        told = f"{self.side}: {len(self.nodes)} nodes"
        told += f", {len(self.pair.new)} new" if self.in_view else ""
        for name, field in of_stage(self.pair.algorithm.spec, Stage.INPUT).items():
            if field.kind is Kind.MASK_ONE:
                told += f", {name} = {int(self.inputs[name])}"
            elif field.location is Location.GRAPH:
                told += f", {name} = {number(float(self.inputs[name]))}"
        if isinstance(self.grid, Row) and not self.in_view:
            told += f"; in each box {', '.join(self.values)} and the node's number"
        return told

    # --- nodes -------------------------------------------------------------------------------

    def _node(self, u: int) -> str:
        kinds = ["node"]
        if u in self.pair.new:
            kinds.append("new")
        if self.term is not None and u == self.term.view_node:
            kinds.append("chosen")
        elif self.term is not None and u in self.term.view_index:
            kinds.append("partner")
        if self.term is not None and self.term.classes is not None and "chosen" not in kinds:
            kinds.append(f"class{self.term.classes[1][u]}")
        told = f"node {self.names[u]}" + (", new" if "new" in kinds else "")
        shape = self._box(u) if isinstance(self.grid, Row) else self._disc(u)
        return f'<g class="{" ".join(kinds)}"><title>{told}</title>{shape}</g>'

    def _disc(self, u: int) -> str:
        x, y = self.grid.places[u]
        return (
            f'<circle class="body" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'
            f'<text class="middle" x="{x:.1f}" y="{y + 4.5:.1f}">{self.names[u]}</text>'
        )

    def _box(self, u: int) -> str:
        assert isinstance(self.grid, Row)
        (x, y), width, height = self.grid.places[u], STEP - 10, self.grid.box
        left, top = x - width / 2, y - height / 2
        texts = [
            f'<text class="middle" x="{x:.1f}" y="{top + 17 + LINE * k:.1f}">{escape(word)}</text>'
            for k, word in enumerate(self._words(u))
        ]
        return (
            f'<rect class="body" x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}" '
            f'rx="5"/>{"".join(texts)}<text class="small middle" x="{x:.1f}" '
            f'y="{top + height - 5:.1f}">{self.names[u]}</text>'
        )

    def _words(self, u: int) -> list[str]:
        name = self.names[u]
        return [value_text(self.pair, k, self.inputs[k][name]) for k in self.values]

    # --- lines -------------------------------------------------------------------------------

    def _edges(self) -> Iterator[str]:
        if "A" not in self.inputs:
            return
        A, directed, places = self.inputs["A"], is_directed(self.pair), self.nodes
        added = set(new_edges(self.pair)) if self.in_view else set()
        weighted = bool(np.any((A != 0) & (A != 1)))
        for i, j in edges(A, directed):
            new = (i, j) in added
            head = f' marker-end="url(#to-{"added" if new else "edge"})"' if directed else ""
            bend = 0.07 if directed and A[j, i] and i < j else 0.0
            gap = 2.0 if directed else 0.0
            weight = f": {A[i, j]:.3g}" if weighted else ""
            yield (
                f'<path class="edge{" new" if new else ""}"{head} '
                f'd="{self.grid.path(places[i], places[j], bend, gap)}">'
                f"<title>{i}{'→' if directed else '–'}{j}{weight}</title></path>"
            )

    def _mark(self, link: Link, kind: str, head: str) -> str:
        """One side of a pair: a pointer, or a ring around a node that is compared itself."""
        if self.term is None or self.term.classes is None:
            return self._line(link, kind, head, -1)
        x, y = self.grid.places[link[1]]
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 5}"/>'

    def _line(self, link: Link, kind: str, head: str, side: int) -> str:
        grid = self.grid
        d = grid.arc(*link, side) if isinstance(grid, Row) else grid.path(*link, BEND * (side < 0))
        return f'<path class="{kind}" marker-end="url(#to-{head})" d="{d}"/>'
