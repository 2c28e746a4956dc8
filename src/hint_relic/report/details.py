"""Cell by cell: learning curves, hints along the steps, time and memory, and the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .cells import WEIGHTS, Cell, Evaluation, State
from .charts import along, learning, thinned
from .compare import shortfalls
from .files import is_number
from .gather import Findings
from .layout import layout
from .markup import Markup, join, tag
from .settings import command, other_settings
from .tables import amount, filtered, frame

TAKES_LONG = 60.0  # seconds: from here on minutes are told


def name(cell: Cell) -> str:
    return f"{layout().title(cell.algorithm)}, {layout().heading(cell.variant)}"


def _link(findings: Findings, cell: Cell) -> Markup:
    return tag("a", name(cell), href=f"#{findings.anchors[cell.folder]}")


# --- curves ------------------------------------------------------------------------------------


def curves(findings: Findings) -> list[Markup]:
    """A figure for each cell that recorded scores while it trained."""
    return [_curves(findings, cell) for cell in findings.cells if cell.curves]


def _curves(findings: Findings, cell: Cell) -> Markup:
    asked = cell.config.get("steps")
    last = max(cell.updates or 0, asked if is_number(asked) else 0, 1)
    panels = []
    for title, curve in cell.curves.items():
        every = thinned(curve)
        note = f" (every {every}th point shown)" if every > 1 else ""
        label = f"{name(cell)}: {title} score over {last:,} updates"
        panels.append(_panel(title + note, learning(curve, last, label)))
    unfinished = None
    if cell.state is not State.DONE:
        unfinished = tag("span", f"{cell.state} at {cell.updates or 0:,} updates", class_="gap")
    return _figure(findings, cell, unfinished, panels)


def _figure(findings: Findings, cell: Cell, note: Markup | None, panels: list[Markup]) -> Markup:
    return tag(
        "figure",
        tag("figcaption", tag("h3", _link(findings, cell)), note),
        tag("div", panels, class_="panels"),
        class_="cell-figure",
        **filtered(cell.algorithm, [cell], cell.variant),
    )


def _panel(title: str, chart: Markup) -> Markup:
    return tag("div", tag("p", title, class_="panel-title"), chart)


# --- hints -------------------------------------------------------------------------------------


def hints(findings: Findings) -> list[Markup]:
    """A figure for each evaluation that lies in a run folder: a panel for each hint."""
    return [
        _hints(findings, cell, evaluation)
        for cell in findings.cells
        for evaluation in cell.evaluations
    ]


def _hints(findings: Findings, cell: Cell, evaluation: Evaluation) -> Markup:
    scalar = scalars(cell.algorithm)
    panels = []
    for hint, values in evaluation.hints.items():
        error = hint in scalar
        what = "squared error" if error else "score, %"
        label = f"{name(cell)}: {what} of hint {hint} over {len(values)} steps"
        panels.append(_panel(f"{hint}: {what}", along(values, label, error=error)))
    weights = WEIGHTS.get(evaluation.weights, evaluation.weights)
    note = tag("span", f"{evaluation.title}, {weights}", class_="note")
    return _figure(findings, cell, note, panels)


def scalars(algorithm: str) -> set[str]:
    """The hints of an algorithm that are plain numbers: their score is an error."""
    from ..algorithms import ALGORITHMS
    from ..spec import Kind

    known = ALGORITHMS.get(algorithm)
    spec = known.spec if known else {}
    return {hint for hint, field in spec.items() if field.kind is Kind.SCALAR}


# --- time and memory ---------------------------------------------------------------------------


def duration(seconds: float) -> str:
    if seconds < TAKES_LONG:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def megabytes(amount: float) -> str:
    return f"{amount:,.0f} MB"


def count(amount: float) -> str:
    return f"{amount:,}"


def resources(findings: Findings) -> Markup:
    """Time, memory and hardware of each cell."""
    heads = ["Cell", "State", "Updates", "Seeds", "Time", "Compiling", "Waiting"]
    heads += ["Memory", "On device", "Hardware"]
    rows = [
        tag(
            "tr",
            tag("th", _link(findings, cell), scope="row"),
            tag("td", str(cell.state), class_=f"state {cell.state}"),
            _measure(cell.updates, count),
            _measure(cell.seeds, count),
            _measure(cell.time.get("total_s"), duration),
            _measure(cell.time.get("compile_s"), duration),
            _measure(cell.time.get("waited_for_data_s"), duration),
            _measure(cell.memory.get("process_peak_mb"), megabytes),
            _measure(cell.memory.get("device_peak_mb"), megabytes),
            tag("td", hardware(cell) or "not recorded"),
            **filtered(cell.algorithm, [cell], cell.variant),
        )
        for cell in findings.cells
    ]
    caption = "All seeds of a cell together; compiling and waiting for data included. Peak memory."
    return frame("table-resources", "Each cell", caption, heads, rows, heading=False)


def _measure(value: float | None, told: Callable[[float], str]) -> Markup:
    if value is None:
        return tag("td", "–", class_="number")
    return tag("td", told(value), class_="number", data_number=value)


def hardware(cell: Cell) -> str:
    made = cell.made_by
    device = made.get("device")
    if not isinstance(device, str):
        return ""
    several = f"{made['devices']} × " if _many(made.get("devices")) else ""
    cores = made.get("cpus")
    return several + device + (f", {cores} CPU cores" if isinstance(cores, int) else "")


def _many(value: Any) -> bool:
    return isinstance(value, int) and value > 1


# --- cells -------------------------------------------------------------------------------------


def cells(findings: Findings) -> list[Markup]:
    """What made each cell: command, commit, versions, settings; its scores seed by seed."""
    return [_cell(findings, cell) for cell in findings.cells]


def _cell(findings: Findings, cell: Cell) -> Markup:
    chosen = findings.chosen[cell.key].folder == cell.folder
    summary = [tag("span", name(cell), class_="title"), _state(cell)]
    inside = [
        tag("p", cell.problem, class_="problem") if cell.problem else None,
        tag("pre", cell.traceback) if cell.traceback else None,
        None
        if chosen
        else tag("p", "Another run folder of the same cell stands in the tables.", class_="note"),
        [tag("p", note, class_="note") for note in cell.notes],
        _facts(cell),
        _seeds(cell),
    ]
    return tag(
        "details",
        tag("summary", summary),
        tag("div", inside, class_="inside"),
        id=findings.anchors[cell.folder],
        class_="cell",
        **filtered(cell.algorithm, [cell], cell.variant),
    )


def _state(cell: Cell) -> Markup:
    lacks = shortfalls(cell)
    words = ", ".join([str(cell.state), *lacks])
    return tag("span", words, class_=f"state {cell.state}")


def _facts(cell: Cell) -> Markup:
    made = cell.made_by
    versions = made.get("versions")
    told = {k: v for k, v in versions.items() if v} if isinstance(versions, dict) else {}
    if made.get("python"):
        told = {"python": made["python"], **told}
    settings = other_settings(cell.config)
    facts = {
        "Folder": tag("code", cell.folder),
        "Command": _code(made.get("command"), "not recorded"),
        "The same, from its settings": _code(command(cell.config), "config.json is not there"),
        "Other settings than the variant's": ", ".join(f"{k} = {v}" for k, v in settings.items()),
        "Commit": _code(made.get("commit"), "not recorded"),
        "Versions": ", ".join(f"{k} {v}" for k, v in told.items()) or "not recorded",
        "Hardware": hardware(cell) or "not recorded",
    }
    pairs = [[tag("dt", key), tag("dd", value)] for key, value in facts.items() if value]
    return tag("dl", pairs)


def _code(value: Any, missing: str) -> Markup | str:
    """A command or a name, broken between its words only."""
    if not isinstance(value, str) or not value:
        return missing
    words = [tag("span", word, class_="word") for word in value.split(" ")]
    return tag("code", join(words, " "))


def _seeds(cell: Cell) -> Markup | None:
    """Every score that was recorded: weights, outputs, seeds."""
    if not cell.scores:
        return None
    rows = []
    for weights, score in cell.scores.items():
        each = ", ".join(f"{value:.2f}" for value in score.seeds)
        steps = ", ".join(f"{step:,}" for step in score.steps) or "not recorded"
        outputs = "; ".join(
            f"{output} {sum(values) / len(values):.2f}" for output, values in score.outputs.items()
        )
        rows.append(
            tag(
                "tr",
                tag("th", WEIGHTS[weights], scope="row"),
                tag("td", amount(score.mean, score.stderr), class_="number"),
                tag("td", each),
                tag("td", outputs),
                tag("td", steps),
            )
        )
    heads = ("Weights", "Mean", "Each seed", "Each output", "From update")
    table = tag(
        "table",
        tag("caption", "Scores on the test split, %"),
        tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
        tag("tbody", rows),
    )
    label = f"Scores of {name(cell)}"
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)
