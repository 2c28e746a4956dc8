"""Derivatives of a step of one sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algorithms.kernel import loose_helper as helper
from .forward import sizes_of
from .pieces import ONE, ZERO, Array, clear, copy, empty, first_messages, positive_rows
from .through import (
    add_rows,
    add_times,
    dot,
    through_compared_pointer,
    through_feed,
    through_first_messages,
    through_largest_of_senders,
    through_next_state,
    through_pointer,
    through_pooled,
    through_positive,
    through_shares,
    through_triplets,
)
from .tiles import times, turned_times
from .weights import Layers

CHUNK = 16  # steps whose derivatives by nodes' layers are taken as one product


class Back(NamedTuple):
    """What passes from step to step, room for what a step makes, and what is added up first."""

    of_next: Array  # by what a step hands on: nodes, edges, the graph
    of_edge_next: Array
    of_graph_next: Array
    of_read: Array  # what is wanted of nodes' rows of the tape at this step besides
    of_z: Array  # of a chunk of steps
    of_decoded: Array
    of_gate: Array
    one: Array  # of pairs
    two: Array
    of_pairs: Array
    edge_messages: Array
    of_edge_messages: Array
    of_source: Array
    of_target: Array
    of_features: Array
    of_ij: Array
    of_ik: Array
    of_edge_logits: Array
    of_pointer: Array
    of_node: Array
    of_edge: Array
    of_graph: Array
    of_graph_logits: Array
    of_pooled: Array
    normal: Array
    of_normal: Array
    of_best: Array
    turn: Array
    of_turn: Array
    of_on_graph: Array
    of_second: Array  # turned
    by_pointer: Array  # by pointers' layers over edges, still to be multiplied by `out_w`
    channels_by_pointer: Array


class Turned(NamedTuple):
    """Layers' weights, turned: what they give first."""

    z: Array
    first: Array
    second: Array
    received: Array
    gate: Array
    tri_out: Array
    dec_node: Array
    dec_msg: Array


class Known(NamedTuple):
    """Layers, and some of them as the backward pass reads them.

    scaled, scaled_channels: pointers' layers over edges, multiplied by `out_w`; the first turned.
    """

    layers: Layers
    turned: Turned
    scaled: Array
    scaled_channels: Array


@helper
def known_of(layers, turned):
    h, pointers, channels = layers.first.shape[0], layers.out_w.shape[0], layers.edge.shape[0]
    scaled = np.empty((pointers, h, h), np.float32)
    scaled_channels = np.empty((pointers, channels, h), np.float32)
    for p in range(pointers):
        for k in range(h):
            for c in range(h):
                scaled[p, k, c] = turned.dec_msg[p * h + k, c] * layers.out_w[p, k]
        for k in range(channels):
            for c in range(h):
                scaled_channels[p, k, c] = layers.dec_edge[k, p * h + c] * layers.out_w[p, c]
    return Known(layers, turned, scaled, scaled_channels)


@helper
def zeros(rows, columns):
    return np.zeros((rows, columns), np.float32)


@helper
def new_back(n, steps, layers, tape):
    h, f, pointers, _, edge_columns, _ = sizes_of(layers)
    pairs, rows, columns = n * n, min(CHUNK, steps) * n, layers.dec_b.shape[1]
    read, channels, graph = tape.node.shape[1], tape.edge.shape[1], tape.graph.shape[1]
    return Back(
        of_next=zeros(n, read),
        of_edge_next=zeros(pairs, channels),
        of_graph_next=zeros(1, graph),
        of_read=zeros(n, read),
        of_z=empty(rows, layers.z.shape[1]),
        of_decoded=empty(rows, columns),
        of_gate=empty(rows, h),
        one=empty(pairs, h),
        two=empty(pairs, h),
        of_pairs=empty(pairs, h),
        edge_messages=empty(pairs, h),
        of_edge_messages=empty(pairs, h),
        of_source=empty(n, h),
        of_target=empty(n, h),
        of_features=empty(pairs, f),
        of_ij=empty(pairs, f),
        of_ik=empty(pairs, f),
        of_edge_logits=empty(pairs, edge_columns),
        of_pointer=empty(n, n),
        of_node=empty(n, read),
        of_edge=empty(pairs, channels),
        of_graph=empty(1, graph),
        of_graph_logits=empty(1, layers.pooled.shape[1]),
        of_pooled=np.empty(3 * h, np.float32),
        normal=np.empty(h, np.float32),
        of_normal=np.empty(h, np.float32),
        of_best=empty(n, h),
        turn=np.empty(n, np.float32),
        of_turn=np.empty(n, np.float32),
        of_on_graph=empty(1, h + f),
        of_second=zeros(h, h),
        by_pointer=np.zeros((pointers, h, h), np.float32),
        channels_by_pointer=np.zeros((pointers, channels, h), np.float32),
    )


