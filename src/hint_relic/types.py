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


class Problem(NamedTuple):
    """What a network is given of a sample: inputs, the hints of step 0, and no more.

    `nodes` counts live nodes; `lengths` the steps that the algorithm takes.
    """

    inputs: dict[str, Array]
    start: dict[str, Array]
    nodes: Array
    lengths: Array


class View(NamedTuple):
    """For each sample of a batch a larger input, on which the same steps are taken up to one.

    inputs: name -> (samples, ...);  start: the hints of step 0, name -> (samples, ...).
    `nodes` counts live nodes; `places` (samples, nodes of the input) says which node of the view
    each node of the input is; `until` is the last step (a row of the batch's hints) that is the
    same in both.
    """

    inputs: dict[str, Array]
    start: dict[str, Array]
    nodes: Array
    places: Array
    until: Array


class Paired(NamedTuple):
    """A batch and the views of its samples; all arrays have room for the views' nodes."""

    batch: Batch
    view: View


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
