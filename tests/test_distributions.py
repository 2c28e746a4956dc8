"""The training generator draws from the reference's distributions.

For each distribution in `inputs.py`, thousands of fast draws are compared with as many drawn
as the reference draws them: numbers by a two-sample Kolmogorov-Smirnov test and by their mean,
whole numbers by a chi-squared test. All seeds are fixed, so that the results are too, and the
thresholds are such that one in ten thousand comparisons of equal distributions would fail.
"""

from __future__ import annotations

from functools import cache

import networkx as nx
import numba
import numpy as np
import pytest
from scipy import stats

from hint_relic.algorithms import draw, get, inputs
from hint_relic.algorithms.inputs import Inputs
from hint_relic.algorithms.random import stream
from hint_relic.data import sample
from hint_relic.data.rewrites import random_positions

SAMPLES = 3000
SIZE = 13
ALPHA = 1e-4
SIGMAS = 4.0

DISTRIBUTIONS = {k: v for k, v in vars(inputs).items() if isinstance(v, Inputs)}
GRAPHS = [k for k, v in DISTRIBUTIONS.items() if v.p]


def fast(of: Inputs, p=(), needle=None, size=SIZE, seed=1):
    """Draws of the training generator, as lists of each argument."""
    choices = np.asarray(p or of.p or (0.0,), np.float64)
    draw = compiled(of)
    draws = (draw(seed, k, size, choices, needle or 0) for k in range(SAMPLES))
    return list(zip(*draws, strict=True))


@cache
def compiled(of: Inputs):
    """`of.fast` for Python to call; by itself it is for kernels only."""
    law = of.fast

    @numba.njit
    def draw(seed, k, size, choices, needle):
        return law(stream(seed, k), size, choices, needle)

    return draw


def slow(of: Inputs, p=(), needle=None, size=SIZE, seed=2):
    """Draws of the reference."""
    rng = np.random.RandomState(seed)
    draws = (of.reference(rng, size, p or of.p, needle) for _ in range(SAMPLES))
    return list(zip(*draws, strict=True))


