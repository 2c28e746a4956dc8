"""The paper's objective against a loop-by-loop NumPy version of its equation, and invariances."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.config import ObjectiveConfig, StopGradient
from hint_relic.model.layers import Linear
from hint_relic.objectives.relic import category_terms, edge_pointer_terms, pointer_terms, project

CONFIG = ObjectiveConfig(contrastive=1.0, kl=1.0, temperature=0.5)
CONFIGS = [
    CONFIG,
    replace(CONFIG, positive_in_denominator=False),
    replace(CONFIG, normalise=False),
    replace(CONFIG, stop_gradient=StopGradient.VIEW),
]
N, M, W = 4, 7, 6  # nodes of the input, of the view, width


def h(layers, x, normalise):
    """The projection, for one vector."""
    first = np.maximum(x @ layers[0].weight + layers[0].bias, 0.0)
    out = first @ layers[1].weight + layers[1].bias
    return out / np.sqrt((out**2).sum() + 1e-6) if normalise else out


def softmax(values):
    values = np.exp(np.array(values) - max(values))
    return values / values.sum()


def slow_terms(f, g, positive, candidates, view_candidates, places, config):
    """Equation 3 for one index: f, g are functions from a candidate to its representation."""

    def phi(a, b):
        return float(a @ b) / config.temperature

    anchor, image = f(positive), g(places[positive])
    loss = 0.0
    for own, other, true, others in (
        (anchor, g, places[positive], view_candidates),
        (image, f, positive, candidates),
    ):
        sums = 0.0
        for u in others:
            if u == true and not config.positive_in_denominator:
                continue
            sums += np.exp(phi(own, other(u)))
        loss -= phi(own, other(true)) - np.log(sums)
    shared = [u for u in candidates if places[u] in view_candidates]
    p = softmax([phi(anchor, g(places[u])) for u in shared])
    q = softmax([phi(image, f(u)) for u in shared])
    kl = float((p * np.log(p / q)).sum() + (q * np.log(q / p)).sum())
    return loss, kl


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def projection(rng):
    return Linear.init(rng, W, W), Linear.init(rng, W, W, bias=0.1)


@pytest.mark.parametrize("config", CONFIGS)
def test_pointers_follow_the_equation(rng, projection, config):
    f = rng.standard_normal((N, N, W)).astype(np.float32)
    g = rng.standard_normal((M, M, W)).astype(np.float32)
    pointer = rng.integers(0, N, N)
    places = rng.permutation(M)[:N]
    terms = pointer_terms(
        project(projection, f, config.normalise),
        project(projection, g, config.normalise),
        jnp.asarray(pointer),
        jnp.asarray(places),
        jnp.ones(N, bool),
        jnp.ones(M, bool),
        config,
    )
    for v in range(N):
        loss, kl = slow_terms(
            lambda u, v=v: h(projection, f[v, u], config.normalise),
            lambda u, v=v: h(projection, g[places[v], u], config.normalise),
            pointer[v],
            range(N),
            range(M),
            places,
            config,
        )
        np.testing.assert_allclose(terms.contrastive[v], loss, rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(terms.kl[v], kl, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_edge_pointers_follow_the_equation(rng, projection, config, backend, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)  # source by source, or all at once
    edge, node = rng.standard_normal((N, N, W)), rng.standard_normal((N, W))
    view_edge, view_node = rng.standard_normal((M, M, W)), rng.standard_normal((M, W))
    pointer = rng.integers(0, N, (N, N))
    places = np.arange(N)
    terms = edge_pointer_terms(
        projection,
        (jnp.float32(edge), jnp.float32(node)),
        (jnp.float32(view_edge), jnp.float32(view_node)),
        jnp.asarray(pointer),
        jnp.asarray(places),
        jnp.ones(N, bool),
        jnp.ones(M, bool),
        config,
    )
    for i in range(N):
        for j in range(N):
            loss, kl = slow_terms(
                lambda u, i=i, j=j: h(
                    projection, np.maximum(edge[i, j], node[u]), config.normalise
                ),
                lambda u, i=i, j=j: h(
                    projection, np.maximum(view_edge[i, j], view_node[u]), config.normalise
                ),
                pointer[i, j],
                range(N),
                range(M),
                places,
                config,
            )
            np.testing.assert_allclose(terms.contrastive[i, j], loss, rtol=2e-5, atol=1e-5)
            np.testing.assert_allclose(terms.kl[i, j], kl, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("config", CONFIGS)
def test_categories_are_contrasted_with_other_categories_only(rng, projection, config):
    f = rng.standard_normal((N, W)).astype(np.float32)
    g = rng.standard_normal((M, W)).astype(np.float32)
    places = np.arange(N)
    color = np.array([0, 1, 2, 0])
    view_color = np.array([0, 1, 2, 0, 0, 0, 0])
    terms = category_terms(
        project(projection, f, config.normalise),
        project(projection, g, config.normalise),
        jnp.asarray(color),
        jnp.asarray(view_color),
        jnp.asarray(places),
        jnp.ones(N, bool),
        jnp.ones(M, bool),
        config,
    )
    for v in range(N):
        others = [w for w in range(N) if color[w] != color[v] or w == v]
        view_others = [w for w in range(M) if view_color[w] != color[v] or w == places[v]]
        loss, kl = slow_terms(
            lambda u: h(projection, f[u], config.normalise),
            lambda u: h(projection, g[u], config.normalise),
            v,
            others,
            view_others,
            places,
            config,
        )
        np.testing.assert_allclose(terms.contrastive[v], loss, rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(terms.kl[v], kl, rtol=2e-4, atol=1e-5)


def test_input_and_view_are_symmetric(rng, projection):
    """With a view of the same size, exchanging the two changes nothing."""
    f, g = (rng.standard_normal((N, N, W)).astype(np.float32) for _ in range(2))
    pointer, same = jnp.asarray(rng.integers(0, N, N)), jnp.arange(N)
    alive = jnp.ones(N, bool)
    one = pointer_terms(
        project(projection, f, True),
        project(projection, g, True),
        pointer,
        same,
        alive,
        alive,
        CONFIG,
    )
    other = pointer_terms(
        project(projection, g, True),
        project(projection, f, True),
        pointer,
        same,
        alive,
        alive,
        CONFIG,
    )
    np.testing.assert_allclose(one.contrastive, other.contrastive, rtol=1e-5)
    np.testing.assert_allclose(one.kl, other.kl, rtol=1e-4, atol=1e-6)


def test_a_permutation_of_new_nodes_changes_nothing(rng, projection):
    f = rng.standard_normal((N, N, W)).astype(np.float32)
    g = rng.standard_normal((M, M, W)).astype(np.float32)
    pointer, places = jnp.asarray(rng.integers(0, N, N)), jnp.arange(N)
    order = np.concatenate([np.arange(N), N + rng.permutation(M - N)])
    alive, view_alive = jnp.ones(N, bool), jnp.ones(M, bool)
    one = pointer_terms(
        project(projection, f, True),
        project(projection, g, True),
        pointer,
        places,
        alive,
        view_alive,
        CONFIG,
    )
    other = pointer_terms(
        project(projection, f, True),
        project(projection, g[order][:, order], True),
        pointer,
        places,
        alive,
        view_alive,
        CONFIG,
    )
    np.testing.assert_allclose(one.contrastive, other.contrastive, rtol=1e-5)
    np.testing.assert_allclose(one.kl, other.kl, rtol=1e-4, atol=1e-6)


def test_padding_changes_nothing(rng, projection):
    """Dead nodes, whatever is stored for them, on both sides."""
    extra = 3
    f = rng.standard_normal((N + extra, N + extra, W)).astype(np.float32)
    g = rng.standard_normal((M + extra, M + extra, W)).astype(np.float32)
    pointer = np.concatenate([rng.integers(0, N, N), np.zeros(extra, int)])
    places = np.concatenate([np.arange(N), np.zeros(extra, int)])
    roomy = pointer_terms(
        project(projection, f, True),
        project(projection, g, True),
        jnp.asarray(pointer),
        jnp.asarray(places),
        jnp.arange(N + extra) < N,
        jnp.arange(M + extra) < M,
        CONFIG,
    )
    tight = pointer_terms(
        project(projection, f[:N, :N], True),
        project(projection, g[:M, :M], True),
        jnp.asarray(pointer[:N]),
        jnp.asarray(places[:N]),
        jnp.ones(N, bool),
        jnp.ones(M, bool),
        CONFIG,
    )
    np.testing.assert_allclose(roomy.contrastive[:N], tight.contrastive, rtol=1e-5)
    np.testing.assert_allclose(roomy.kl[:N], tight.kl, rtol=1e-4, atol=1e-6)
