"""`hint-relic bench`, at toy size: what it measures, and what a mistake gets."""

from __future__ import annotations

import json

import pytest

from hint_relic.cli import main

SMALL = ["--seeds", "1", "--size", "4", "--hidden", "8", "--seconds", "0"]


def test_a_row_for_each_algorithm_and_variant(capsys):
    code = main(
        ["bench", "--algorithms", "bfs", "--variants", "baseline,hint_relic", *SMALL, "--json"]
    )
    assert code == 0
    found = json.loads(capsys.readouterr().out)
    assert [r["variant"] for r in found["rows"]] == ["baseline", "hint_relic"]
    plain, paired = found["rows"]
    assert paired["flop"] > 1.9 * plain["flop"]  # input and view, one node larger
    for row in found["rows"]:
        assert row["update_s"] > 0.0
        assert row["compile_s"] > 0.0
        assert row["limit_s"] == pytest.approx(row["flop"] / found["tflop_per_s"] / 1e12)
        assert row["share_of_limit"] == pytest.approx(row["limit_s"] / row["update_s"])


def test_operations_of_a_step_are_counted():
    """The two message layers over all pairs are most of them."""
    from hint_relic.bench import PASSES, measure
    from hint_relic.config import TrainConfig

    cost = measure(TrainConfig(algorithm="bfs", sizes=(8,), seeds=1, batch_size=2), budget_s=0.0)
    messages = 2 * 2 * 8 * 8 * 128 * 128
    assert 1.0 < cost.flop / (PASSES * 2 * cost.steps * messages) < 3.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--algorithms", "bfz"], "did you mean 'bfs'"),
        (["--variants", "baselin"], "did you mean 'baseline'"),
        (["--seeds", "0"], "seeds must be at least 1"),
        (["--algorithms", "dfs", "--variants", "hint_relic"], "dfs"),
    ],
)
def test_mistakes_get_one_line(capsys, arguments, said):
    assert main(["bench", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
