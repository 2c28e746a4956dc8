"""A pair, its text and its picture: what they show is what the arrays and the objective say."""

from __future__ import annotations

import re
from functools import cache, partial
from io import StringIO
from xml.etree import ElementTree

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from rich.console import Console

from hint_relic.algorithms import ALGORITHMS, get
from hint_relic.config import ObjectiveConfig
from hint_relic.data import sample
from hint_relic.model.layers import Linear
from hint_relic.objectives.relic import category_terms, edge_pointer_terms, pointer_terms, project
from hint_relic.pair import text
from hint_relic.pair.contrast import Contrast, contrasts
from hint_relic.pair.pair import DRAWN, Pair, draw_pair
from hint_relic.pair.picture import picture
from hint_relic.spec import Kind, Location, Stage, of_stage

SIZE, SEED = 8, 1
PAPER = [name for name, algorithm in ALGORITHMS.items() if algorithm.view is not None]
VERIFIED = [name for name in ALGORITHMS if name != "segments_intersect"]
CASES = [(name, "paper") for name in PAPER] + [(name, "verified") for name in VERIFIED]
APPROXIMATE = {"binary_search", "bubble_sort", "heapsort", "quicksort"}
NONE_SHARED = {"binary_search", "bubble_sort", "heapsort", "quickselect", "quicksort"}
SVG = "{http://www.w3.org/2000/svg}"

every_case = pytest.mark.parametrize(("name", "source"), CASES)


@cache
def drawn(name: str, source: str = "paper") -> Pair:
    return draw_pair(get(name), SIZE, SEED, source)


def written(pair: Pair, terms: list[Contrast]) -> str:
    out = StringIO()
    Console(file=out, width=100).print(text.tables(pair, terms))
    return out.getvalue()


def test_the_paper_has_17_views_and_29_are_verified():
    assert (len(PAPER), len(VERIFIED)) == (17, 29)


@every_case
def test_the_view_is_a_sample_and_more(name, source):
    pair = drawn(name, source)
    batch = sample(name, SIZE, DRAWN, SEED)
    for key, value in pair.inputs.items():
        np.testing.assert_array_equal(value, batch.inputs[key][pair.sample])
    assert pair.last == batch.lengths[pair.sample] - 1
    assert pair.nodes < pair.view_nodes <= pair.nodes + pair.nodes // 2
    assert len(pair.new) == pair.view_nodes - pair.nodes
    for key, field in of_stage(pair.algorithm.spec, Stage.INPUT).items():
        if key == "pos" or key == "p":  # the last old item of a search tree gets a weight
            continue
        old, new = pair.inputs[key], pair.view_inputs[key]
        if field.kind is Kind.MASK_ONE:
            assert new == pair.places[old]
        elif field.location is Location.GRAPH:
            assert new == old
        else:
            shared = new[np.ix_(*[pair.places] * old.ndim)]
            np.testing.assert_array_equal(shared, old)


@every_case
def test_the_pairs_are_those_of_the_arrays(name, source):
    pair = drawn(name, source)
    terms = contrasts(pair)
    assert [term.hint for term in terms] == [] or {t.hint for t in terms} == {*pair.contrasted}
    assert bool(terms) == (pair.until > 0)
    assert (source == "verified" and name in NONE_SHARED) == (pair.until == 0)
    for term in terms:
        assert 1 <= term.step <= pair.until
        assert term.view_index == tuple(pair.places[i] for i in term.index)
        assert term.view_positive == pair.places[term.positive]
        value = pair.hints[term.hint][term.step]
        if term.classes is None:
            assert term.positive == value[term.index]
            assert sorted([*term.negatives, term.view_positive]) == list(range(pair.view_nodes))
            assert sorted([*term.input_negatives, term.positive]) == list(range(pair.nodes))
        else:
            assert (term.positive, *term.index) == (term.node, term.node)
            for u in range(pair.view_nodes):
                old = np.flatnonzero(pair.places == u)
                shown = value[old[0]] if old.size else 0  # new nodes are white
                assert (u in term.negatives) == (shown != value[term.node])


@every_case
def test_the_text_says_so_in_100_columns(name, source):
    pair = drawn(name, source)
    terms = contrasts(pair)
    told = written(pair, terms)
    flat = " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 100
    assert pair.algorithm.title in told
    names = " ".join(f"+{u}" for u in pair.new)
    assert f"new nodes {names} " in flat
    if pair.until:
        end = "(the end)" if pair.until == pair.last else f"of {pair.last}"
        assert f"agree until step {pair.until} {end}" in flat
        for term in terms:
            assert re.search(rf"^{term.hint} ", told, re.M)
    if source == "paper":
        found = pair.exactness
        assert found is not None
        assert ("the view is exact:" in flat) == (name not in APPROXIMATE)
        assert (found.all == DRAWN) == (name not in APPROXIMATE)
        assert (found.contrasted == DRAWN) == (name not in APPROXIMATE - {"binary_search"})
    if "A" in pair.inputs:
        old = np.zeros_like(pair.view_inputs["A"])
        old[np.ix_(pair.places, pair.places)] = pair.inputs["A"]
        for i, j in np.argwhere(pair.view_inputs["A"] != old):
            assert re.search(rf"\b({i}[–→]{j}|{j}–{i})(\s|$)", told), (i, j)


