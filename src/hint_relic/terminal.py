"""What commands share with the terminal: how options are declared and read, where output goes."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

WIDE = 100_000  # columns where the output is no terminal: nothing is folded or cut


# --- options -----------------------------------------------------------------------------------


def option(metavar: str, default: str = "") -> Any:
    """How an option is shown in the help: the word for its value, and for its default."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=default)


def whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a whole number") from None


# None stands for "not given". tyro's own reading of it is right but tells mistakes at length.
Whole = Annotated[
    int | None,
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="N",
        instance_from_str=lambda words: whole(words[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    ),
]
Flag = Annotated[bool, tyro.conf.arg(help_behavior_hint="")]


def ask(
    options: Any, program: str, about: str | None, arguments: list[str], default: Any = None
) -> Any:
    """Let tyro read the arguments; its complaints become one line."""
    given = {} if default is None else {"default": default}
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(
                options,
                prog=program,
                description=about,
                args=arguments,
                config=(tyro.conf.FlagCreatePairsOff, tyro.conf.EnumChoicesFromValues),
                **given,
            )
    except SystemExit as stop:
        if not stop.code:
            raise
        raise UserError(f"{one_line(complaint.getvalue())} (see {program} --help)") from None


def one_line(boxed: str) -> str:
    """The sentences of tyro's complaint, without its box, its title and its advice on help."""
    parts: list[list[str]] = [[]]
    for line in boxed.splitlines():
        words = line.strip("│ ")
        if not words.strip("─-") or words.startswith(("╭", "╰")):  # a rule, or a border
            parts.append([])
        else:
            parts[-1].append(words)
    told = [" ".join(part) for part in parts if part]
    if len(told) > 1 and "╭" not in boxed:  # then the title stands above the first rule
        del told[0]
    advice = ("For full", "Argument helptext")
    return "; ".join(part for part in told if not part.startswith(advice))


# --- output ------------------------------------------------------------------------------------


def console() -> Console:
    """Standard output: coloured and as wide as the terminal, or plain and never cut."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else WIDE
    return Screen(width=width, markup=False, emoji=False)  # files and users write text only


@contextlib.contextmanager
def progress() -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal; it leaves nothing behind."""
    from rich.console import Console
    from rich.progress import Progress

    shown = sys.stderr.isatty()
    bar = Progress(console=Console(stderr=True), transient=True, disable=not shown)
    with bar if shown else contextlib.nullcontext():  # stopped, an older rich prints an empty line
        yield bar


def print_json(data: Any) -> None:
    json.dump(data, sys.stdout, allow_nan=False)
    print()
