"""From recordings to one HTML file that asks for nothing outside itself."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from ..algorithms import get
from ..errors import UserError
from ..spec import Field, Location, Stage, of_stage
from .layout import layout
from .pack import Pack
from .record import Recording, accuracy, activity

MAX_NODES = 256  # an index fits a byte
MAX_BYTES = 2**27  # of arrays, before they are compressed
MAX_PAGE = 2_000_000  # characters, beyond which details are left out
SCRIPTS = ("data", "draw", "array", "graph", "tables", "player")
STAGES = (Stage.INPUT, Stage.HINT, Stage.OUTPUT)
DRAWN = frozenset({"pos", "A", "adj"})  # inputs that are shown by the drawing itself


def render(recordings: Sequence[Recording]) -> str:
    """The page that plays a recording; a second one, of its view, is shown beside it.

    Predicted pair hints can be large. Where the page would be, their confidences are left out
    first, then they themselves, and the page says so.
    """
    first = recordings[0]
    for recording in recordings:
        check(recording)
    details: tuple[frozenset[str], ...] = (
        frozenset({"guess", "sure"}),
        frozenset({"guess"}),
        frozenset(),
    )
    for kept in details:
        pack = Pack()
        shown = [_recording(recording, pack, kept) for recording in recordings]
        text = pack.text()
        if len(text) < MAX_PAGE:
            break
    for data, recording, at in zip(shown, recordings, _places(recordings), strict=True):
        data["at"] = None if at is None else np.round(at, 4).tolist()
        data["fresh"] = _fresh(recording)
    pairs = any(field.location is Location.EDGE for field in first.trace.spec.values())
    header = {
        "title": get(first.trace.algorithm).title,
        "source": first.source,
        "notes": list(first.notes),
        "recordings": shown,
        "left_out": sorted({"guess", "sure"} - kept) if first.prediction and pairs else [],
    }
    return _filled(get(first.trace.algorithm).title, header, text)


def check(recording: Recording) -> None:
    """Refuse what no page could show."""
    trace = recording.trace
    if trace.nodes > MAX_NODES:
        raise UserError(f"the player shows at most {MAX_NODES} nodes, not {trace.nodes}")
    size = sum(2 * value.size for value in trace.hints.values())
    if size > MAX_BYTES:
        raise UserError(f"{trace.steps} steps on {trace.nodes} nodes are too much for one page")


# --- data ----------------------------------------------------------------------------------------


def _recording(recording: Recording, pack: Pack, kept: frozenset[str]) -> dict[str, Any]:
    """One recording for the page's script; its arrays go to the pack."""
    trace, said = recording.trace, recording.prediction
    inputs, hints, outputs = (of_stage(trace.spec, stage) for stage in STAGES)
    data: dict[str, Any] = {
        "nodes": trace.nodes,
        "steps": trace.steps,
        "names": list(recording.names),
        "until": recording.until,
        "inputs": [
            {**_field(name, field), "values": _plain(trace.inputs[name])}
            for name, field in inputs.items()
            if name not in DRAWN
        ],
    }
    if "A" in trace.inputs:
        data.update(_edges(trace.inputs["A"]))
    guess, sure = (said.hints, said.confidence) if said else ({}, {})
    data["hints"] = [
        _array(name, field, trace.hints[name], pack, kept, guess.get(name), sure.get(name))
        for name, field in hints.items()
    ]
    guess, sure = (said.outputs, said.output_confidence) if said else ({}, {})
    data["outputs"] = [
        _array(name, field, _row(trace.outputs[name]), pack, kept,
               _row(guess.get(name)), _row(sure.get(name)))
        for name, field in outputs.items()
    ]  # fmt: skip
    share = accuracy(recording)
    if np.isnan(share).all():
        data["line"] = {"of": "changes", "values": activity(trace).tolist()}
    else:
        known = [None if np.isnan(x) else int(1000 * x) for x in share]
        data["line"] = {"of": "accuracy", "values": known}
    return data


def _row(value: Any) -> Any:
    """An output as the only step of it, if there is one."""
    return None if value is None else np.asarray(value)[None]


def _field(name: str, field: Field) -> dict[str, Any]:
    return {"name": name, "location": field.location, "kind": field.kind, "classes": field.classes}


def _array(
    name: str,
    field: Field,
    truth: np.ndarray,
    pack: Pack,
    kept: frozenset[str],
    guess: np.ndarray | None,
    sure: np.ndarray | None,
) -> dict[str, Any]:
    data = _field(name, field)
    data["still"] = len(truth) > 1 and bool(np.all(truth == truth[0]))
    data["truth"] = pack.add(field.kind, truth)
    all_kept = field.location is not Location.EDGE
    if guess is not None and (all_kept or "guess" in kept):
        data["guess"] = pack.add(field.kind, guess, truth)
        if sure is not None and (all_kept or "sure" in kept):
            data["sure"] = pack.add_confidence(sure)
    return data


def _plain(value: np.ndarray) -> Any:
    """A list (or a number) that JSON can hold, with six digits."""
    if value.ndim == 0:
        return float(f"{float(value):.6g}")
    return [float(f"{x:.6g}") for x in value.ravel().tolist()]


def _edges(A: np.ndarray) -> dict[str, Any]:
    """The edges of a graph, once each; with weights where they say something."""
    directed = not np.array_equal(A, A.T)
    weighted = bool(np.any((A != 0) & (A != 1)))
    edges = []
    for u, v in np.argwhere(A).tolist():
        if u != v and (directed or u < v):
            edges.append([u, v, float(f"{A[u, v]:.3g}")] if weighted else [u, v])
    return {"edges": edges, "directed": directed}


def _places(recordings: Sequence[Recording]) -> list[np.ndarray | None]:
    """Where nodes are drawn: old ones in the same places in a view as in the input."""
    *_, largest = recordings
    at = layout(largest.trace)
    if at is None or largest.places is None:
        return [at] * len(recordings)
    return [at[largest.places], at]


def _fresh(recording: Recording) -> list[int]:
    """The nodes that a view adds."""
    if recording.places is None:
        return []
    return np.setdiff1d(np.arange(recording.trace.nodes), recording.places).tolist()


# --- text ----------------------------------------------------------------------------------------


def _file(name: str) -> str:
    return (resources.files(__package__) / "web" / name).read_text(encoding="utf-8")


def _filled(title: str, header: dict[str, Any], packed: str) -> str:
    """The template with everything put in; only this script and this style may run."""
    style = _file("player.css")
    scripts = "\n".join(_file(f"{name}.js") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{scripts}}})();\n'
    values = {
        "title": html.escape(title),
        "policy": f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "header": _embedded(header),
        "packed": packed,
    }
    parts = _file("page.html").split("@@")
    return "".join(values[part] if i % 2 else part for i, part in enumerate(parts))


def _digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _embedded(data: Any) -> str:
    """JSON that can't end the element it stands in."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
