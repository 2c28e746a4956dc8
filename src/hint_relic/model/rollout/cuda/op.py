"""All steps of a batch as one differentiable function of a network's layers."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .call import launch
from .plan import CHANNELS, COMPARE_GROUPS, F, H, Plan, Z
from .weights import Layers, project_buffers, to_buffers


class Start(NamedTuple):
    """What samples begin with: channels of inputs and of the first hints, nodes and steps."""

    node: Float[Array, "samples n kn"]
    edge: Float[Array, "samples n n ke"]
    graph: Float[Array, "samples kg"]
    node_hints: Float[Array, "samples n hn"]
    edge_hints: Float[Array, "samples n n he"]
    graph_hints: Float[Array, "samples hg"]
    nodes: Int[Array, " samples"]
    steps: Int[Array, " samples"]


class Rolled(NamedTuple):
    """What comes of all steps, step first; zeros for steps that are not taken.

    The state and the hints' channels are those before each step, and after the last; triplets are
    the features of each sample's last step.
    """

    hidden: Float[Array, "steps+1 samples n h"]
    node_hints: Float[Array, "steps+1 samples n hn"]
    edge_hints: Float[Array, "steps+1 samples n n he"]
    graph_hints: Float[Array, "steps+1 samples hg"]
    node_logits: Float[Array, "steps samples n sn"]
    edge_logits: Float[Array, "steps samples n n se"]
    pointers: Float[Array, "steps samples p n n"]
    graph_logits: Float[Array, "steps samples gd"]
    triplets: Float[Array, "samples n n f"]


class Tape(NamedTuple):
    """What else is written down on the way."""

    sent: Array
    before_norm: Array
    before_gate: Array
    gate: Array
    best: Array
    winners: Array
    triplets: Array
    triplet_winners: Array
    larger: Array
    pooled: Array


class Wanted(NamedTuple):
    """Derivatives that `backward` hands back: of what nodes gave, and sums over pairs."""

    z: Array
    gate: Array
    norm: Array
    decoded: Array
    node: Array
    graph: Array
    sums: Array


def _shape(dtype: Any, *shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def _results(plan: Plan, samples: int, room: int) -> tuple[Rolled, Any, Tape]:
    n, of = plan.nodes, plan.counts
    now, then = (room, samples), (room + 1, samples)
    full = jnp.float32
    rolled = Rolled(
        _shape(full, *then, n, H),
        _shape(full, *then, n, of["KNH_"]),
        _shape(full, *then, n, n, of["KEH_"]),
        _shape(full, *then, of["KGH_"]),
        _shape(full, *now, n, of["SN_"]),
        _shape(full, *now, n, n, of["SE_"]),
        _shape(full, *now, of["P_"], n, n),
        _shape(full, *now, of["GD_"]),
        _shape(full, samples, n, n, F),
    )
    representations = _shape(jnp.float16, *now, of["P_"], n, n, H)
    of_nodes = _shape(full, *now, n, H)
    tape = Tape(
        sent=_shape(full, *now, n, 2 * H),
        before_norm=of_nodes,
        before_gate=of_nodes,
        gate=of_nodes,
        best=of_nodes,
        winners=_shape(jnp.uint32, *now, n, H),
        triplets=_shape(full, *now, n, n, F),
        triplet_winners=_shape(jnp.uint32, *now, n, n, F),
        larger=_shape(jnp.uint8, *now, of["P_"], n, n, 16),
        pooled=_shape(full, *now, 3 * H),
    )
    return rolled, representations, tape


def _wanted(plan: Plan, samples: int, room: int) -> Wanted:
    n, of, full = plan.nodes, plan.counts, jnp.float32
    of_nodes = _shape(full, room, samples, n, H)
    return Wanted(
        z=_shape(full, room, samples, n, Z),
        gate=of_nodes,
        norm=of_nodes,
        decoded=_shape(full, room, samples, n, of["DN_"]),
        node=of_nodes,
        graph=_shape(full, room, samples, of["GD_"]),
        sums=_shape(full, samples, plan.size(plan.sums)),
    )


class Pairs(NamedTuple):
    """For samples of which the first half are inputs and the second their views: what is compared.

    until: for how many steps; places: which node of the view a node of the input is; truth: where
    nodes really point, for each pointer that is compared.
    """

    until: Int[Array, " pairs"]
    places: Int[Array, "pairs n"]
    truth: Int[Array, "steps pairs compared n"]


class Alike(NamedTuple):
    """How alike representations of inputs and views are (see compare.h)."""

    forth: Float[Array, "steps pairs compared n n"]
    back: Float[Array, "steps pairs compared n n"]


class _Projected(NamedTuple):
    """What is written down of representations that are compared."""

    projected: Array
    scale: Array


def _compare(
    plan: Plan, room: int, projections: Layers, start: Start, pairs: Pairs, representations: Array
) -> tuple[Alike, Any]:
    n, compared, samples = plan.nodes, len(plan.compared), len(start.nodes)
    rows = -(-n * n // 16) * 16
    similar = _shape(jnp.float32, room, samples // 2, compared, n, n)
    kept = _Projected(
        _shape(jnp.float16, room, samples, compared, n, n, H),
        _shape(jnp.float32, room, samples, compared, rows),
    )
    given = (pairs.until, start.nodes, pairs.places, pairs.truth, *project_buffers(projections))
    kept, alike = launch(
        *("compare", plan, room, (kept, Alike(similar, similar)), *given, representations),
        each=compared * COMPARE_GROUPS,
    )
    return alike, (given, kept, alike)


def _compare_backward(
    plan: Plan, room: int, representations: Array, compared: Any, of: Alike
) -> tuple[Layers, Array, Array]:
    """Derivatives by projections; what is wanted of representations, and times what."""
    given, kept, alike = compared
    pointers, samples, n = len(plan.compared), len(given[1]), plan.nodes
    sums = 2 * H * H + 2 * H
    shapes = (
        _shape(jnp.float16, room, samples, pointers, n, n, H),
        _shape(jnp.float32, room, samples, pointers),
        _shape(jnp.float32, samples // 2, pointers, COMPARE_GROUPS, sums),
    )
    wanted, scale, found = launch(
        *("compare_backward", plan, room, shapes, *given, representations, *kept, *alike, *of),
        each=pointers * COMPARE_GROUPS,
    )
    found = found.sum((0, 2))
    weights, biases = found[:, : 2 * H * H].reshape(-1, 2, H, H), found[:, 2 * H * H :]
    layers = {
        "first": weights[:, 0],
        "second": weights[:, 1],
        "first_b": biases[:, :H],
        "second_b": biases[:, H:],
    }
    return layers, wanted, scale


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def roll(
    plan: Plan,
    room: int,
    layers: Layers,
    start: Start,
    projections: Layers | None = None,
    pairs: Pairs | None = None,
) -> tuple[Rolled, Alike | None]:
    """Take each sample's steps, none more than `room`.

    projections, pairs: what is compared, and how, where the plan says that something is; the
    layers of all projections, stacked.
    """
    return _forward(plan, room, layers, start, projections, pairs)[0]


def _forward(plan, room, layers, start, projections, pairs):
    half, single = to_buffers(layers, plan)
    start = Start(*(_at_least_one(x) for x in start))
    given = (start.nodes, start.steps, half, single, *start[:-2])
    shapes = _results(plan, len(start.nodes), room)
    rolled, representations, tape = launch("forward", plan, room, shapes, *given)
    alike, compared = None, None
    if plan.compared:
        given = projections, start, pairs, representations
        alike, compared = _compare(plan, room, *given)
    return (rolled, alike), (layers, half, single, start, rolled, representations, tape, compared)


def _at_least_one(x: Array) -> Array:
    """An array without channels gets one, as kernels take no empty arrays."""
    return x if x.size else jnp.zeros((*x.shape[:-1], 1), x.dtype)


def _backward(plan, room, kept, wanted):
    layers, half, single, start, rolled, representations, tape, compared = kept
    of, of_alike = wanted
    samples = len(start.nodes)
    of_representations = jnp.zeros((samples, 1), jnp.float16)  # nothing is wanted
    of_scale, of_projections = jnp.zeros((samples, 1)), None
    if plan.compared:
        of_projections, of_representations, of_scale = _compare_backward(
            plan, room, representations, compared, of_alike
        )
    back = launch(
        *("backward", plan, room, _wanted(plan, samples, room)),
        *(start.nodes, start.steps, half, single, start.node, start.edge, start.graph),
        *(*rolled[:4], representations),
        *(tape.sent, tape.before_norm, tape.before_gate, tape.gate, tape.winners),
        *(tape.triplets, tape.triplet_winners, tape.larger),
        *(*of, of_representations, of_scale),
    )
    return _by_layers(plan, layers, start, rolled, tape, back), None, of_projections, None


def _by_layers(
    plan: Plan, layers: Layers, start: Start, rolled: Rolled, tape: Tape, of: Wanted
) -> Layers:
    """The derivatives by all layers."""
    p, (kn, kg) = len(plan.pointers), (layers["node"].shape[0], layers["graph"].shape[0])
    hidden, after = rolled.hidden[:-1], rolled.hidden[1:]
    counts = plan.counts

    def known(of_input: Array, of_hints: Array, inputs: int, hints: int) -> Array:
        """Channels at each step."""
        steps = (len(hidden), *of_input.shape[:-1], inputs)
        given = jnp.broadcast_to(of_input[..., :inputs], steps)
        return jnp.concatenate([given, of_hints[:-1][..., :hints]], axis=-1)

    node = known(start.node, rolled.node_hints, counts["KNI"], counts["KNH"])
    graph = known(start.graph, rolled.graph_hints, counts["KGI"], counts["KGH"])
    padded = jnp.pad(node, [(0, 0)] * 3 + [(0, CHANNELS - kn)])
    of_z = of.z.sum((0, 1, 2))
    received = of.z[..., 2 * H : 4 * H]
    of_received = of_z[2 * H : 4 * H]
    on_nodes = of.z.sum(2)
    on_graph = jnp.concatenate(
        [on_nodes[..., H : 2 * H], on_nodes[..., 4 * H + 2 * F : 4 * H + 3 * F]], axis=-1
    )
    x = jax.nn.relu(tape.before_norm)
    normal = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    of_decoded = of.decoded[..., : plan.decoded]
    of_graph = of.graph[..., : plan.graph_columns]
    sums = of.sums.sum(0)
    part = {k: sums[at.start : at.end].reshape(at.rows, at.columns) for k, at in plan.sums.items()}

    def of_edges(name: str, rows: int, small: Array) -> Array:
        """Columns of all decoders over edges."""
        by_pointer = part[name].reshape(p, rows, H).transpose(1, 0, 2).reshape(rows, p * H)
        return jnp.concatenate([by_pointer, small], axis=1)

    return {
        "z": jnp.concatenate([_over_rows(hidden, of.z), _over_rows(padded, of.z)]),
        "z_b": of_z,
        "edge": part["EDGE"],
        "graph": jnp.einsum("tsk,tsc->kc", graph, on_graph)[:kg],
        "tri_edge": part["TRI_EDGE"],
        "first": part["FIRST"],
        "first_b": part["FIRST_B"][0],
        "second": part["SECOND"],
        "second_b": layers["received"] @ of_received,
        "received": _over_rows(tape.best, received),
        "received_b": of_received,
        "gate": _over_rows(tape.before_gate, of.gate),
        "gate_b": of.gate.sum((0, 1, 2)),
        "tri_out": part["TRI_OUT"],
        "tri_out_b": part["TRI_OUT_B"][0],
        "norm_scale": jnp.sum(of.norm * normal, axis=(0, 1, 2)),
        "norm_offset": of.norm.sum((0, 1, 2)),
        "dec_edge": of_edges("DEC_EDGE", 8, part["DEC_EDGE_SMALL"]),
        "dec_msg": of_edges("DEC_MSG", H, part["DEC_MSG_SMALL"].T),
        "dec_node": jnp.concatenate([_over_rows(x, of_decoded) for x in (after, hidden, padded)]),
        "dec_b": of_decoded.sum((0, 1, 2)),
        "out_w": part["OUT_W"],
        "out_b": part["OUT_B"][0],
        "node": _over_rows(node, of.node) if plan.graph_columns else jnp.zeros((kn, H)),
        "node_b": of.node.sum((0, 1, 2)) if plan.graph_columns else jnp.zeros(H),
        "pooled": jnp.einsum("tsk,tsc->kc", tape.pooled, of_graph),
        "graph_dec": jnp.einsum("tsk,tsc->kc", graph, of_graph)[:kg],
        "graph_dec_b": of_graph.sum((0, 1)),
    }


_PARTS = 16


def _over_rows(x: Float[Array, "steps samples n a"], y: Float[Array, "steps samples n b"]) -> Array:
    """x^T y over all rows of all nodes, in parts that a GPU can work on side by side."""
    rows = math.prod(x.shape[:-1])
    parts = math.gcd(rows, _PARTS)
    x, y = (a.reshape(parts, rows // parts, -1) for a in (x, y))
    return jnp.einsum("cra,crb->cab", x, y).sum(0)


roll.defvjp(_forward, _backward)
