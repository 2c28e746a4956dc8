"""A grid folder: what its files say about each cell, and what is refused."""

from __future__ import annotations

import json

import pytest

from hint_relic.errors import UserError
from hint_relic.files import Lock
from hint_relic.grid.folder import Grid, State
from hint_relic.grid.plan import plan

from .conftest import fabricated, finish, report


def test_what_is_recorded_is_read(tmp_path):
    grid = fabricated(tmp_path, "bfs-baseline", "dfs-no_hints")
    assert Grid.open(tmp_path) == grid
    assert [cell.name for cell in grid.cells] == ["bfs-baseline", "dfs-no_hints"]
    assert grid.cell("dfs-no_hints").folder == tmp_path / "cells" / "dfs-no_hints"


def test_settings_of_one_cell_alone_are_recorded(tmp_path):
    configs = plan(["bfs", "dfs", "dijkstra"], ["best", "baseline"])
    grid = Grid.make(tmp_path, configs, "1", [])
    read = Grid.open(tmp_path)
    assert [cell.config for cell in read.cells] == configs
    assert read == grid
    with_views = [cell.config.objective.needs_views for cell in read.cells]
    assert with_views == [True, False, False, False, True, False]


def test_the_state_of_a_cell_follows_from_its_files(tmp_path):
    (cell,) = fabricated(tmp_path, "bfs-baseline").cells
    assert cell.progress().state is State.WAITING
    report(cell, 20, 3.0, 10.0)
    report(cell, 40, 5.0, 9.0)
    with Lock(cell.folder):
        progress = cell.progress()
    assert (progress.state, progress.step, progress.time_s) == (State.RUNNING, 40, 5.0)
    assert progress.updates_per_s == 9.0
    assert cell.progress().state is State.WAITING  # stopped in the middle
    assert cell.progress().step == 40
    cell.fail("it broke", "Traceback: …")
    progress = cell.progress()
    assert (progress.state, progress.error, progress.step) == (State.FAILED, "it broke", 40)
    assert "…" in json.loads((cell.folder / "error.json").read_text())["traceback"]
    cell.forget_failure()
    assert cell.progress().state is State.WAITING
    finish(cell, seconds=12.0)
    assert (cell.progress().state, cell.progress().time_s) == (State.DONE, 12.0)


def test_a_line_that_is_being_written_is_passed_over(tmp_path):
    (cell,) = fabricated(tmp_path, "bfs-baseline").cells
    report(cell, 20, 3.0, 10.0)
    with open(cell.folder / "metrics.jsonl", "a") as file:
        file.write('{"step": 40, "ki')
    assert cell.progress().step == 20


def test_a_result_of_fewer_steps_is_not_the_end(tmp_path):
    short = fabricated(tmp_path / "short", "bfs-baseline", steps=5).cells[0]
    whole = fabricated(tmp_path / "whole", "bfs-baseline", steps=10).cells[0]
    finish(short)
    whole.folder.mkdir(parents=True)
    (short.folder / "result.json").rename(whole.folder / "result.json")
    assert whole.progress().state is State.WAITING


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not a grid folder .it has no grid.json"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"format": 99, "version": "9.0"}', "use version 9.0"),
        ('{"format": 1, "version": "1", "cells": [{}], "variants": {}}', "damaged"),
        ('{"format": 1, "version": "1", "cells": [], "variants": {"x": {"steeps": 1}}}', "steps"),
    ],
)
def test_what_is_no_grid_is_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "grid.json").write_text(content)
    with pytest.raises(UserError, match=message):
        Grid.open(tmp_path)


@pytest.mark.parametrize("name", ["../../x", "/etc", "", "a/b", ".", 3, None])
@pytest.mark.parametrize("key", ["algorithm", "variant"])
def test_no_name_in_a_grid_leads_out_of_it(tmp_path, key, name):
    fabricated(tmp_path, "bfs-baseline")
    values = json.loads((tmp_path / "grid.json").read_text())
    values["cells"][0][key] = name
    if key == "variant":
        settings = values["variants"].pop("baseline")
        values["variants"][str(name)] = settings | {"variant": name}
    (tmp_path / "grid.json").write_text(json.dumps(values))
    with pytest.raises(UserError, match=r"damaged|must be a str"):
        Grid.open(tmp_path)


@pytest.mark.parametrize("name", ["cells", "logs", "cells/bfs-baseline", "logs/bfs-baseline.log"])
def test_no_link_in_a_grid_leads_out_of_it(tmp_path, name):
    fabricated(tmp_path / "grid", "bfs-baseline")
    link = tmp_path / "grid" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="is a link"):
        Grid.open(tmp_path / "grid")


def test_what_is_odd_in_a_cell_is_passed_over(tmp_path):
    (cell,) = fabricated(tmp_path, "bfs-baseline").cells
    cell.folder.mkdir(parents=True)
    (cell.folder / "result.json").write_text('{"steps": 1e400, "test": []}')
    (cell.folder / "metrics.jsonl").write_text('[]\n{"step": 7, "elapsed_s": "x"}\n{"step": []}\n')
    progress = cell.progress()
    assert (progress.state, progress.step, progress.time_s) == (State.WAITING, 7, 0.0)
    (cell.folder / "error.json").write_text('{"other": 1}')
    assert cell.progress().error == "error.json does not say why"


def test_another_grid_or_version_is_refused(tmp_path):
    grid = fabricated(tmp_path, "bfs-baseline", "bfs-no_hints")
    configs = [cell.config for cell in grid.cells]
    assert Grid.make(tmp_path, configs, "0.1.0", ["other", "words"]) == grid
    with pytest.raises(UserError, match=r"made by version 0\.1\.0, this is 0\.2\.0"):
        Grid.make(tmp_path, configs, "0.2.0", [])
    with pytest.raises(UserError, match=r"differs in its cells.*choose another --out"):
        Grid.make(tmp_path, configs[:1], "0.1.0", [])
    other = fabricated(tmp_path / "other", "bfs-baseline", "bfs-no_hints", steps=7)
    with pytest.raises(UserError, match=r"differs in steps\)"):
        Grid.make(tmp_path, [cell.config for cell in other.cells], "0.1.0", [])
    assert Grid.open(tmp_path) == grid


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(UserError, match="not a grid folder and not empty"):
        fabricated(tmp_path, "bfs-baseline")
    assert [item.name for item in tmp_path.iterdir()] == ["precious.txt"]
