"""The tables as text: CSV, a line for each score; LaTeX, a table for each of the paper's; Markdown,
all algorithms in one."""

from __future__ import annotations

import csv
import io
import re

from ..paper import Published, published
from .cells import WEIGHTS, Cell, Score, State
from .compare import Verdict, mean_over, shortfalls, verdict
from .final import FRESH, Line, in_mean, lines, means
from .gather import Findings
from .layout import Panel, layout

COLUMNS = (
    "algorithm", "variant", "weights", "state", "mean", "stderr", "seeds", "updates",
    "paper_mean", "paper_stderr", "difference", "verdict", "marks", "folder", "commit", "command",
    "problem",
)  # fmt: skip


def to_csv(findings: Findings) -> str:
    """Every cell of the paper and of the folder, under each kind of weights; gaps are empty."""
    keys = dict.fromkeys([*findings.expected(), *findings.chosen])
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for key in keys:
        cell = findings.cell(*key)
        for weights in WEIGHTS if cell.state is State.DONE else ("",):
            writer.writerow(_line(cell, weights))
    return out.getvalue()


def _line(cell: Cell, weights: str) -> dict[str, object]:
    ours, paper = cell.scores.get(weights), published(*cell.key)
    line: dict[str, object] = {
        "algorithm": cell.algorithm,
        "variant": cell.variant,
        "weights": weights,
        "state": cell.state,
        "updates": cell.updates,
        "marks": "; ".join(shortfalls(cell)),
        "folder": cell.folder,
        "commit": cell.made_by.get("commit"),
        "command": cell.made_by.get("command"),
        "problem": cell.problem,
    }
    if paper:
        line |= {"paper_mean": f"{paper.mean:.2f}", "paper_stderr": f"{paper.stderr:.2f}"}
    if ours:
        line |= {"mean": f"{ours.mean:.4f}", "seeds": len(ours.seeds)}
        line["stderr"] = "" if ours.stderr is None else f"{ours.stderr:.4f}"
    if ours and paper:
        line |= {
            "difference": f"{ours.mean - paper.mean:.4f}",
            "verdict": verdict(cell, weights),
        }
    return line


# --- LaTeX -------------------------------------------------------------------------------------

SIGNS = {
    Verdict.BETTER: r"\,$\uparrow$",
    Verdict.WITHIN: r"\,$\approx$",
    Verdict.WORSE: r"\,$\downarrow$",
    Verdict.OPEN: "",
    None: "",
}
SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
}  # fmt: skip


def escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)


def to_latex(findings: Findings) -> str:
    """The paper's tables for the best checkpoints, of plain and of averaged weights."""
    head = (
        "% Made by hint-relic report. Needs \\usepackage{booktabs}.\n"
        "% Ours / the paper's. Arrows: better or worse by more than two standard errors of the\n"
        "% difference; \\approx: within them. *: fewer seeds or updates, or other settings, than\n"
        "% the paper's. --: no result.\n"
    )
    parts = [
        _latex_table(findings, panel, weights)
        for weights in ("best", "best_average")
        for panel in layout().tables
    ]
    return head + "\n" + "\n".join(parts)


def _latex_table(findings: Findings, panel: Panel, weights: str) -> str:
    heads = " & ".join(
        rf"\multicolumn{{2}}{{c}}{{{escaped(layout().heading(v))}}}" for v in panel.columns
    )
    each = " & ".join(["ours & paper"] * len(panel.columns))
    caption = f"{escaped(panel.title)} ({escaped(WEIGHTS[weights])})"
    what = r"micro-F$_1$ on the test split, \%, mean $\pm$ standard error over seeds"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}: {what}.}}",
        rf"\label{{tab:{panel.key.replace('_', '-')}-{weights.replace('_', '-')}}}",
        rf"\begin{{tabular}}{{l{'rr' * len(panel.columns)}}}",
        r"\toprule",
        rf"& {heads} \\",
        rf"Algorithm & {each} \\",
        r"\midrule",
    ]
    rows = panel.rows()
    for before, row in zip([None, *rows], rows):
        if before is not None and before.group != row.group:
            lines.append(r"\midrule")
        cells = [_latex_cell(findings.cell(row.algorithm, v), weights) for v in panel.columns]
        lines.append(rf"{escaped(row.title)} & {' & '.join(cells)} \\")
    names = [row.algorithm for row in rows]
    means = []
    for variant in panel.columns:
        mean = mean_over(findings.chosen, variant, names, weights)
        if mean is None:
            means.append("-- & --")
            continue
        ours = _amount(mean.ours, mean.stderr) + SIGNS[mean.verdict]
        count = rf" \scriptsize({len(mean.algorithms)} of {mean.of})"
        means.append(f"{ours}{count} & {_amount(*mean.paper)}")
    lines += [
        r"\midrule",
        rf"Mean, where both are there & {' & '.join(means)} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: Cell, weights: str) -> str:
    ours, paper = cell.scores.get(weights), published(*cell.key)
    left = "--"
    if ours:
        star = "$^*$" if shortfalls(cell) else ""
        left = _amount(ours.mean, ours.stderr) + SIGNS[verdict(cell, weights)] + star
    return f"{left} & {_amount(*paper) if paper else '--'}"


def _amount(mean: float, stderr: float | None) -> str:
    return f"{mean:.2f}" + (rf" $\pm$ {stderr:.2f}" if stderr is not None else "")


# --- Markdown ----------------------------------------------------------------------------------

IN_WORDS = {
    Verdict.BETTER: "above",
    Verdict.WITHIN: "level",
    Verdict.WORSE: "below",
    Verdict.OPEN: "open",
    None: "",
}


def to_markdown(findings: Findings) -> str:
    """All algorithms in one table; verdicts are against the paper's Hint-ReLIC."""
    found = lines(findings)
    heads = (
        "algorithm", "our run, updates", "ours", f"{FRESH} fresh", "paper: baseline",
        "paper: Hint-ReLIC", "paper: best column", "elsewhere", "verdict",
    )  # fmt: skip
    rows = [heads, ("---",) * len(heads)]
    rows += [_markdown_row(line) for line in found]
    if taken := in_mean(found):
        ours, *others = means(taken, "score", "fresh_of_all", "baseline", "method", "column")
        label = f"**mean of {len(taken)}** (without DFS)"
        rows.append((label, "", f"**{ours}**", *others, "", ""))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _markdown_row(line: Line) -> tuple[str, ...]:
    cell = line.cell
    return (
        line.row.title,
        f"`{_word(cell.variant)}`, {cell.updates or 0:,}" if cell else "none",
        _plain(line.score),
        _plain(line.fresh) + (f" ({line.fresh_of})" if line.fresh_of else ""),
        _plain(line.baseline),
        _plain(line.method),
        f"{line.column.mean:.2f} (`{line.variant}`)",
        f"{line.elsewhere.score:g}" if line.elsewhere else "",
        IN_WORDS[line.verdict],
    )


def _plain(score: Score | Published | None) -> str:
    if score is None:
        return ""
    return f"{score.mean:.2f}" + (f" ± {score.stderr:.2f}" if score.stderr is not None else "")


def _word(text: str) -> str:
    """A name from a file as a word of a table, whatever it holds."""
    return re.sub(r"[^\w.-]", "?", text)
