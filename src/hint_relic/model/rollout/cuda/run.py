"""Problems rolled out by the kernels, as `rollout/run.py` rolls them out on a CPU.

The kernels give what decoders of hints say, the states, the triplets of each problem's last step,
and how alike pointers are. Plain JAX does the rest: how alike classes of nodes are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ....config import ModelConfig
from ...encode import Channels, Encoding, join_channels
from ...layers import Linear
from .. import plan as usual
from ..op import Views
from ..pieces import Logits
from ..run import Rollout, features, predictions
from . import driver
from .op import Pairs, Start, roll
from .plan import Plan, plan_for
from .weights import Layers, put_together


def kernels_for(
    config: ModelConfig, inputs: usual.Fields, hints: usual.Fields, nodes: int
) -> Plan | None:
    """The plan of a network, where there are kernels for it and a GPU that has room for them."""
    return plan_for(config, inputs, hints, nodes) if driver.available() else None


def roll_out(
    plan: usual.Plan,
    network: Any,
    encoding: Encoding,
    given: Channels,
    hints: Channels,
    live: Bool[Array, "problems n"],
    steps: Int[Array, " problems"],
    room: int,
    *,
    pointers: Sequence[str] = (),
    classes: Sequence[str] = (),
    views: Views | None = None,
) -> Rollout:
    """Take so many steps of each problem, one at least and none more than `room`.

    What is given and what is returned is as in `rollout/run.py`.
    """
    nodes = live.shape[1]
    plan = Plan(plan.inputs, plan.hints, plan.memory, plan.hard, nodes, tuple(pointers))
    steps = jnp.clip(steps.astype(jnp.int32), 1, room)
    start = Start(*given, *hints, live.sum(1, dtype=jnp.int32), steps)
    layers = put_together(network, encoding, plan)
    projections, pairs = None, None
    if pointers and views is not None:
        projections = _stacked([network.projections[name] for name in pointers])
        pairs = Pairs(views.until, views.places, _problem_first(views.truth))
    rolled, found = roll(plan, room, layers, start, projections, pairs)

    # the channels of hints before each step, and after the last: without what pads them
    fed = Channels(*(x[..., : y.shape[-1]] for x, y in zip(rolled[1:4], hints, strict=True)))
    who = jnp.arange(len(steps))
    before, after = rolled.hidden[steps - 1, who], rolled.hidden[steps, who]
    known = join_channels(given, jax.tree.map(lambda x: x[steps - 1, who], fed))
    last = features(network, encoding, known, before, after, rolled.triplets, live)

    alike: dict[str, Any] = {}
    if found is not None:
        for i, name in enumerate(plan.compared):
            alike[name] = tuple(_problem_first(x[:, :, i]) for x in found)
    if classes:
        node = _node_features(encoding, given.node, fed.node, rolled.hidden)
        alike |= {name: _alike(network.projections[name], node) for name in classes}

    logits = rolled.node_logits, rolled.edge_logits, rolled.graph_logits, rolled.pointers
    predicted = predictions(plan, Logits(*map(_problem_first, logits)), live)
    return Rollout(predicted, last, alike)


def _problem_first(x: Array) -> Array:
    return jnp.swapaxes(x, 0, 1)


def _stacked(projections: list[tuple[Linear, Linear]]) -> Layers:
    first, second = (jax.tree.map(lambda *x: jnp.stack(x), *layers) for layers in zip(*projections))
    return {
        "first": first.weight,
        "first_b": first.bias,
        "second": second.weight,
        "second_b": second.bias,
    }


def _node_features(
    encoding: Encoding, given: Array, fed: Array, hidden: Array
) -> Float[Array, "steps problems n hhh"]:
    """What decoders read of nodes at each step."""
    now, after = hidden[:-1], hidden[1:]
    given = jnp.broadcast_to(given, (len(now), *given.shape))
    node = encoding.node(jnp.concatenate([given, fed[:-1]], axis=-1))
    return jnp.concatenate([node, now, after], axis=-1)


def _alike(
    projection: tuple[Linear, Linear], node: Float[Array, "steps problems n hhh"]
) -> Float[Array, "pairs steps n n"]:
    """How alike nodes of inputs are to those of their views (`objectives.relic.project`)."""
    out = projection[1](jax.nn.relu(projection[0](node)))
    out = out * jax.lax.rsqrt(jnp.sum(out**2, axis=-1, keepdims=True) + 1e-6)
    pairs = node.shape[1] // 2
    return jnp.einsum("tpnw,tpmw->ptnm", out[:, :pairs], out[:, pairs:])
