"""The page and its tables as text: nothing hostile gets through, nothing is made up."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import made
import pytest

from hint_relic.cli import main
from hint_relic.report.cells import State
from hint_relic.report.export import escaped, to_csv, to_latex
from hint_relic.report.gather import gather
from hint_relic.report.markup import raw, tag
from hint_relic.report.page import page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"&{{\x00\ud800"


class Elements(HTMLParser):
    """What elements and attributes a page really has."""

    def __init__(self, text: str):
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src")]


@pytest.fixture
def folder(tmp_path):
    made.cell(tmp_path, "bfs", "baseline", [0.99, 0.995, 1.0])
    made.cell(tmp_path, "minimum", "hint_relic", [0.5, 0.6], steps=2000)
    made.cell(tmp_path, "dfs", "baseline", steps=3000)
    failed = made.cell(tmp_path, "heapsort", "baseline", steps=1000)
    made.write(failed / "error.json", {"message": "the loss is no longer finite"})
    damaged = made.cell(tmp_path, "quicksort", "baseline")
    (damaged / "result.json").write_text("{")
    made.cell(tmp_path, "bfs", "baseline_views", [0.9, 0.9, 0.9])
    return tmp_path


def test_text_is_escaped_unless_it_is_markup():
    assert tag("p", "<b>", [None, "&", [3]], raw("<i>"), title='"', hidden=True, id=None) == (
        '<p title="&quot;" hidden>&lt;b&gt;&amp;3<i></p>'
    )


def test_gaps_are_shown_as_gaps(folder):
    text = page(gather(folder), "a test")
    assert "2 of the 105 cells" in text
    for word in ("missing", "unfinished", "failed", "unreadable", "2 seeds", "2,000 updates"):
        assert word in text
    assert "the loss is no longer finite" in text
    assert "Beyond the paper" in text


def test_the_page_is_whole(folder):
    text = page(gather(folder), "a test")
    found = Elements(text)
    assert len(found.ids) == len(set(found.ids))
    assert found.links
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    assert "http://" not in text
    assert "https://" not in text
    assert "style" not in found.attributes
    assert "default-src &#x27;none&#x27;" in text


def test_hostile_files_stay_text(tmp_path):
    hostile = HOSTILE.replace("\x00", "").replace("/", "")
    folder = made.cell(tmp_path, HOSTILE, HOSTILE, [0.5, 0.6], folder="a", config={"x": HOSTILE})
    result = made.result(HOSTILE, HOSTILE, {"best": [0.5], "last": [0.6]})
    result |= dict.fromkeys(("commit", "device", "command", "python"), HOSTILE)
    result["versions"] = {HOSTILE: HOSTILE}
    result["test"]["best"]["outputs"] = {HOSTILE: [0.5]}
    made.write(folder / "result.json", result)
    steps = {"hint_score_at_step": {HOSTILE: [0.5, 0.6]}}
    made.write(folder / "evaluation.json", {"weights": HOSTILE, "scores": {HOSTILE: steps}})
    failed = made.cell(
        tmp_path, "bfs", "baseline", folder=hostile.encode(errors="replace").decode()
    )
    made.write(failed / "error.json", {"message": HOSTILE, "traceback": HOSTILE})
    cells = [{"algorithm": HOSTILE, "variant": "x"}]
    made.write(tmp_path / "grid.json", {"cells": cells, "command": [HOSTILE]})
    text = page(gather(tmp_path), "a test")
    found = Elements(text)
    assert found.names.count("script") == 1
    assert "img" not in found.names
    assert "onerror" not in found.attributes
    assert "alert(1)" in text  # it is there, as text


def test_csv_holds_every_cell_and_leaves_gaps_empty(folder):
    lines = list(csv.DictReader(io.StringIO(to_csv(gather(folder)))))
    by = {(x["algorithm"], x["variant"], x["weights"]): x for x in lines}
    bfs = by["bfs", "baseline", "best"]
    assert (bfs["mean"], bfs["paper_mean"], bfs["verdict"]) == ("99.5000", "99.64", "within")
    assert by["bfs", "hint_relic", ""]["state"] == "missing"
    assert by["bfs", "hint_relic", ""]["mean"] == ""
    assert by["heapsort", "baseline", ""]["problem"] == "the loss is no longer finite"
    assert by["minimum", "hint_relic", "last"]["marks"] == "2 seeds; 2,000 updates"
    assert by["bfs", "baseline_views", "best"]["paper_mean"] == ""


def test_latex_has_the_papers_tables(folder):
    text = to_latex(gather(folder))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 8
    assert r"BFS & -- & 99.89 $\pm$ 0.03 & 99.50 $\pm$ 0.29\,$\approx$ & 99.64 $\pm$ 0.05" in text
    assert "55.00 $\\pm$ 5.00\\,$\\downarrow$$^*$" in text
    for line in text.splitlines():
        assert line.count("{") == line.count("}")
    rows = [line for line in text.splitlines() if line.startswith("BFS ")]
    assert [row.count("&") for row in rows] == [10, 6, 4, 4] * 2


def test_latex_text_is_escaped():
    assert escaped(r"50% of {a_b} \x") == r"50\% of \{a\_b\} \textbackslash{}x"


# --- the command -------------------------------------------------------------------------------


def test_the_command_writes_page_csv_latex_markdown_and_picture(folder, capsys):
    assert main(["report", str(folder), "--csv", "--latex", "--markdown", "--svg"]) == 0
    assert "2 of the 105 cells" in capsys.readouterr().out
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert (folder / "report.csv").exists()
    assert (folder / "report.tex").exists()
    assert (folder / "report.md").read_text().startswith("| algorithm |")
    assert (folder / "report.svg").read_text().startswith("<svg ")
    assert not [item for item in folder.iterdir() if item.name.startswith(".")]
    assert main(["report", str(folder)]) == 0  # its own output is no run folder
    assert "2 of the 105 cells" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nowhere"], ["--out", "page.pdf"], ["--out", "no/x.html"]])
def test_mistakes_are_one_line(folder, monkeypatch, capsys, arguments):
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    given = arguments if arguments == ["nowhere"] else [".", *arguments]
    assert main(["report", *given]) == 2
    assert re.fullmatch(r"hint-relic: error: [^\n]+\n", capsys.readouterr().err)
    assert sorted(folder.rglob("*")) == before


def test_the_recorded_runs_of_this_repository_are_read():
    results = Path(__file__).parents[2] / "results"
    findings = gather(results)
    assert {cell.state for cell in findings.cells} <= {State.DONE, State.UNFINISHED}
    assert findings.cell("bfs", "baseline").scores["best"].mean == pytest.approx(99.84, abs=0.005)
    assert findings.cell("minimum", "baseline").curves["test"].plain
    assert not any(cell.notes for cell in findings.cells)
