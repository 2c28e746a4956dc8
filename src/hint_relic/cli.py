"""The command line, thin: each command is a frozen dataclass of options and a small function.

To add a command, write both and add a line to `COMMANDS`. What a command needs is imported
inside its function, so that `--help` stays quick.
"""

from __future__ import annotations

import operator
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import tyro

from .cli_augment import Augment, augment
from .cli_bench import Bench, bench
from .cli_grid import Reproduce, Status, reproduce, status
from .cli_play import Play, play
from .cli_report import Report, report
from .cli_solve import Models, Pack, Solve, models, pack, solve
from .cli_train import Evaluate, Train, evaluate, train, train_defaults, train_words
from .errors import UserError, choose, explain
from .terminal import Flag, Whole, ask, console, option, print_json, progress

if TYPE_CHECKING:
    from .types import Batch

PROGRAM = "hint-relic"
ABOUT = """Neural networks that execute classical algorithms step by step.

30 algorithms of CLRS-30 with inputs, the steps in between (hints) and outputs, value for value
those of dm-clrs 2.0.3; and networks that learn them from small inputs, tested on larger ones."""
USAGE_ERROR = 2
INTERRUPTED = 130


# --- hint-relic algorithms -----------------------------------------------------------------------


@dataclass(frozen=True)
class Algorithms:
    """List the algorithms: what they read, show and return, and how many steps they take."""

    json: Flag = False
    """print JSON instead of a table"""
    no_steps: Flag = False
    """leave out the typical numbers of steps, for which each algorithm is run (and, the first
    time, compiled: that takes minutes)"""


def algorithms(options: Algorithms) -> None:
    from .algorithms import ALGORITHMS
    from .data import show

    rows = []
    with progress() as bar:
        for algorithm in bar.track(ALGORITHMS.values(), description="running each algorithm"):
            rows.append(show.algorithm_data(algorithm, count_steps=not options.no_steps))
    if options.json:
        print_json(rows)
    else:
        console().print(show.algorithms_table(rows))


# --- hint-relic trace ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """Show one run of an algorithm, step by step."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    size: Annotated[Whole, option("N", "(default: 8)")] = None
    """number of items or nodes to draw"""
    seed: Annotated[Whole, option("S", "(default: 0)")] = None
    """seed to draw them with"""
    input: Annotated[str | None, option("INPUT")] = None
    """run your own array or graph instead: the input itself, such as 5,2,8,1 or JSON, or a file:
    JSON, numbers, or lines `from to weight` (`-`: standard input)"""
    json: Flag = False
    """print JSON instead of tables"""


def trace(options: Trace) -> None:
    from .algorithms import get
    from .data import show, user_input
    from .data import trace as draw_trace

    get(options.name)  # before anything is read
    if options.input is not None and (options.size is not None or options.seed is not None):
        raise UserError("--input is not drawn: leave out --size and --seed, or --input")
    with progress() as bar:
        bar.add_task(f"running {options.name} (the first time, compiling it)", total=None)
        if options.input is not None:
            result = user_input.run(options.name, user_input.given(options.input))
        else:
            size = 8 if options.size is None else options.size
            result = draw_trace(options.name, size, options.seed or 0)
    if options.json:
        print_json(show.trace_data(result))
    else:
        screen = console()
        screen.print(show.trace_tables(result, screen.width))


# --- hint-relic export ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Export:
    """Write traces as the reference lays them out: inputs, hints, outputs, lengths.

    Give --split for one of the benchmark's own splits, or --size and what else the reference's
    sampler takes.
    """

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    out: Annotated[Path, option("FILE.npz", "(required)")]
    """where to write"""
    split: Annotated[str | None, option("SPLIT")] = None
    """train, val or test"""
    size: Annotated[Whole, option("N")] = None
    """number of items or nodes"""
    samples: Annotated[Whole, option("K", "(default: 1)")] = None
    """number of traces"""
    seed: Annotated[Whole, option("S", "(default: 0)")] = None
    """seed of the sampler"""
    p: Annotated[str | None, option("P,P,...")] = None
    """edge probabilities to choose from, such as 0.1,0.2 (graphs only)"""
    length_needle: Annotated[Whole, option("L")] = None
    """length of the needle; if negative, of a random length up to that (string matching only)"""


def export(options: Export) -> None:
    from .data.export import check_path, count, named_arrays, write

    check_path(options.out)
    with progress() as bar:
        task = bar.add_task(f"running {options.name}", total=None)
        batch = requested(options)
        bar.remove_task(task)
        arrays = named_arrays(options.name, batch)
        write(options.out, bar.track(arrays, total=count(batch), description="writing"))
    print(f"{options.out}: {batch.samples} traces of {options.name}")


