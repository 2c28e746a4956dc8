"""The command that writes the player's page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import tyro

from .errors import UserError
from .terminal import Flag, Whole, option, progress

if TYPE_CHECKING:
    from .play import Recording
    from .reasoner import Reasoner


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
    from .files import write_atomically
    from .play import render, view_of
    from .play.page import check

    get(options.name)
    if options.out.is_dir():
        raise UserError(f"{options.out} is a folder; give --out the name of a file")
    if not options.out.parent.is_dir():
        raise UserError(f"there is no folder {options.out.parent} to write to; make it first")
    if options.weights is not None and options.model is None:
        raise UserError("--weights are those of a run folder; give it as --model")
    value = given(options)
    with progress() as bar:
        task = bar.add_task(f"running {options.name} (the first time, compiling it)", total=None)
        recordings = [requested(options, value)]
        check(recordings[0])
        network = None if options.model is None else Network.load(options.model, options.weights)
        if network is not None:
            bar.update(task, description="running the network (the first time, compiling it)")
            recordings = [network.on(recordings[0], value)]
        if options.view:
            view = view_of(recordings[0], options.seed or 0)
            recordings.append(view if network is None else network.on(view))
    write_atomically(options.out, render(recordings).encode())
    print(f"{options.out}: {recordings[0].trace.steps} steps of {options.name}")
    if options.open:
        import webbrowser

        webbrowser.open(options.out.resolve().as_uri())


def given(options: Play) -> Any:
    """The user's own input; None where one is to be drawn."""
    from .data import user_input

    if options.input is None:
        return None
    if options.size is not None:
        raise UserError("--input is not drawn: leave out --size, or --input")
    if options.seed is not None and not options.view:
        raise UserError("--input is not drawn: leave out --seed, or --input")
    return user_input.given(options.input)


def requested(options: Play, value: Any) -> Recording:
    """The run that is asked for."""
    from .algorithms import get
    from .data import trace as draw_trace
    from .data import user_input
    from .play import Recording

    if value is None:
        size = 8 if options.size is None else options.size
        return Recording(draw_trace(options.name, size, options.seed or 0))
    from .reasoner.taken import take

    taken = take(get(options.name), value, {})
    trace = user_input.run(options.name, taken.value)
    return Recording(trace, labels=tuple(map(str, taken.labels or ())))


class Network(NamedTuple):
    """A trained network, and what it is called on the page."""

    reasoner: Reasoner
    name: str

    @classmethod
    def load(cls, model: str, weights: str | None) -> Network:
        from .reasoner import Reasoner

        reasoner = Reasoner.load(model, weights=weights)
        kind = reasoner.card.get("weights", "")
        return cls(reasoner, f"{Path(model).name or model}{kind and f' ({kind})'}")

    def on(self, recording: Recording, value: Any = None) -> Recording:
        """What it says about a recording; of a user's own input, as the reasoner takes it."""
        from .play import predicted

        if self.reasoner.algorithm.name != recording.trace.algorithm:
            raise UserError(
                f"{self.name} was trained on {self.reasoner.algorithm.name}, "
                f"not {recording.trace.algorithm}; give another --model"
            )
        answer = self.reasoner.follow(recording.trace) if value is None else self.reasoner(value)
        return predicted(recording, answer, self.name)
