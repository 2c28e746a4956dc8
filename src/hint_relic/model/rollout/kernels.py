"""The two functions that are compiled: all steps of a sample, or of an input and its view."""

from __future__ import annotations

import numpy as np

from ...algorithms.kernel import loose_kernel as kernel
from .backward import finish, known_of, new_back, step_back
from .compare import compare_step, compare_step_back, new_side, places_among
from .forward import Sample, begin, new_scratch, step


@kernel
def forward(sizes, steps, until, feeds, layers, compared, places, x, y, alike):
    """Take the steps of a sample, and those of its view, and compare the two until a step.

    sizes, steps: how many nodes both have, and how many steps they take, the sample one at least;
    a sample without a view has a view of no nodes and no steps. x, y: start, tape, logits and last
    of both; logits, last and alike: zeros, to be filled.
    """
    pointers, h = layers.out_w.shape[0], layers.first.shape[0]
    as_compared, nothing = places_among(compared.which, pointers), np.full(pointers, -1)
    samples = (
        Sample(x[0], x[1], x[2], x[3], new_scratch(sizes[0], layers)),
        Sample(y[0], y[1], y[2], y[3], new_scratch(sizes[1], layers)),
    )
    tapes = x[1], y[1]
    sides = new_side(sizes[0], h, compared), new_side(sizes[1], h, compared)
    for t in range(steps[0]):
        which = as_compared if t < until else nothing
        for j in range(2 if t < steps[1] else 1):
            if t == 0:
                begin(sizes[j], layers, samples[j].start, samples[j].tape)
            step(t, sizes[j], steps[j], feeds, layers, samples[j], which, sides[j].pointers)
        if t < until:
            compare_step(t, sizes, layers, compared, places, tapes, sides, alike)


@kernel
def backward(
    sizes,
    steps,
    until,
    feeds,
    layers,
    compared,
    places,
    x,
    y,
    of_alike,
    turned,
    turned_projections,
    of,
    of_pointers,
    of_nodes,
):
    """Add the derivatives by layers and by projections. x, y: the tape, and what is wanted of
    logits and of last, of both. turned, turned_projections: the same weights, turned."""
    pointers, h = layers.out_w.shape[0], layers.first.shape[0]
    known = known_of(layers, turned)
    as_compared, nothing = places_among(compared.which, pointers), np.full(pointers, -1)
    both, tapes = (x, y), (x[0], y[0])
    backs = (
        new_back(sizes[0], steps[0], layers, x[0]),
        new_back(sizes[1], steps[1], layers, y[0]),
    )
    sides = new_side(sizes[0], h, compared), new_side(sizes[1], h, compared)
    for t in range(steps[0] - 1, -1, -1):
        which = nothing
        if t < until:
            which = as_compared
            compare_step_back(
                t, sizes, layers, compared, turned_projections, places, tapes, backs, sides,
                of_alike, of, of_pointers, of_nodes,
            )  # fmt: skip
        for j in range(2 if t < steps[1] else 1):
            tape, of_logits, of_last = both[j]
            step_back(
                t, sizes[j], steps[j], feeds, known, tape, of_logits, of_last, backs[j], of, which,
                sides[j].pointers, sides[j].of_pointers,
            )  # fmt: skip
    for back in backs:
        finish(layers, back, of)
