"""Encoders: what an edge pointer tells the edge it belongs to."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from hint_relic.model.encode import Encoder
from hint_relic.spec import Field, Kind, Location, Stage

POINTER = {"Pi": Field(Stage.HINT, Location.EDGE, Kind.POINTER)}


def test_a_located_edge_pointer_adds_the_position_of_its_node():
    rng = np.random.default_rng(0)
    pointer = rng.integers(0, 4, (4, 4))
    values = {"Pi": jnp.eye(4)[pointer]}
    live, positions = jnp.ones(4, bool), jnp.asarray([0.1, 0.3, 0.6, 0.9])
    averaged, located = (
        Encoder.init(np.random.default_rng(0), POINTER, 8, located=located)
        for located in (False, True)
    )
    assert averaged.channels(values, live, positions).edge.shape == (4, 4, 2)
    edge = located.channels(values, live, positions).edge
    np.testing.assert_allclose(edge[..., 2], positions[pointer])
    np.testing.assert_allclose(
        edge[..., :2], averaged.channels(values, live, positions).edge[..., :2]
    )
    assert located.encoding().edge.weight.shape == (3, 8)
