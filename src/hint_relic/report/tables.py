"""The paper's tables and bar figures, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from ..paper import Published, best_variant, published
from .cells import WEIGHTS, Cell, State
from .charts import Bar, bars
from .compare import SIGN, WORDS, Mean, Verdict, mean_over, shortfalls, verdict
from .gather import Findings, tokens
from .layout import Panel, Row, layout
from .markup import Markup, join, tag

SIGNED = "±"


def amount(mean: float, stderr: float | None) -> Markup:
    """`99.84 ± 0.04`, the error smaller."""
    error = tag("small", f" {SIGNED} {stderr:.2f}") if stderr is not None else None
    return join([f"{mean:.2f}", error])


def mark(found: Verdict | None) -> Markup | None:
    """A sign, and the same in words for those who don't see it."""
    if found is None:
        return None
    return join(
        [
            tag("b", SIGN[found], class_="sign", aria_hidden="true"),
            tag("span", f" {WORDS[found]}", class_="spoken"),
        ]
    )


# --- tables ------------------------------------------------------------------------------------


def table(findings: Findings, panel: Panel) -> Markup:
    """A table of the paper: a row for each algorithm, in each cell ours above the paper's."""
    heads = [layout().heading(variant) for variant in panel.columns]
    rows = panel.rows()
    body = []
    for before, row in zip([None, *rows], rows):
        starts = before is not None and before.group != row.group
        cells = [findings.cell(row.algorithm, variant) for variant in panel.columns]
        body.append(_row(findings, row, cells, "starts" if starts else None))
    means = [_mean_cell(findings, variant, rows) for variant in panel.columns]
    return frame(
        f"table-{panel.key}",
        panel.title,
        f"{panel.caption} Micro-F1 on the test split (n = 64), %: ours above, the paper's below.",
        ["Algorithm", *heads],
        body,
        tag("tr", tag("th", "Mean, where both are there", scope="row"), means),
    )


def beyond(findings: Findings) -> Markup | None:
    """Cells that the paper has no figure for: one row each."""
    cells = findings.beyond()
    if not cells:
        return None
    rows = [
        tag(
            "tr",
            tag("th", layout().title(cell.algorithm), scope="row"),
            tag("td", layout().heading(cell.variant), data_text=cell.variant),
            _score_cell(findings, cell),
            _paper_cell(cell.algorithm, "hint_relic"),
            _paper_cell(cell.algorithm, best_variant(cell.algorithm), named=True),
            **filtered(cell.algorithm, [cell]),
        )
        for cell in cells
    ]
    heads = ["Algorithm", "Variant", "Ours", "Hint-ReLIC in the paper", "Best in the paper"]
    caption = (
        "Micro-F1 on the test split (n = 64), %. The paper has no figure for these variants; "
        "beside them stands what it reports for the algorithm."
    )
    return frame("table-beyond", "Beyond the paper", caption, heads, rows)


def _paper_cell(algorithm: str, variant: str | None, *, named: bool = False) -> Markup:
    """A figure of the paper; named: with the column it is from."""
    if variant is None or (score := published(algorithm, variant)) is None:
        return tag("td", tag("span", "not in the paper", class_="paper"))
    column = tag("small", f" {layout().heading(variant)}") if named else None
    return tag("td", amount(*score), column, data_text=f"{score.mean:.2f}")


def frame(
    key: str,
    title: str,
    caption: str,
    heads: list[str],
    rows: list,
    foot: Markup | None = None,
    *,
    heading: bool = True,
) -> Markup:
    """A table that sorts by its headings, in a box that scrolls sideways where it must."""
    buttons = [
        tag("th", tag("button", head, type="button"), scope="col", aria_sort="none")
        for head in heads
    ]
    inner = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", buttons)),
        tag("tbody", rows),
        tag("tfoot", foot) if foot else None,
    )
    box = tag(
        "div", inner, class_="scroll", tabindex="0", role="region", aria_label=f"Table: {title}"
    )
    return tag("section", tag("h3", title) if heading else None, box, id=key)


def filtered(algorithm: str, cells: list[Cell], variant: str | None = None) -> dict[str, str]:
    """Attributes that the page's filters read."""
    row = layout().by_name.get(algorithm)
    found = {
        "data_words": f"{algorithm} {layout().title(algorithm)}".lower(),
        "data_group": row.group if row else "Others",
        "data_tokens": tokens(cells),
    }
    return found | ({"data_variant": variant} if variant is not None else {})


def _row(findings: Findings, row: Row, cells: list[Cell], css: str | None) -> Markup:
    return tag(
        "tr",
        tag("th", row.title, scope="row"),
        [_score_cell(findings, cell) for cell in cells],
        class_=css,
        **filtered(row.algorithm, cells),
    )


def _score_cell(findings: Findings, cell: Cell) -> Markup:
    """Ours under each kind of weights (the page shows one), the paper's, and what ours lacks."""
    paper = published(*cell.key)
    below = tag("span", amount(*paper), class_="paper") if paper else None
    if not paper and cell.state is State.MISSING:
        below = tag("span", "not in the paper", class_="paper")
    lacks = shortfalls(cell)
    if cell.twins:
        lacks.append(f"1 of {cell.twins + 1} runs")
    return tag(
        "td",
        ours(findings, cell),
        below,
        tag("span", ", ".join(lacks), class_="lacks") if lacks else None,
        data_paper=f"{paper.mean:.4f}" if paper else None,
    )


