"""An input and its view, step by step: how alike the representations of their pointers are.

Projections are `objectives.relic.project`: two layers with a ReLU between them, then unit length.
Rows are edges (u, v): that v points at u. Of an input v's counterpart in the view is `places[v]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algorithms.kernel import loose_helper as helper
from .pieces import ONE, ZERO, Array, add_bias, clear, empty, point, positive_rows
from .through import dot
from .tiles import times, turned_times

_LEAST_SQUARE = np.float32(1e-6)


class Projections(NamedTuple):
    """The two layers of each hint that is compared, stacked."""

    first: Array
    first_b: Array
    second: Array
    second_b: Array


class Compared(NamedTuple):
    """Which pointers are compared, where nodes really point, by step and pointer, and projections
    of pointers and of nodes, as often as those are compared."""

    which: Array
    truth: Array
    pointers: Projections
    nodes: Projections


class Alike(NamedTuple):
    """By step and hint. forth: of a pointer's (v, p) in the input with all (v, u) of the view, p
    being where v really points; back: the other way round; nodes: of nodes with those of the view.
    """

    forth: Array
    back: Array
    nodes: Array


class Projected(NamedTuple):
    """One pointer's representations at one step, projected, and what was made on the way."""

    inner: Array
    out: Array
    scale: Array  # one over the length


@helper
def new_projected(rows, h):
    return Projected(empty(rows, h), empty(rows, h), np.empty(rows, np.float32))


@helper
def project(representations, projections, i, to):
    times(representations, projections.first[i], to.inner, ZERO)
    positive_rows(to.inner, projections.first_b[i])
    times(to.inner, projections.second[i], to.out, ZERO)
    add_bias(to.out, projections.second_b[i])
    for r in range(to.out.shape[0]):
        total = _LEAST_SQUARE
        for c in range(to.out.shape[1]):
            total += to.out[r, c] * to.out[r, c]
        scale = ONE / np.sqrt(total)
        to.scale[r] = scale
        for c in range(to.out.shape[1]):
            to.out[r, c] *= scale


@helper
def compare(n, m, places, truth, x, y, forth, back):
    """x, y: projected representations of the input and of its view."""
    for v in range(n):
        p, there = truth[v], places[v]
        anchor, image = x[p * n + v], y[places[p] * m + there]
        for u in range(m):
            forth[v, u] = dot(anchor, y[u * m + there])
        for u in range(n):
            back[v, u] = dot(image, x[u * n + v])


@helper
def through_compare(n, m, places, truth, x, y, of_forth, of_back, of_x, of_y):
    clear(of_x)
    clear(of_y)
    h = x.shape[1]
    for v in range(n):
        p, there = truth[v], places[v]
        a, b = p * n + v, places[p] * m + there
        for u in range(m):
            r, wanted = u * m + there, of_forth[v, u]
            for c in range(h):
                of_y[r, c] += wanted * x[a, c]
            for c in range(h):
                of_x[a, c] += wanted * y[r, c]
        for u in range(n):
            r, wanted = u * n + v, of_back[v, u]
            for c in range(h):
                of_x[r, c] += wanted * y[b, c]
            for c in range(h):
                of_y[b, c] += wanted * x[r, c]


@helper
def through_projection(representations, turned, i, projected, of, of_projections, out):
    """From projections to representations; `of` is overwritten. turned: what was read, turned."""
    inner, made, scale = projected
    for r in range(of.shape[0]):
        along = dot(of[r], made[r])
        for c in range(of.shape[1]):
            x = scale[r] * (of[r, c] - made[r, c] * along)
            of[r, c] = x
            of_projections.second_b[i, 0, c] += x
    turned_times(inner, of, of_projections.second[i], ONE)
    times(of, turned.second[i], made, ZERO)
    for r in range(of.shape[0]):
        for c in range(of.shape[1]):
            x = made[r, c] if inner[r, c] > ZERO else ZERO
            made[r, c] = x
            of_projections.first_b[i, 0, c] += x
    turned_times(representations, made, of_projections.first[i], ONE)
    times(made, turned.first[i], out, ZERO)


@helper
def represent_again(t, n, p, layers, tape, logits, edge_messages, made, whose):
    """A pointer's representations at a step, from the tape."""
    h, pairs = layers.first.shape[0], n * n
    decoded = tape.decoded[t * n : (t + 1) * n]
    times(tape.triplets[t * pairs : (t + 1) * pairs], layers.tri_out, edge_messages, ZERO)
    positive_rows(edge_messages, layers.tri_out_b)
    times(edge_messages, layers.dec_msg[:, p * h : (p + 1) * h], made, ZERO)
    point(
        made, decoded[:, 2 * p * h : (2 * p + 1) * h],
        decoded[:, (2 * p + 1) * h : (2 * p + 2) * h], tape.edge[t * pairs : (t + 1) * pairs],
        layers.dec_edge[:, p * h : (p + 1) * h], layers.out_w[p], layers.out_b[0, p], logits,
        whose, n, h,
    )  # fmt: skip


@helper
def places_among(compared, pointers):
    """For each pointer its place among those that are compared, or -1."""
    out = np.full(pointers, -1)
    for i in range(len(compared)):
        out[compared[i]] = i
    return out


