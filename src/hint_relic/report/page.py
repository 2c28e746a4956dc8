"""The page: one HTML file that needs nothing else, and lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from importlib import resources

from ..paper import scores
from . import details, final, tables
from .cells import WEIGHTS, State
from .compare import SIGN, WORDS, Mean, Verdict, mean_over
from .gather import Findings
from .layout import layout
from .markup import Markup, join, raw, tag

TITLE = "Hint-ReLIC: ours beside the paper"


def page(findings: Findings, made_by: str) -> str:
    """The whole page. made_by: the version, and when."""
    style, script = _own("page.css"), _own("page.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", TITLE),
        tag("style", raw(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the results", href="#results", class_="skip"),
        _header(findings, made_by),
        _controls(findings),
        tag("main", _sections(findings), id="results"),
        tag("script", raw(script)),
    )
    whole = tag("html", head, body, lang="en", data_weights=next(iter(WEIGHTS)))
    return f"<!doctype html>\n{whole}\n"


def _own(name: str) -> str:
    return (resources.files(__package__) / name).read_text()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _section(key: str, title: str, *children) -> Markup:
    return tag("section", tag("h2", title), children, id=key, class_="part")


def _sections(findings: Findings) -> list[Markup]:
    drawn, hints = details.curves(findings), details.hints(findings)
    preferred = final.lines(findings)
    return [
        _section("headline", "Means", _means(findings, preferred)),
        _section(
            "tables",
            "Tables",
            _legend(),
            final.table(findings, preferred),
            [tables.table(findings, panel) for panel in layout().tables],
            tables.beyond(findings),
        ),
        _section(
            "figures",
            "Figures",
            _text(
                "Scores from 0 to 100 %, with standard errors over seeds. Where a full bar is not "
                "there, our cell is missing."
            ),
            [tables.figure(findings, panel) for panel in layout().figures],
        ),
        _section(
            "curves",
            "Learning curves",
            _curve_legend(),
            tag("div", drawn, class_="figures") if drawn else _text("None is recorded.", css="gap"),
        ),
        _section(
            "hints",
            "Hints along the steps",
            _text(
                "How well each hint is predicted at each step of a trace. Recorded by ",
                tag("code", "hint-relic evaluate RUN --json > RUN/evaluation.json"),
                ".",
            ),
            tag("div", hints, class_="figures") if hints else _text("None is recorded.", css="gap"),
        ),
        _section("resources", "Time, memory, hardware", details.resources(findings)),
        _section("gaps", "What is missing", _gaps(findings)),
        _section(
            "cells",
            "Cells",
            _text("What made each number: command, commit, versions, settings, every seed."),
            details.cells(findings) or _text("There is no run folder yet.", css="gap"),
        ),
        _section("how", "How to read this", _how(findings)),
    ]


def _text(*children, css: str = "lead") -> Markup:
    return tag("p", children, class_=css)


# --- the top -----------------------------------------------------------------------------------

PARTS = {
    "headline": "Means",
    "tables": "Tables",
    "figures": "Figures",
    "curves": "Curves",
    "hints": "Hints",
    "resources": "Time and memory",
    "gaps": "Gaps",
    "cells": "Cells",
    "how": "How to read this",
}


def _header(findings: Findings, made_by: str) -> Markup:
    links = [tag("li", tag("a", title, href=f"#{key}")) for key, title in PARTS.items()]
    return tag(
        "header",
        tag("h1", TITLE),
        _text(coverage(findings)),
        tag("p", f"From {findings.top.resolve().name}, by {made_by}.", class_="note"),
        tag("nav", tag("ul", links), aria_label="Parts of this page"),
    )


def coverage(findings: Findings) -> str:
    """How much of the paper is there, in a sentence."""
    expected = findings.expected()
    counts = Counter(findings.cell(*key).state for key in expected)
    of = "the paper's tables" if set(expected) == set(scores()) else "the paper and the grid"
    done = f"{counts.pop(State.DONE, 0)} of the {len(expected)} cells of {of} have a result"
    rest = [f"{counts[state]} {state}" for state in State if counts[state]]
    return done + (f"; {', '.join(rest)}." if rest else ".")


def _controls(findings: Findings) -> Markup:
    groups = list(dict.fromkeys(row.group for row in layout().rows)) + ["Others"]
    variants = dict.fromkeys([*layout().variants, *(cell.variant for cell in findings.cells)])
    radios = [
        tag(
            "label",
            tag("input", type="radio", name="weights", value=key, checked=index == 0),
            tag("span", title),
        )
        for index, (key, title) in enumerate(WEIGHTS.items())
    ]
    showing = {"": "everything", "done": "with our results", "gap": "with gaps"}
    showing |= {str(v): WORDS[v] for v in (Verdict.BETTER, Verdict.WITHIN, Verdict.WORSE)}
    order = {"ours": "our score", "difference": "difference to the paper", "paper": "paper's score"}
    return tag(
        "form",
        tag("fieldset", tag("legend", "Weights scored"), tag("div", radios, class_="switch")),
        tag(
            "div",
            tag("label", "Algorithm", tag("input", type="search", id="search", placeholder="any")),
            _select("group", "Group", {"": "all"} | {g: g for g in groups}),
            _select("variant", "Variant", {"": "all"} | {v: layout().heading(v) for v in variants}),
            _select("show", "Show", showing),
            _select("order", "Columns sort by", order),
            class_="filters",
        ),
        tag("p", id="status", role="status", class_="note"),
        class_="controls",
        aria_label="What is shown",
    )


def _select(key: str, label: str, options: dict[str, str]) -> Markup:
    choices = [tag("option", title, value=value) for value, title in options.items()]
    return tag("label", label, tag("select", choices, id=key))


# --- means -------------------------------------------------------------------------------------


def _means(findings: Findings, preferred: list[final.Line]) -> list[Markup]:
    names = [row.algorithm for row in layout().rows]
    cards, without = [], []
    if mean := final.overall(preferred):
        which = tag("a", "which runs", href="#table-final")
        note = tag("p", "averaged weights; ", which, class_="note")
        cards.append(tag("article", tag("h3", "Preferred runs"), _card(mean), note, class_="card"))
    for variant, heading in layout().variants.items():
        means = {w: mean_over(findings.chosen, variant, names, w) for w in WEIGHTS}
        if any(means.values()):
            shown = [tag("div", _card(mean), data_w=w) for w, mean in means.items()]
            cards.append(tag("article", tag("h3", heading), shown, class_="card"))
        else:
            without.append(heading)
    lead = _text(
        "Mean score over the algorithms that have a result here, and the paper's mean over the "
        "same algorithms. Preferred runs: for each algorithm that of Hint-ReLIC or of our variant "
        "“best” that validation prefers, beside the paper's Hint-ReLIC."
    )
    rest = _text(f"No result yet: {', '.join(without)}.", css="gap") if without else None
    return [part for part in (lead, tag("div", cards, class_="cards"), rest) if part]


def _card(mean: Mean | None) -> list[Markup] | Markup:
    if mean is None:
        return tag("p", "these weights were not kept", class_="gap")
    judged = mean.verdict
    return [
        tag("p", tag("a", tables.amount(mean.ours, mean.stderr), href="#how"), class_="large"),
        tag("p", "the paper ", tables.amount(*mean.paper), class_="paper"),
        tag("p", tag("b", SIGN[judged], aria_hidden="true"), f" {WORDS[judged]}",
            class_=f"pill {judged}"),
        *(tag("p", line, class_="note") for line in mean.told),
    ]  # fmt: skip


# --- legends and explanations ------------------------------------------------------------------


def _legend() -> Markup:
    signs = [
        tag("li", tag("span", SIGN[v], class_=f"pill {v}", aria_hidden="true"), f" {WORDS[v]}")
        for v in Verdict
    ]
    return tag("ul", signs, class_="legend", aria_label="Signs")


def _curve_legend() -> list[Markup]:
    keys = [
        tag("li", tag("span", class_="key line plain"), "plain weights"),
        tag("li", tag("span", class_="key line average"), "averaged weights"),
    ]
    return [
        _text(
            "Score in % over updates: the mean over seeds at every point that was recorded, with "
            "the range of the seeds. An axis starts where its label says. Validation is at "
            "training size, and chose the checkpoint; the test split chose nothing."
        ),
        tag("ul", keys, class_="legend"),
    ]


def _gaps(findings: Findings) -> list[Markup]:
    missing: dict[str, list[str]] = {}
    for algorithm, variant in findings.expected():
        if findings.cell(algorithm, variant).state is State.MISSING:
            missing.setdefault(variant, []).append(layout().title(algorithm))
    broken = [c for c in findings.cells if c.state not in (State.DONE, State.MISSING)]
    parts: list[Markup] = []
    if findings.plan.problem:
        parts.append(tag("p", findings.plan.problem, class_="problem"))
    if broken:
        items = [
            tag(
                "li",
                tag("a", details.name(cell), href=f"#{findings.anchors[cell.folder]}"),
                f": {cell.state}",
                f" at {cell.updates:,} updates" if cell.updates else None,
                f"; {cell.problem}" if cell.problem else None,
            )
            for cell in broken
        ]
        parts.append(tag("ul", items))
    if missing:
        lines = [
            [tag("dt", layout().heading(variant)), tag("dd", ", ".join(names))]
            for variant, names in missing.items()
        ]
        parts += [
            _text("There is no run folder for these. A cell is made by ",
                  tag("code", "hint-relic train NAME --variant VARIANT"), "."),
            tag("dl", lines),
        ]  # fmt: skip
    return parts or [_text("Nothing: every cell of the paper's tables has a result.")]


def _how(findings: Findings) -> list[Markup]:
    made = tag("code", f"hint-relic report {findings.top.resolve().name}")
    if findings.plan.command:
        made = join([made, " from a grid made by ", tag("code", findings.plan.command)])
    return [
        _text("This page, its means and its verdicts were made by ", made, "."),
        tag(
            "ul",
            tag("li", "A score is the mean over seeds ± its standard error. Each links to the "
                      "command, commit and versions that made it."),
            tag("li", "“Within” means: ours and the paper's differ by at most two standard errors "
                      "of their difference, the root of the sum of both squared. A single seed has "
                      "no standard error and is not judged."),
            tag("li", "A mean takes the algorithms that have both scores, and says how many. Its "
                      "standard error comes from those of its scores."),
            tag("li", "“Best on validation” is each seed's best checkpoint on fresh inputs of the "
                      "training sizes; “averaged” an exponential average of the weights. The "
                      "paper reports the former."),
            tag("li", "Fewer than three seeds, fewer than 10,000 updates, and settings that are "
                      "not the variant's are marked. Nothing is interpolated or filled in."),
            tag("li", "Where several run folders hold the same cell, the one with a result counts, "
                      "then the one that lies highest, then most updates, then most seeds, then "
                      "the first by name; never the score."),
            tag("li", "The paper's figures are those it prints: “Neural Algorithmic Reasoning with "
                      "Causal Regularisation”, ICML 2023."),
        ),
    ]  # fmt: skip