def ours(findings: Findings, cell: Cell) -> list[Markup] | Markup:
    """Our score as a link to the command that makes it; or, in a word, why there is none."""
    if cell.state is State.MISSING:
        return tag("span", "missing", class_="gap")
    anchor = f"#{findings.anchors[cell.folder]}"
    if cell.state is not State.DONE:
        return tag("a", str(cell.state), href=anchor, class_=f"gap {cell.state}")
    paper = published(*cell.key)
    found = []
    for weights in WEIGHTS:
        score = cell.scores.get(weights)
        if score is None:
            found.append(tag("span", "not kept", class_="gap", data_w=weights))
            continue
        judged = verdict(cell, weights)
        found.append(
            tag(
                "a",
                amount(score.mean, score.stderr),
                mark(judged),
                href=anchor,
                class_=f"ours {judged or ''}".strip(),
                data_w=weights,
                data_ours=f"{score.mean:.4f}",
                data_difference=f"{score.mean - paper.mean:.4f}" if paper else None,
            )
        )
    return found


def _mean_cell(findings: Findings, variant: str, rows: list[Row]) -> Markup:
    names = [row.algorithm for row in rows]
    shown = []
    for weights in WEIGHTS:
        mean = mean_over(findings.chosen, variant, names, weights)
        shown.append(tag("span", _mean(mean), data_w=weights))
    return tag("td", shown)


def _mean(mean: Mean | None) -> list[Markup] | Markup:
    if mean is None:
        return tag("span", "none yet", class_="gap")
    judged = mean.verdict
    return [
        tag(
            "a", amount(mean.ours, mean.stderr), mark(judged), href="#how", class_=f"ours {judged}"
        ),
        tag("span", amount(*mean.paper), class_="paper"),
        *(tag("span", line, class_="lacks") for line in mean.told),
    ]


# --- figures -----------------------------------------------------------------------------------


def figure(findings: Findings, panel: Panel) -> Markup:
    """A bar figure of the paper: for each algorithm and variant a full bar above a hollow one."""
    rows = panel.rows()
    legend = []
    for variant in panel.columns:
        for kind, who in (("full", "ours"), ("hollow", "the paper")):
            key = tag("span", class_=f"key v-{variant} {kind}")
            legend.append(tag("li", key, f"{layout().heading(variant)}, {who}"))
    groups = [_bars(findings, panel, row) for row in rows]
    groups.append(_mean_bars(findings, panel, rows))
    return tag(
        "figure",
        tag("figcaption", tag("h3", panel.title), tag("ul", legend, class_="legend")),
        tag("div", groups, class_="bar-rows"),
        id=f"figure-{panel.key}",
    )


def _bars(findings: Findings, panel: Panel, row: Row) -> Markup:
    cells = [findings.cell(row.algorithm, variant) for variant in panel.columns]
    shown = []
    for weights in WEIGHTS:
        pairs = []
        for cell in cells:
            score = cell.scores.get(weights)
            pairs.append(((score.mean, score.stderr) if score else None, published(*cell.key)))
        shown.append(_pairs(panel, row.title, pairs, weights))
    return tag(
        "div", tag("div", row.title, class_="name"), shown,
        class_="bar-row", **filtered(row.algorithm, cells),
    )  # fmt: skip


def _mean_bars(findings: Findings, panel: Panel, rows: list[Row]) -> Markup:
    """The last row: means over the algorithms that both have, for each variant on its own."""
    names = [row.algorithm for row in rows]
    shown = []
    for weights in WEIGHTS:
        means = [mean_over(findings.chosen, v, names, weights) for v in panel.columns]
        pairs = [((m.ours, m.stderr), m.paper) if m else (None, None) for m in means]
        title = "Mean, where both are there"
        counts = " and ".join(str(len(m.algorithms)) if m else "0" for m in means)
        note = tag("span", f"over {counts} of {len(names)} algorithms", class_="lacks")
        shown.append(tag("div", note, _pairs(panel, title, pairs, None), data_w=weights))
    name = tag("div", "Mean, where both are there", class_="name")
    return tag("div", name, shown, class_="bar-row mean")


def _pairs(
    panel: Panel,
    title: str,
    pairs: Sequence[tuple[tuple[float, float | None] | None, Published | None]],
    weights: str | None,
) -> Markup:
    drawn, said = [], []
    for variant, (our, paper) in zip(panel.columns, pairs):
        drawn.append(
            (
                Bar(*our, css=f"v-{variant} full") if our else None,
                Bar(*paper, css=f"v-{variant} hollow") if paper else None,
            )
        )
        us = f"{our[0]:.2f}" if our else "missing"
        them = f"{paper.mean:.2f}" if paper else "none"
        said.append(f"{layout().heading(variant)}: ours {us}, the paper {them}")
    chart = bars(drawn, f"{title}. {'; '.join(said)}")
    return tag("div", chart, data_w=weights, class_="chart")
