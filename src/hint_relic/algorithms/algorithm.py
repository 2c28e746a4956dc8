"""One algorithm: every fact about it, in one record that its room fills in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..spec import Field, Kind, Location, Spec, Stage
from .inputs import Inputs


class Family(StrEnum):
    SORTING = "sorting"
    SEARCHING = "searching"
    DIVIDE_AND_CONQUER = "divide and conquer"
    GREEDY = "greedy"
    DYNAMIC_PROGRAMMING = "dynamic programming"
    GRAPHS = "graphs"
    STRINGS = "strings"
    GEOMETRY = "geometry"


class Augmentation(StrEnum):
    """How the paper enlarges an input without changing the steps in question (`augment/`)."""

    ENTERED_NODE = "entered_node"  # new nodes joined to a node as it is first entered
    SUBGRAPH = "subgraph"  # a disconnected random subgraph
    APPENDED = "appended"  # items appended to the array


class Start(StrEnum):
    """What an edge hint shows at the first step between nodes that a view adds."""

    ROW = "row"  # a pointer at the first node of the pair
    WEIGHTS = "weights"
    ADJACENCY = "adjacency"
    TRANSPOSED_ADJACENCY = "transposed_adjacency"
    CANDIDATES = "candidates"  # 0 where there is an edge, -1 (not to be scored) elsewhere


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of the benchmark.

    run: the kernel, `run(log, *inputs)`; it records into the log and never alters its inputs.
    log: the room's `Log` (see `record.py`).
    test_multiplier: how many times 32 trajectories its evaluation splits hold.
    sparse: trained on graphs of half the usual edge probabilities, or traces get very long.
    static_hints: hints that never change, which the benchmark's protocol turns into inputs.
    view, contrasted: the paper's augmentation, and the hints its objective contrasts.
    by_weight: takes edges by weight, the lightest first; those that a view adds come last.
    part: the law of what a view adds to a graph, where that is not the law of the inputs.
    starts: the edge hints that do not start at 0 between nodes that a view adds.
    """

    name: str
    title: str
    family: Family
    spec: Spec
    inputs: Inputs
    run: Callable[..., None]
    log: Any
    test_multiplier: int = 1
    sparse: bool = False
    static_hints: tuple[str, ...] = ()
    view: Augmentation | None = None
    contrasted: tuple[str, ...] = ()
    by_weight: bool = False
    part: Inputs | None = None
    starts: Mapping[str, Start] = field(default_factory=dict)

    @property
    def view_law(self) -> Inputs:
        return self.part or self.inputs

    def nodes(self, size: int) -> int:
        return self.inputs.nodes(size)

    def draws(self, size: int) -> str | None:
        """Why inputs of this size can't be drawn, or None if they can."""
        least = self.inputs.min_size
        return (
            None if size >= least else f"{self.name} needs a size of at least {least}, not {size}"
        )


def _field(stage: Stage, location: str, kind: str, classes: int) -> Field:
    return Field(stage, Location(location), Kind(kind), classes)


def reads(location: str, kind: str, classes: int = 0) -> Field:
    """An input."""
    return _field(Stage.INPUT, location, kind, classes)


def shows(location: str, kind: str, classes: int = 0) -> Field:
    """A hint."""
    return _field(Stage.HINT, location, kind, classes)


def returns(location: str, kind: str, classes: int = 0) -> Field:
    """An output."""
    return _field(Stage.OUTPUT, location, kind, classes)
