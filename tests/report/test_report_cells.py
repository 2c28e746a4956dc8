"""Run folders are read as they are; whatever is odd about one stays with that one."""

from __future__ import annotations

import json

import made
import pytest

from hint_relic.errors import UserError
from hint_relic.report.cells import State, one_for_each, planned, read
from hint_relic.report.gather import gather
from hint_relic.report.page import page


def only(top):
    (cell,) = gather(top).cells
    return cell


def test_a_finished_run(tmp_path):
    made.cell(tmp_path, "bfs", "baseline", [0.9, 0.95, 1.0])
    cell = only(tmp_path)
    assert (cell.key, cell.state) == (("bfs", "baseline"), State.DONE)
    best = cell.scores["best"]
    assert best.mean == pytest.approx(95.0)
    assert best.stderr == pytest.approx(5.0 / 3**0.5)
    assert cell.updates == 10_000
    assert cell.seeds == 3
    assert list(cell.curves) == ["validation", "test"]
    assert cell.curves["test"].plain[1000] == pytest.approx((5.0, 15.0, 25.0))
    assert cell.made_by["command"] == "hint-relic train bfs --variant baseline"


def test_one_seed_has_no_standard_error(tmp_path):
    made.cell(tmp_path, "bfs", "baseline", [0.9])
    assert only(tmp_path).scores["best"].stderr is None


def test_an_unfinished_run_has_curves_and_no_score(tmp_path):
    made.cell(tmp_path, "dfs", "baseline", steps=3000)
    cell = only(tmp_path)
    assert (cell.key, cell.state, cell.updates) == (("dfs", "baseline"), State.UNFINISHED, 3000)
    assert not cell.scores


def test_a_failed_run_tells_its_error(tmp_path):
    folder = made.cell(tmp_path, "dfs", "baseline", steps=1000)
    made.write(folder / "error.json", {"message": "out of memory", "traceback": "a\nb"})
    cell = only(tmp_path)
    assert (cell.state, cell.problem, cell.traceback) == (State.FAILED, "out of memory", "a\nb")


def test_a_result_counts_although_an_attempt_failed(tmp_path):
    folder = made.cell(tmp_path, "dfs", "baseline", [1.0, 1.0, 1.0])
    made.write(folder / "error.json", {"message": "out of memory"})
    cell = only(tmp_path)
    assert cell.state is State.DONE
    assert any("out of memory" in note for note in cell.notes)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "result.json can't be read"),
        (b'{"algorithm": "bfs", ', "result.json can't be read"),
        (b"\xff\xfe\x00", "result.json can't be read"),
        (b"[" * 100_000, "result.json can't be read"),
        (b"[1, 2]", "does not hold a plain object"),
        (b"{}", "no test scores"),
        (b'{"a":' * 50 + b"1" + b"}" * 50, "does not hold a plain object"),
        (b'{"test": 3}', "no test scores"),
        (b'{"algorithm": 7, "test": {"best": {}}}', "algorithm is not a name"),
        (b'{"test": {"best": {"score": "high"}}}', "is not a list"),
        (b'{"test": {"best": {"score": [NaN]}}}', "is not a number"),
        (b'{"test": {"best": {"score": [true]}}}', "is not a number"),
        (b'{"test": {"best": {"score": []}}}', "between 0 and 1"),
        (b'{"test": {"best": {"score": [99.8]}}}', "between 0 and 1"),
        (b'{"test": {"best": {"score": [0.5]}}}', "steps is not a whole number"),
        (b'{"steps": 1, "test": {"best": {"score": [0.5], "step": [-1]}}}', "not a whole number"),
        (b'{"steps": 1, "test": {"best": {"score": [1' + b"0" * 400 + b"]}}}", "not a number"),
        (
            b'{"steps": 1, "test": {"best": {"score": [1]}, "last": {"score": [1, 1]}}}',
            "same number of seeds",
        ),
    ],
)
def test_a_damaged_result_is_unreadable_and_says_why(tmp_path, content, told):
    made.cell(tmp_path, "bfs", "baseline", [0.9])
    made.cell(tmp_path, "dfs", "baseline")
    (tmp_path / "dfs-baseline" / "result.json").write_bytes(content)
    cells = {cell.folder: cell for cell in gather(tmp_path).cells}
    assert cells["bfs-baseline"].state is State.DONE
    assert cells["dfs-baseline"].state is State.UNREADABLE
    assert told in cells["dfs-baseline"].problem
    assert "\n" not in cells["dfs-baseline"].problem


def test_odd_lines_of_metrics_are_left_out_and_counted(tmp_path):
    folder = made.cell(tmp_path, "bfs", "baseline", steps=2000)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('[]\n{"step": "x"}\n{"step": 3000, "kind": "test", "plain": [7]}\n{"step": 30')
    cell = only(tmp_path)
    assert sorted(cell.curves["test"].plain) == [1000, 2000]
    assert any("4 lines" in note for note in cell.notes)


