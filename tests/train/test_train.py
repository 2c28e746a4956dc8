"""Training end to end, tiny: it learns, it resumes bit for bit, its folder explains itself."""

from __future__ import annotations

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hint_relic.config import (
    Drawn,
    ModelConfig,
    ObjectiveConfig,
    OptimiserConfig,
    Padding,
    TrainConfig,
    from_dict,
    to_dict,
)
from hint_relic.data import sample
from hint_relic.errors import UserError
from hint_relic.evaluate.evaluate import _count
from hint_relic.grid.plan import has_views
from hint_relic.paper import scores
from hint_relic.train import checkpoint
from hint_relic.train.folder import RunFolder
from hint_relic.train.loop import _Run, train
from hint_relic.train.room import shared
from hint_relic.train.task import Task, initial, stream_for
from hint_relic.train.update import Meter, optimiser, update
from hint_relic.variants import VARIANTS, preset
from tiny import TINY


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """An undisturbed run: (folder, result)."""
    folder = tmp_path_factory.mktemp("run") / "whole"
    return folder, train(TINY, folder)


def test_the_folder_explains_itself(finished):
    folder, result = finished
    names = {item.name for item in folder.iterdir()}
    assert names >= {
        "config.json", "environment.json", "metrics.jsonl", "events", "last.safetensors",
        "previous.safetensors", "best.safetensors", "result.json",
    }  # fmt: skip
    assert json.loads((folder / "result.json").read_text()) == result
    config = json.loads((folder / "config.json").read_text())
    assert from_dict(TrainConfig, {k: v for k, v in config.items() if k != "format"}) == TINY
    assert result["seeds"] == [0, 1]
    assert len(result["parameters_sha256"]) == 2
    assert set(result["test"]) == {"best", "best_average", "last", "last_average"}
    for part in result["test"].values():
        assert len(part["score"]) == 2
        assert set(part["outputs"]) == {"pi"}
    assert result["versions"]["jax"]


def test_metrics_are_complete(finished):
    folder, _ = finished
    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [r["step"] for r in records if r["kind"] == "train"] == [2, 4, 6]
    assert [r["step"] for r in records if r["kind"] == "validation"] == [3, 6]
    assert all(np.isfinite(r["loss"]).all() for r in records if r["kind"] == "train")


