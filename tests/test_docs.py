"""The code in the documentation runs, and says what the pages say it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from hint_relic import cli
from hint_relic.reasoner.model_file import read_card, shipped

DOCS = Path(__file__).parent.parent / "docs"
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.S)
BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(), re.S)


@pytest.mark.parametrize("code", BLOCKS, ids=["processor", "loss"])
def test_extending(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    exec(code, scope)
    assert scope["result"]["steps"] == 4
    assert len(code.splitlines()) <= 40


def run_line(line: str) -> None:
    """A line of a shell block; our own command without a new process."""
    if line.startswith("hint-relic "):
        assert cli.main(shlex.split(line)[1:]) == 0, line
    else:
        subprocess.run(line, shell=True, check=True)


def squeezed(text: str) -> list[str]:
    """The lines of a text, without the blanks that align them."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@pytest.mark.xdist_group("tour")
def test_the_tour_runs_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    printed: list[str] = []
    ran = []
    for language, block in FENCE.findall((DOCS / "tour.md").read_text(encoding="utf-8")):
        if language == "text":
            shown = squeezed(block)
            places = range(len(printed) - len(shown) + 1)
            assert any(printed[i : i + len(shown)] == shown for i in places), block
            continue
        capsys.readouterr()
        if language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                run_line(line)
        else:
            assert language == "python"
            exec(block, scope)
        printed = squeezed(capsys.readouterr().out)
        ran.append(language)
    assert (ran.count("sh"), ran.count("python")) == (7, 3)
    assert set(scope["answer"].value) == {0, 1, 2, 3}
    for made in ("view.svg", "runs/tour/result.json", "report.html"):
        assert (tmp_path / made).is_file()


@pytest.mark.xdist_group("tour")
def test_the_notebook_runs(tmp_path, monkeypatch, capsys):
    """Its code cells are plain Python, so they need no notebook server to be run."""
    notebook = json.loads((DOCS / "tour.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for cell in cells:
        exec("".join(cell["source"]), scope)
    out = capsys.readouterr().out
    assert "[0 0 1 0]" in out
    assert re.search(r"outputs: [\d.]+ % right", out)


def test_the_first_page_shows_the_results_as_they_are():
    def rows(page: str) -> dict[str, list[str]]:
        table = re.search(r"^\| variant \|.*?\n((?:\|.*\n)+)", (DOCS / page).read_text(), re.M)
        assert table, page
        lines = [line.strip("|\n ").split(" | ") for line in table[1].splitlines()[1:]]
        return {cells[0]: cells[1:4] for cells in lines}

    assert len(rows("index.md")) == 8
    assert rows("index.md") == rows("results.md")


def test_the_table_beyond_the_test_is_that_of_the_shipped_reasoners():
    told = (DOCS / "results.md").read_text()
    for name, path in shipped().items():
        card = read_card(path)
        scores = [f"{100 * card['scores'][size]:.1f}" for size in ("16", "32", "64", "128")]
        row = " | ".join([f"| `{name}`", *scores, f"{card['samples']} |"])
        assert row in told, f"docs/results.md: {row}"