@pytest.mark.parametrize("size", ["x", "9" * 5000])
def test_a_size_that_is_none_is_only_a_name(tmp_path, size):
    folder = made.cell(tmp_path, "bfs", "best", [0.9, 0.9, 0.9], steps=2000)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write(
            json.dumps({"step": 2000, "kind": "validation", f"average_{size}": [0.5]}) + "\n"
        )
    assert only(tmp_path).curves[f"validation, n = {size}"].size is None
    assert page(gather(tmp_path), "a test")


@pytest.mark.parametrize("name", ["config.json", "environment.json", "evaluation.json"])
def test_other_damaged_files_are_notes(tmp_path, name):
    folder = made.cell(tmp_path, "bfs", "baseline", [0.9])
    (folder / name).write_text("{")
    cell = only(tmp_path)
    assert cell.state is State.DONE
    assert any(name in note for note in cell.notes)


def test_an_evaluation_gives_hints_over_steps(tmp_path):
    folder = made.cell(tmp_path, "bfs", "baseline", [0.9])
    steps = {"pi_h": [1.0, 0.5, -1.0]}
    scores = {"test split": {"hint_score_at_step": steps}}
    made.write(folder / "evaluation.json", {"weights": "best_average", "scores": scores})
    (evaluation,) = only(tmp_path).evaluations
    assert evaluation.hints == {"pi_h": [1.0, 0.5, None]}
    assert evaluation.weights == "best_average"


def test_run_folders_may_lie_deeper_or_be_the_folder_itself(tmp_path):
    made.cell(tmp_path / "cells", "bfs", "baseline", [0.9])
    made.cell(tmp_path / "partial" / "more", "dfs", "baseline")
    folders = [cell.folder for cell in gather(tmp_path).cells]
    assert folders == ["partial/more/dfs-baseline", "cells/bfs-baseline"]
    assert only(tmp_path / "cells" / "bfs-baseline").state is State.DONE


def test_of_several_runs_of_a_cell_none_is_chosen_by_its_score(tmp_path):
    made.cell(tmp_path, "bfs", "baseline", [1.0, 1.0], folder="a")
    made.cell(tmp_path, "bfs", "baseline", [0.5, 0.5, 0.5], folder="b")
    made.cell(tmp_path, "bfs", "baseline", [1.0, 1.0, 1.0], folder="c")
    made.cell(tmp_path, "bfs", "baseline", [1.0, 1.0, 1.0], folder="d", steps=9000)
    findings = gather(tmp_path)
    chosen = findings.cell("bfs", "baseline")
    assert (chosen.folder, chosen.twins) == ("b", 3)
    backwards = one_for_each([read(tmp_path / x, tmp_path) for x in "dcba"])
    assert backwards[chosen.key].folder == "b"


def test_a_run_that_is_kept_aside_does_not_stand_for_its_cell(tmp_path):
    made.cell(tmp_path / "again", "bfs", "baseline", [0.5, 0.5, 0.5])
    made.cell(tmp_path, "bfs", "baseline", [0.9], steps=100)
    assert gather(tmp_path).cell("bfs", "baseline").folder == "bfs-baseline"


def test_cells_beyond_the_paper_come_variant_by_variant(tmp_path):
    for algorithm, variant in [("minimum", "best"), ("bfs", "baseline_views"), ("bfs", "best")]:
        made.cell(tmp_path, algorithm, variant, [0.9])
    keys = [cell.key for cell in gather(tmp_path).beyond()]
    assert keys == [("bfs", "baseline_views"), ("bfs", "best"), ("minimum", "best")]


def test_a_grid_knows_what_is_missing(tmp_path):
    cells = [{"algorithm": "bfs", "variant": v} for v in ("baseline", "baseline_views")]
    command = ["reproduce", "--algorithms", "bfs"]
    made.write(tmp_path / "grid.json", {"cells": cells, "command": command})
    findings = gather(tmp_path)
    assert findings.plan.command == "reproduce --algorithms bfs"
    assert findings.cell("bfs", "baseline_views").state is State.MISSING
    assert [cell.key for cell in findings.beyond()] == [("bfs", "baseline_views")]


@pytest.mark.parametrize("grid", ["{", "[]", "{}", '{"cells": [1]}', '{"cells": [{}]}'])
def test_a_damaged_grid_file_is_told(tmp_path, grid):
    made.cell(tmp_path, "bfs", "baseline", [0.9])
    (tmp_path / "grid.json").write_text(grid)
    assert "grid.json" in planned(tmp_path).problem
    assert only(tmp_path).state is State.DONE


@pytest.mark.parametrize("kind", ["nothing", "file", "empty"])
def test_a_folder_without_runs_is_refused(tmp_path, kind):
    top = tmp_path / kind
    if kind == "file":
        top.write_text(json.dumps({}))
    elif kind == "empty":
        top.mkdir()
    with pytest.raises(UserError):
        gather(top)