@every_case
def test_the_picture_shows_what_it_must(name, source):
    pair = drawn(name, source)
    for term in contrasts(pair) or [None]:
        root = ElementTree.fromstring(picture(pair, term))
        classes = [element.get("class", "").split() for element in root.iter()]

        def count(*wanted: str, classes=classes) -> int:
            return sum(set(wanted) <= set(found) for found in classes)

        # Each sign is in the legend once, too.
        assert count("node") == pair.nodes + pair.view_nodes
        assert count("node", "new") == len(pair.new)
        assert count("edge", "new") == len(text.data(pair, []).get("new_edges", []))
        if term is not None:
            assert count("positive", "input") == count("positive", "view") == 2
            assert count("negative") == len(term.negatives) + 1
            assert count("node", "chosen") == 2
        told = " ".join(element.text or "" for element in root.iter(f"{SVG}text"))
        assert pair.algorithm.title in told
        if term is not None:
            assert f"Hint {term.hint} at step {term.step}" in told
            assert f"until step {pair.until}" in told
        else:
            assert "Nothing is contrasted" in told


def layers(rng: np.random.Generator, width: int) -> tuple[Linear, Linear]:
    def one() -> Linear:
        return Linear(jnp.asarray(rng.normal(size=(width, width))), jnp.ones(width))

    return one(), one()


@pytest.mark.parametrize("name", ["articulation_points", "insertion_sort", "floyd_warshall"])
@pytest.mark.parametrize("source", ["paper", "verified"])
def test_the_pairs_are_those_of_the_objective_for_pointers(name, source):
    """The loss of an index depends on its pairs with the positive and the negatives, alone."""
    pair = drawn(name, source)
    term = contrasts(pair)[0]
    rng, width, axes = np.random.default_rng(0), 3, len(term.index)
    n, m = pair.nodes, pair.view_nodes

    def representations(nodes):
        pairs = jnp.asarray(rng.normal(size=(nodes, nodes, width)))
        # Of a hint of pairs (a, v): what (a, v) and u each contribute; u decides here.
        return (jnp.zeros_like(pairs) - 9.0, pairs[0]) if axes == 2 else pairs

    def loss(of_input, of_view):
        value = jnp.asarray(pair.hints[term.hint][term.step])
        live, view_live = jnp.ones(n, bool), jnp.ones(m, bool)
        h = layers(np.random.default_rng(1), width)
        if axes == 2:
            terms = partial(edge_pointer_terms, h)
        else:
            terms = pointer_terms
            of_input, of_view = project(h, of_input, True), project(h, of_view, True)
        parts = of_input, of_view, value, jnp.asarray(pair.places), live, view_live
        found = terms(*parts, ObjectiveConfig())
        return found.contrastive[term.index]

    gradients = jax.grad(loss, argnums=(0, 1))(representations(n), representations(m))
    own = [g[1] if axes == 2 else g[v] for g, v in zip(gradients, (term.node, term.view_node))]
    used, view_used = ({*np.flatnonzero(np.abs(g).sum(-1)).tolist()} for g in own)
    assert used == {*term.input_negatives, term.positive}
    assert view_used == {*term.negatives, term.view_positive}


def test_the_pairs_are_those_of_the_objective_for_categories():
    pair = drawn("strongly_connected_components")
    term = contrasts(pair, "color")[0]
    rng, width = np.random.default_rng(0), 3
    assert term.classes is not None
    truth, of_view = map(jnp.asarray, term.classes)

    def loss(f, g):
        live, view_live = jnp.ones(pair.nodes, bool), jnp.ones(pair.view_nodes, bool)
        h = layers(np.random.default_rng(1), width)
        f, g = project(h, f, True), project(h, g, True)
        parts = f, g, truth, of_view, jnp.asarray(pair.places), live, view_live
        found = category_terms(*parts, ObjectiveConfig())
        return found.contrastive[term.node]

    shapes = (pair.nodes, width), (pair.view_nodes, width)
    both = jax.grad(loss, argnums=(0, 1))(*(jnp.asarray(rng.normal(size=s)) for s in shapes))
    used, view_used = ({*np.flatnonzero(np.abs(g).sum(-1)).tolist()} for g in both)
    assert used == {*term.input_negatives, term.node}
    assert view_used == {*term.negatives, term.view_node}


def test_what_is_given_is_looked_at():
    pair = drawn("strongly_connected_components", "verified")
    term = contrasts(pair, hint="scc_id_h", step=1, node=(3,))[0]
    assert (term.hint, term.step, term.index) == ("scc_id_h", 1, (3,))
    term = contrasts(drawn("floyd_warshall"), step=2, node=(4, 7))[0]
    assert (term.hint, term.step, term.index) == ("Pi_h", 2, (4, 7))
    assert contrasts(drawn("floyd_warshall"), node=(7,))[0].node == 7
    assert contrasts(drawn("matrix_chain_order", "verified"), node=(1, 4))[0].hint == "s_h"


def test_views_have_as_many_new_nodes_as_asked_for():
    assert draw_pair(get("bfs"), 5, 0, new=7).view_nodes == 12
    assert draw_pair(get("bfs"), 2, 0).view_nodes == 3
