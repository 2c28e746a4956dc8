"""The commands that train and evaluate."""

from __future__ import annotations

import sys
import time
import tomllib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import tyro

from .config import TrainConfig, from_dict, to_dict
from .errors import UserError
from .files import read_bounded
from .terminal import Flag, Whole, console, option, print_json, progress

MAX_TOML = 2**16  # bytes
LISTS = ("--sizes", "--validation-sizes")


@dataclass(frozen=True)
class Train:
    """Train networks to execute an algorithm; the same command again goes on where it stopped."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """the algorithm, as in `hint-relic algorithms`"""
    out: Annotated[Path | None, option("RUN", "(default: runs/NAME-VARIANT)")] = None
    """the run folder"""
    config: Annotated[Path | None, option("FILE.toml")] = None
    """settings to start from; options given here go over them"""
    proxy: Flag = False
    """a small version of the experiment, for a CPU: sizes up to 8, 32 wide, 2,500 updates"""
    restart: Flag = False
    """start over, and lose what the run folder holds"""
    settings: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)


def train_words(arguments: list[str]) -> list[str]:
    """`--sizes 4,8`, as the other commands take lists, for `--sizes 4 8`."""
    words, option_ = [], ""
    for word in arguments:
        option_ = word if word.startswith("--") else option_
        words += word.split(",") if option_ in LISTS else [word]
    return words


def train_defaults(arguments: list[str]) -> Train:
    """What is not given on the command line: the variant's settings, under those of a file."""
    values: dict[str, Any] = {}
    if (file := _given(arguments, "--config")) is not None:
        values = read_toml(Path(file))
    from .variants import preset, proxy
    from .worker import merged

    variant = _given(arguments, "--variant") or values.get("variant", "baseline")
    algorithm = _algorithm(arguments)
    base = preset(str(variant), algorithm)
    if "--proxy" in arguments:
        base = proxy(base)
    settings = from_dict(TrainConfig, merged(to_dict(base), {**values, "variant": variant}))
    return Train(name="", settings=settings)


def _algorithm(arguments: list[str]) -> str:
    """The first word that names an algorithm and is no value of an option; "" if none does."""
    from .algorithms import ALGORITHMS

    for before, word in zip(["", *arguments], arguments):
        if word in ALGORITHMS and before not in ("--out", "--config"):
            return word
    return ""


def read_toml(file: Path) -> dict[str, Any]:
    """The settings of a config file."""
    try:
        return tomllib.loads(read_bounded(file, MAX_TOML, follow=True).decode())
    except FileNotFoundError:
        raise UserError(f"can't read {file}: there is no such file") from None
    except RecursionError:
        raise UserError(f"can't read {file}: it is nested too deeply") from None
    except ValueError as error:
        raise UserError(f"can't read {file}: {error}") from error


def _given(arguments: list[str], flag: str) -> str | None:
    """The value of an option among the arguments, as far as one can tell without reading them."""
    for word, value in zip(arguments, [*arguments[1:], None]):
        if word == flag:
            return value
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return None


def train(options: Train) -> None:
    from .algorithms import get
    from .train.loop import train as run

    config, name = options.settings, get(options.name).name
    if config.algorithm != name:
        raise UserError(f"asked to train {name} with settings for {config.algorithm}; name one")
    ending = "-proxy" if options.proxy else ""
    out = options.out or Path("runs") / f"{options.name}-{config.variant}{ending}"
    with Reporter(config.steps) as reporter:
        result = run(config, out, restart=options.restart, report=reporter)
    console().print(result_table(result))
    print(f"run folder: {out}")


