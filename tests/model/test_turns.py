"""Samples that take turns: each its own steps, in as few rounds as there can be."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from hint_relic.model.turns import take_turns


@given(some.lists(some.integers(0, 9), min_size=1, max_size=7), some.data())
def test_everybody_takes_their_own_steps_in_order(steps, data):
    places = data.draw(some.integers(1, len(steps)))
    turns = take_turns(jnp.array(steps, jnp.int32), places, 9)
    who, step, rounds = map(np.asarray, turns)
    assert rounds == max(*steps, -(-sum(steps) // places), 0)
    taken: dict[int, list[int]] = {sample: [] for sample in range(len(steps))}
    for i in range(rounds):
        assert len({*who[i].tolist()}) == places
        for sample, t in zip(who[i].tolist(), step[i].tolist()):
            if t < steps[sample]:
                taken[sample].append(t)
            else:
                assert t == steps[sample]  # done: beyond its last
    assert taken == {sample: list(range(n)) for sample, n in enumerate(steps)}
    done = who[rounds:]
    np.testing.assert_array_equal(step[rounds:], np.array(steps)[done])