@helper
def step_back(
    t, n, steps, feeds, known, tape, of_logits, of_last, back, of, compared_as, representations,
    of_representations,
):  # fmt: skip
    """Derivatives of step t. Those of the pointers that are compared are given, and what they are
    of; the place of each pointer among them, or -1."""
    layers, turned, scaled, scaled_channels = known
    h, f, pointers, ends, edge_columns, of_nodes = sizes_of(layers)
    pairs, columns, graph_columns = n * n, layers.dec_b.shape[1], layers.pooled.shape[1]
    node_feeds, edge_feeds, graph_feeds, pointer_feeds, hands_on_state, decided = feeds
    known_edge, known_graph = tape.edge.shape[1], tape.graph.shape[1]
    node_inputs = tape.node.shape[1] - 2 * h
    edge_inputs, graph_inputs = known_edge - pointers, known_graph
    for i in range(len(node_feeds)):
        node_inputs -= node_feeds[i, 3]
    for i in range(len(edge_feeds)):
        edge_inputs -= edge_feeds[i, 3]
    for i in range(len(graph_feeds)):
        graph_inputs -= graph_feeds[i, 3]
    over_edges = pointers + edge_columns > 0
    of_next, of_edge_next, of_graph_next = back.of_next, back.of_edge_next, back.of_graph_next
    of_node, of_edge, of_graph = back.of_node, back.of_edge, back.of_graph
    one, two, of_pairs, of_features = back.one, back.two, back.of_pairs, back.of_features
    edge_messages, of_edge_messages = back.edge_messages, back.of_edge_messages
    of_edge_logits, of_graph_logits = back.of_edge_logits, back.of_graph_logits

    node, edge = tape.node[t * n : (t + 1) * n], tape.edge[t * pairs : (t + 1) * pairs]
    graph, z = tape.graph[t], tape.z[t * n : (t + 1) * n]
    begin, last = t - t % CHUNK, t + 1 == steps
    place = (t - begin) * n
    of_z = back.of_z[place : place + n]
    of_decoded = back.of_decoded[place : place + n]
    of_gate = back.of_gate[place : place + n]
    clear(of_z)
    clear(of_decoded)
    clear(of_edge)
    clear(of_graph)
    if last:
        copy(of_last.node[:n], of_node)
        for u in range(n):
            copy(of_last.edge[u, :n], of_edge[u * n : (u + 1) * n])
            copy(of_last.triplets[u, :n], of_features[u * n : (u + 1) * n])
        for k in range(known_graph):
            of_graph[0, k] = of_last.graph[k]
    else:
        clear(of_node)
        clear(of_features)
        if hands_on_state:
            copy(of_next[:, h : 2 * h], of_node[:, :h])

    for v in range(n):
        for c in range(of_node.shape[1]):
            of_node[v, c] += back.of_read[v, c]
            back.of_read[v, c] = ZERO

    # ---- from what is wanted of logits, and of what is fed back, to edge messages and nodes
    copy(of_logits.node[t, :n], of_decoded[:, of_nodes:])
    fed_back = not last and not decided  # decisions hand nothing back
    if fed_back:
        next_node = tape.node[(t + 1) * n : (t + 2) * n]
        for i in range(len(node_feeds)):
            kind, column, channel, width = node_feeds[i]
            channel += 2 * h + node_inputs
            through_feed(
                kind, next_node[:, channel : channel + width],
                of_next[:, channel : channel + width],
                of_decoded[:, of_nodes + column : of_nodes + column + width],
            )  # fmt: skip
    if over_edges:
        times(tape.triplets[t * pairs : (t + 1) * pairs], layers.tri_out, edge_messages, ZERO)
        positive_rows(edge_messages, layers.tri_out_b)
        clear(of_edge_messages)
    for p in range(pointers):
        channel = edge_inputs + pointer_feeds[p, 2]
        copy(of_logits.pointers[t, p, :n, :n], back.of_pointer)
        for v in range(n):
            if fed_back:
                for u in range(n):
                    back.turn[u] = tape.edge[(t + 1) * pairs + v * n + u, channel]
                    back.of_turn[u] = of_edge_next[v * n + u, channel]
                through_shares(back.turn, back.of_turn, back.of_pointer[v])
        for v in range(n):
            for u in range(n):
                of.out_b[0, p] += back.of_pointer[v, u]
        at, place = t * pointers + p, compared_as[p]
        from_source = tape.from_source[at * pairs : (at + 1) * pairs]
        decoded, first = tape.decoded[t * n : (t + 1) * n], 2 * p * h
        if place >= 0:
            span = slice(p * h, (p + 1) * h)
            through_compared_pointer(
                back.of_pointer, representations[place], of_representations[place],
                from_source, edge, layers.dec_edge[:, span], layers.out_w[p], of_pairs,
                of_decoded[:, first : first + h], of_decoded[:, first + h : first + 2 * h],
                of.dec_edge[:, span], of_edge, of.out_w[p], edge_inputs, n, h,
            )  # fmt: skip
            turned_times(edge_messages, of_pairs, of.dec_msg[:, span], ONE)
            times(of_pairs, turned.dec_msg[span], of_edge_messages, ONE)
            continue
        through_pointer(
            back.of_pointer, from_source, edge, scaled_channels[p], of_pairs, back.of_source,
            back.of_target, back.channels_by_pointer[p], of_edge, edge_inputs, n, h,
        )  # fmt: skip
        turned_times(edge_messages, of_pairs, back.by_pointer[p], ONE)
        times(of_pairs, scaled[p], of_edge_messages, ONE)
        for v in range(n):
            for c in range(h):
                x, y, w = back.of_source[v, c], back.of_target[v, c], layers.out_w[p, c]
                of.out_w[p, c] += x * decoded[v, first + c] + y * decoded[v, first + h + c]
                of_decoded[v, first + c] = x * w
                of_decoded[v, first + h + c] = y * w
    if edge_columns:
        for u in range(n):
            copy(of_logits.edge[t, u, :n], of_edge_logits[u * n : (u + 1) * n])
        if fed_back:
            for i in range(len(edge_feeds)):
                kind, column, channel, width = edge_feeds[i]
                channel += edge_inputs
                through_feed(
                    kind,
                    tape.edge[(t + 1) * pairs : (t + 2) * pairs, channel : channel + width],
                    of_edge_next[:, channel : channel + width],
                    of_edge_logits[:, column : column + width],
                )  # fmt: skip
        turned_times(edge_messages, of_edge_logits, of.dec_msg[:, pointers * h :], ONE)
        times(of_edge_logits, turned.dec_msg[pointers * h :], of_edge_messages, ONE)
        for r in range(pairs):
            for c in range(edge_columns):
                x = of_edge_logits[r, c]
                of_decoded[r // n, ends + c] += x
                of_decoded[r % n, ends + edge_columns + c] += x
                for k in range(known_edge):
                    of.dec_edge[k, pointers * h + c] += edge[r, k] * x
                    of_edge[r, k] += x * layers.dec_edge[k, pointers * h + c]
    if graph_columns:
        copy(of_logits.graph[t : t + 1], of_graph_logits)
        if fed_back:
            for i in range(len(graph_feeds)):
                kind, column, channel, width = graph_feeds[i]
                channel += graph_inputs
                through_feed(
                    kind,
                    tape.graph[t + 1 : t + 2, channel : channel + width],
                    of_graph_next[:, channel : channel + width],
                    of_graph_logits[:, column : column + width],
                )  # fmt: skip
        pooled = tape.pooled[t]
        for k in range(3 * h):
            back.of_pooled[k] = ZERO
        for c in range(graph_columns):
            x = of_graph_logits[0, c]
            of.graph_dec_b[0, c] += x
            for k in range(3 * h):
                of.pooled[k, c] += pooled[k] * x
                back.of_pooled[k] += layers.pooled[k, c] * x
            for k in range(known_graph):
                of.graph_dec[k, c] += graph[k] * x
                of_graph[0, k] += layers.graph_dec[k, c] * x
        through_pooled(
            back.of_pooled,
            pooled,
            node,
            layers.node,
            layers.node_b,
            of_node,
            of.node,
            of.node_b,
            n,
            h,
        )
    if columns:
        times(of_decoded, turned.dec_node, of_node, ONE)

    # ---- from edge messages to triplets
    if over_edges:
        through_positive(of_edge_messages, edge_messages, of.tri_out_b)
        features = tape.triplets[t * pairs : (t + 1) * pairs]
        turned_times(features, of_edge_messages, of.tri_out, ONE)
        times(of_edge_messages, turned.tri_out, of_features, ONE)
    if over_edges or last:
        through_triplets(
            of_features, tape.triplets_where[t * pairs : (t + 1) * pairs], edge,
            layers.tri_edge, of_z[:, 4 * h :], of.tri_edge, of_edge, back.of_ij, back.of_ik,
            edge_inputs, n, f,
        )  # fmt: skip

    # ---- from the next state to the state, and to the largest messages
    gate = tape.gate[t * n : (t + 1) * n]
    through_next_state(
        of_node, node, z, gate, layers.norm_scale, layers.norm_offset, of_z, of_gate,
        of.norm_scale, of.norm_offset, back.normal, back.of_normal, n, h,
    )  # fmt: skip
    times(of_gate, turned.gate, of_z[:, 3 * h : 4 * h], ZERO)
    for v in range(n):
        for c in range(3 * h, 4 * h):
            of_z[v, c] = of_z[v, c] if z[v, c] > ZERO else ZERO
    times(of_z[:, 2 * h : 4 * h], turned.received, back.of_best, ZERO)

    # ---- from the largest messages to all that made them
    first_messages(one, z, edge, layers.edge, n, h)
    times(one, layers.first, two, ZERO)
    positive_rows(two, layers.first_b)
    where = tape.best_where[t * n : (t + 1) * n]
    through_largest_of_senders(back.of_best, where, turned.second, two, of_pairs, back.of_second)
    add_rows(of.second_b, back.of_best)
    through_positive(of_pairs, two, of.first_b)
    turned_times(one, of_pairs, of.first, ONE)
    times(of_pairs, turned.first, two, ZERO)
    through_first_messages(two, one, edge, layers.edge, of_z, of.edge, of_edge, edge_inputs, n, h)

    # ---- to nodes and the graph
    times(of_z, turned.z, of_node[:, h:], ONE)
    clear(back.of_on_graph)
    add_rows(back.of_on_graph[:, :h], of_z[:, h : 2 * h])
    add_rows(back.of_on_graph[:, h:], of_z[:, 4 * h + 2 * f :])
    for k in range(known_graph):
        add_times(of.graph[k], graph[k], back.of_on_graph[0])
        of_graph[0, k] += dot(layers.graph[k], back.of_on_graph[0])
    copy(of_node, of_next)
    copy(of_edge, of_edge_next)
    copy(of_graph, of_graph_next)

    # ---- the layers over nodes, of many steps at once
    if t == begin:
        end = min(begin + CHUNK, steps)
        span, count = slice(begin * n, end * n), (end - begin) * n
        inputs = tape.node[span]
        wanted = back.of_z[:count]
        turned_times(inputs[:, h:], wanted, of.z, ONE)
        add_rows(of.z_b, wanted)
        turned_times(tape.best[span], wanted[:, 2 * h : 4 * h], of.received, ONE)
        add_rows(of.received_b, wanted[:, 2 * h : 4 * h])
        turned_times(tape.z[span][:, 3 * h :], back.of_gate[:count], of.gate, ONE)
        add_rows(of.gate_b, back.of_gate[:count])
        if columns:
            turned_times(inputs, back.of_decoded[:count], of.dec_node, ONE)
            add_rows(of.dec_b, back.of_decoded[:count])


@helper
def finish(layers, back, of):
    """Add what was added up first."""
    h, _, pointers, _, _, _ = sizes_of(layers)
    for k in range(h):
        for c in range(h):
            of.second[k, c] += back.of_second[c, k]
    for p in range(pointers):
        for k in range(h):
            for c in range(h):
                x = back.by_pointer[p, k, c]
                of.dec_msg[k, p * h + c] += x * layers.out_w[p, c]
                of.out_w[p, c] += x * layers.dec_msg[k, p * h + c]
        for k in range(layers.edge.shape[0]):
            for c in range(h):
                x = back.channels_by_pointer[p, k, c]
                of.dec_edge[k, p * h + c] += x * layers.out_w[p, c]
                of.out_w[p, c] += x * layers.dec_edge[k, p * h + c]
