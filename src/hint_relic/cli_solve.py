"""The commands around trained reasoners: call one, list those that are shipped, pack a new one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from .cli_train import _numbers
from .errors import UserError
from .terminal import Flag, Whole, console, option, print_json, progress

# --- hint-relic solve ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Solve:
    """Let a trained network execute an algorithm on your own input."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    input: Annotated[str, option("INPUT", "(required)")]
    """the input itself, such as 5,2,8,1 or JSON, or a file: JSON, numbers, lines `from to weight`,
    or GraphML (`-`: standard input)"""
    model: Annotated[Path | None, option("FILE|RUN", "(default: the one shipped)")] = None
    """a packed reasoner or a run folder"""
    weights: Annotated[str | None, option("KIND")] = None
    """of a run folder: best_average, best, last or last_average"""
    source: Annotated[str | None, option("NODE")] = None
    """of a graph: the node to start from"""
    check: Flag = False
    """run the true algorithm too, and say where they part"""
    json: Flag = False
    """print JSON instead of tables"""


def solve(options: Solve) -> None:
    from .algorithms import get
    from .data.user_input import given

    get(options.name)
    value = given(options.input)
    fields = {} if options.source is None else {"source": _node(value, options.source)}
    with progress() as bar:
        task = bar.add_task("loading", total=None)
        from .reasoner import Reasoner

        reasoner = Reasoner.load(options.model or options.name, weights=options.weights)
        if reasoner.algorithm.name != options.name:
            raise UserError(
                f"{options.model} was trained on {reasoner.algorithm.name}, not {options.name}"
            )
        bar.update(task, description="solving (the first time, compiling)")
        answer = reasoner(value, **fields)
    if options.json:
        print_json(answer_data(answer, options.check))
        return
    screen = console()
    screen.print(answer_table(answer))
    if options.check:
        print(answer.check())


def _node(value: Any, word: str) -> Any:
    """A node as it stands on the command line: a number, unless the graph names its nodes."""
    from .reasoner.graphs import has_names

    named = isinstance(value, str) or (isinstance(value, dict) and has_names(value))
    return word if named or not word.isdigit() else int(word)


def answer_table(answer: Any) -> Any:
    """The answer, what is to be said about it, and how sure the network was."""
    from rich import box
    from rich.table import Table

    sure = answer.step_confidence
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(justify="left", style="bold")
    table.add_column(justify="left", overflow="fold")
    table.add_row("answer", shown(answer.value))
    if answer.problem:
        table.add_row("ill-formed", answer.problem)
    for note in answer.notes:
        table.add_row("note", note)
    table.add_row("steps", str(answer.steps))
    if sure.size:
        where = int(sure.argmin())
        table.add_row(
            "confidence", f"{100 * sure.mean():.1f} % on average, {100 * sure.min():.1f} % at step "
            f"{where}, the least sure"
        )  # fmt: skip
    return table


def shown(value: Any) -> str:
    """A value as one reads it: numbers without needless digits."""
    if isinstance(value, dict):
        return ", ".join(f"{k}: {shown(v)}" for k, v in value.items())
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def answer_data(answer: Any, check: bool) -> dict[str, Any]:
    """An answer as plain JSON values."""
    data = {
        "algorithm": answer.algorithm,
        "value": plain(answer.value),
        "problem": answer.problem or None,
        "notes": list(answer.notes),
        "steps": answer.steps,
        "outputs": plain(answer.outputs),
        "trajectory": plain(answer.trajectory),
        "confidence": plain(answer.step_confidence),
    }
    if check:
        found = answer.check()
        first = found.first and found.first._asdict()
        data["check"] = {
            "right": found.right,
            "score": found.score,
            "outputs": plain(found.outputs),
            "hints": plain(found.hints),
            "first_difference": plain(first),
        }
    return data


def plain(value: Any) -> Any:
    """JSON's own types: arrays as lists, NaN as null, keys as text."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


# --- hint-relic models ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Models:
    """List the trained reasoners that come with the package, and what they score."""

    json: Flag = False
    """print JSON instead of a table"""


def models(options: Models) -> None:
    from .reasoner.model_file import read_card, shipped

    cards = {name: (read_card(path), path.stat().st_size) for name, path in shipped().items()}
    if options.json:
        print_json([{"name": name, "bytes": size, **card} for name, (card, size) in cards.items()])
        return
    if not cards:
        print(
            "no trained reasoners are shipped with this version; train one with `hint-relic train "
            "NAME` and give its run folder to `hint-relic solve --model`"
        )
        return
    console().print(models_table(cards))


def models_table(cards: dict[str, tuple[dict[str, Any], int]]) -> Any:
    from rich.table import Table

    sizes = sorted({int(size) for card, _ in cards.values() for size in card.get("scores", {})})
    table = Table(title="trained reasoners: score, %, on fresh samples of each size")
    table.add_column("algorithm")
    table.add_column("variant")
    for column in (*(f"n = {size}" for size in sizes), "test split", "kB"):
        table.add_column(column, justify="right")
    for name, (card, size) in cards.items():
        known = card.get("scores", {})
        scores = [known.get(str(n)) for n in sizes] + [card.get("test_split")]
        table.add_row(
            name, str(card.get("variant", "")),
            *("" if score is None else f"{100 * score:.2f}" for score in scores),
            f"{size / 1000:.0f}",
        )  # fmt: skip
    return table


# --- hint-relic pack -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Pack:
    """Make one small file of a run: its best seed on validation, rounded, with its scores."""

    run: Annotated[str, tyro.conf.Positional, option("RUN|NAME|FILE")]
    """the run folder; or a reasoner to score anew, by the name of its algorithm or its file"""
    out: Annotated[Path, option("FILE", "(required)")]
    """where to write, such as heapsort.safetensors"""
    weights: Annotated[str | None, option("KIND", "(default: best_average)")] = None
    """best_average, best, last or last_average"""
    sizes: Annotated[str, option("N,N,...")] = "16,32,64"
    """sizes to score the rounded weights at; add 128 where there is time"""
    samples: Annotated[Whole, option("K", "(default: 64)")] = None
    """how many fresh samples of each size"""
    choose_at: Annotated[Whole, option("N", "(default: as validation chose)")] = None
    """compare all seeds on fresh samples of this size, and take the best there"""
    feedback: Annotated[str | None, option("KIND", "(default: as in training)")] = None
    """feed hints back in another way: soft, hard or sharper_on_eval"""
    json: Flag = False
    """print the card as JSON instead of a table"""


def pack(options: Pack) -> None:
    from .reasoner.pack import SAMPLES
    from .reasoner.pack import pack as make

    sizes = tuple(_numbers(options.sizes))
    samples = SAMPLES if options.samples is None else options.samples
    with progress() as bar:
        task = bar.add_task("reading the run", total=None)
        card = make(
            options.run, options.out, weights=options.weights, sizes=sizes, samples=samples,
            choose_at=options.choose_at or 0, feedback=options.feedback,
            report=lambda what, share: bar.update(
                task, description=what, total=1.0, completed=share
            ),
        )  # fmt: skip
    size = options.out.stat().st_size
    if options.json:
        print_json({"file": str(options.out), "bytes": size, **card})
        return
    console().print(models_table({card["algorithm"]: (card, size)}))
    print(f"{options.out}: seed {card['seed']}, {card['chosen']}")
