"""`hint-relic reproduce` and `status`: what they print, and one line for every mistake."""

from __future__ import annotations

import json

import pytest

from hint_relic.cli import main
from hint_relic.cli_grid import duration
from hint_relic.files import Lock

from .conftest import fabricated, finish, report

NAMES = [f"bfs-{v}" for v in ("no_hints", "baseline", "baseline_reversal", "hint_relic")]


@pytest.fixture
def four(tmp_path):
    """A grid with a cell in each state: the folder, and the cells."""
    out = tmp_path / "grid"
    cells = fabricated(out, *NAMES, steps=100).cells
    finish(cells[0], seconds=10.0, score=0.9)
    report(cells[1], 50, 5.0, 10.0)
    cells[3].fail("the loss [x] is no longer finite", "")
    with Lock(cells[1].folder):
        yield out


def test_status(four, capsys):
    assert main(["status", str(four)]) == 0
    out = capsys.readouterr().out
    assert "1 done, 1 running, 1 waiting, 1 failed; 15 s left" in out
    assert "90.00 ± 1.00" in out
    assert "50/100" in out
    assert "the loss [x] is no longer finite" in out
    assert f"hint-relic reproduce --out {four} --retry-failed" in out


def test_status_for_programs(four, capsys):
    assert main(["status", str(four), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["count"] == {"done": 1, "running": 1, "waiting": 1, "failed": 1}
    assert data["left_s"] == pytest.approx(15.0)
    rows = {row["cell"]: row for row in data["cells"]}
    assert rows["bfs-no_hints"] | {"time_s": 10.0, "score": 0.9, "left_s": 0.0} == rows[NAMES[0]]
    assert (rows["bfs-baseline"]["step"], rows["bfs-baseline"]["steps"]) == (50, 100)
    assert rows["bfs-baseline"]["left_s"] == pytest.approx(5.0)


def test_a_plan_writes_nothing_and_knows_no_time_yet(tmp_path, capsys):
    out = tmp_path / "grid"
    assert main(["reproduce", "--algorithms", "bfs,dfs", "--out", str(out), "--plan"]) == 0
    said = capsys.readouterr().out
    assert "9 cells" in said
    assert "unknown" in said
    assert not out.exists()


def test_a_plan_expects_what_the_folder_has_measured(four, capsys):
    assert main(["reproduce", "--out", str(four), "--plan"]) == 0
    said = capsys.readouterr().out
    assert "4 cells" in said
    assert "3 to do: 30 s on one device" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--algorithms", "bsf"], "did you mean 'bfs'"),
        (["reproduce", "--variants", "relic"], "Choose from"),
        (["reproduce", "--seeds", "0"], "seeds must be at least 1"),
        (["reproduce", "--steps", "many"], "not a whole number"),
        (["reproduce", "--config", "nowhere.toml"], "can't read nowhere.toml"),
        (["reproduce", "--address", "ray://host:1"], "add --on ray"),
        (["reproduce", "--at-once", "0"], "at least 1"),
        (["reproduce", "--at-once", "2", "--on", "ray"], "one cell on each GPU"),
        (["reproduce", "--on", "slurm"], "slurm"),
        (["status", "nowhere"], "not a grid folder"),
    ],
)
def test_mistakes_get_one_line_and_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert message in error
    assert not list(tmp_path.iterdir())


def test_a_folder_of_another_grid_is_refused_and_kept(four, capsys):
    before = (four / "grid.json").read_bytes()
    assert main(["reproduce", "--algorithms", "dfs", "--out", str(four)]) == 2
    assert "holds another grid (it differs in its cells)" in capsys.readouterr().err
    assert (four / "grid.json").read_bytes() == before


def test_a_folder_of_something_else_is_refused_and_kept(tmp_path, capsys):
    (tmp_path / "precious.txt").write_text("mine")
    assert main(["reproduce", "--algorithms", "bfs", "--out", str(tmp_path)]) == 2
    assert "not a grid folder and not empty" in capsys.readouterr().err
    assert [item.name for item in tmp_path.iterdir()] == ["precious.txt"]


def test_durations():
    assert duration(None) == "unknown"
    assert duration(12.4) == "12 s"
    assert duration(200) == "3 min 20 s"
    assert duration(5 * 3600 + 600) == "5 h 10 min"