def assert_agree(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    """Each named sample of numbers is as likely as the other to be drawn."""
    assert ours.keys() == theirs.keys()
    for key in ours:
        problem = disagreement(np.asarray(ours[key]), np.asarray(theirs[key]))
        assert problem is None, f"{key}: {problem}"


def disagreement(a: np.ndarray, b: np.ndarray) -> str | None:
    if np.issubdtype(a.dtype, np.integer):
        values, index = np.unique(np.concatenate([a, b]), return_inverse=True)
        counts = [np.bincount(part, minlength=len(values)) for part in np.split(index, [len(a)])]
        p = stats.chi2_contingency(counts).pvalue if len(values) > 1 else 1.0
        return None if p > ALPHA else f"chi-squared test, p = {p:.1e}"
    p = stats.ks_2samp(a, b).pvalue
    if p <= ALPHA:
        return f"Kolmogorov-Smirnov test, p = {p:.1e}"
    error = np.sqrt(a.var() / len(a) + b.var() / len(b))
    apart = abs(a.mean() - b.mean())
    return None if apart <= SIGMAS * error else f"means {a.mean()} and {b.mean()}"


# --- arrays ----------------------------------------------------------------------------------


def array(key):
    key = np.stack(key)
    return {
        "items": key.ravel(),
        "first": key[:, 0],
        "last": key[:, -1],
        "neighbours": key[:, 0] * key[:, 1],
        "greatest": key.max(axis=1),
    }


def sorted_array(key, target):
    key, target = np.stack(key), np.array(target)
    assert (np.diff(key) >= 0).all()
    return {
        "least": key[:, 0],
        "middle": key[:, SIZE // 2],
        "greatest": key[:, -1],
        "target": target,
        "rank": (key < target[:, None]).sum(axis=1),
    }


def weights(p, q):
    p, q = np.stack(p), np.stack(q)
    assert p.shape[1] == SIZE
    assert q.shape[1] == SIZE + 1
    assert np.allclose(p.sum(axis=1) + q.sum(axis=1), 1.0, rtol=1e-12)
    return {"key": p[:, 0], "gap": q[:, -1], "keys": p.sum(axis=1), "greatest": q.max(axis=1)}


def intervals(s, f):
    s, f = np.stack(s), np.stack(f)
    assert (s <= f).all()
    return {"start": s.ravel(), "end": f.ravel(), "length": (f - s).ravel(), "first": s[:, 0]}


def tasks(d, w):
    d, w = np.stack(d), np.stack(w)
    assert np.array_equal(d, d.astype(int))
    return {
        "deadlines": d.ravel().astype(int),
        "least deadline": d.min(axis=1).astype(int),
        "weights": w.ravel(),
        "heaviest": w.max(axis=1),
    }


# --- graphs ----------------------------------------------------------------------------------


def edges(A):
    """What all graphs are compared by; counts as numbers, for they take many values."""
    has = np.stack(A) != 0
    loops = np.diagonal(has, axis1=1, axis2=2)
    return {
        "edges": has.sum(axis=(1, 2)) - loops.sum(axis=1) + 0.0,
        "loops": loops.sum(axis=1) + 0.0,
        "both ways": (has & has.transpose(0, 2, 1)).sum(axis=(1, 2)) + 0.0,
        "out of node 0": has[:, 0].sum(axis=1) + 0.0,
        "into node 0": has[:, :, 0].sum(axis=1) + 0.0,
        "most out of a node": has.sum(axis=2).max(axis=1) + 0.0,
        "triangle": (has[:, 0, 1] & has[:, 1, 2] & has[:, 0, 2]).astype(int),
        **{f"edge {i}, {j}": has[:, i, j].astype(int) for i in (0, 1, 7) for j in (0, 1, 12)},
    }


def undirected(A):
    A = np.stack(A)
    assert np.array_equal(A, A.transpose(0, 2, 1))
    return edges(A)


def acyclic(A):
    assert all(nx.is_directed_acyclic_graph(nx.DiGraph(np.asarray(a))) for a in A[:300])
    assert not np.diagonal(np.stack(A), axis1=1, axis2=2).any()
    return edges(A)


def edge_weights(A):
    """Of each pair once, and of loops by themselves: their weight is a single number's."""
    above, loops = np.triu(np.stack(A), 1), np.diagonal(np.stack(A), axis1=1, axis2=2)
    return {"weights": above[above != 0], "weights of loops": loops[loops != 0]}


def directed_weights(A):
    A = np.stack(A)
    return {"weights": A[A != 0]}


def communities(A):
    def parts(a):
        return sorted(map(len, nx.strongly_connected_components(nx.DiGraph(a))))

    sizes = [parts(a) for a in A[:1000]]
    return {
        **edges(A),
        "components": np.array([len(s) for s in sizes]) + 0.0,
        "largest component": np.array([s[-1] for s in sizes]) + 0.0,
    }


def rooted(summary):
    return lambda A, s: {**summary(A), "source": np.array(s, int)}


def weighted(summary, of_weights):
    return lambda A: {**summary(A), **of_weights(A)}


# --- strings and points ----------------------------------------------------------------------


def two_strings(x, y):
    x, y = np.stack(x), np.stack(y)
    assert x.shape[1] == SIZE - SIZE // 2
    assert y.shape[1] == SIZE // 2
    return {
        "letters of the first": x.ravel(),
        "letters of the second": y.ravel(),
        "pairs": 4 * x[:, 0] + x[:, 1],
        "across": 4 * x[:, 0] + y[:, 0],
        "in common": (x[:, : y.shape[1]] == y).sum(axis=1),
    }


def haystack(text, pattern):
    def found(t, p):
        return "".join(map(str, t)).find("".join(map(str, p)))

    places = np.array([found(t, p) for t, p in zip(text, pattern, strict=True)])
    assert (places >= 0).all()
    return {
        "length of the needle": np.array([len(p) for p in pattern]),
        "length of both": np.array([len(t) + len(p) for t, p in zip(text, pattern, strict=True)]),
        "first match": places,
        "letters of the needle": np.concatenate(pattern),
        "letters of the haystack": np.concatenate(text),
        "last letter": np.array([t[-1] for t in text]),
    }


def segments(x, y):
    x, y = np.stack(x), np.stack(y)

    def side(a, b, c):
        return (x[:, b] - x[:, a]) * (y[:, c] - y[:, a]) > (y[:, b] - y[:, a]) * (x[:, c] - x[:, a])

    cross = (side(0, 1, 2) != side(0, 1, 3)) & (side(2, 3, 0) != side(2, 3, 1))
    length = np.hypot(x[:, 1] - x[:, 0], y[:, 1] - y[:, 0])
    return {
        "share that cross": cross.astype(int),
        "x": x.ravel(),
        "y": y.ravel(),
        "length where they cross": length[cross],
        "length where they don't": length[~cross],
    }


def disk(x, y):
    x, y = np.stack(x), np.stack(y)
    return {
        "radius": np.hypot(x, y).ravel(),
        "angle": np.arctan2(y, x).ravel(),
        "first x": x[:, 0],
        "last y": y[:, -1],
        "lowest": y.min(axis=1),
    }


SUMMARIES = {
    "ARRAY": array,
    "SIGNED_ARRAY": array,
    "SORTED_ARRAY": sorted_array,
    "WEIGHTS": weights,
    "INTERVALS": intervals,
    "TASKS": tasks,
    "DIGRAPH": edges,
    "DAG": acyclic,
    "GRAPH": undirected,
    "ROOTED_GRAPH": rooted(undirected),
    "SPARSE_WEIGHTED_GRAPH": weighted(undirected, edge_weights),
    "WEIGHTED_GRAPH": weighted(undirected, edge_weights),
    "ROOTED_WEIGHTED_GRAPH": rooted(weighted(undirected, edge_weights)),
    "ROOTED_WEIGHTED_DAG": rooted(weighted(acyclic, directed_weights)),
    "COMMUNITY_GRAPH": communities,
    "TWO_STRINGS": two_strings,
    "HAYSTACK": haystack,
    "SEGMENTS": segments,
    "DISK": disk,
}


def test_every_distribution_has_a_summary():
    assert SUMMARIES.keys() == DISTRIBUTIONS.keys()


@pytest.mark.parametrize("of", sorted(DISTRIBUTIONS.keys() - {"HAYSTACK"}))
def test_same_distribution(of):
    summary = SUMMARIES[of]
    assert_agree(summary(*fast(DISTRIBUTIONS[of])), summary(*slow(DISTRIBUTIONS[of])))


@pytest.mark.parametrize("of", GRAPHS)
def test_same_distribution_with_several_edge_probabilities(of):
    summary, p = SUMMARIES[of], (0.1, 0.5, 0.8)
    assert_agree(summary(*fast(DISTRIBUTIONS[of], p)), summary(*slow(DISTRIBUTIONS[of], p)))


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("of", sorted({*GRAPHS} - {"COMMUNITY_GRAPH"}))
def test_no_edges_and_all_edges(of, p):
    """At the ends of the range of probabilities nothing is left to chance."""
    ours, theirs = fast(DISTRIBUTIONS[of], (p,))[0], slow(DISTRIBUTIONS[of], (p,))[0]
    counts = [{int((A != 0).sum()) for A in graphs} for graphs in (ours, theirs)]
    assert counts[0] == counts[1]
    assert len(counts[0]) == 1


@pytest.mark.parametrize(("size", "needle"), [(20, -8), (12, 3), (16, 1), (9, -4)])
def test_same_haystacks(size, needle):
    """With needles of a given length, and of a random one up to it."""
    of = inputs.HAYSTACK
    ours, theirs = fast(of, (), needle, size), slow(of, (), needle, size)
    assert_agree(haystack(*ours), haystack(*theirs))


@pytest.mark.parametrize("name", ["insertion_sort", "lcs_length", "optimal_bst", "bfs"])
def test_same_random_positions(name):
    """Each node's position, and the distance to the next."""
    ours = draw(get(name), 7, SAMPLES, seeds=[3], random_positions=True).inputs["pos"]
    batch = sample(name, 7, SAMPLES, seed=4)
    theirs = random_positions(batch, np.random.RandomState(5)).inputs["pos"]

    def columns(pos):
        places = {f"node {i}": column for i, column in enumerate(pos.T)}
        return places | {f"after {i}": column for i, column in enumerate(np.diff(pos).T)}

    assert_agree(columns(ours), columns(theirs))


def test_draws_are_made_of_the_fast_draws():
    """What is compared here is what the training generator uses."""
    A, s = fast(inputs.ROOTED_GRAPH, seed=6)
    batch = draw(get("bfs"), SIZE, 5, seeds=[6])
    assert np.array_equal(batch.inputs["A"], np.stack(A[:5]))
    assert batch.inputs["s"].tolist() == list(s[:5])


@pytest.mark.parametrize("of", ["GRAPH", "DIGRAPH", "DAG", "COMMUNITY_GRAPH"])
def test_the_comparison_notices_a_slightly_different_probability(of):
    (A,) = fast(DISTRIBUTIONS[of], (0.5,))
    (other,) = slow(DISTRIBUTIONS[of], (0.48,))
    ours, theirs = SUMMARIES[of](A), SUMMARIES[of](other)
    assert any(disagreement(ours[key], theirs[key]) for key in ours)