def test_what_scores_is_compiled_beside_the_updates(tmp_path, monkeypatch):
    """Where a GPU trains. Scoring compiles nothing more then, and nothing else is different."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    config, compiled = replace(TINY, validation_sizes=(5, 6)), []

    def report(record):
        if "scoring" in record:
            compiled.append(_count._cache_size())

    _count.clear_cache()
    ahead = train(config, tmp_path / "ahead", report=report)
    assert {*compiled} == {4}  # training's size, two further ones and the test's
    monkeypatch.setattr(_Run, "_prepare_scoring", lambda run: None)
    plain = train(config, tmp_path / "plain")
    assert ahead["parameters_sha256"] == plain["parameters_sha256"]
    assert ahead["test"] == plain["test"]


def shapes_of(config: TrainConfig) -> list[tuple[int, ...]]:
    with stream_for(config, Task.of(config)) as stream:
        items = [stream.batch(k) for k in range(len(stream.sizes))]
    return [tuple(x.shape for x in jax.tree.leaves(item)) for item in items]


def test_padding_decides_how_many_programs_there_are():
    usual = TrainConfig(algorithm="insertion_sort")
    counts = {p: len({*shapes_of(replace(usual, padding=p))}) for p in Padding}
    assert counts == {"auto": 5, "own": 5, "largest": 1}


@pytest.mark.parametrize(
    ("run", "programs"),
    [
        ({"steps": 50}, 1),
        ({"steps": 1000, "seeds": 1}, 2),
        ({"steps": 1000, "seeds": 1, "model": ModelConfig(triplets=0)}, 3),  # steps in a loop
        ({"steps": 1000, "seeds": 1, "model": ModelConfig(hidden=8)}, 1),
        ({"sizes": (16,)}, 1),
        ({"objective": ObjectiveConfig(contrastive=1.0)}, 1),  # views have one number of nodes
    ],
)
def test_short_runs_have_fewer_programs(run, programs):
    config = TrainConfig(algorithm="insertion_sort", **run)
    assert len({*shapes_of(config)}) == programs


def test_sizes_are_refused_before_any_is_drawn():
    with pytest.raises(UserError, match="at most 4096 nodes are allowed, not 100000"):
        stream_for(replace(TINY, sizes=(4, 100_000)), Task.of(TINY))


def test_rooms_take_the_least_time():
    """Against all ways to part the sizes."""
    sizes, program = [3, 4, 6, 9, 10], 500.0

    def time(size, room):
        return size * room**2

    def ways(left):
        for k in range(len(left)):
            for rest in ways(left[k + 1 :]) if left[k + 1 :] else [{}]:
                yield dict.fromkeys(left[: k + 1], left[k]) | rest

    def total(rooms):
        return program * len({*rooms.values()}) + sum(time(s, r) for s, r in rooms.items())

    found = shared(sizes, time, program)
    assert total(found) == min(map(total, ways(sizes)))
    assert 1 < len({*found.values()}) < len(sizes)
    assert {*shared(sizes, time, 0.0).values()} == {*sizes}
    assert {*shared(sizes, time, 1e9).values()} == {10}


def test_padding_changes_no_result(tmp_path):
    config = replace(TINY, sizes=(4, 7), steps=2, report_every=1)
    losses: dict[Padding, list[float]] = {Padding.OWN: [], Padding.LARGEST: []}
    for kind, found in losses.items():

        def report(record, found=found):
            found += record.get("loss", [])

        train(replace(config, padding=kind), tmp_path / kind, report=report)
    assert len(losses[Padding.OWN]) == 4
    assert losses[Padding.OWN] == pytest.approx(losses[Padding.LARGEST], rel=1e-5)


class StopRunError(Exception):
    """What a test throws to end a run in the middle."""


def stop_at(step: int):
    def report(record):
        if record.get("step") == step:
            raise StopRunError

    return report


@pytest.mark.parametrize("at", [2, 4])
def test_a_run_that_was_stopped_ends_the_same(finished, tmp_path, at):
    _, whole = finished
    with pytest.raises(StopRunError):
        train(TINY, tmp_path / "run", report=stop_at(at))
    resumed = train(TINY, tmp_path / "run")
    assert resumed["parameters_sha256"] == whole["parameters_sha256"]
    assert resumed["test"] == whole["test"]
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(x)["step"] for x in lines] == [2, 3, 4, 6, 6]


def test_a_damaged_checkpoint_falls_back_to_the_one_before(finished, tmp_path):
    _, whole = finished
    with pytest.raises(StopRunError):
        train(TINY, tmp_path / "run", report=stop_at(6))
    last = tmp_path / "run" / "last.safetensors"
    last.write_bytes(last.read_bytes()[:-100])
    said = []
    result = train(TINY, tmp_path / "run", report=said.append)
    assert "damaged" in said[0]["warning"]
    assert result["parameters_sha256"] == whole["parameters_sha256"]


def test_scoring_tells_how_far_it_is(tmp_path):
    told = []
    train(TINY, tmp_path / "run", report=told.append)
    shares = {}
    for record in told:
        if "scoring" in record:
            shares.setdefault(record["scoring"], []).append(record["share"])
    assert {*shares} >= {"validation", "the test split"}
    for each in shares.values():
        assert each[0] == 0.0
        assert max(each) < 1.0
    test = shares["the test split"]
    assert test == sorted(test)


def test_a_finished_run_is_not_run_again(finished):
    folder, result = finished
    assert train(TINY, folder) == result


def test_another_run_in_the_same_folder_is_refused(finished):
    folder, _ = finished
    with pytest.raises(UserError, match="differs in batch_size"):
        train(replace(TINY, batch_size=3), folder)


def test_a_setting_that_an_older_version_did_not_know_had_its_default(finished):
    folder, result = finished
    file = folder / "config.json"
    values = json.loads(file.read_text())
    del values["validation_drawn"], values["model"]["edge_pointers"]
    file.write_text(json.dumps(values))
    assert train(TINY, folder) == result
    assert "validation_drawn" in json.loads(file.read_text())  # and is written down now


def test_further_sizes_may_be_drawn_as_the_benchmark_draws():
    task = Task.of(TINY)
    usual, like_the_test = (task.fresh(6, 8, 1, drawn) for drawn in Drawn)
    assert (like_the_test.inputs["pos"] == like_the_test.inputs["pos"][0]).all()
    assert not (usual.inputs["pos"] == usual.inputs["pos"][0]).all()
    expected = sample(TINY.algorithm, 6, 8, 1)
    for name, value in expected.outputs.items():
        np.testing.assert_array_equal(like_the_test.outputs[name], value)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(UserError, match="not a run folder"):
        train(TINY, tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_batch_whose_loss_is_not_finite_is_skipped():
    def sometimes_broken(network, batch, key):
        loss = (network.decoders["pi"].out.weight ** 2).sum() * jnp.where(batch == 0, 1.0, jnp.inf)
        return loss, {"loss": loss}

    task = Task.of(TINY)
    layout, states = initial(TINY, task)
    state = jax.tree.map(lambda x: x[0], states)
    meter = Meter.empty(["loss"])
    settings = {"objective": sometimes_broken, "config": TINY.optimiser, "steps": 9}
    good, metered = update(state, meter, jnp.asarray(0), layout=layout, **settings)
    after, same = update(good, metered, jnp.asarray(1), layout=layout, **settings)
    assert (good.weights != state.weights).any()
    assert after.step == 2
    for name in ("weights", "average", "optimiser"):
        for a, b in zip(*(jax.tree.leaves(getattr(s, name)) for s in (after, good))):
            np.testing.assert_array_equal(a, b)
    assert same == metered._replace(skipped=jnp.ones(()))


@pytest.mark.parametrize("name", ["bfs", "binary_search"])
def test_untold_is_hint_relic_without_its_objective(name):
    untold, paper = preset("untold", name), preset("hint_relic", name)
    assert untold == replace(paper, variant="untold", objective=untold.objective, view=untold.view)
    assert not untold.objective.needs_views
    assert not untold.objective.supervises_hints


@pytest.mark.parametrize(("clip", "norm"), [(0.0, 5.0), (1.0, 1.0), (9.0, 5.0)])
def test_gradients_are_cut_to_a_norm_or_not_at_all(clip, norm):
    adam = optimiser(OptimiserConfig(clip=clip))
    gradient = jnp.array([3.0, 4.0])
    _, state = adam.update(gradient, adam.init(gradient))
    assert jnp.linalg.norm(state[1].mu) == pytest.approx(0.1 * norm)  # Adam's first moment


@pytest.mark.parametrize(("skip", "taken"), [(0.0, True), (50.0, True), (1.0, False)])
def test_an_update_whose_gradient_is_above_the_bound_is_skipped(skip, taken):
    def steep(network, batch, key):
        weight = network.decoders["pi"].out.weight
        loss = 10.0 * jnp.sum(weight) / np.sqrt(weight.size)  # a gradient of norm 10
        return loss, {"loss": loss}

    layout, states = initial(TINY, Task.of(TINY))
    state = jax.tree.map(lambda x: x[0], states)
    settings = {"objective": steep, "config": replace(TINY.optimiser, skip=skip), "steps": 9}
    after, meter = update(state, Meter.empty(["loss"]), 0, layout=layout, **settings)
    assert (after.weights != state.weights).any() == taken
    assert (meter.updates, meter.skipped) == ((1.0, 0.0) if taken else (0.0, 1.0))


def test_skipped_batches_are_told_and_counted(tmp_path):
    def now_and_then_broken(network, batch, key):
        broken = jax.random.bits(key) % 3 == 0
        loss = (network.decoders["pi"].out.weight ** 2).sum() * jnp.where(broken, jnp.inf, 1.0)
        return loss, {"loss": loss}

    told = []
    config = replace(TINY, report_every=6)
    train(config, tmp_path / "run", objective=now_and_then_broken, report=told.append)
    (record,) = [r for r in told if r.get("kind") == "train"]
    total = int(sum(record["skipped"]))
    assert 0 < total < 12
    assert any(f"not finite {total} times by update 6" in r.get("warning", "") for r in told)
    assert np.isfinite(record["loss"]).all()


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    def broken(network, batch, key):
        loss = network.decoders["pi"].out.weight.sum() * jnp.nan
        return loss, {"loss": loss}

    with pytest.raises(UserError, match="no longer finite by update"):
        train(TINY, tmp_path / "run", objective=broken)
    skipping = replace(TINY, optimiser=replace(TINY.optimiser, skip=5.0))
    with pytest.raises(
        UserError, match=r"finite, or above 5, by .* a higher --optimiser\.skip may"
    ):
        train(skipping, tmp_path / "other", objective=broken)
    assert not (tmp_path / "run" / "last.safetensors").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"sizes": ()}, "at least one training size"),
        ({"algorithm": "bsf"}, "did you mean 'bfs'"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_made(tmp_path, change, message):
    with pytest.raises(UserError, match=message):
        train(replace(TINY, **change), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_contradictory_objectives_are_refused(tmp_path):
    config = preset("hint_relic")
    with pytest.raises(UserError, match=r"needs objective\.contrastive"):
        train(
            replace(config, objective=replace(config.objective, contrastive=0.0)), tmp_path / "run"
        )


def test_config_files_refuse_what_they_do_not_know():
    assert from_dict(TrainConfig, to_dict(TINY)) == TINY
    with pytest.raises(UserError, match="did you mean 'steps'"):
        from_dict(TrainConfig, {"stpes": 3})
    with pytest.raises(UserError, match=r"model\.hidden must be a int"):
        from_dict(TrainConfig, {"model": {"hidden": "big"}})
    with pytest.raises(UserError, match="unknown"):
        from_dict(TrainConfig, {"model": {"hints": "maybe"}})


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_settings(variant):
    config = preset(variant)
    config.check()
    assert config.variant == variant
    assert config.objective.needs_views == (
        "relic" in variant or "views" in variant or variant == "best"
    )


@pytest.mark.parametrize("algorithm", sorted({key[0] for key in scores()}))
def test_best_can_be_trained_on_every_algorithm_of_the_paper(algorithm):
    config = preset("best", algorithm)
    config.check()
    Task.of(config)
    assert has_views(config)


def test_a_decaying_learning_rate_ends_at_zero(tmp_path):
    """The last of six updates takes a step of under a tenth, so plain weights change less."""

    def last_change(decay: bool) -> float:
        optimiser = replace(TINY.optimiser, decay=decay)
        folder = tmp_path / str(decay)
        train(replace(TINY, seeds=1, checkpoint_every=1, optimiser=optimiser), folder)
        before, after = (
            checkpoint.read(folder / f"{name}.safetensors")[0][".state.weights"]
            for name in ("previous", "last")
        )
        return float(np.abs(after - before).mean())

    assert last_change(decay=True) < 0.2 * last_change(decay=False)


@pytest.mark.parametrize("drawn", Drawn)
def test_another_size_can_choose_the_best_weights(tmp_path, drawn):
    config = replace(
        TINY, choose_at=6, validation_sizes=(5,), validation_drawn=drawn, validate_every=1
    )
    result = train(config, tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    seen = [r for r in map(json.loads, lines) if r["kind"] == "validation"]
    for kind, name in (("plain", "best"), ("average", "best_average")):
        scores = np.array([r[f"{kind}_6"] for r in seen])
        np.testing.assert_allclose(result["validation"][name], scores.max(0), rtol=1e-6)
        latest = len(scores) - np.argmax(scores[::-1], axis=0)
        assert result["test"][name]["step"] == latest.tolist()
        assert all(f"{kind}_5" in r for r in seen)


def test_a_run_killed_while_it_wrote_its_first_file_can_start(tmp_path):
    """What it had written aside is no sign of a folder of something else."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".config.json.123.part").write_text("{")
    with RunFolder(folder, TINY):
        assert {f.name for f in folder.iterdir()} == {".lock", "config.json"}