class Reporter:
    """A progress bar on a terminal, a line for each report elsewhere."""

    def __init__(self, steps: int):
        self.steps, self.started = steps, time.monotonic()
        self.bar: Any = None
        self.since: tuple[float, float] | None = None  # of scoring: a time, and the share then
        self.told = False

    def __enter__(self) -> Reporter:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(),
                TextColumn("{task.completed}/{task.total}"), TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(), transient=True,
                console=Console(stderr=True, markup=False, emoji=False),
            )  # fmt: skip
            self.task = self.bar.add_task("compiling", total=self.steps, rate="")
            self.bar.start()
        else:
            print("compiling; then a line for each report", file=sys.stderr, flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, record: dict[str, Any]) -> None:
        if "warning" in record:
            self._say(f"warning: {record['warning']}")
        elif "compiling" in record:
            self._say(f"compiling {record['compiling']}")
        elif "scoring" in record:
            self._scoring(record["scoring"], record["share"])
        elif record["kind"] == "train":
            loss = sum(record["loss"]) / len(record["loss"])
            rate = f"{record['updates_per_s']:.1f} updates/s"
            left = (self.steps - record["step"]) / max(record["updates_per_s"], 1e-9)
            if self.bar is not None:
                self.bar.update(
                    self.task, completed=record["step"], description=f"loss {loss:.3f}", rate=rate
                )
            else:
                step = f"step {record['step']}/{self.steps}"
                self._say(f"{step}  loss {loss:.3f}  {rate}  {left:.0f} s left")
        else:
            sizes = sorted(int(k[6:]) for k in record if k.startswith("plain_"))
            scores = [_scores(record), *(f"n = {n}: {_scores(record, f'_{n}')}" for n in sizes)]
            self._say(f"step {record['step']}  {record['kind']}  {'   '.join(scores)}")

    def _scoring(self, what: str, share: float) -> None:
        if self.bar is not None:
            self.bar.update(self.task, description=f"scoring {what}", rate=f"{100 * share:.0f} %")
        elif not share:
            self.since, self.told = None, False
        elif self.since is None:  # the first part, which compiles, says nothing about the others
            self.since = time.monotonic(), share
        elif not self.told:
            took = time.monotonic() - self.since[0]
            left = took * (1.0 - share) / (share - self.since[1])
            if min(took, left) > 2.0:
                self._say(f"scoring {what}  about {left:.0f} s left")
                self.told = True

    def _say(self, line: str) -> None:
        (self.bar.console.print if self.bar is not None else _to_stderr)(line)


def _scores(record: dict[str, Any], ending: str = "") -> str:
    """The means of plain and averaged weights."""
    means = ((kind, 100 * fmean(record[kind + ending])) for kind in ("plain", "average"))
    return "  ".join(f"{kind} {mean:.1f}%" for kind, mean in means)


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def percent(mean: float, stderr: float | None) -> str:
    return f"{100 * mean:.2f}" + ("" if stderr is None else f" ± {100 * stderr:.2f}")


TITLES = {
    "best": "best on validation",
    "best_average": "best on validation, averaged weights",
    "last": "last",
    "last_average": "last, averaged weights",
}


def result_table(result: dict[str, Any]) -> Any:
    """Scores on the official test split, with the paper's beside them."""
    from rich.table import Table

    from .paper import published

    seeds = len(result["seeds"])
    table = Table(
        title=f"{result['algorithm']}, {result['variant']}: score on the test split (n = 64), %, "
        f"{seeds} seed{'s' if seeds > 1 else ''}"
    )
    outputs = list(next(iter(result["test"].values()))["outputs"])
    for column in ("weights", *outputs, "mean"):
        table.add_column(column, justify="left" if column == "weights" else "right")
    for name, part in result["test"].items():
        each = [f"{100 * sum(v) / len(v):.2f}" for v in part["outputs"].values()]
        table.add_row(TITLES.get(name, name), *each, percent(part["mean"], part["stderr"]))
    paper = published(result["algorithm"], result["variant"])
    if paper:
        blank = [""] * len(outputs)
        table.add_row("the paper", *blank, f"{paper.mean:.2f} ± {paper.stderr:.2f}", style="dim")
    return table


@dataclass(frozen=True)
class Evaluate:
    """Score the networks of a run, or a reasoner: outputs, hints, and where they leave the path."""

    run: Annotated[str, tyro.conf.Positional, option("RUN|NAME|FILE")]
    """the run folder; or a reasoner, by the name of its algorithm if it is shipped, or its file"""
    sizes: Annotated[str | None, option("N,N,...")] = None
    """sizes to draw fresh samples of, such as 16,32,64"""
    split: Annotated[str | None, option("SPLIT", "(default: test)")] = None
    """a split of the benchmark instead: val or test"""
    samples: Annotated[Whole, option("K", "(default: 32)")] = None
    """how many fresh samples of each size; with --split, as many fresh ones drawn like the split"""
    weights: Annotated[str | None, option("KIND", "(default: best)")] = None
    """of a run folder: best (on validation) or best_average"""
    feedback: Annotated[str | None, option("KIND", "(default: as in training)")] = None
    """feed hints back in another way: soft, hard or sharper_on_eval"""
    json: Flag = False
    """print JSON instead of tables"""