@helper
def encoded_nodes(t, n, layers, tape, out):
    """What decoders read of nodes: encoded, their state, their next state."""
    h, node = layers.first.shape[0], tape.node[t * n : (t + 1) * n]
    for v in range(n):
        for c in range(h):
            out[v, c] = layers.node_b[0, c]
            out[v, h + c] = node[v, h + c]
            out[v, 2 * h + c] = node[v, c]
        for k in range(layers.node.shape[0]):
            for c in range(h):
                out[v, c] += node[v, 2 * h + k] * layers.node[k, c]


@helper
def through_encoded_nodes(t, n, layers, tape, of_out, of_read, of):
    h, node = layers.first.shape[0], tape.node[t * n : (t + 1) * n]
    for v in range(n):
        for c in range(h):
            of.node_b[0, c] += of_out[v, c]
            of_read[v, h + c] += of_out[v, h + c]
            of_read[v, c] += of_out[v, 2 * h + c]
        for k in range(layers.node.shape[0]):
            for c in range(h):
                of.node[k, c] += node[v, 2 * h + k] * of_out[v, c]
            of_read[v, 2 * h + k] += dot(of_out[v, :h], layers.node[k])


class Side(NamedTuple):
    """Room for an input or a view: representations of pointers and of nodes, projected."""

    pointers: Array  # representations of each that is compared
    of_pointers: Array
    pairs: Projected
    of_pairs: Array
    nodes: Array
    projected_nodes: Projected
    of_projected_nodes: Array
    of_nodes: Array
    whose: Array


@helper
def new_side(n, h, compared):
    pairs, pointers = n * n, len(compared.which)
    wide = 3 * h if len(compared.nodes.first) else 0
    return Side(
        pointers=np.empty((pointers, pairs, h), np.float32),
        of_pointers=np.empty((pointers, pairs, h), np.float32),
        pairs=new_projected(pairs, h),
        of_pairs=empty(pairs, h),
        nodes=empty(n, wide),
        projected_nodes=new_projected(n, wide),
        of_projected_nodes=empty(n, wide),
        of_nodes=empty(n, wide),
        whose=np.empty((pairs, h), np.uint8),
    )


@helper
def compare_step(t, sizes, layers, compared, places, tapes, sides, alike):
    """How alike all that is compared is at step t, from representations of that step."""
    n, m = sizes
    here, there = sides
    for i in range(len(compared.which)):
        for side in sides:
            project(side.pointers[i], compared.pointers, i, side.pairs)
        compare(
            n, m, places, compared.truth[t, i], here.pairs.out, there.pairs.out,
            alike.forth[t, i], alike.back[t, i],
        )  # fmt: skip
    for i in range(len(compared.nodes.first)):
        for j in range(2):
            encoded_nodes(t, sizes[j], layers, tapes[j], sides[j].nodes)
            project(sides[j].nodes, compared.nodes, i, sides[j].projected_nodes)
        for v in range(n):
            for u in range(m):
                x, y = here.projected_nodes.out[v], there.projected_nodes.out[u]
                alike.nodes[t, i, v, u] = dot(x, y)


@helper
def compare_step_back(
    t,
    sizes,
    layers,
    compared,
    turned,
    places,
    tapes,
    backs,
    sides,
    of_alike,
    of,
    of_pointers,
    of_nodes,
):
    """Derivatives of that: by projections, by representations, by what is read of nodes."""
    n, m = sizes
    here, there = sides
    for i in range(len(compared.which)):
        for j in range(2):
            back, side = backs[j], sides[j]
            represent_again(
                t, sizes[j], compared.which[i], layers, tapes[j], back.of_pointer,
                back.edge_messages, side.pointers[i], side.whose,
            )  # fmt: skip
            project(side.pointers[i], compared.pointers, i, side.pairs)
        through_compare(
            n, m, places, compared.truth[t, i], here.pairs.out, there.pairs.out,
            of_alike.forth[t, i], of_alike.back[t, i], here.of_pairs, there.of_pairs,
        )  # fmt: skip
        for side in sides:
            through_projection(
                side.pointers[i], turned[0], i, side.pairs, side.of_pairs, of_pointers,
                side.of_pointers[i],
            )  # fmt: skip
    for i in range(len(compared.nodes.first)):
        for j in range(2):
            encoded_nodes(t, sizes[j], layers, tapes[j], sides[j].nodes)
            project(sides[j].nodes, compared.nodes, i, sides[j].projected_nodes)
        wanted = of_alike.nodes[t, i, :n, :m]
        times(wanted, there.projected_nodes.out, here.of_projected_nodes, ZERO)
        turned_times(wanted, here.projected_nodes.out, there.of_projected_nodes, ZERO)
        for j in range(2):
            side = sides[j]
            through_projection(
                side.nodes, turned[1], i, side.projected_nodes, side.of_projected_nodes,
                of_nodes, side.of_nodes,
            )  # fmt: skip
            through_encoded_nodes(
                t, sizes[j], layers, tapes[j], side.of_nodes, backs[j].of_read, of
            )
