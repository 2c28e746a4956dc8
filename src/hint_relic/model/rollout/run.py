"""Problems rolled out: what decoders of hints say at each step, what outputs are read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from ...spec import Kind, Location
from ..decode import Features, only_live
from ..encode import Channels, Encoding
from ..layers import Linear
from .compare import Projections
from .op import Problems, Task, Views, no_views, roll
from .pieces import Logits, Start
from .plan import Plan
from .weights import put_together


class Rollout(NamedTuple):
    """All steps of some problems, problem first, then step.

    predicted: what the decoders of hints say; where a problem takes no step, what they say of
    zeros. last: what decoders read at each problem's last step. alike: by hint, of what is
    compared, pair first: of a pointer forth and back, of a class of nodes (`compare.Alike`).
    """

    predicted: dict[str, Array]
    last: Features
    alike: dict[str, Any]


def roll_out(
    plan: Plan,
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

    given: inputs; hints: the first. pointers, classes: hints that are compared between inputs and
    `views`, by kind.
    """
    nodes = live.sum(1, dtype=jnp.int32)
    problems = Problems(Start(*given, *hints), nodes, steps.astype(jnp.int32))
    layers = put_together(network, encoding, plan)
    task = Task(plan, room, tuple(pointers), tuple(classes))
    h = network.config.hidden
    projections = (
        _stacked([network.projections[name] for name in pointers], h),
        _stacked([network.projections[name] for name in classes], 3 * h),
    )
    views = views if pointers or classes else no_views(room, live.shape[1])
    rolled = roll(task, layers, problems, projections, views)
    forth, back, nodes = (jnp.moveaxis(x, 2, 0) for x in rolled.alike)
    alike = dict(zip(pointers, zip(forth, back))) | dict(zip(classes, nodes))
    node, edge, graph, triplets = rolled.last
    one = jnp.ones((*edge.shape[:-1], 1))
    known = Channels(node[..., 2 * h :], jnp.concatenate([edge, one], axis=-1), graph)
    before, after = node[..., h : 2 * h], node[..., :h]
    last = features(network, encoding, known, before, after, triplets, live)
    return Rollout(predictions(plan, rolled.logits, live), last, alike)


def _stacked(projections: list[tuple[Linear, Linear]], width: int) -> Projections:
    """The layers of projections of so many numbers; of none, too."""
    if not projections:
        layer, bias = jnp.zeros((0, width, width)), jnp.zeros((0, 1, width))
        return Projections(layer, bias, layer, bias)
    first, second = (jax.tree.map(lambda *x: jnp.stack(x), *layers) for layers in zip(*projections))
    return Projections(first.weight, first.bias[:, None], second.weight, second.bias[:, None])


def predictions(plan: Plan, logits: Logits, live: Array) -> dict[str, Array]:
    """Logits as decoders give them (`model/decode.py`)."""
    alive = live[:, None]
    node, edge, graph, pointers = logits
    out = {x.name: only_live(pointers[:, :, x.column], alive[:, :, None]) for x in plan.pointers}
    for location, found in zip((Location.NODE, Location.EDGE, Location.GRAPH), (node, edge, graph)):
        for fed in plan.fed(location):
            mine = found[..., fed.column : fed.column + fed.width]
            if fed.kind is not Kind.CATEGORICAL:
                mine = mine[..., 0]
            out[fed.name] = only_live(mine, alive) if fed.kind is Kind.MASK_ONE else mine
    return out


def features(
    network: Any,
    encoding: Encoding,
    known: Channels,
    before: Array,
    after: Array,
    triplets: Array,
    live: Array,
) -> Features:
    """What decoders read of one step of each problem.

    known: channels, with a constant one over edges; before, after: the state; triplets: features.
    """
    node = jnp.concatenate([encoding.node(known.node), before, after], axis=-1)
    edges = network.processor.triplets.messages(triplets)
    return Features(node, known.edge, edges, encoding.graph(known.graph), live, ())
