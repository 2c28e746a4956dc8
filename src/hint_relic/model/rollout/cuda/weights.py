"""A network's layers put together as the kernels read them, and the buffers they are read from.

Encoders become part of the layers that read them. The kernels have no constants of layers over
edges: those are added to a layer over nodes whose result is added to the same thing.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from ....spec import Location
from ...encode import Encoding
from ...layers import Linear
from .plan import CHANNELS, H, Plan

Layers = dict[str, Array]  # by the name of the buffer's part, in lower case


def _padded(x: Array, rows: int, columns: int | None = None) -> Array:
    """Zeros below and to the right."""
    columns = x.shape[1] if columns is None else columns
    return jnp.pad(x, [(0, rows - x.shape[0]), (0, columns - x.shape[1])])


def _beside(layers: list[Linear], width: int, columns: int = 0) -> Linear:
    """Layers over the same input as one; rows: of the input, if there are no layers."""
    weight = jnp.concatenate([jnp.zeros((width, 0)), *(x.weight for x in layers)], axis=1)
    bias = jnp.concatenate([jnp.zeros(0), *(x.bias for x in layers)])
    more = max(0, columns - len(bias))
    return Linear(jnp.pad(weight, [(0, 0), (0, more)]), jnp.pad(bias, (0, more)))


def put_together(network: Any, encoding: Encoding, plan: Plan) -> Layers:
    """The layers of a network, of the processor and the decoders of hints."""
    p = network.processor
    edge = Linear(encoding.edge.weight[:-1], encoding.edge.weight[-1])
    out: Layers = {}

    # the processor, over nodes: state, then channels
    t = p.triplets
    over_nodes = _beside([p.sender, p.receiver, p.update_node, p.gate[0], *t.node], 2 * H)
    on_edge = p.edge.after(edge)
    on_triplets = [layer.after(edge) for layer in t.edge]
    on_graph = _beside([p.graph, t.graph], H).after(encoding.graph)
    by_channels = Linear(over_nodes.weight[:H], over_nodes.bias).after(encoding.node)
    first, second, third = (layer.bias for layer in on_triplets)
    constants = [
        jnp.zeros(H),
        on_edge.bias + on_graph.bias[:H],
        jnp.zeros(2 * H),
        first,
        second + third,
        on_graph.bias[H:],
    ]
    z = jnp.concatenate([over_nodes.weight[H:], _padded(by_channels.weight, CHANNELS)])
    columns = plan.half["Z"].columns
    out["z"] = _padded(z, len(z), columns)
    out["z_b"] = jnp.pad(by_channels.bias + jnp.concatenate(constants), (0, columns - z.shape[1]))
    out["edge"] = _padded(on_edge.weight, 8)
    out["graph"] = on_graph.weight
    out["tri_edge"] = _padded(jnp.concatenate([x.weight for x in on_triplets], axis=1), 8)
    layers = {
        "first": p.message[0],
        "second": p.message[1],
        "received": _beside([p.update_message, p.gate[1]], H),
        "gate": p.gate[2],
        "tri_out": t.out,
    }
    for name, layer in layers.items():
        out[name], out[f"{name}_b"] = layer.weight, layer.bias
    out["norm_scale"], out["norm_offset"] = p.norm.scale, p.norm.offset

    # the decoders
    parts = {name: decoder.layers() for name, decoder in network.decoders.items()}
    pointers = [parts[fed.name] for fed in plan.pointers]
    edges = [parts[fed.name] for fed in plan.fed(Location.EDGE)]
    nodes = [parts[fed.name] for fed in plan.fed(Location.NODE)]
    graphs = [parts[fed.name] for fed in plan.fed(Location.GRAPH)]
    over_edges = [x.edge[0] for x in [*pointers, *edges]]
    from_channels = _beside([Linear(x.weight[:H], x.bias) for x in over_edges], H).after(edge)
    out["dec_edge"] = _padded(from_channels.weight, 8)
    out["dec_msg"] = _beside([Linear(x.weight[H:], x.bias) for x in over_edges], H).weight
    ends = H * len(pointers)
    of_pointers, of_edges = from_channels.bias[:ends].reshape(-1, H), from_channels.bias[ends:]
    decoders = [layer for x in pointers for layer in x.node[:2]]
    decoders += [x.node[0] for x in edges] + [x.node[1] for x in edges]
    decoders += [x.node[0] for x in nodes]
    over_nodes = _beside(decoders, 3 * H, plan.decoded)
    constant = jnp.concatenate(
        [jnp.stack([jnp.zeros_like(of_pointers), of_pointers], axis=1).ravel(), of_edges]
    )
    by_channels = Linear(over_nodes.weight[:H], over_nodes.bias).after(encoding.node)
    of_state, of_next = over_nodes.weight[H : 2 * H], over_nodes.weight[2 * H :]
    out["dec_node"] = jnp.concatenate([of_next, of_state, _padded(by_channels.weight, CHANNELS)])
    out["dec_b"] = by_channels.bias + jnp.pad(constant, (0, plan.decoded - len(constant)))
    outs = [network.decoders[fed.name].out for fed in plan.pointers]
    out["out_w"] = jnp.concatenate([jnp.zeros((0, H)), *(x.weight.T for x in outs)])
    out["out_b"] = jnp.concatenate([jnp.zeros(0), *(x.bias for x in outs)])
    out["node"], out["node_b"] = encoding.node.weight, encoding.node.bias
    pooled = _beside([x.pooled[0] for x in graphs], 3 * H)
    on_graph = _beside([x.graph[0] for x in graphs], H).after(encoding.graph)
    out["pooled"], out["graph_dec"] = pooled.weight, on_graph.weight
    out["graph_dec_b"] = pooled.bias + on_graph.bias
    return out


def _rounded(x: Array) -> tuple[Array, Array]:
    """As float16, and what rounding left."""
    high = x.astype(jnp.float16)
    return high, (x - high.astype(jnp.float32)).astype(jnp.float16)


def _thrice(channels: Array, rows: int) -> Array:
    """Weights of channels that come rounded, as what rounding left, and rounded again."""
    high, low = _rounded(channels)
    return _padded(jnp.concatenate([high, high, low]), rows)


def in_order(weight: Float[Array, "k n"]) -> Float[Array, " size"]:
    """Weights in the order in which the lanes of a warp read them, as float16.

    A lane reads eight at a time: of one column, and of every second pair of rows among 32.
    """
    k, n = weight.shape
    blocks = weight.astype(jnp.float16).reshape(k // 32, 4, 4, 2, n // 8, 8)
    return blocks.transpose(4, 0, 5, 2, 1, 3).ravel()


def to_buffers(layers: Layers, plan: Plan) -> tuple[Array, Array]:
    """What the kernels read: the weights of products as float16, all others as float32."""
    p, part = len(plan.pointers), plan.half
    narrow = 2 * H + 4 * CHANNELS

    def wide(name: str) -> Array:
        """Columns as many as there are in the buffer."""
        return _padded(layers[name], len(layers[name]), part[name.upper()].columns)

    z, decoder = layers["z"], layers["dec_node"]
    edge, messages = wide("dec_edge"), wide("dec_msg")
    by_pointer = [slice(H * i, H * (i + 1)) for i in range(p)]
    down = _padded(decoder.T, part["DEC_NODE_T"].rows)
    products = {
        "Z": jnp.concatenate([z[:H].astype(jnp.float16), _thrice(z[H:], 4 * CHANNELS)]),
        "FIRST": layers["first"],
        "SECOND": layers["second"],
        "EDGE": _thrice(layers["edge"], 32),
        "RECEIVED": layers["received"],
        "GATE": layers["gate"],
        "TRI_OUT": _thrice(layers["tri_out"], 32),
        "DEC_NODE": jnp.concatenate(
            [decoder[: 2 * H].astype(jnp.float16), _thrice(decoder[2 * H :], narrow - 2 * H)]
        ),
        "DEC_EDGE": _thrice(edge, 32),
        "DEC_MSG": messages,
        "FIRST_T": layers["first"].T,
        "SECOND_T": layers["second"].T,
        "EDGE_T": layers["edge"].T,
        "RECEIVED_T": layers["received"].T,
        "GATE_T": layers["gate"].T,
        "TRI_OUT_T": layers["tri_out"].T,
        "DEC_NODE_T": down,
        "DEC_EDGE_T": [edge[:, one].T for one in by_pointer],
        "DEC_MSG_T": [messages[:, one].T for one in by_pointer],
        "Z_T": z.T,
    }
    half = jnp.concatenate(
        [in_order(x) for parts in products.values() for x in _listed(parts) if x.size]
    )
    small = layers["dec_msg"][:, H * p :].T, layers["dec_edge"][:, H * p :]
    others = layers | {"dec_msg_small": small[0], "dec_edge_small": small[1]}
    single = jnp.zeros(plan.size(plan.single))
    ends = [part.start for part in plan.single.values()][1:] + [len(single)]
    flat = []
    for (name, at), end in zip(plan.single.items(), ends, strict=True):
        values = others[name.lower()].ravel()
        flat.append(jnp.pad(values, (0, end - at.start - len(values))))
    return half, jnp.concatenate(flat)


def _listed(x: Any) -> list[Array]:
    return x if isinstance(x, list) else [x]


def project_buffers(projections: Layers) -> tuple[Array, Array]:
    """What the kernels read of projections that are stacked: weights, and constants."""
    weights = []
    for first, second in zip(projections["first"], projections["second"], strict=True):
        weights += [in_order(x) for x in (first, second, first.T, second.T)]
    constants = jnp.concatenate([projections["first_b"], projections["second_b"]], axis=1)
    return jnp.concatenate(weights), constants.ravel()
