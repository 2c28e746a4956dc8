"""Steps that know of each other by hints alone."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from hint_relic.config import Hints, ModelConfig
from hint_relic.data import Protocol
from hint_relic.model.network import Network
from hint_relic.train.task import Task, stream_for
from tiny import TINY


@pytest.mark.parametrize(
    ("memory", "hints"), [(False, "none"), (False, "feedback"), (True, "none")]
)
def test_only_memory_and_hints_tell_steps_apart(memory, hints):
    spec = Protocol.training("bfs").spec
    config = ModelConfig(hidden=8, hints=Hints(hints), memory=memory)
    network = Network.init(0, spec, config)
    with stream_for(TINY, Task.of(TINY)) as stream:
        batch = jax.tree.map(lambda x: x[0], stream.batch(1))

    def outputs(length: int):
        return jax.vmap(network)(
            batch._replace(lengths=np.full_like(batch.lengths, length))
        ).outputs

    (one,), (many,) = (jax.tree.leaves(outputs(length)) for length in (2, 4))
    same = not memory and hints == "none"
    assert np.allclose(one, many, atol=1e-6) == same
