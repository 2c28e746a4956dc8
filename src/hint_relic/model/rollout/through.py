"""Derivatives of what a step is made of: `through_x` is handed what is wanted of what `x` gave."""

from __future__ import annotations

import numpy as np

from ...algorithms.kernel import loose_helper as helper
from .bits import bits, lowest_bit
from .pieces import BIT, ONE, ZERO, clear, normalised
from .plan import CATEGORICAL, MASK, MASK_ONE


@helper
def dot(x, y):
    total = ZERO
    for c in range(len(x)):
        total += x[c] * y[c]
    return total


@helper
def add_times(out, a, x):
    for c in range(len(x)):
        out[c] += a * x[c]


@helper
def add_rows(out, x):
    """out += the sum of x's rows."""
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            out[0, c] += x[r, c]


@helper
def through_shares(shares, wanted, out):
    """Adds what softmax hands back."""
    total = dot(shares, wanted)
    for i in range(len(shares)):
        out[i] += shares[i] * (wanted[i] - total)


@helper
def through_feed(kind, fed, wanted, out):
    """Adds what `feed` hands back: from channels to logits, a row of columns each."""
    if kind == MASK_ONE:
        through_shares(fed[:, 0], wanted[:, 0], out[:, 0])
        return
    for r in range(fed.shape[0]):
        if kind == CATEGORICAL:
            through_shares(fed[r], wanted[r], out[r])
        else:
            for c in range(fed.shape[1]):
                slope = fed[r, c] * (ONE - fed[r, c]) if kind == MASK else ONE
                out[r, c] += slope * wanted[r, c]


@helper
def through_largest_of_senders(of_best, where, second_turned, messages, of_messages, of_second):
    """From the largest messages to messages' first layer, and to the second layer, turned.

    Of all messages only those are looked at that are the largest for their receiver.
    """
    n, h = of_best.shape
    clear(of_messages)
    for c in range(h):
        for j in range(n):
            who, share = where[j, c], of_best[j, c]
            if who & (who - BIT):
                share /= np.float32(bits(who))
            while who:
                r = j * n + lowest_bit(who)
                who &= who - BIT
                for k in range(h):
                    of_messages[r, k] += share * second_turned[c, k]
                for k in range(h):
                    of_second[c, k] += share * messages[r, k]


@helper
def through_first_messages(of_one, one, edge, weight, of_z, of_weight, of_edge, inputs, n, h):
    """From messages' first layer to who sent and received them, and to channels of edges."""
    for j in range(n):
        for i in range(n):
            r, e = j * n + i, i * n + j
            for c in range(h):
                x = of_one[r, c] if one[r, c] > ZERO else ZERO
                of_one[r, c] = x
                of_z[i, c] += x
            for c in range(h):
                of_z[j, h + c] += of_one[r, c]
            to_channels(of_one, r, edge, e, weight, of_weight, of_edge, inputs)


@helper
def to_channels(rows, r, edge, e, weight, of_weight, of_edge, inputs):
    """From a row of a layer over edges to the weights and channels of the edge."""
    for k in range(weight.shape[0]):
        x = edge[e, k]
        if x != ZERO:
            for c in range(weight.shape[1]):
                of_weight[k, c] += x * rows[r, c]
        if k >= inputs:
            total = ZERO
            for c in range(weight.shape[1]):
                total += rows[r, c] * weight[k, c]
            of_edge[e, k] += total


@helper
def through_positive(of_x, x, of_bias):
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            y = of_x[r, c] if x[r, c] > ZERO else ZERO
            of_x[r, c] = y
            of_bias[0, c] += y


@helper
def through_pointer(
    of_logits, from_source, edge, weight, of_pairs, of_source, of_target, of_weight, of_edge,
    inputs, n, h,
):  # fmt: skip
    """From a pointer's logits [v, u] to edges (u, v), their source v and their target u.

    All but what is handed to channels of edges is still to be multiplied by `out_w`.
    weight: of channels, multiplied by it already.
    """
    clear(of_source)
    clear(of_target)
    for u in range(n):
        for v in range(n):
            r, wanted = u * n + v, of_logits[v, u]
            for c in range(h):
                x = ZERO if from_source[r, c] else wanted
                of_pairs[r, c] = x
                of_source[v, c] += wanted - x
            for c in range(h):
                of_target[u, c] += of_pairs[r, c]
            to_channels(of_pairs, r, edge, r, weight, of_weight, of_edge, inputs)


