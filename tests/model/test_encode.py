"""Channels: what is put into them can be read from them again."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.data import Protocol
from hint_relic.model.encode import Encoder, home, is_edge_pointer
from hint_relic.model.reversal import with_reversal
from hint_relic.spec import Kind, Location, Stage, of_stage

NODES = 5


def values_of(fields, rng) -> dict[str, jnp.ndarray]:
    """Random dense values of all fields."""
    shapes = {
        Location.NODE: (NODES,),
        Location.EDGE: (NODES, NODES),
        Location.GRAPH: (),
    }
    out = {}
    for name, field in fields.items():
        shape = shapes[field.location]
        if field.kind is Kind.CATEGORICAL:
            shape = (*shape, field.classes)
        elif field.kind in (Kind.POINTER, Kind.PERMUTATION_POINTER):
            shape = (*shape, NODES)
        out[name] = jnp.asarray(rng.random(shape), jnp.float32)
    return out


@pytest.mark.parametrize(
    "name", ["strongly_connected_components", "floyd_warshall", "insertion_sort", "lcs_length"]
)
def test_numbers_on_edges_are_read_from_their_channels(name):
    rng = np.random.default_rng(1)
    hints = of_stage(with_reversal(Protocol.training(name).spec), Stage.HINT)
    encoder, values = Encoder.init(rng, hints, 4), values_of(hints, rng)
    found = encoder.on_edges(encoder.channels(values, jnp.ones(NODES, bool)).edge)
    expected = [
        k
        for k, field in hints.items()
        if home(field) is Location.EDGE
        and field.kind is not Kind.CATEGORICAL
        and not is_edge_pointer(field)
    ]
    assert list(found) == expected
    for k in expected:
        np.testing.assert_array_equal(found[k], values[k])
