"""`hint-relic train` and `evaluate`: from a command to tables, and one line for every mistake."""

from __future__ import annotations

import json

import pytest

from hint_relic.cli import main
from hint_relic.cli_train import Reporter, sparkline, train_defaults, train_words
from hint_relic.config import Hints
from hint_relic.errors import UserError
from hint_relic.reasoner.model_file import shipped
from hint_relic.variants import VARIANTS

TINY = [
    "--steps", "4", "--seeds", "2", "--sizes", "4", "--report-every", "2", "--validate-every", "4",
    "--validation-samples", "8", "--model.hidden", "4", "--model.triplets", "2",
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "run"
    assert main(["train", "bfs", "--out", str(folder), *TINY]) == 0
    return folder


def test_train_ends_with_a_table_and_the_papers_figure(run, capsys):
    """A finished run is only shown again."""
    assert main(["train", "bfs", "--out", str(run), *TINY]) == 0
    out = capsys.readouterr().out
    assert "bfs, baseline: score on the test split" in out
    assert "best on validation, averaged weights" in out
    assert "99.64 ± 0.05" in out
    assert str(run) in out


def test_sizes_may_have_commas_as_elsewhere(tmp_path):
    first = [*TINY[:4], "--sizes", "4,5", *TINY[6:]]
    assert main(["train", "bfs", "--out", str(tmp_path / "run"), *first]) == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["sizes"] == [4, 5]


def test_only_lists_are_taken_apart_at_commas():
    given = ["bfs", "--sizes", "4,5", "6", "--out", "1,2", "--steps", "3"]
    taken = ["bfs", "--sizes", "4", "5", "6", "--out", "1,2", "--steps", "3"]
    assert train_words(given) == taken


def test_evaluate_scores_outputs_hints_and_steps(run, capsys):
    assert main(["evaluate", str(run), "--sizes", "5,6", "--samples", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["scores"]
    assert set(found) == {"n = 5", "n = 6"}
    for scores in found.values():
        assert set(scores["outputs"]) == {"pi"}
        assert set(scores["hints"]) == {"pi_h", "reach_h"}
        assert 0.0 <= scores["score"]["mean"] <= 1.0
        assert len(scores["score"]["seeds"]) == 2
    assert main(["evaluate", str(run), "--sizes", "5", "--samples", "4"]) == 0
    assert "reach_h (hint)" in capsys.readouterr().out


def test_evaluate_draws_fresh_samples_like_a_split(run, capsys):
    assert main(["evaluate", str(run), "--split", "val", "--samples", "40", "--json"]) == 0
    (title, scores), *more = json.loads(capsys.readouterr().out)["scores"].items()
    assert title == "like the val split, 40 fresh"
    assert not more
    drawn = {key: scores[key] for key in ("split", "size", "samples", "fresh")}
    assert drawn == {"split": "val", "size": 16, "samples": 40, "fresh": True}
    assert main(["evaluate", str(run), "--split", "val", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]["val split"]
    assert (scores["samples"], scores["fresh"]) == (32, False)


def test_evaluate_feeds_hints_back_in_another_way(run, capsys):
    found = {}
    for feedback in ("soft", "hard"):
        asked = ["--sizes", "16", "--samples", "4", "--feedback", feedback, "--json"]
        assert main(["evaluate", str(run), *asked]) == 0
        found[feedback] = json.loads(capsys.readouterr().out)
        assert found[feedback]["feedback"] == feedback
    assert main(["evaluate", str(run), "--sizes", "16", "--samples", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found["soft"]
    assert found["hard"]["scores"] != found["soft"]["scores"]


def test_evaluate_scores_a_reasoner_by_name_or_file(capsys):
    for source in ("bfs", str(shipped()["bfs"])):
        assert main(["evaluate", source, "--sizes", "8", "--samples", "4", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["run"], found["weights"]) == (source, "best_average")
        assert found["scores"]["n = 8"]["score"]["seeds"] == [1.0]
    assert main(["evaluate", "bfs", "--sizes", "8", "--samples", "4"]) == 0
    assert "trained without a loss on its hints" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "bsf"], "did you mean 'bfs'"),
        (["train", "bfs", "--variant", "baselin"], "did you mean 'baseline'"),
        (["train", "bfs", "--algorithm", "dfs"], "settings for dfs"),
        (["train", "bfs", "--steps", "0"], "steps must be at least 1"),
        (["train", "bfs", "--config", "nowhere.toml"], "can't read nowhere.toml"),
        (["train", "segments_intersect", "--variant", "hint_relic"], "view"),
        (["train", "kmp_matcher", "--variant", "hint_relic"], "verified"),
        (["evaluate", "no/where"], "not a run folder"),
        (["evaluate", "nowhere.safetensors"], "can't read nowhere.safetensors"),
        (["evaluate", "bsf"], "unknown run folder or reasoner 'bsf'; did you mean 'bfs'"),
        (["evaluate", "lcs_length"], "no trained reasoner for lcs_length is shipped"),
        (["evaluate", "bfs", "--weights", "best"], "only a run folder"),
        (["evaluate", "bfs", "--feedback", "harder"], "unknown feedback 'harder'"),
        (["evaluate", "nowhere", "--sizes", "big"], "whole numbers"),
        (["evaluate", "nowhere", "--sizes", "4", "--split", "test"], "not both"),
        (["evaluate", "nowhere", "--split", "tset"], "did you mean 'test'"),
    ],
)
def test_mistakes_get_one_line_and_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    told = [line for line in error.splitlines() if line.startswith("hint-relic: error: ")]
    assert len(told) == 1
    assert message in told[0]
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_a_file_gives_defaults_and_flags_go_over_it(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('variant = "no_hints"\nsteps = 7\n[model]\nhidden = 16\n')
    settings = train_defaults(["bfs", "--config", str(file)]).settings
    assert (settings.steps, settings.model.hidden, settings.model.hints) == (7, 16, Hints.NONE)
    settings = train_defaults(["bfs", "--config", str(file), "--variant=baseline"]).settings
    assert settings.model.hints is Hints.FEEDBACK
    file.write_text("stpes = 7\n")
    with pytest.raises(UserError, match="did you mean 'steps'"):
        train_defaults(["bfs", "--config", str(file)])


def test_the_proxy_is_small_whatever_the_variant():
    settings = train_defaults(["--proxy", "--variant", "hint_relic"]).settings
    assert (settings.model.hidden, settings.steps, max(settings.sizes)) == (32, 2500, 8)
    assert settings.model.reversal
    assert settings.objective.contrastive == 1.0
    assert min(settings.sizes) == 3
    settings = train_defaults(["strongly_connected_components", "--proxy"]).settings
    assert min(settings.sizes) == 4  # it has no graphs of three nodes
    settings = train_defaults(["heapsort", "--proxy", "--variant", "best"]).settings
    assert settings.choose_at == max(settings.validation_sizes) == 32


@pytest.mark.parametrize(
    ("words", "contrast"),
    [
        (["dfs", "--variant", "best"], 0.0),
        (["--variant", "best", "dfs"], 0.0),
        (["bfs", "--variant", "best", "--out", "dfs"], 1.0),
        (["--variant=best", "--restart", "dfs", "--out", "bfs"], 0.0),
    ],
)
def test_a_variant_can_differ_for_an_algorithm(words, contrast):
    assert train_defaults(words).settings.objective.contrastive == contrast


def test_help_names_the_variants_and_explains_settings(capsys):
    assert main(["train", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert all(name in out for name in VARIANTS)
    assert "the size whose score chooses the best weights" in out  # beside its option


def test_sparkline():
    assert sparkline([0.0, 0.5, 1.0, -1.0]) == "▁▅█"
    assert len(sparkline([1.0] * 500)) == 40


def test_what_a_terminal_is_told(capsys):
    scores = {"plain": [0.5, 0.7], "average": [0.8, 0.8], "plain_48": [0.1, 0.2]}
    with Reporter(10) as reporter:
        reporter({"compiling": "for long"})
        reporter({"step": 5, "kind": "validation", **scores, "average_48": [0.4, 0.5]})
    assert capsys.readouterr().err.splitlines()[1:] == [
        "compiling for long",
        "step 5  validation  plain 60.0%  average 80.0%   n = 48: plain 15.0%  average 45.0%",
    ]


def test_scoring_that_takes_long_is_told_once(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("hint_relic.cli_train.time.monotonic", lambda: now[0])
    with Reporter(10) as reporter:
        for share in (0.0, 0.2, 0.4, 0.6, 0.8):
            now[0] += 30.0 if share == 0.2 else 1.5  # the first part compiles
            reporter({"scoring": "the test split", "share": share})
    said = capsys.readouterr().err.splitlines()
    assert said[1:] == ["scoring the test split  about 3 s left"]
