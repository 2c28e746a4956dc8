"""The table in one: which run stands for an algorithm, and that the documentation shows it."""

from __future__ import annotations

import json
from pathlib import Path

import made
import pytest

from hint_relic.paper import best_variant, elsewhere, published
from hint_relic.report.compare import Verdict
from hint_relic.report.export import to_markdown
from hint_relic.report.final import in_mean, lines
from hint_relic.report.gather import gather
from hint_relic.report.page import page

ROOT = Path(__file__).parents[2]


def line(top: Path, algorithm: str):
    (found,) = [line for line in lines(gather(top)) if line.row.algorithm == algorithm]
    return found


def validated(folder: Path, **scores: list[float]) -> None:
    """Replace what training recorded by one validation, of the weights that were tested."""
    record = {"step": 10_000, "kind": "validation", **scores}
    (folder / "metrics.jsonl").write_text(json.dumps(record) + "\n")


def evaluated(folder: Path, name: str, score: list[float], **drawn) -> None:
    part = {"score": {"seeds": score}, "hint_score_at_step": {}, **drawn}
    made.write(folder / f"{name}.json", {"weights": "best_average", "scores": {"x": part}})


def test_validation_prefers_a_run_and_the_test_does_not(tmp_path):
    paper = made.cell(tmp_path, "bfs", "hint_relic", [0.9, 0.9, 0.9])
    best = made.cell(tmp_path, "bfs", "best", [0.5, 0.5, 0.5])
    validated(paper, average=[1.0, 1.0, 1.0], average_32=[0.7, 0.7, 0.7])
    validated(best, average=[0.9, 0.9, 0.9], average_32=[0.8, 0.8, 0.8])
    found = line(tmp_path, "bfs")
    assert found.cell.variant == "best"
    assert found.chosen_at == 32
    assert found.score.mean == pytest.approx(50.0)
    assert found.verdict is Verdict.WORSE


def test_a_checkpoint_that_was_not_tested_decides_nothing(tmp_path):
    for variant, tested, other in (("hint_relic", 0.7, 1.0), ("best", 0.8, 0.8)):
        folder = made.cell(tmp_path, "bfs", variant, [0.9, 0.9, 0.9])
        validated(folder, average_32=[tested] * 3)
        with (folder / "metrics.jsonl").open("a") as file:
            record = {"step": 9_000, "kind": "validation", "average_32": [other] * 3}
            file.write(json.dumps(record) + "\n")
    assert line(tmp_path, "bfs").cell.variant == "best"


def test_an_evaluation_of_a_larger_size_decides_if_all_have_it(tmp_path):
    paper = made.cell(tmp_path, "bfs", "hint_relic", [0.9, 0.9, 0.9])
    best = made.cell(tmp_path, "bfs", "best", [0.5, 0.5, 0.5])
    validated(paper, average_32=[0.7, 0.7, 0.7])
    validated(best, average_32=[0.8, 0.8, 0.8])
    evaluated(paper, "evaluation-48", [0.6, 0.6, 0.6], size=48, fresh=True, samples=32, split=None)
    assert line(tmp_path, "bfs").cell.variant == "best"
    evaluated(best, "evaluation-48", [0.5, 0.5, 0.5], size=48, fresh=True, samples=32, split=None)
    assert line(tmp_path, "bfs").cell.variant == "hint_relic"
    assert line(tmp_path, "bfs").chosen_at == 48


@pytest.mark.parametrize(
    "drawn",
    [
        {"size": 64, "fresh": True, "split": None},
        {"size": 48, "fresh": False, "split": None},
        {"size": 16, "fresh": False, "split": "val"},
        {"size": "48", "fresh": True, "split": None},
        {},
    ],
)
def test_what_may_not_choose_does_not(tmp_path, drawn):
    for variant, value, other in (("hint_relic", 0.7, 0.9), ("best", 0.8, 0.1)):
        folder = made.cell(tmp_path, "bfs", variant, [0.9, 0.9, 0.9])
        validated(folder, average_32=[value] * 3)
        evaluated(folder, "evaluation", [other] * 3, samples=512, **drawn)
    assert line(tmp_path, "bfs").cell.variant == "best"


def test_other_variants_stand_in_only_where_there_is_neither(tmp_path):
    made.cell(tmp_path, "dfs", "baseline_reversal", [1.0, 1.0, 1.0])
    made.cell(tmp_path, "bfs", "baseline", [1.0, 1.0, 1.0])
    made.cell(tmp_path, "bfs", "hint_relic", [0.9, 0.9, 0.9])
    assert line(tmp_path, "dfs").cell.variant == "baseline_reversal"
    assert line(tmp_path, "dfs").verdict is Verdict.WITHIN  # of the best column: there is no other
    assert line(tmp_path, "bfs").cell.variant == "hint_relic"
    assert line(tmp_path, "minimum").cell is None
    assert [x.row.algorithm for x in in_mean(lines(gather(tmp_path)))] == ["bfs"]


def test_fresh_samples_count_if_they_are_many_and_drawn_like_the_test(tmp_path):
    folder = made.cell(tmp_path, "bfs", "hint_relic", [0.9, 0.9, 0.9])
    drawn = {"size": 64, "fresh": True}
    evaluated(folder, "evaluation-1", [0.1] * 3, samples=32, split="test", **drawn)
    evaluated(folder, "evaluation-2", [0.2] * 3, samples=512, split=None, **drawn)
    assert line(tmp_path, "bfs").fresh is None
    evaluated(folder, "evaluation-3", [0.8, 0.9, 1.0], samples=512, split="test", **drawn)
    assert line(tmp_path, "bfs").fresh.mean == pytest.approx(90.0)
    assert "90.00 ± 5.77" in to_markdown(gather(tmp_path))


def test_a_fresh_score_of_one_network_says_so_and_is_in_no_mean(tmp_path):
    folder = made.cell(tmp_path, "bfs", "hint_relic", [0.9, 0.9, 0.9])
    evaluated(folder, "evaluation", [0.8], size=64, fresh=True, samples=512, split="test")
    table = to_markdown(gather(tmp_path))
    assert "| 90.00 ± 0.00 | 80.00 (1 of 3 seeds) |" in table
    assert "| **90.00** | – |" in table
    assert "1 of 3 seeds" in page(gather(tmp_path), "a test")


def test_a_name_from_a_file_stays_in_its_column(tmp_path):
    made.cell(tmp_path, "dfs", "a|b`\nc", [0.9, 0.9, 0.9], folder="run")
    assert "| DFS | `a?b??c`, 10,000 | 90.00" in to_markdown(gather(tmp_path))


def test_it_is_on_the_page(tmp_path):
    made.cell(tmp_path, "bfs", "hint_relic", [0.9, 0.9, 0.9])
    text = page(gather(tmp_path), "a test")
    assert 'id="table-final"' in text
    assert "arXiv 2402.11628" in text
    assert "1 algorithm<" in text


def test_elsewhere_is_above_the_papers_best():
    for algorithm, other in elsewhere().items():
        assert other.score > published(algorithm, best_variant(algorithm)).mean


def test_the_documentation_shows_what_is_recorded():
    told = (ROOT / "docs" / "results.md").read_text()
    for row in to_markdown(gather(ROOT / "results")).splitlines():
        assert row in told, "docs/results.md: `hint-relic report results --markdown` has this row"
