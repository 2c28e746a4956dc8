"""`hint-relic augment`: from a command to tables, JSON and pictures; one line for every mistake."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from hint_relic.cli import main
from hint_relic.pair import png

BFS = ["augment", "bfs", "--size", "6", "--seed", "1"]


def test_tables_and_a_picture(tmp_path, capsys):
    file = tmp_path / "bfs.svg"
    assert main([*BFS, "--svg", str(file)]) == 0
    out = capsys.readouterr().out
    assert "Breadth-first search: an input and the paper's view of it" in out
    assert "6 in the input, 9 in the view" in out
    assert f"picture: {file}" in out
    root = ElementTree.parse(file).getroot()
    assert root.tag.endswith("svg")


def test_json_for_machines(capsys):
    assert main([*BFS, "--json", "--step", "1", "--node", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["nodes"], found["view_nodes"], found["new_nodes"]) == (6, 9, [6, 7, 8])
    assert len(found["view_inputs"]["A"]) == 9
    (term,) = found["contrasted"]
    assert (term["hint"], term["step"], term["index"]) == ("pi_h", 1, [2])
    assert len(term["negatives"]) == 8
    assert found["exactness"] == {"views": 100, "contrasted": 100, "all": 100}


def test_the_same_command_draws_the_same_picture(tmp_path):
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        assert main([*BFS, "--svg", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bsf"], "did you mean 'bfs'"),
        (["dfs"], "the paper has no view for dfs; --view verified gives it one"),
        (["segments_intersect"], "it has no views"),
        (["segments_intersect", "--view", "verified"], "it has no views"),
        (["bfs", "--view", "papr"], "did you mean 'paper'"),
        (["bfs", "--size", "1"], "at least 2, not 1"),
        (["bfs", "--size", "33"], "too large to look at; give at most 32"),
        (["bfs", "--seed", "-1"], "seed must lie"),
        (["bfs", "--new", "0"], "1 to 32 new nodes"),
        (["bfs", "--new", "33"], "1 to 32 new nodes"),
        (["bfs", "--hint", "reach_h"], "unknown contrasted hint 'reach_h'"),
        (["bfs", "--node", "8"], "no node 8: its nodes are 0 to 7"),
        (["bfs", "--node", "-1"], "no node -1"),
        (["bfs", "--node", "two"], "--node takes a node such as 5"),
        (["bfs", "--node", "1,2,3"], "--node takes a node such as 5"),
        (["bfs", "--node", "1,2"], "pi_h is a hint of nodes"),
        (["floyd_warshall", "--node", "1,8"], "no node 8"),
        (["bfs", "--step", "0"], "step 0 is given"),
        (["bfs", "--step", "99"], "there is no step 99: the last one of this run is"),
        (["articulation_points", "--seed", "1", "--step", "13"], "choose a step from 1 to 2"),
        (["bubble_sort", "--view", "verified", "--step", "1"], "leave out --step"),
        (["bubble_sort", "--view", "verified", "--node", "1"], "leave out --node"),
        (["bfs", "--svg", "picture.png"], "--svg takes a name that ends in .svg"),
        (["bfs", "--png", "picture.svg"], "--png takes a name that ends in .png"),
        (["bfs", "--svg", "missing/picture.svg"], "there is no folder"),
        (["bfs", "--step", "x"], "not a whole number"),
    ],
)
def test_mistakes_get_one_line_and_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["augment", *arguments]) == 2
    out, error = capsys.readouterr()
    assert error.startswith("hint-relic: error: ")
    assert message in error
    assert (out, error.count("\n")) == ("", 1)
    assert not list(tmp_path.iterdir())


def test_without_a_program_for_png_nothing_is_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(png.shutil, "which", lambda name: None)
    monkeypatch.setattr(png.importlib.util, "find_spec", lambda name: None)
    files = ["--png", str(tmp_path / "a.png"), "--svg", str(tmp_path / "a.svg")]
    assert main([*BFS, *files]) == 2
    assert "neither is installed; use --svg" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("script", ["exit 1", "exit 0"])
def test_a_browser_that_fails_is_told(tmp_path, capsys, monkeypatch, script):
    broken = tmp_path / "broken"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(png.shutil, "which", lambda name: str(broken))
    monkeypatch.setattr(png.importlib.util, "find_spec", lambda name: None)
    assert main([*BFS, "--png", str(tmp_path / "a.png")]) == 2
    assert "could not draw the picture; use --svg" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["broken"]


@pytest.mark.skipif(not any(map(shutil.which, png.BROWSERS)), reason="no browser is installed")
def test_png_by_a_browser(tmp_path):
    file = tmp_path / "a.png"
    assert main([*BFS, "--png", str(file)]) == 0
    content = file.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) > 1000


def test_no_jax_is_needed():
    code = "import hint_relic.pair.picture, hint_relic.pair.png, sys; print('jax' in sys.modules)"
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out == "False\n"
