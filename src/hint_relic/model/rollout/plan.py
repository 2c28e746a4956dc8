"""Which networks can be rolled out, and what they read, decode and feed back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax
import numpy as np

from ...config import Feedback, Hints, ModelConfig
from ...spec import POINTERS, Field, Kind, Location
from ..encode import home, is_edge_pointer

# An environment variable: 0 leaves all steps to JAX's loop.
KERNELS = "HINT_RELIC_KERNELS"
MOST_NODES = 32  # where a maximum was is told by a bit for each node
SCALAR, MASK, MASK_ONE, CATEGORICAL = range(4)
_KINDS = {
    Kind.SCALAR: SCALAR,
    Kind.MASK: MASK,
    Kind.MASK_ONE: MASK_ONE,
    Kind.CATEGORICAL: CATEGORICAL,
}

Fields = tuple[tuple[str, Field], ...]


class Fed(NamedTuple):
    """A hint: from which column on it is decoded, to which channel on it is fed, how wide it is."""

    name: str
    kind: Kind
    column: int
    channel: int
    width: int


def _width(field: Field) -> int:
    return field.classes if field.kind is Kind.CATEGORICAL else 1


def _is_pointer(field: Field) -> bool:
    return field.location is Location.NODE and field.kind in POINTERS


class Feeds(NamedTuple):
    """What a step hands on: the hints of nodes, edges, the graph, and pointers, as rows of numbers;
    whether it hands on its state, and hints as decisions instead of shares."""

    node: np.ndarray
    edge: np.ndarray
    graph: np.ndarray
    pointers: np.ndarray
    state: bool
    decisions: bool


@dataclass(frozen=True)
class Plan:
    """The fields of a network's inputs, and of the hints that it decodes and feeds back; whether
    steps hand their state on, and hints as decisions."""

    inputs: Fields
    hints: Fields
    memory: bool
    hard: bool

    def channels(self, location: Location) -> tuple[int, int]:
        """How many channels inputs and hints have at a location."""
        of_inputs, of_hints = (
            sum(_width(field) for _, field in fields if home(field) is location)
            for fields in (self.inputs, self.hints)
        )
        return of_inputs, of_hints

    def _fed(self, location: Location, pointers: bool) -> list[Fed]:
        out, column, channel = [], 0, 0
        for name, field in self.hints:
            if home(field) is location:
                width = _width(field)
                if _is_pointer(field) is pointers:
                    out.append(Fed(name, field.kind, column, channel, width))
                    column += width
                channel += width
        return out

    @cached_property
    def pointers(self) -> list[Fed]:
        """The hints that are pointers: the column is which of them it is."""
        return self._fed(Location.EDGE, True)

    def fed(self, location: Location) -> list[Fed]:
        """The other hints of a location."""
        return self._fed(location, False)

    def columns(self, location: Location) -> int:
        return sum(fed.width for fed in self.fed(location))

    @cached_property
    def feeds(self) -> Feeds:
        by_location = [self.fed(at) for at in (Location.NODE, Location.EDGE, Location.GRAPH)]
        others = [[(_KINDS[x.kind], *x[2:]) for x in fed] for fed in by_location]
        pointers = [(0, *x[2:]) for x in self.pointers]
        node, edge, graph, points = (
            np.array(x, np.int64).reshape(-1, 4) for x in [*others, pointers]
        )
        return Feeds(node, edge, graph, points, self.memory, self.hard)


def available() -> bool:
    """Whether there are kernels for this machine, and nobody said to do without."""
    if os.environ.get(KERNELS) == "0":
        return False
    if jax.default_backend() == "gpu":
        from .cuda import driver

        return driver.available()
    return jax.default_backend() == "cpu"


def plan_for(config: ModelConfig, inputs: Fields, hints: Fields, nodes: int) -> Plan | None:
    """The plan of training a network with the usual processor; None where it can't be rolled out.

    hints: those that it decodes and feeds back.
    """
    if os.environ.get(KERNELS) == "0":
        return None
    usual = (
        (config.gated and config.layer_norm and config.fully_connected and config.triplets)
        and config.hints is not Hints.DECODED
        and nodes <= MOST_NODES
    )
    unusual = any(is_edge_pointer(field) for _, field in (*inputs, *hints))
    if not usual or unusual or any(x.kind is Kind.PERMUTATION_POINTER for _, x in hints):
        return None
    hard = config.feedback.when(training=True) is Feedback.HARD
    return Plan(inputs, hints, config.memory, hard)
