"""The vocabulary of a trace: what each named array is, where it lives and how it is stored.

CLRS-30 describes an algorithm by a spec: a name for every array and, for each name, a stage
(input, hint or output), a location (node, edge or graph) and a kind. The words are the
benchmark's own. What is ours is the storage: arrays are kept *compact* (a pointer or a
one-hot vector is an index) and only made dense at the borders that want them dense.

| kind                     | stored as           | dense (the benchmark's layout)          |
|--------------------------|---------------------|-----------------------------------------|
| scalar                   | float64             | the same                                |
| mask                     | int8, 1, 0, -1      | the same; -1 means "not to be scored"   |
| mask_one                 | int32 index         | one-hot over the nodes                  |
| categorical              | int8 class index    | one-hot over the classes; a stored -1   |
|                          |                     | is the last class, masked (value -1)    |
| pointer                  | int32 index         | the same                                |
| should_be_permutation    | int32 index         | the same                                |
| permutation_pointer      | int32 index         | one-hot over the nodes                  |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Stage(StrEnum):
    INPUT = "input"
    OUTPUT = "output"
    HINT = "hint"


class Location(StrEnum):
    NODE = "node"
    EDGE = "edge"
    GRAPH = "graph"


class Kind(StrEnum):
    SCALAR = "scalar"
    MASK = "mask"
    MASK_ONE = "mask_one"
    CATEGORICAL = "categorical"
    POINTER = "pointer"
    SHOULD_BE_PERMUTATION = "should_be_permutation"
    PERMUTATION_POINTER = "permutation_pointer"


POINTERS = frozenset({Kind.POINTER, Kind.SHOULD_BE_PERMUTATION, Kind.PERMUTATION_POINTER})

_DTYPES = {
    Kind.SCALAR: np.float64,
    Kind.MASK: np.int8,
    Kind.MASK_ONE: np.int32,
    Kind.CATEGORICAL: np.int8,
    Kind.POINTER: np.int32,
    Kind.SHOULD_BE_PERMUTATION: np.int32,
    Kind.PERMUTATION_POINTER: np.int32,
}


@dataclass(frozen=True)
class Field:
    """One named array of a trace.

    `classes` counts the classes of a categorical. `reverses` names the pointer hint that an
    edge hint is the reverse of; such a hint is not stored but made from that pointer.
    """

    stage: Stage
    location: Location
    kind: Kind
    classes: int = 0
    reverses: str = ""

    @property
    def dtype(self) -> type:
        return _DTYPES[self.kind]

    def shape(self, nodes: int) -> tuple[int, ...]:
        """Shape of the compact array for one sample (one step of it, for a hint)."""
        if self.location is Location.GRAPH or self.kind is Kind.MASK_ONE:
            return ()
        return (nodes,) if self.location is Location.NODE else (nodes, nodes)

    def dense(self, compact: np.ndarray, nodes: int) -> np.ndarray:
        """The benchmark's layout of a compact array, whatever its leading axes."""
        if self.kind in (Kind.MASK_ONE, Kind.PERMUTATION_POINTER):
            return np.equal.outer(compact, np.arange(nodes)).astype(np.float64)
        if self.kind is Kind.CATEGORICAL:
            masked = compact < 0
            one_hot = np.equal.outer(np.where(masked, -1, compact), np.arange(self.classes))
            one_hot = one_hot.astype(np.float64)
            one_hot[masked, self.classes - 1] = -1.0
            return one_hot
        return compact.astype(np.int64 if self.kind in POINTERS else np.float64)


Spec = Mapping[str, Field]


def of_stage(spec: Spec, stage: Stage) -> dict[str, Field]:
    """The fields of one stage, in the spec's order."""
    return {name: field for name, field in spec.items() if field.stage is stage}
