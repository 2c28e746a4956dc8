"""Calling a reasoner: the network's own predictions, whatever the size, told in good order."""

from __future__ import annotations

from dataclasses import replace

import jax
import networkx as nx
import numpy as np
import pytest

from hint_relic.config import ModelConfig
from hint_relic.data import trace
from hint_relic.errors import UserError
from hint_relic.evaluate.evaluate import evaluate
from hint_relic.model.feedback import decided
from hint_relic.reasoner import Reasoner
from hint_relic.reasoner.answer import Check, Difference
from hint_relic.reasoner.predict import CHUNK, check_memory, room_for
from hint_relic.spec import Stage, of_stage
from hint_relic.train.task import Task

from .tiny import TINY, untrained

pytestmark = pytest.mark.xdist_group("reasoner")


def graph_of(drawn):
    return {"adjacency": drawn.inputs["A"], "source": int(drawn.inputs["s"])}


def official(config, samples):
    """The first samples of the benchmark's validation split, as training and evaluation see it."""
    return jax.tree.map(lambda x: x[:samples], Task.of(config).official("val"))


def own_words(config, batch, i):
    """Sample i of a batch as a user would give it."""
    inputs = {k: v[i] for k, v in batch.inputs.items()}
    if config.algorithm == "bfs":
        return {"adjacency": inputs["A"], "source": int(inputs["s"])}
    return inputs["key"]


@pytest.mark.parametrize(
    ("name", "model"),
    [("bfs", TINY.model), ("insertion_sort", ModelConfig(hidden=8, triplets=2, reversal=True))],
)
def test_predictions_are_those_that_evaluation_scores(name, model, tmp_path):
    """Outputs, hints and scores: as one sample run without padding, chunks or user input."""
    config = replace(TINY, algorithm=name, model=model)
    untrained(config, tmp_path / "file")
    reasoner = Reasoner.load(tmp_path / "file")
    spec, batch = reasoner.design.spec, official(config, 3)
    predictions = jax.jit(jax.vmap(reasoner.network))(batch)
    networks = jax.tree.map(lambda x: x[None], reasoner.network)
    for i in range(3):
        answer = reasoner(own_words(config, batch, i))
        nodes = np.ones(int(batch.nodes[i]), bool)
        for key, field in of_stage(spec, Stage.OUTPUT).items():
            want = np.array(decided(field, predictions.outputs[key][i], nodes))
            if key == "pred":
                first = int(np.argmax(predictions.outputs["pred_mask"][i]))
                want[first] = first
            if key in answer.outputs:
                np.testing.assert_array_equal(answer.outputs[key], want, err_msg=key)
        for key, field in of_stage(spec, Stage.HINT).items():
            if not field.reverses:
                steps = int(batch.lengths[i])
                want = decided(field, predictions.hints[key][i, : steps - 1], nodes)
                np.testing.assert_array_equal(answer.trajectory[key][1:], want, err_msg=key)
        alone = jax.tree.map(lambda x, i=i: x[i : i + 1], batch)
        (scores,) = evaluate(networks, spec, alone, hints=True)
        assert evaluate(networks, spec, alone)[0].outputs == scores.outputs
        found = answer.check()
        assert found.score == pytest.approx(scores.score, abs=1e-6)
        for key, values in found.hints.items():
            np.testing.assert_allclose(values[1:], scores.steps[key][: len(values) - 1], atol=1e-5)


def test_a_batch_of_any_sizes_is_as_one_by_one(reasoner):
    """Also more of one size than run together, and trajectories longer than a chunk."""
    path = [[i, i + 1] for i in range(CHUNK + 3)]
    values = [graph_of(trace("bfs", size, seed=size)) for size in (3, 9, 5, 17, 8)]
    values += [{"edges": path}]
    answers = reasoner.batch(values)
    assert answers[-1].steps > CHUNK + 2
    for value, answer in zip(values, answers, strict=True):
        alone = reasoner(value)
        assert alone.value == answer.value
        for key in alone.trajectory:
            np.testing.assert_array_equal(alone.trajectory[key], answer.trajectory[key])
    assert reasoner.batch([]) == []
    with pytest.raises(UserError, match=r"input 1: .*at least 2"):
        reasoner.batch([values[0], [[0]]])


