"""What a step is made of.

Arrays have as many rows as nodes or edges are alive, one after the other: row v is node v, row
u * n + v the edge (u, v). Of messages row j * n + i is what i sends to j.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...algorithms.kernel import loose_helper as helper
from .plan import CATEGORICAL, MASK_ONE, SCALAR

Array = Any
ZERO, ONE, TINY = np.float32(0.0), np.float32(1.0), np.float32(1e-5)
LEAST = np.float32(-np.inf)
BIT = np.uint32(1)


class Start(NamedTuple):
    """Channels of a sample's inputs, and of its first hints."""

    node: Array
    edge: Array
    graph: Array
    node_hints: Array
    edge_hints: Array
    graph_hints: Array


class Logits(NamedTuple):
    """What is decoded at each step. pointers: [step, which, v, u], that v points at u."""

    node: Array
    edge: Array
    graph: Array
    pointers: Array


class Last(NamedTuple):
    """What decoders of outputs read, at the last step. node: next state, state, channels."""

    node: Array
    edge: Array
    graph: Array
    triplets: Array


class Tape(NamedTuple):
    """What is written down of all steps, step after step: of nodes, of edges, of the graph.

    `*_where`: a bit for each node that has the maximum.
    """

    node: Array  # next state, state, channels
    z: Array  # what is sent, received, before the norm, before the gate
    best: Array  # the largest message
    best_where: Array
    gate: Array
    decoded: Array
    edge: Array  # channels
    triplets: Array
    triplets_where: Array
    from_source: Array  # of pointers' representations: whether the source was larger
    graph: Array  # channels
    pooled: Array


@helper
def empty(rows, columns):
    return np.empty((rows, columns), np.float32)


@helper
def clear(x):
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[r, c] = ZERO


@helper
def copy(x, out):
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            out[r, c] = x[r, c]


@helper
def positive_rows(x, bias):
    """x = max(x + bias, 0)"""
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            y = x[r, c] + bias[0, c]
            x[r, c] = y if y > ZERO else ZERO


@helper
def add_bias(x, bias):
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[r, c] += bias[0, c]


@helper
def first_messages(out, z, edge, weight, n, h):
    """The part of messages' first layer that is linear, made positive."""
    for j in range(n):
        for i in range(n):
            row, sent, received = out[j * n + i], z[i, :h], z[j, h : 2 * h]
            for c in range(h):
                row[c] = sent[c] + received[c]
            for k in range(weight.shape[0]):
                x, w = edge[i * n + j, k], weight[k]
                if x != ZERO:
                    for c in range(h):
                        row[c] += x * w[c]
            for c in range(h):
                row[c] = row[c] if row[c] > ZERO else ZERO


@helper
def largest_of_senders(messages, bias, best, where, n, h):
    for j in range(n):
        top, who = best[j], where[j]
        first = messages[j * n]
        for c in range(h):
            top[c] = first[c]
            who[c] = BIT
        for i in range(1, n):
            row, bit = messages[j * n + i], BIT << np.uint32(i)
            for c in range(h):
                x, y = row[c], top[c]
                who[c] = bit if x > y else (who[c] | bit if x == y else who[c])
                top[c] = x if x > y else y
        for c in range(h):
            top[c] += bias[0, c]


@helper
def normalised(row, out):
    """What is positive of a row, less its mean, by its deviation; returns one over that."""
    h = len(row)
    total = ZERO
    for c in range(h):
        x = row[c] if row[c] > ZERO else ZERO
        out[c] = x
        total += x
    mean = total / np.float32(h)
    squares = ZERO
    for c in range(h):
        x = out[c] - mean
        squares += x * x
    scale = ONE / np.sqrt(squares / np.float32(h) + TINY)
    for c in range(h):
        out[c] = (out[c] - mean) * scale
    return scale


@helper
def sigmoid(x):
    return ONE / (ONE + np.float32(math.exp(-x)))


@helper
def before_norm_and_gate(kept, received, n, h):
    for v in range(n):
        for c in range(h):
            kept[v, 2 * h + c] += received[v, c]
            x = kept[v, 3 * h + c] + received[v, h + c]
            kept[v, 3 * h + c] = x if x > ZERO else ZERO


@helper
def next_state(kept, opened, bias, scale, offset, gate, node, normal, n, h):
    for v in range(n):
        normalised(kept[v, 2 * h : 3 * h], normal)
        for c in range(h):
            g = sigmoid(opened[v, c] + bias[0, c])
            gate[v, c] = g
            x = scale[0, c] * normal[c] + offset[0, c]
            node[v, c] = x * g + node[v, h + c] * (ONE - g)