@helper
def through_compared_pointer(
    of_logits, representations, of_representations, from_source, edge, weight, out_w, of_pairs,
    of_source, of_target, of_weight, of_edge, of_out_w, inputs, n, h,
):  # fmt: skip
    """The same where something is wanted of representations, too. All is multiplied already; of
    source and target there are zeros."""
    for u in range(n):
        for v in range(n):
            r, wanted = u * n + v, of_logits[v, u]
            for c in range(h):
                of_out_w[c] += wanted * representations[r, c]
                whole = wanted * out_w[c] + of_representations[r, c]
                x = ZERO if from_source[r, c] else whole
                of_pairs[r, c] = x
                of_source[v, c] += whole - x
            for c in range(h):
                of_target[u, c] += of_pairs[r, c]
            to_channels(of_pairs, r, edge, r, weight, of_weight, of_edge, inputs)


@helper
def through_triplets(
    of_features, where, edge, weight, of_nodes, of_weight, of_edge, of_ij, of_ik, inputs, n, f
):
    """From triplet features of edges (j, k) to nodes and to channels of edges."""
    clear(of_ij)
    clear(of_ik)
    for j in range(n):
        for k in range(n):
            row, who = of_features[j * n + k], where[j * n + k]
            for c in range(f):
                left, share = who[c], row[c]
                of_nodes[j, f + c] += share
                of_nodes[k, 2 * f + c] += share
                if left & (left - BIT):
                    share /= np.float32(bits(left))
                while left:
                    i = lowest_bit(left)
                    left &= left - BIT
                    of_ij[i * n + j, c] += share
                    of_ik[i * n + k, c] += share
    for r in range(n * n):
        for c in range(f):
            of_nodes[r // n, c] += of_ij[r, c]
        for m in range(weight.shape[0]):
            x, total = edge[r, m], ZERO
            for c in range(f):
                left, right, own = of_ij[r, c], of_ik[r, c], of_features[r, c]
                of_weight[m, c] += x * left
                of_weight[m, f + c] += x * right
                of_weight[m, 2 * f + c] += x * own
                total += left * weight[m, c] + right * weight[m, f + c]
                total += own * weight[m, 2 * f + c]
            if m >= inputs:
                of_edge[r, m] += total


@helper
def through_norm(of_row, row, scales, of_scales, of_offsets, normal, of_normal):
    """From what is normalised to what was before; `of_row` is replaced."""
    h = len(row)
    scale = normalised(row, normal)
    mean, slope = ZERO, ZERO
    for c in range(h):
        of_scales[0, c] += of_row[c] * normal[c]
        of_offsets[0, c] += of_row[c]
        x = of_row[c] * scales[0, c]
        of_normal[c] = x
        mean += x
        slope += x * normal[c]
    mean, slope = mean / np.float32(h), slope / np.float32(h)
    for c in range(h):
        x = scale * (of_normal[c] - mean - normal[c] * slope)
        of_row[c] = x if row[c] > ZERO else ZERO


@helper
def through_next_state(
    of_node, node, z, gate, scale, offset, of_z, of_gate, of_scale, of_offset, normal, of_normal,
    n, h,
):  # fmt: skip
    """From the next state to the state, to what is normalised, and to the gate's last layer."""
    for v in range(n):
        normalised(z[v, 2 * h : 3 * h], normal)
        for c in range(h):
            wanted, g, before = of_node[v, c], gate[v, c], node[v, h + c]
            x = scale[0, c] * normal[c] + offset[0, c]
            of_node[v, h + c] += wanted * (ONE - g)
            of_gate[v, c] = wanted * (x - before) * g * (ONE - g)
            of_z[v, 2 * h + c] = wanted * g
        row, before_norm = of_z[v, 2 * h : 3 * h], z[v, 2 * h : 3 * h]
        through_norm(row, before_norm, scale, of_scale, of_offset, normal, of_normal)


@helper
def through_pooled(of_pooled, pooled, node, weight, bias, of_node, of_weight, of_bias, n, h):
    """From the largest of encoded nodes, states and next states to those that have it."""
    channels = node[:, 2 * h :]
    for c in range(3 * h):
        found = 0
        for again in range(2):  # who has it, then its share
            for v in range(n):
                if c < h:
                    x = bias[0, c]
                    for k in range(channels.shape[1]):
                        x += channels[v, k] * weight[k, c]
                else:
                    x = node[v, c] if c < 2 * h else node[v, c - 2 * h]
                if x != pooled[c]:
                    continue
                if again == 0:
                    found += 1
                    continue
                share = of_pooled[c] / np.float32(found)
                if c >= h:
                    of_node[v, c if c < 2 * h else c - 2 * h] += share
                    continue
                of_bias[0, c] += share
                for k in range(channels.shape[1]):
                    of_weight[k, c] += share * channels[v, k]
                    of_node[v, 2 * h + k] += share * weight[k, c]
