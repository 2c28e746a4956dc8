"""A network's layers put together as the rollout reads them.

Encoders become part of the layers that read them. Layers over edges have no constants: those are
added to a layer over nodes, whose result is added to the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from ...spec import Location
from ..encode import Encoding
from ..layers import Array, Linear
from .plan import Plan


class Layers(NamedTuple):
    """Weights and biases, all of two axes. What they read, and what they give:"""

    z: Array  # state, node channels: what is sent, received, kept, gate, three of triplets
    z_b: Array
    edge: Array  # edge channels: a part of messages
    graph: Array  # graph channels: a part of what is received, and of the third of triplets
    tri_edge: Array  # edge channels: three of triplets
    first: Array  # messages
    first_b: Array
    second: Array
    second_b: Array
    received: Array  # the largest message: kept, gate
    received_b: Array
    gate: Array
    gate_b: Array
    norm_scale: Array
    norm_offset: Array
    tri_out: Array  # triplet features: edge messages
    tri_out_b: Array
    dec_node: Array  # next state, state, node channels: pointers' ends, edges' ends, nodes' logits
    dec_b: Array
    dec_edge: Array  # edge channels: pointers, edges' logits
    dec_msg: Array  # edge messages: the same
    out_w: Array  # a row for each pointer
    out_b: Array
    node: Array  # node channels: encoded nodes
    node_b: Array
    pooled: Array  # the largest of encoded nodes, states, next states: the graph's logits
    graph_dec: Array  # graph channels: the same
    graph_dec_b: Array


def _beside(layers: Sequence[Linear], inputs: int) -> Linear:
    """Layers over the same input as one; of no layers, too."""
    weight = jnp.concatenate([jnp.zeros((inputs, 0)), *(x.weight for x in layers)], axis=1)
    return Linear(weight, jnp.concatenate([jnp.zeros(0), *(x.bias for x in layers)]))


def put_together(network: Any, encoding: Encoding, plan: Plan) -> Layers:
    """The layers of a network's processor and of the decoders of its hints."""
    p, t, h = network.processor, network.processor.triplets, network.config.hidden
    edge = Linear(encoding.edge.weight[:-1], encoding.edge.weight[-1])
    over_nodes = _beside([p.sender, p.receiver, p.update_node, p.gate[0], *t.node], 2 * h)
    on_edge = p.edge.after(edge)
    on_triplets = [layer.after(edge) for layer in t.edge]
    on_graph = _beside([p.graph, t.graph], h).after(encoding.graph)
    first, second, third = (layer.bias for layer in on_triplets)
    received, of_triplets = on_edge.bias + on_graph.bias[:h], second + third + on_graph.bias[h:]
    nothing, none = jnp.zeros(h), jnp.zeros_like(first)
    constants = [nothing, received, nothing, nothing, first, none, of_triplets]
    by_channels = Linear(over_nodes.weight[:h], over_nodes.bias).after(encoding.node)
    on_received = _beside([p.update_message, p.gate[1]], h)

    hints = {name: network.decoders[name] for name, _ in plan.hints}
    parts = {name: decoder.layers() for name, decoder in hints.items()}
    pointers = [parts[fed.name] for fed in plan.pointers]
    nodes, edges, graphs = (
        [parts[fed.name] for fed in plan.fed(at)]
        for at in (Location.NODE, Location.EDGE, Location.GRAPH)
    )
    over_edges = [x.edge[0] for x in [*pointers, *edges]]
    from_channels = _beside([Linear(x.weight[:h], x.bias) for x in over_edges], h).after(edge)
    from_messages = _beside([Linear(x.weight[h:], x.bias) for x in over_edges], h)
    ends = [layer for x in pointers for layer in x.node[:2]]
    ends += [x.node[i] for i in (0, 1) for x in edges]
    decoded = _beside([*ends, *(x.node[0] for x in nodes)], 3 * h)
    dec_by_channels = Linear(decoded.weight[:h], decoded.bias).after(encoding.node)
    split = h * len(pointers)
    to_targets = from_channels.bias[:split].reshape(-1, 1, h)
    to_targets = jnp.concatenate([jnp.zeros_like(to_targets), to_targets], axis=1).ravel()
    dec_constant = jnp.concatenate([to_targets, from_channels.bias[split:]])
    dec_constant = jnp.pad(dec_constant, (0, decoded.bias.shape[0] - dec_constant.shape[0]))
    outs = [hints[fed.name].out for fed in plan.pointers]
    pooled = _beside([x.pooled[0] for x in graphs], 3 * h)
    graph_dec = _beside([x.graph[0] for x in graphs], h).after(encoding.graph)
    return Layers(
        z=jnp.concatenate([over_nodes.weight[h:], by_channels.weight]),
        z_b=(by_channels.bias + jnp.concatenate(constants))[None],
        edge=on_edge.weight,
        graph=on_graph.weight,
        tri_edge=jnp.concatenate([layer.weight for layer in on_triplets], axis=1),
        first=p.message[0].weight,
        first_b=p.message[0].bias[None],
        second=p.message[1].weight,
        second_b=p.message[1].bias[None],
        received=on_received.weight,
        received_b=on_received.bias[None],
        gate=p.gate[2].weight,
        gate_b=p.gate[2].bias[None],
        norm_scale=p.norm.scale[None],
        norm_offset=p.norm.offset[None],
        tri_out=t.out.weight,
        tri_out_b=t.out.bias[None],
        dec_node=jnp.concatenate(
            [decoded.weight[2 * h :], decoded.weight[h : 2 * h], dec_by_channels.weight]
        ),
        dec_b=(dec_by_channels.bias + dec_constant)[None],
        dec_edge=from_channels.weight,
        dec_msg=from_messages.weight,
        out_w=jnp.concatenate([jnp.zeros((0, h)), *(x.weight.T for x in outs)]),
        out_b=jnp.concatenate([jnp.zeros(0), *(x.bias for x in outs)])[None],
        node=encoding.node.weight,
        node_b=encoding.node.bias[None],
        pooled=pooled.weight,
        graph_dec=graph_dec.weight,
        graph_dec_b=(pooled.bias + graph_dec.bias)[None],
    )