@helper
def triplet_features(out, where, about_ij, about_ik, nodes, edge, weight, graph, n, f):
    """For each edge (j, k) the largest over i of what is about (i, j, k). nodes: three of each."""
    for r in range(n * n):
        first, second = about_ij[r], about_ik[r]
        for c in range(f):
            first[c] = nodes[r // n, c]
            second[c] = ZERO
        for k in range(weight.shape[0]):
            x, w = edge[r, k], weight[k]
            if x != ZERO:
                for c in range(f):
                    first[c] += x * w[c]
                    second[c] += x * w[f + c]
    row = np.empty(n * f, np.float32)  # of one node and all others
    right, tops = about_ik.reshape(n, n * f), out.reshape(n, n * f)
    places = where.reshape(n, n * f)
    for j in range(n):
        for i in range(n):
            for k in range(n):
                for c in range(f):
                    row[k * f + c] = about_ij[i * n + j, c]
            bit = BIT << np.uint32(i)
            for c in range(n * f):
                x, y, who = row[c] + right[i, c], tops[j, c], places[j, c]
                larger, same = i == 0 or x > y, x == y
                places[j, c] = bit if larger else (who | bit if same else who)
                tops[j, c] = x if larger else y
        for k in range(n):
            r = j * n + k
            for c in range(f):
                out[r, c] += nodes[j, f + c] + nodes[k, 2 * f + c] + graph[c]
            for m in range(weight.shape[0]):
                x = edge[r, m]
                if x != ZERO:
                    for c in range(f):
                        out[r, c] += x * weight[m, 2 * f + c]


@helper
def point(pairs, source, target, edge, weight, out_w, out_b, logits, from_source, n, h):
    """A pointer's logits [v, u], from what edge messages give of each edge (u, v)."""
    for u in range(n):
        for v in range(n):
            row, whose = pairs[u * n + v], from_source[u * n + v]
            of_target, of_source = target[u], source[v]
            for c in range(h):
                row[c] += of_target[c]
            for k in range(weight.shape[0]):
                x, w = edge[u * n + v, k], weight[k]
                if x != ZERO:
                    for c in range(h):
                        row[c] += x * w[c]
            total = ZERO
            for c in range(h):
                larger = of_source[c] > row[c]
                whose[c] = larger
                x = of_source[c] if larger else row[c]
                row[c] = x
                total += x * out_w[c]
            logits[v, u] = total + out_b


@helper
def shares(row, out):
    """Softmax."""
    top = LEAST
    for i in range(len(row)):
        top = max(top, row[i])
    total = ZERO
    for i in range(len(row)):
        out[i] = np.float32(math.exp(row[i] - top))
        total += out[i]
    for i in range(len(row)):
        out[i] /= total


@helper
def decision(row, out):
    """All for the largest, or the first of equals."""
    best = 0
    for i in range(len(row)):
        best = i if row[i] > row[best] else best
        out[i] = ZERO
    out[best] = ONE


@helper
def feed(kind, decide, logits, out):
    """Decoded hints of nodes, edges or the graph, a row of columns each, as channels: shares, or
    decisions."""
    rows, width = logits.shape
    if kind == MASK_ONE:
        share_or_decide(decide, logits[:, 0], out[:, 0])
        return
    for r in range(rows):
        if kind == CATEGORICAL:
            share_or_decide(decide, logits[r], out[r])
        elif kind == SCALAR:
            copy(logits[r : r + 1], out[r : r + 1])
        else:
            for c in range(width):
                x = logits[r, c]
                out[r, c] = (ONE if x > ZERO else ZERO) if decide else sigmoid(x)


@helper
def share_or_decide(decide, row, out):
    if decide:
        decision(row, out)
    else:
        shares(row, out)


@helper
def pooled_nodes(out, node, weight, bias, n, h):
    """The largest of encoded nodes, states and next states, number by number."""
    channels = node[:, 2 * h :]
    for c in range(3 * h):
        out[c] = LEAST
    for v in range(n):
        for c in range(h):
            x = bias[0, c]
            for k in range(channels.shape[1]):
                x += channels[v, k] * weight[k, c]
            out[c] = max(out[c], x)
            out[h + c] = max(out[h + c], node[v, h + c])
            out[2 * h + c] = max(out[2 * h + c], node[v, c])