def requested(options: Export) -> Batch:
    """The split or the samples that are asked for."""
    from .data import sample, split

    sampler = (options.size, options.samples, options.seed, options.p, options.length_needle)
    if options.split is not None:
        if any(option is not None for option in sampler):
            raise UserError("--split comes with its own size, samples and seed: give nothing else")
        return split(options.name, options.split)
    if options.size is None:
        raise UserError("give --split train, val or test, or a --size to draw")
    return sample(
        options.name,
        options.size,
        1 if options.samples is None else options.samples,
        options.seed or 0,
        p=probabilities(options.p),
        needle=options.length_needle,
    )


# --- hint-relic demo -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Demo:
    """See what this is: a trace, and a small network that learns to make such traces."""

    steps: Annotated[int, option("N")] = 400
    """updates to train for"""


def demo(options: Demo) -> None:
    import os
    from tempfile import TemporaryDirectory

    from .cli_train import Reporter, percent
    from .config import ModelConfig, TrainConfig
    from .data import show
    from .data import trace as draw_trace
    from .model.rollout.plan import KERNELS
    from .train.loop import train as run

    os.environ.setdefault(KERNELS, "0")  # compiling them would take longer than the demo
    screen = console()
    print(ABOUT + "\n")
    with progress() as bar:
        bar.add_task("compiling bfs (only the first time)", total=None)
        drawn = draw_trace("bfs", 7, 4)
    print(f"One run of breadth-first search ({PROGRAM} trace bfs --size 7 --seed 4):")
    screen.print(show.trace_tables(drawn, screen.width))
    config = TrainConfig(
        algorithm="bfs", steps=options.steps, seeds=1, sizes=(4, 8, 12), report_every=50,
        validate_every=200, checkpoint_every=200, model=ModelConfig(hidden=32),
    )  # fmt: skip
    print(
        f"\nA small network now learns to do that, from graphs of up to {max(config.sizes)} nodes:"
    )
    with TemporaryDirectory() as folder, Reporter(config.steps) as reporter:
        result = run(config, Path(folder) / "demo", report=reporter)
    best = result["test"]["best"]
    found = percent(best["mean"], None)
    print(
        f"\nOn graphs of 64 nodes, far larger than any it was trained on, it finds {found} % "
        f"of all parents in the search tree,\nafter {options.steps} updates in "
        f"{result['time']['total_s']:.0f} s. The same at full size, with three seeds, on a GPU:\n"
        f"  {PROGRAM} train bfs"
    )


# --- the table of commands -----------------------------------------------------------------------


class Command(NamedTuple):
    """A command: its options, what it does, what its options are where they aren't given, and the
    words to read in place of those that were given."""

    options: type
    run: Callable[[Any], None]
    defaults: Callable[[list[str]], Any] = lambda arguments: None
    words: Callable[[list[str]], list[str]] = lambda arguments: arguments


COMMANDS = {
    "algorithms": Command(Algorithms, algorithms),
    "trace": Command(Trace, trace),
    "export": Command(Export, export),
    "augment": Command(Augment, augment),
    "train": Command(Train, train, train_defaults, train_words),
    "evaluate": Command(Evaluate, evaluate),
    "play": Command(Play, play),
    "report": Command(Report, report),
    "solve": Command(Solve, solve),
    "models": Command(Models, models),
    "pack": Command(Pack, pack),
    "bench": Command(Bench, bench),
    "reproduce": Command(Reproduce, reproduce),
    "status": Command(Status, status),
    "demo": Command(Demo, demo),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. A user's mistake is told in one line, with code 2."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (UserError, MemoryError, OSError) as error:
        print(f"{PROGRAM}: error: {explain(error)}", file=sys.stderr)
        return USAGE_ERROR


def run(arguments: list[str]) -> None:
    try:
        command, options = parse(arguments)
    except SystemExit:  # all was said: --help, --version
        return
    command.run(options)


def parse(arguments: list[str]) -> tuple[Command, Any]:
    """The command asked for and its options."""
    if arguments == ["--version"]:
        print(f"{PROGRAM} {version()}")
        raise SystemExit(0)
    if arguments and not arguments[0].startswith("-"):
        name = choose("command", arguments[0], COMMANDS)
        command = COMMANDS[name]
        rest = command.words(arguments[1:])
        return command, ask(
            command.options, f"{PROGRAM} {name}", None, rest, command.defaults(rest)
        )
    every: Any = reduce(
        operator.or_,
        (Annotated[c.options, tyro.conf.subcommand(name)] for name, c in COMMANDS.items()),
    )
    ask(every, PROGRAM, ABOUT, arguments or ["--help"])
    raise UserError(f"no command is given; see {PROGRAM} --help")


# --- what commands share -------------------------------------------------------------------------


def version() -> str:
    """The installed version, or the source tree's."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    try:
        return metadata.version(PROGRAM)
    except metadata.PackageNotFoundError:
        return tomllib.loads(project.read_text())["project"]["version"]


def probabilities(given: str | None) -> tuple[float, ...]:
    """The numbers of `0.1,0.2`."""
    if given is None:
        return ()
    try:
        return tuple(float(word) for word in given.split(","))
    except ValueError:
        raise UserError(f"--p takes numbers with commas, such as 0.1,0.2, not {given!r}") from None
