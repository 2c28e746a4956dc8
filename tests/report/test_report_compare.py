"""Verdicts, means, marks and commands: the numbers that the page adds to what it reads."""

from __future__ import annotations

import shlex
from dataclasses import replace

import made
import pytest

from hint_relic.cli import parse
from hint_relic.config import ModelConfig, ObjectiveConfig, Reduce, to_dict
from hint_relic.paper import Published, scores
from hint_relic.report.compare import Verdict, judge, mean_over, shortfalls
from hint_relic.report.gather import gather
from hint_relic.report.layout import layout
from hint_relic.report.settings import command, other_settings
from hint_relic.variants import VARIANTS, preset


@pytest.mark.parametrize(
    ("mean", "stderr", "verdict"),
    [
        (60.1, 3.0, Verdict.BETTER),  # two standard errors of the difference: 10
        (59.9, 3.0, Verdict.WITHIN),
        (40.1, 3.0, Verdict.WITHIN),
        (39.9, 3.0, Verdict.WORSE),
        (90.0, None, Verdict.OPEN),
    ],
)
def test_two_standard_errors_of_the_difference_decide(mean, stderr, verdict):
    assert judge(mean, stderr, Published(50.0, 4.0)) is verdict


def test_equal_scores_without_any_spread_are_equal():
    assert judge(100.0, 0.0, Published(100.0, 0.0)) is Verdict.WITHIN
    assert judge(99.0, 0.0, Published(100.0, 0.0)) is Verdict.WORSE


def test_a_mean_takes_only_the_algorithms_that_both_have(tmp_path):
    made.cell(tmp_path, "bfs", "baseline", [0.9, 1.0])
    made.cell(tmp_path, "minimum", "baseline", [0.7, 0.8])
    made.cell(tmp_path, "lcs_length", "baseline", [0.1, 0.2])  # not in the paper
    names = [row.algorithm for row in layout().rows] + ["lcs_length"]
    mean = mean_over(gather(tmp_path).chosen, "baseline", names, "best")
    assert mean.algorithms == ("bfs", "minimum")
    assert mean.of == 18
    assert mean.told == ["2 of 18 algorithms", "2 with fewer seeds or updates, or other settings"]
    assert mean.ours == pytest.approx(85.0)
    assert mean.stderr == pytest.approx((5.0**2 + 5.0**2) ** 0.5 / 2)
    assert mean.paper.mean == pytest.approx((99.64 + 97.78) / 2)
    assert mean_over(gather(tmp_path).chosen, "hint_relic", names, "best") is None


def test_what_falls_short_of_the_paper_is_marked(tmp_path):
    config = to_dict(replace(preset("baseline"), model=ModelConfig(hidden=8)))
    made.cell(tmp_path, "bfs", "baseline", [0.9, 1.0], steps=60, config=config)
    made.cell(tmp_path, "dfs", "baseline", [1.0, 1.0, 1.0])
    findings = gather(tmp_path)
    toy = findings.cell("bfs", "baseline")
    marks = shortfalls(toy)
    assert marks == ["2 seeds", "60 updates", "other settings"]
    assert other_settings(toy.config) == {"model.hidden": 8}
    assert shortfalls(findings.cell("dfs", "baseline")) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_command_of_a_recorded_config_gives_that_config(variant):
    config = replace(
        preset(variant), algorithm="dfs", steps=60, sizes=(4, 5), validation_sizes=(8,)
    )
    assert _given_back(config) == config


def test_the_command_turns_switches_on_and_off():
    objective = ObjectiveConfig(normalise=False, reduce=Reduce.SUM, temperature=0.5)
    model = ModelConfig(reversal=True, gated=False)
    config = replace(preset("baseline"), algorithm="bfs", objective=objective, model=model)
    config = replace(config, keep_static_hints=True)
    assert _given_back(config) == config


def _given_back(config):
    words = shlex.split(command({"format": 1, **to_dict(config)}))
    _, options = parse(words[1:])
    return replace(options.settings, algorithm=options.name)


def test_a_config_of_something_else_has_no_command():
    assert command({}) is None
    assert command({"algorithm": 3, "variant": []}) is None


def test_the_layout_holds_every_figure_of_the_paper():
    shown = {(row.algorithm, v) for panel in layout().tables for row in panel.rows()
             for v in panel.columns}  # fmt: skip
    assert set(scores()) <= shown
    assert set(layout().variants) == {variant for _, variant in scores()}
    assert set(layout().variants) <= set(VARIANTS)
