"""Who takes the next step, where samples differ in length.

Side by side, all samples of a batch take as many steps as the longest of them, and most of those
are for nobody: Kruskal's take 28 of 86 on average. In turns, fewer run at a time, always those
that have the most steps left: everybody takes their own steps, in hardly more rounds than the
longest sample alone needs.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int


class Turns(NamedTuple):
    """For each round, which samples take a step, and which step it is of theirs.

    Beyond the last of `rounds`, and where fewer have steps left than there are places, samples
    are named that are done; their step is one beyond their last.
    """

    who: Int[Array, "room places"]
    step: Int[Array, "room places"]
    rounds: Int[Array, ""]


def take_turns(steps: Int[Array, " samples"], places: int, most_steps: int) -> Turns:
    """Turns for samples that take so many steps, none more than `most_steps`.

    Whoever has the most left goes first, so there are as few rounds as there can be: as many as
    the longest sample has steps, or as it takes to fill all places with what all have together.
    """

    def one_round(left: Array, _: None) -> tuple[Array, tuple[Array, ...]]:
        most, who = jax.lax.top_k(left, places)
        took = steps[who] - most
        return left.at[who].add(-(most > 0).astype(left.dtype)), (who, took, most[0] > 0)

    room = max(most_steps, -(-most_steps * steps.shape[0] // places))
    _, (who, step, needed) = jax.lax.scan(one_round, steps, length=room)
    return Turns(who, step, jnp.sum(needed, dtype=jnp.int32))