def evaluate(options: Evaluate) -> None:
    from .data.splits import SPLITS
    from .errors import choose
    from .evaluate.run import fresh, summary

    if options.sizes is not None and options.split is not None:
        raise UserError("give --sizes or --split, not both")
    wanted: list[int | None] = [*_numbers(options.sizes)] or [None]
    if options.split is not None:
        choose("split", options.split, [k for k in SPLITS if k != "train"])
    trained, weights = _networks(options.run, options.weights)
    trained = trained.fed_back(options.feedback)
    split = options.split or "test"
    found = {}
    with progress() as bar:
        for size in wanted:
            if size is not None:
                title, batch = f"n = {size}", fresh(trained, size, options.samples or 32)
            elif options.samples:
                title = f"like the {split} split, {options.samples} fresh"
                batch = trained.task.official(split, fresh=options.samples)
            else:
                title, batch = f"{split} split", trained.task.official(split)
            task = bar.add_task(title, total=1.0)
            trained_scores = trained.score(batch, progress=partial(_advance, bar, task))
            _advance(bar, task, 1.0)
            found[title] = {
                "split": split if size is None else None,
                "size": size or SPLITS[split].size,
                "samples": len(batch.lengths),
                "fresh": size is not None or options.samples is not None,
                **summary(trained_scores),
            }
    if options.json:
        feedback = trained.config.model.feedback.value
        print_json({"run": options.run, "weights": weights, "feedback": feedback, "scores": found})
        return
    screen = console()
    for title, scores in found.items():
        screen.print(
            scores_table(f"{trained.config.algorithm}, {title}", scores, trained.task.spec)
        )
    if note := trained.config.objective.about_hints:
        print(f"note: {note}")


def _networks(source: str, weights: str | None) -> tuple[Any, str]:
    """The networks of a run folder, or the one of a reasoner; and which weights they have."""
    from .algorithms import ALGORITHMS
    from .errors import choose
    from .evaluate.run import load
    from .reasoner import Reasoner

    folder = Path(source)
    if folder.name == source and not folder.exists() and not folder.suffix:
        choose("run folder or reasoner", source, ALGORITHMS)
    if folder.is_dir() or not (folder.is_file() or folder.suffix or source in ALGORITHMS):
        kind = weights or "best"
        return load(folder, kind), kind
    reasoner = Reasoner.load(source, weights=weights)
    return reasoner.stack(), str(reasoner.card.get("weights"))


def _advance(bar: Any, task: Any, share: float) -> None:
    bar.update(task, completed=share)


def _numbers(given: str | None) -> list[int]:
    try:
        return [int(word) for word in given.split(",")] if given else []
    except ValueError:
        raise UserError(f"--sizes takes whole numbers such as 16,32,64, not {given!r}") from None


def scores_table(title: str, scores: dict[str, Any], spec: Any) -> Any:
    """Outputs first, then hints with their score along the trajectory."""
    from rich.table import Table

    from .spec import Kind

    table = Table(title=f"{title}: scores, %")
    for column, justify in (("name", "left"), ("score", "right"), ("along the steps", "left")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    table.add_row("all outputs", percent(scores["score"]["mean"], scores["score"]["stderr"]))
    for name, value in scores["outputs"].items():
        table.add_row(name, percent(value["mean"], value["stderr"]))
    for name, value in scores["hints"].items():
        if spec[name].kind is Kind.SCALAR:
            table.add_row(f"{name} (hint)", f"error {value['mean']:.4f}")
        else:
            steps = scores["hint_score_at_step"][name]
            row = percent(value["mean"], value["stderr"]), sparkline(steps)
            table.add_row(f"{name} (hint)", *row)
    return table


BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: list[float], width: int = 40) -> str:
    """Scores between 0 and 1 as a line of bars; steps that no sample reaches are left out."""
    live = [v for v in values if v >= 0.0]
    if len(live) > width:
        live = [live[i * len(live) // width] for i in range(width)]
    return "".join(BARS[min(7, int(v * 8))] for v in live)