def test_an_answer_is_complete(reasoner):
    drawn = trace("bfs", 7, seed=3)
    answer = reasoner(graph_of(drawn))
    assert answer.steps == drawn.steps == len(answer.step_confidence)
    assert set(answer.trajectory) == set(answer.confidence) == {"pi_h", "reach_h"}
    for key, hint in answer.trajectory.items():
        assert hint.shape == drawn.hints[key].shape == answer.confidence[key].shape
        np.testing.assert_array_equal(hint[0], drawn.hints[key][0])
        assert (answer.confidence[key][0] == 1).all()
        assert ((answer.confidence[key] > 0) & (answer.confidence[key] <= 1)).all()
    assert answer.outputs["pi"].shape == answer.output_confidence["pi"].shape == (7,)
    assert set(answer.value) == set(range(7))
    assert answer.notes == []


def test_networkx_graphs_keep_their_names(reasoner):
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "d")])
    named = reasoner(graph, source="b")
    plain = reasoner({"edges": [[0, 1], [1, 2], [2, 3]], "source": 1})
    names = dict(enumerate("abcd"))
    assert named.value == {names[v]: names.get(p) for v, p in plain.value.items()}
    assert reasoner(nx.to_numpy_array(graph), source=1).value == plain.value
    with pytest.raises(UserError, match="unknown node 'e'"):
        reasoner(graph, source="e")
    with pytest.raises(UserError, match="takes undirected graphs"):
        reasoner(nx.DiGraph(graph))


def test_numbers_out_of_range_are_brought_into_it(tmp_path):
    untrained(replace(TINY, algorithm="insertion_sort"), tmp_path / "file")
    reasoner = Reasoner.load(tmp_path / "file")
    big, small = reasoner([500, 200, 800, 200]), reasoner([0.5, 0, 1, 0])
    assert "range of training" in big.notes[0]
    assert small.notes == []
    np.testing.assert_array_equal(big.outputs["pred"], small.outputs["pred"])
    assert set(big.value.tolist()) <= {500, 200, 800}
    with pytest.raises(UserError, match="finite"):
        reasoner([1.0, float("nan")])
    with pytest.raises(UserError, match="takes no graph"):
        reasoner(nx.path_graph(3))


def perfect(answer):
    """The answer of a network that makes no mistake."""
    return replace(answer, outputs=answer.truth.outputs, trajectory=answer.truth.hints)


def test_check_says_where_they_part(reasoner):
    graph = nx.path_graph(5)
    right = perfect(reasoner(graph, source=0))
    found = right.check()
    assert found.right
    assert found.first is None
    assert "all 5 steps as they should be" in str(found)
    assert "100.0 %" in str(found)

    hints = {key: hint.copy() for key, hint in right.truth.hints.items()}
    hints["pi_h"][3, 2] = 4
    hints["reach_h"][4, 0] = 0
    found = replace(right, trajectory=hints, outputs={"pi": np.array([0, 0, 1, 2, 0])}).check()
    assert found.first == Difference(3, "pi_h", [2], [4], [1])
    assert found.score == pytest.approx(0.8)
    assert found.hints["pi_h"].tolist() == [1, 1, 1, 0.8, 1]
    assert "at step 3 of 4, in pi_h: at 2 4 instead of 1" in str(found)
    assert isinstance(found, Check)


def test_a_run_folder_is_loaded_with_its_best_seed(run):
    averaged, plain = Reasoner.load(run), Reasoner.load(str(run), weights="last")
    assert averaged.card["weights"] == "best_average"
    assert plain.card["weights"] == "last"
    graph = nx.cycle_graph(6)
    assert set(averaged(graph).value) == set(plain(graph).value) == set(graph)
    with pytest.raises(UserError, match="did you mean 'best'"):
        Reasoner.load(run, weights="bst")


@pytest.mark.parametrize(
    ("source", "message"),
    [("heapsrt", "did you mean 'heapsort'"), ("nowhere/bfs.safetensors", "can't read"),
     ("segments_intersect", "no trained reasoner for segments_intersect is shipped")],
)  # fmt: skip
def test_what_is_not_there(source, message):
    with pytest.raises(UserError, match=message):
        Reasoner.load(source)


def test_far_too_large_is_refused_before_it_is_run(reasoner):
    with pytest.raises(UserError, match=r"too many for this network: .* GB"):
        check_memory(reasoner.design.spec, 128, 4096)
    with pytest.raises(UserError, match="between 1 and 4096"):
        reasoner(np.zeros((5000, 5000)))


def test_rooms_are_few_and_large_enough():
    rooms = {room_for(n) for n in range(1, 257)}
    assert rooms == {8, 16, 24, 32, 48, 64, 96, 128, 192, 256}
    assert all(room_for(n) >= n for n in range(1, 1000))
