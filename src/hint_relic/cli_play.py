"""The command that writes the player's page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from .cli_solve import decode, is_literal
from .errors import UserError
from .terminal import Flag, Whole, option, progress

if TYPE_CHECKING:
    from .play import Recording


@dataclass(frozen=True)
class Play:
    """Write a page that plays an algorithm step by step: one HTML file, for any browser."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    out: Annotated[Path, option("PAGE.html", "(required)")]
    """where to write"""
    input: Annotated[str | None, option("INPUT")] = None
    """your own input, such as 5,2,8,1 or JSON, or a file as for `hint-relic solve` (`-`: standard
    input)"""
    size: Annotated[Whole, option("N", "(default: 8)")] = None
    """number of items or nodes to draw instead"""
    seed: Annotated[Whole, option("S", "(default: 0)")] = None
    """seed to draw them, or a view, with"""
    model: Annotated[str | None, option("FILE|RUN|NAME")] = None
    """show beside the true steps those of a trained network: a packed reasoner, a run folder, or
    the name of one that is shipped"""
    weights: Annotated[str | None, option("KIND")] = None
    """of a run folder: best_average, best, last or last_average"""
    view: Flag = False
    """show beside the input an augmented view of it, and the steps on that"""
    open: Flag = False
    """open the page in the browser"""


def play(options: Play) -> None:
    from .algorithms import get
    from .play import render, view_of
    from .play.page import check
    from .train.checkpoint import write_atomically

    get(options.name)
    if options.out.is_dir():
        raise UserError(f"{options.out} is a folder; give --out the name of a file")
    if not options.out.parent.is_dir():
        raise UserError(f"there is no folder {options.out.parent} to write to; make it first")
    if options.weights is not None and options.model is None:
        raise UserError("--weights are those of a run folder; give it as --model")
    with progress() as bar:
        bar.add_task(f"running {options.name} (the first time, compiling it)", total=None)
        recordings = [requested(options)]
        check(recordings[0])
        if options.view:
            recordings.append(view_of(recordings[0], options.seed or 0))
    if options.model is not None:
        recordings = with_predictions(recordings, options.model, options.weights)
    write_atomically(options.out, render(recordings).encode())
    print(f"{options.out}: {recordings[0].trace.steps} steps of {options.name}")
    if options.open:
        import webbrowser

        webbrowser.open(options.out.resolve().as_uri())


def requested(options: Play) -> Recording:
    """The run that is asked for."""
    from .algorithms import get
    from .data import user_input
    from .data.room import bounded_trace
    from .play import Recording

    if options.input is None:
        size = 8 if options.size is None else options.size
        return Recording(bounded_trace(options.name, size, options.seed or 0))
    if options.size is not None:
        raise UserError("--input is not drawn: leave out --size, or --input")
    if options.seed is not None and not options.view:
        raise UserError("--input is not drawn: leave out --seed, or --input")
    from .reasoner.taken import take

    literal = is_literal(options.input)
    value = decode(options.input) if literal else user_input.read(options.input)
    taken = take(get(options.name), value, {})
    trace = user_input.run(options.name, taken.value)
    return Recording(trace, labels=tuple(map(str, taken.labels or ())))


def with_predictions(
    recordings: list[Recording], model: str, weights: str | None
) -> list[Recording]:
    """What a trained network says about each."""
    from .play import predicted
    from .reasoner import Reasoner

    with progress() as bar:
        task = bar.add_task("loading the network", total=None)
        reasoner = Reasoner.load(model, weights=weights)
        bar.update(task, description="running it (the first time, compiling)")
        kind = reasoner.card.get("weights", "")
        source = f"{Path(model).name or model}{kind and f' ({kind})'}"
        return [predicted(r, reasoner.follow(r.trace), source) for r in recordings]
