"""The command that writes the player's page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .errors import UserError
from .terminal import Flag, Whole, option, progress

if TYPE_CHECKING:
    from .types import Trace

NUMBERS = re.compile(r"[-+\d.eE\s]+(,[-+\d.eE\s]+)+")  # 5,2,8: no name of a file


@dataclass(frozen=True)
class Play:
    """Write a page that plays an algorithm step by step: one HTML file, for any browser."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    out: Annotated[Path, option("PAGE.html", "(required)")]
    """where to write"""
    input: Annotated[str | None, option("INPUT")] = None
    """your own array or graph: a file, numbers such as 5,2,8, or JSON (`-`: standard input)"""
    size: Annotated[Whole, option("N", "(default: 8)")] = None
    """number of items or nodes to draw instead"""
    seed: Annotated[Whole, option("S", "(default: 0)")] = None
    """seed to draw them, or a view, with"""
    model: Annotated[Path | None, option("RUN")] = None
    """show beside the true steps those of a trained network: a run folder"""
    weights: Annotated[str, option("KIND")] = "best"
    """best (on validation) or best_average"""
    view: Flag = False
    """show beside the input an augmented view of it, and the steps on that"""
    open: Flag = False
    """open the page in the browser"""


def play(options: Play) -> None:
    from .algorithms import get
    from .play import Recording, predict, render, view_of
    from .play.page import check

    get(options.name)
    if options.out.is_dir():
        raise UserError(f"{options.out} is a folder; give --out the name of a file")
    if not options.out.parent.is_dir():
        raise UserError(f"there is no folder {options.out.parent} to write to; make it first")
    with progress() as bar:
        bar.add_task(f"running {options.name} (the first time, compiling it)", total=None)
        recordings = [Recording(requested(options))]
        check(recordings[0])
        if options.view:
            recordings.append(view_of(recordings[0], options.seed or 0))
    if options.model is not None:
        with progress() as bar:
            bar.add_task(f"running the network of {options.model}", total=None)
            recordings = [
                replace(
                    recording,
                    prediction=predict(recording.trace, options.model, options.weights),
                    source=f"{options.model.name or options.model} ({options.weights})",
                )
                for recording in recordings
            ]
    write(options.out, render(recordings))
    print(f"{options.out}: {recordings[0].trace.steps} steps of {options.name}")
    if options.open:
        import webbrowser

        webbrowser.open(options.out.resolve().as_uri())


def requested(options: Play) -> Trace:
    """The run that is asked for."""
    from .data import user_input
    from .data.room import bounded_trace

    if options.input is None:
        return bounded_trace(
            options.name, 8 if options.size is None else options.size, options.seed or 0
        )
    if options.size is not None:
        raise UserError("--input is not drawn: leave out --size, or --input")
    if options.seed is not None and not options.view:
        raise UserError("--input is not drawn: leave out --seed, or --input")
    return user_input.run(options.name, given(options.input))


def given(text: str) -> Any:
    """An input that is typed, or the file of that name."""
    from .data import user_input

    if text.lstrip()[:1] in ("[", "{"):
        return user_input.decode(text, "--input")
    if NUMBERS.fullmatch(text) and not Path(text).exists():
        return text
    return user_input.read(text)


def write(file: Path, text: str) -> None:
    """All of it, or nothing."""
    from .train.checkpoint import write_atomically

    write_atomically(file, text.encode())
