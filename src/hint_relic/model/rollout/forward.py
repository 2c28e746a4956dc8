"""A step of one sample, and a tape of what its derivatives need."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algorithms.kernel import loose_helper as helper
from .pieces import (
    ZERO,
    Array,
    Last,
    Logits,
    Start,
    Tape,
    add_bias,
    before_norm_and_gate,
    clear,
    copy,
    empty,
    feed,
    first_messages,
    largest_of_senders,
    next_state,
    point,
    pooled_nodes,
    positive_rows,
    share_or_decide,
    triplet_features,
)
from .tiles import times


class Scratch(NamedTuple):
    """Room for what a step makes and nobody keeps."""

    one: Array  # of pairs
    two: Array
    z: Array
    decoded: Array
    received: Array
    opened: Array
    about_ij: Array
    about_ik: Array
    on_graph: Array
    normal: Array
    shared: Array
    from_messages: Array


class Sample(NamedTuple):
    """What a step reads and writes of a sample."""

    start: Start
    tape: Tape
    logits: Logits
    last: Last
    scratch: Scratch


class Sizes(NamedTuple):
    """hidden, features: of an edge's triplets; edges, nodes: where the columns of edges and nodes
    begin among all that are decoded of nodes; edge_columns: how many an edge has."""

    hidden: Any
    features: Any
    pointers: Any
    edges: Any
    edge_columns: Any
    nodes: Any


@helper
def sizes_of(layers):
    h, pointers = layers.first.shape[0], layers.out_w.shape[0]
    edges, edge_columns = 2 * h * pointers, layers.dec_msg.shape[1] - h * pointers
    features = layers.tri_out.shape[0]
    return Sizes(h, features, pointers, edges, edge_columns, edges + 2 * edge_columns)


@helper
def new_scratch(n, layers):
    h, f, _, _, edge_columns, _ = sizes_of(layers)
    pairs = n * n
    return Scratch(
        one=empty(pairs, h),
        two=empty(pairs, h),
        z=empty(n, layers.z.shape[1]),
        decoded=empty(n, layers.dec_b.shape[1]),
        received=empty(n, 2 * h),
        opened=empty(n, h),
        about_ij=empty(pairs, f),
        about_ik=empty(pairs, f),
        on_graph=empty(1, h + f),
        normal=np.empty(h, np.float32),
        shared=np.empty(n, np.float32),
        from_messages=empty(pairs, edge_columns),
    )


@helper
def begin(n, layers, start, tape):
    """What is known before the first step."""
    h = layers.first.shape[0]
    node_inputs, edge_inputs = start.node.shape[1], start.edge.shape[2]
    clear(tape.node[:n, h : 2 * h])
    copy(start.node_hints[:n], tape.node[:n, 2 * h + node_inputs :])
    for v in range(n):
        copy(start.edge_hints[v, :n], tape.edge[v * n : (v + 1) * n, edge_inputs:])
    for k in range(len(start.graph_hints)):
        tape.graph[0, len(start.graph) + k] = start.graph_hints[k]


@helper
def step(t, n, steps, feeds, layers, sample, compared_as, representations):
    """Take step t. Representations are kept of those pointers that are compared: the place of each
    among them, or -1."""
    start, tape, logits, last, scratch = sample
    h, f, pointers, ends, edge_columns, of_nodes = sizes_of(layers)
    pairs = n * n
    decoded_nodes, graph_columns = layers.dec_b.shape[1] - of_nodes, layers.pooled.shape[1]
    node_feeds, edge_feeds, graph_feeds, pointer_feeds, hands_on_state, decide = feeds
    node_inputs, edge_inputs = start.node.shape[1], start.edge.shape[2]
    graph_inputs = len(start.graph)
    over_edges = pointers + edge_columns > 0
    one, two, z, decoded = scratch.one, scratch.two, scratch.z, scratch.decoded
    on_graph = scratch.on_graph

    node, edge = tape.node[t * n : (t + 1) * n], tape.edge[t * pairs : (t + 1) * pairs]
    graph = tape.graph[t]
    copy(start.node[:n], node[:, 2 * h : 2 * h + node_inputs])
    for v in range(n):
        copy(start.edge[v, :n], edge[v * n : (v + 1) * n, :edge_inputs])
    for k in range(graph_inputs):
        graph[k] = start.graph[k]

    # what nodes and the graph give
    times(node[:, h:], layers.z, z, ZERO)
    add_bias(z, layers.z_b)
    clear(on_graph)
    for k in range(len(graph)):
        for c in range(h + f):
            on_graph[0, c] += graph[k] * layers.graph[k, c]
    add_bias(z[:, h : 2 * h], on_graph[:, :h])
    kept = tape.z[t * n : (t + 1) * n]
    copy(z[:, : 4 * h], kept)

    # messages
    first_messages(one, z, edge, layers.edge, n, h)
    times(one, layers.first, two, ZERO)
    positive_rows(two, layers.first_b)
    times(two, layers.second, one, ZERO)
    best, where = tape.best[t * n : (t + 1) * n], tape.best_where[t * n : (t + 1) * n]
    largest_of_senders(one, layers.second_b, best, where, n, h)

    # the next state
    times(best, layers.received, scratch.received, ZERO)
    add_bias(scratch.received, layers.received_b)
    gate = tape.gate[t * n : (t + 1) * n]
    before_norm_and_gate(kept, scratch.received, n, h)
    times(kept[:, 3 * h :], layers.gate, scratch.opened, ZERO)
    next_state(
        kept, scratch.opened, layers.gate_b, layers.norm_scale, layers.norm_offset, gate, node,
        scratch.normal, n, h,
    )  # fmt: skip

    # triplets and edge messages
    done = t + 1 == steps
    triplets = tape.triplets[t * pairs : (t + 1) * pairs]
    if over_edges or done:
        triplet_features(
            triplets, tape.triplets_where[t * pairs : (t + 1) * pairs], scratch.about_ij,
            scratch.about_ik, z[:, 4 * h :], edge, layers.tri_edge, on_graph[0, h:], n, f,
        )  # fmt: skip
    if over_edges:
        times(triplets, layers.tri_out, one, ZERO)
        positive_rows(one, layers.tri_out_b)

    # logits
    if decoded.shape[1]:
        times(node, layers.dec_node, decoded, ZERO)
        add_bias(decoded, layers.dec_b)
        copy(decoded, tape.decoded[t * n : (t + 1) * n])
    for p in range(pointers):
        made = representations[compared_as[p]] if compared_as[p] >= 0 else two
        times(one, layers.dec_msg[:, p * h : (p + 1) * h], made, ZERO)
        at = t * pointers + p
        point(
            made, decoded[:, 2 * p * h : (2 * p + 1) * h],
            decoded[:, (2 * p + 1) * h : (2 * p + 2) * h], edge,
            layers.dec_edge[:, p * h : (p + 1) * h], layers.out_w[p], layers.out_b[0, p],
            logits.pointers[t, p], tape.from_source[at * pairs : (at + 1) * pairs], n, h,
        )  # fmt: skip
    if edge_columns:
        times(one, layers.dec_msg[:, h * pointers :], scratch.from_messages, ZERO)
        for u in range(n):
            for v in range(n):
                for c in range(edge_columns):
                    x = scratch.from_messages[u * n + v, c]
                    for k in range(edge.shape[1]):
                        x += edge[u * n + v, k] * layers.dec_edge[k, h * pointers + c]
                    x += decoded[u, ends + c] + decoded[v, ends + edge_columns + c]
                    logits.edge[t, u, v, c] = x
    for v in range(n):
        for c in range(decoded_nodes):
            logits.node[t, v, c] = decoded[v, of_nodes + c]
    if graph_columns:
        pooled = tape.pooled[t]
        pooled_nodes(pooled, node, layers.node, layers.node_b, n, h)
        for c in range(graph_columns):
            x = layers.graph_dec_b[0, c]
            for k in range(3 * h):
                x += pooled[k] * layers.pooled[k, c]
            for k in range(len(graph)):
                x += graph[k] * layers.graph_dec[k, c]
            logits.graph[t, c] = x

    if done:
        copy(node, last.node)
        for u in range(n):
            copy(edge[u * n : (u + 1) * n], last.edge[u])
            copy(triplets[u * n : (u + 1) * n], last.triplets[u])
        for k in range(len(graph)):
            last.graph[k] = graph[k]
        return

    # the next step: its state, and the hints fed back
    node_after = tape.node[(t + 1) * n : (t + 2) * n]
    edge_after = tape.edge[(t + 1) * pairs : (t + 2) * pairs]
    graph_after = tape.graph[t + 1 : t + 2]
    if hands_on_state:
        copy(node[:, :h], node_after[:, h : 2 * h])
    else:
        clear(node_after[:, h : 2 * h])
    for i in range(len(node_feeds)):
        kind, column, channel, width = node_feeds[i]
        channel += 2 * h + node_inputs
        given = decoded[:, of_nodes + column : of_nodes + column + width]
        feed(kind, decide, given, node_after[:, channel : channel + width])
    for i in range(len(edge_feeds)):
        kind, column, channel, width = edge_feeds[i]
        channel += edge_inputs
        for u in range(n):
            feed(
                kind, decide, logits.edge[t, u, :n, column : column + width],
                edge_after[u * n : (u + 1) * n, channel : channel + width],
            )  # fmt: skip
    for i in range(len(graph_feeds)):
        kind, column, channel, width = graph_feeds[i]
        channel += graph_inputs
        given = logits.graph[t : t + 1, column : column + width]
        feed(kind, decide, given, graph_after[:, channel : channel + width])
    for i in range(len(pointer_feeds)):
        channel = edge_inputs + pointer_feeds[i, 2]
        for v in range(n):
            share_or_decide(decide, logits.pointers[t, i, v, :n], scratch.shared)
            for u in range(n):
                edge_after[v * n + u, channel] = scratch.shared[u]
