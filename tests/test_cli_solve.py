"""`hint-relic solve`, `models` and `pack`: answers as tables and JSON, one line for a mistake."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hint_relic.cli import main
from hint_relic.cli_solve import models_table, plain, shown
from hint_relic.data.user_input import is_literal
from hint_relic.terminal import console
from reasoner.tiny import TINY, untrained

pytestmark = pytest.mark.xdist_group("reasoner")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "bfs.safetensors"
    untrained(TINY, path)
    return str(path)


def test_solve_prints_an_answer_and_where_it_parts(model, capsys):
    assert main(["solve", "bfs", "--input", "a b\nb c", "--model", model, "--check"]) == 0
    out = capsys.readouterr().out
    assert "answer" in out
    assert "a: None" in out or "a: " in out
    assert "outputs: " in out
    assert "trajectory: " in out


def test_solve_json(model, capsys, tmp_path):
    graph = tmp_path / "graph.json"
    graph.write_text('{"nodes": ["u", "v", "w"], "edges": [["u", "v"], ["v", "w"]]}')
    arguments = ["solve", "bfs", "--input", str(graph), "--source", "v", "--model", model]
    assert main([*arguments, "--check", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["value"]) == {"u", "v", "w"}
    assert len(found["trajectory"]["pi_h"]) == found["steps"] == len(found["confidence"])
    assert set(found["check"]) == {"right", "score", "outputs", "hints", "first_difference"}


def test_models_lists_what_is_shipped(capsys, monkeypatch, model):
    from pathlib import Path

    monkeypatch.setattr("hint_relic.reasoner.model_file.shipped", dict)
    assert main(["models"]) == 0
    assert "no trained reasoners are shipped" in capsys.readouterr().out
    assert main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    monkeypatch.setattr(
        "hint_relic.reasoner.model_file.shipped", lambda: {"bfs": Path(model)}
    )  # fmt: skip
    assert main(["models"]) == 0
    assert "bfs" in capsys.readouterr().out
    assert main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "bfs"


def test_the_table_of_models_leaves_unknown_scores_empty(capsys):
    card = {"variant": "best", "scores": {"16": 1.0, "64": 0.5}, "test_split": 0.25}
    console().print(models_table({"bfs": (card, 1000), "dfs": ({}, 2000)}))
    out = capsys.readouterr().out
    assert "100.00" in out
    assert "50.00" in out
    assert "25.00" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "bsf", "--input", "0 1"], "did you mean 'bfs'"),
        (["solve", "bfs"], "--input"),
        (["solve", "bfs", "--input", ""], "--input is empty"),
        (["solve", "bfs", "--input", "graph.json"], "can't read graph.json"),
        (["solve", "bfs", "--input", "no/graph"], "can't read no/graph"),
        (["solve", "bfs", "--input", "[[0, 1], [1"], "not valid JSON"),
        (
            ["solve", "bfs", "--input", "0 1", "--model", "nowhere.safetensors"],
            "can't read",
        ),
        (["solve", "dfs", "--input", "0 1", "--model", "MODEL"], "was trained on bfs, not dfs"),
        (["solve", "bfs", "--input", "0 1", "--model", "MODEL", "--weights", "best"], "run folder"),
        (["solve", "bfs", "--input", "0 1", "--model", "MODEL", "--source", "7"], "from 0 to 1"),
        (["solve", "bfs", "--input", "0 1 -2", "--model", "MODEL"], "without weights"),
        (["pack", "nowhere", "--out", "x"], "not a run folder"),
        (["pack", "nowhere", "--out", "x", "--sizes", "big"], "whole numbers"),
    ],
)
def test_mistakes_get_one_line_and_code_2(arguments, message, capsys, tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    assert main([model if word == "MODEL" else word for word in arguments]) == 2
    error = capsys.readouterr().err
    told = [line for line in error.splitlines() if line.startswith("hint-relic: error: ")]
    assert len(told) == 1
    assert message in told[0]
    assert not list(tmp_path.iterdir())


def test_literals_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "5").write_text("1 2")
    assert is_literal("5,2,8,1")
    assert is_literal('{"haystack": "a/b", "needle": "a"}')
    assert is_literal("0 1\n1 2")
    assert is_literal("9" * 5000)
    assert not is_literal("5")
    assert not is_literal("-")
    assert not is_literal("far/away")
    assert not is_literal("g.graphml")


def test_values_as_text_and_as_json():
    import numpy as np

    assert shown(np.array([1.0, 2.5])) == "[1, 2.5]"
    assert shown({"a": None, "b": ("x", 1)}) == "a: None, b: (x, 1)"
    assert plain({1: (np.int32(2), float("nan"))}) == {"1": [2, None]}
    assert plain({"a": np.array([[1, 2]])}) == {"a": [[1, 2]]}


def test_solving_numbers(tmp_path, capsys):
    untrained(replace(TINY, algorithm="minimum"), tmp_path / "m")
    assert main(["solve", "minimum", "--input", "5,2,8,1", "--model", str(tmp_path / "m")]) == 0
    out = capsys.readouterr().out
    assert "range of training" in out
    assert "steps" in out
