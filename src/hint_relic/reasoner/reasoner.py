"""A trained network that one can call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ..algorithms import ALGORITHMS, Algorithm, execute
from ..data.shape import first_step, single_precision, trim, with_nodes
from ..data.splits import alone, first_trace
from ..data.user_input import arguments
from ..errors import UserError, choose
from ..evaluate.run import Trained
from ..memory import needs_room
from ..model.network import Network
from ..model.process import Processor
from ..spec import Field, Kind, Stage, of_stage
from ..train.programs import keep_compiled_programs
from ..train.task import Task
from ..types import Problem, Trace
from . import model_file, readings
from .answer import Answer
from .model_file import Design
from .predict import (
    MAX_MEMORY,
    MOST_TOGETHER,
    Decided,
    Run,
    check_memory,
    memory,
    predict,
    room_for,
)
from .rescale import rescaled
from .taken import letters, take

Report = Callable[[int, int], None]


class Prepared(NamedTuple):
    """An input on its way to the network."""

    own: Trace  # the true run on the numbers as they are
    truth: Trace  # the true run on the numbers that the network is given
    problem: Problem  # what it is given, with a leading axis of one
    labels: list[Any]
    letters: list[Any] | None
    note: str


@dataclass(frozen=True)
class Reasoner:
    """A network trained to execute one algorithm.

    >>> reasoner = Reasoner.load("heapsort")  # doctest: +SKIP
    >>> reasoner([5, 2, 8, 1]).value  # doctest: +SKIP
    array([1., 2., 5., 8.])

    As in the benchmark, the network is told how many steps the true algorithm takes on the
    input, so that is run first (microseconds); of its steps the network sees only the first.
    """

    design: Design
    network: Network
    card: dict[str, Any]

    @classmethod
    def load(
        cls, source: str | Path, *, weights: str | None = None, processor: Any = Processor
    ) -> Reasoner:
        """A reasoner that is shipped, by the name of its algorithm, or from a file or run folder.

        weights: of a run folder, which weights: best_average, best, last or last_average. Of its
        seeds the best on validation is taken.
        processor: your own, where the network was trained with one.
        """
        path = model_file.find(source)
        if path.is_dir():
            return cls._from_run(path, weights, processor)
        if weights is not None:
            raise UserError("only a run folder holds several kinds of weights to choose from")
        if not path.is_file() and path.parent == Path() and not path.suffix:
            choose("reasoner", str(source), ALGORITHMS)
        design, arrays, card = model_file.read(path, processor)
        return cls(design, design.network(arrays), card)

    @classmethod
    def _from_run(cls, folder: Path, weights: str | None, processor: Any) -> Reasoner:
        from .runs import read_run

        run = read_run(folder, weights, processor)
        seed = run.leading[0]
        card = {"algorithm": run.config.algorithm, "variant": run.config.variant,
                "weights": run.kind, "seed": run.config.seed_list[seed]}  # fmt: skip
        return cls(run.design, run.design.network(run.arrays[seed]), card)

    @property
    def algorithm(self) -> Algorithm:
        return self.design.protocol.algorithm

    def stack(self) -> Trained:
        """The network as `evaluate` takes those of a run, in a stack of one."""
        config = self.design.config
        return Trained(config, Task.of(config), jax.tree.map(lambda x: x[None], self.network))

    def __call__(self, value: Any = None, /, **fields: Any) -> Answer:
        """Answer one input: an array, a graph, whatever the algorithm takes.

        An array is a list or a NumPy array; a graph a networkx graph, an adjacency matrix, or an
        object as in `hint-relic trace`. What belongs beside it can be named: `source=`, `target=`.
        Several inputs at once go to `batch`: a list of lists could be a matrix as well.
        """
        return self._answer([self._prepare(value, fields)], _silent)[0]

    def follow(self, trace: Trace) -> Answer:
        """Answer an input whose true run is at hand, its numbers taken as they are."""
        if trace.algorithm != self.algorithm.name:
            raise UserError(
                f"this network was trained on {self.algorithm.name}, not {trace.algorithm}"
            )
        check_memory(self.design.spec, self.design.config.model.hidden, trace.nodes)
        labels = list(range(trace.nodes))
        return self._answer([self._prepared(trace, trace, labels, None, "")], _silent)[0]

    def batch(self, values: Iterable[Any], report: Report | None = None) -> list[Answer]:
        """Answers to several inputs, of any sizes, in their order."""
        prepared = []
        for i, value in enumerate(values):
            try:
                prepared.append(self._prepare(value, {}))
            except UserError as error:
                raise UserError(f"input {i}: {error}") from None
        return self._answer(prepared, report or _silent)

    def _prepare(self, value: Any, fields: dict[str, Any]) -> Prepared:
        algorithm = self.algorithm
        taken = take(algorithm, value, fields)
        inputs, nodes = arguments(algorithm, taken.value)
        check_memory(self.design.spec, self.design.config.model.hidden, nodes)
        own = trim(execute(algorithm, [inputs], nodes))
        run, note = rescaled(algorithm, inputs, own)
        return self._prepared(
            first_trace(algorithm.name, own),
            first_trace(algorithm.name, trim(run)),
            list(range(nodes)) if taken.labels is None else list(taken.labels),
            letters(algorithm, taken.value),
            note,
        )

    def _prepared(
        self, own: Trace, truth: Trace, labels: list[Any], letters: list[Any] | None, note: str
    ) -> Prepared:
        protocol = self.design.protocol
        given = first_step(single_precision(protocol.rewrite(alone(truth))))
        padded = with_nodes(given, protocol.spec, room_for(truth.nodes))
        return Prepared(
            own=own,
            truth=truth,
            problem=Problem(
                inputs=padded.inputs,
                start={k: v[:, 0] for k, v in padded.hints.items()},
                nodes=padded.nodes,
                lengths=padded.lengths,
            ),
            labels=labels,
            letters=letters,
            note=note,
        )

    def _answer(self, prepared: list[Prepared], report: Report) -> list[Answer]:
        """Run those of equal room together, as many as fit, the short ones first."""
        keep_compiled_programs()
        found: dict[int, Answer] = {}
        groups: dict[int, list[int]] = {}
        for i in sorted(range(len(prepared)), key=lambda i: prepared[i].truth.steps):
            groups.setdefault(prepared[i].problem.inputs["pos"].shape[1], []).append(i)
        for room, members in groups.items():
            hidden = self.design.config.model.hidden
            fit = max(1, MAX_MEMORY // memory(self.design.spec, hidden, room))
            together = min(MOST_TOGETHER, 1 << (fit.bit_length() - 1))
            for at in range(0, len(members), together):
                part = members[at : at + together]
                problems = _stacked([prepared[i].problem for i in part])
                with needs_room(f"{len(part)} inputs of {room} nodes", "the size"):
                    runs = predict(self.network, problems, report)
                found |= {i: self._read(prepared[i], run) for i, run in zip(part, runs)}
        return [found[i] for i in range(len(prepared))]

    def _read(self, given: Prepared, run: Run) -> Answer:
        spec, nodes = self.design.protocol.spec, given.truth.nodes
        outputs, sure = _cut(of_stage(spec, Stage.OUTPUT), run.outputs, nodes)
        hints, confidence = _cut(of_stage(spec, Stage.HINT), run.hints, nodes)
        start = {k: given.truth.hints[k][:1] for k in hints}
        for name, field in of_stage(spec, Stage.OUTPUT).items():
            if field.kind is Kind.PERMUTATION_POINTER:  # the first node points at itself
                first = int(outputs.pop(f"{name}_mask"))
                outputs[name] = np.where(np.arange(nodes) == first, first, outputs[name])
        labels = given.letters if given.letters is not None else given.labels
        about_hints = self.design.config.objective.about_hints
        reading = readings.read(given.own.spec, readings.Given(given.own.inputs, labels), outputs)
        return Answer(
            algorithm=self.algorithm.name,
            value=reading.value,
            problem=reading.problem,
            outputs=outputs,
            trajectory={k: np.concatenate([start[k], v]) for k, v in hints.items()},
            confidence={
                k: np.concatenate([np.ones((1, *v.shape[1:]), v.dtype), v])
                for k, v in confidence.items()
            },
            output_confidence=sure,
            notes=[note for note in (given.note, about_hints) if note],
            truth=given.truth,
            labels=given.labels,
        )


def _silent(done: int, steps: int) -> None:
    pass


def _stacked(problems: list[Problem]) -> Problem:
    """Problems as one, filled up with the last to a power of two, so that few shapes occur."""
    missing = (1 << (len(problems) - 1).bit_length()) - len(problems)
    every = problems + [problems[-1]] * missing
    return jax.tree.map(lambda *parts: np.concatenate(parts), *every)


def _cut(
    fields: dict[str, Field], decided: dict[str, Decided], nodes: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """(values, confidences) without padding, in the types of a trace."""

    def cut(field: Field, array: np.ndarray) -> np.ndarray:
        axes = len(field.shape(nodes))
        where: tuple[Any, ...] = (..., *[slice(nodes)] * axes)
        return array[where] if axes else array

    values: dict[str, np.ndarray] = {
        k: np.asarray(cut(fields[k], d.value)).astype(fields[k].dtype) for k, d in decided.items()
    }
    sure = {k: cut(fields[k], d.confidence) for k, d in decided.items() if d.confidence is not None}
    return values, sure
