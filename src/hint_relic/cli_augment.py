"""The command that shows an input and its view."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from .errors import UserError
from .terminal import Flag, Whole, console, option, print_json, progress


@dataclass(frozen=True)
class Augment:
    """Show an input and its augmented view: what was added, until when the steps agree, and what
    is contrasted."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    size: Annotated[Whole, option("N", "(default: 8)")] = None
    """number of items or nodes of the input"""
    seed: Annotated[Whole, option("S", "(default: 0)")] = None
    """seed to draw it with; of its samples the first is shown in which a pointer changes"""
    view: Annotated[str, option("KIND")] = "paper"
    """paper (for 17 algorithms) or verified (for 29)"""
    new: Annotated[Whole, option("K", "(default: half as many as the input has)")] = None
    """new nodes at most"""
    hint: Annotated[str | None, option("HINT", "(default: one that changes)")] = None
    """the contrasted hint to look at"""
    step: Annotated[Whole, option("T", "(default: the last one that changes it)")] = None
    """the step to look at"""
    node: Annotated[str | None, option("V", "(default: one that the step changes)")] = None
    """the node of the input to look at; A,V for a hint of pairs of nodes"""
    svg: Annotated[Path | None, option("FILE.svg")] = None
    """draw a picture, too"""
    png: Annotated[Path | None, option("FILE.png")] = None
    """the same as PNG, where Chromium or CairoSVG is installed"""
    json: Flag = False
    """print JSON instead of tables"""


def augment(options: Augment) -> None:
    from .algorithms import get
    from .pair import text
    from .pair.contrast import contrasts
    from .pair.pair import draw_pair

    algorithm = get(options.name)
    files = _checked_files(options)
    node = _index(options.node)
    with progress() as bar:
        bar.add_task(f"drawing {options.name} (the first time, compiling it)", total=None)
        size = 8 if options.size is None else options.size
        pair = draw_pair(algorithm, size, options.seed or 0, options.view, options.new)
        terms = contrasts(pair, options.hint, options.step, node)
        if files:
            _draw(pair, terms, options)
    if options.json:
        print_json(text.data(pair, terms))
    else:
        console().print(text.tables(pair, terms))
        for file in files:
            print(f"picture: {file}")


def _draw(pair, terms, options: Augment) -> None:
    from .data.export import write_whole
    from .pair.picture import picture
    from .pair.png import rasterise

    drawn = picture(pair, terms[0] if terms else None)
    if options.png is not None:
        image = rasterise(drawn)  # before anything is written: it may not be possible
        write_whole(options.png, lambda file: file.write(image))
    if options.svg is not None:
        write_whole(options.svg, lambda file: file.write(drawn.encode()))


def _checked_files(options: Augment) -> list[Path]:
    """The pictures to write; refuses, before any work, what can't be written."""
    from .data.export import check_path

    wanted = {".svg": options.svg, ".png": options.png}
    files = []
    for suffix, path in wanted.items():
        if path is not None:
            if path.suffix.lower() != suffix:
                raise UserError(f"--{suffix[1:]} takes a name that ends in {suffix}, not {path}")
            check_path(path)
            files.append(path)
    return files


def _index(given: str | None) -> tuple[int, ...] | None:
    """The numbers of `5`, or of `3,5`."""
    if given is None:
        return None
    try:
        index = tuple(int(word) for word in given.split(","))
    except ValueError:
        index = ()
    if len(index) not in (1, 2):
        raise UserError(f"--node takes a node such as 5, or a pair such as 3,5, not {given!r}")
    return index
