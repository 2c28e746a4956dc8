"""The two nouns that carry data: a trace (one run of an algorithm) and a batch of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .spec import Spec

# A NumPy array on the data side of the border, a JAX array beyond it.
Array = Any


class Batch(NamedTuple):
    """Traces stacked sample first, in the compact form of `spec.py`.

    inputs, outputs: name -> (samples, ...);  hints: name -> (samples, steps, ...).
    `lengths` counts each sample's live steps and `nodes` its live nodes; what lies beyond
    either is padding and must not change any result.
    """

    inputs: dict[str, Array]
    hints: dict[str, Array]
    outputs: dict[str, Array]
    lengths: Array
    nodes: Array

    @property
    def samples(self) -> int:
        return len(self.lengths)


class Trace(NamedTuple):
    """One run of an algorithm: its spec, inputs, hints (steps first) and outputs."""

    algorithm: str
    spec: Spec
    inputs: dict[str, np.ndarray]
    hints: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    nodes: int

    @property
    def steps(self) -> int:
        return len(next(iter(self.hints.values())))
