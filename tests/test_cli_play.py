"""`hint-relic play`: from a command to a page, and one line for every mistake."""

from __future__ import annotations

import json
import re

import pytest

from hint_relic.cli import main


def header(file) -> dict:
    return json.loads(re.search(r'id="header">(.*?)</script>', file.read_text(), re.S)[1])


@pytest.mark.parametrize(
    ("name", "given", "nodes"),
    [
        ("heapsort", "5,2,8,1", 4),
        ("heapsort", "[5, 2, 8]", 3),
        ("binary_search", '{"key": [1, 4, 9], "target": 3}', 3),
        ("bfs", '{"nodes": 3, "edges": [[0, 1], [1, 2]]}', 3),
        ("bfs", '{"edges": [["x", "y"], ["y", "z"]], "source": "x"}', 3),
    ],
)
def test_an_input_that_is_typed(name, given, nodes, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["play", name, "--input", given, "--out", str(page)]) == 0
    assert header(page)["recordings"][0]["nodes"] == nodes
    assert "steps" in capsys.readouterr().out


def test_a_graph_keeps_the_names_of_its_nodes(tmp_path):
    page = tmp_path / "page.html"
    given = '{"edges": [["x", "<b>"]], "source": "x"}'
    assert main(["play", "bfs", "--input", given, "--out", str(page)]) == 0
    assert header(page)["recordings"][0]["names"] == ["x", "<b>"]


def test_an_input_from_a_file_named_like_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "1,2").write_text("7,8,9")
    assert main(["play", "minimum", "--input", "1,2", "--out", "page.html"]) == 0
    assert header(tmp_path / "page.html")["recordings"][0]["inputs"][0]["values"] == [7, 8, 9]


def test_drawn_inputs_and_their_view(tmp_path):
    page = tmp_path / "page.html"
    drawn = ["play", "insertion_sort", "--size", "6", "--seed", "3", "--view", "--out", str(page)]
    assert main(drawn) == 0
    first = page.read_bytes()
    own, view = header(page)["recordings"]
    assert own["nodes"] == 6
    assert view["nodes"] == 8
    assert view["fresh"] == [6, 7]
    assert main(drawn) == 0
    assert page.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_a_network_that_is_shipped_beside_the_truth(tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["--model", "bfs", "--out", str(page)]
    assert main(["play", "bfs", "--input", "0 1\n1 2", *arguments]) == 0
    found = header(page)
    assert found["source"].startswith("bfs")
    (shown,) = found["recordings"]
    assert {hint["name"] for hint in shown["hints"] if "guess" in hint} == {"pi_h", "reach_h"}
    assert "guess" in shown["outputs"][0]
    assert main(["play", "dfs", *arguments]) == 2
    assert "was trained on bfs, not dfs" in capsys.readouterr().err


def test_open_shows_the_page(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    page = tmp_path / "page.html"
    assert main(["play", "minimum", "--out", str(page), "--open"]) == 0
    assert seen == [page.as_uri()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["heapsrt"], "did you mean 'heapsort'"),
        (["heapsort", "--size", "0"], "at least"),
        (["heapsort", "--size", "many"], "not a whole number"),
        (["heapsort", "--size", "257"], "at most 256 nodes, not 257"),
        (["heapsort", "--input", "nowhere.json"], "can't read nowhere.json"),
        (["heapsort", "--input", "[5, 2"], "not valid JSON"),
        (["heapsort", "--input", "[5, null]"], "must be a number"),
        (["heapsort", "--input", "5,2,x"], "heapsort takes input like"),
        (["heapsort", "--input", "5,2", "--size", "3"], "leave out --size"),
        (["heapsort", "--input", "5,2", "--seed", "3"], "leave out --seed"),
        (["heapsort", "--model", "nowhere.safetensors"], "nowhere.safetensors"),
        (["heapsort", "--weights", "best"], "give it as --model"),
        (["segments_intersect", "--size", "4", "--view"], "no views"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_leaves_nothing(
    arguments, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["play", *arguments, "--out", "page.html"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("out", "message"), [(".", "is a folder"), ("a/b.html", "no folder a")])
def test_where_no_page_can_be_written(out, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["play", "minimum", "--out", out]) == 2
    assert message in capsys.readouterr().err
