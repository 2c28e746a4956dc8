"""The command line over the data engine: what it prints and writes, and how it refuses."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest

from hint_relic import cli, files
from hint_relic.algorithms import ALGORITHMS
from hint_relic.cli import main
from hint_relic.data import dense, sample, show, split, trace
from hint_relic.data import export as exporting
from hint_relic.errors import UserError
from hint_relic.model.rollout.plan import KERNELS
from hint_relic.spec import Kind
from hint_relic.terminal import one_line

SOURCE = Path(cli.__file__).parents[1]
PATHS = [str(SOURCE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, PATHS))}


def call(capsys, *arguments: str) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of a command, in this process."""
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def start(*arguments: str, program: Sequence[str] = ("-m", "hint_relic")) -> subprocess.Popen:
    """The command in a process of its own, straight from the source tree."""
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def refused(capsys, *arguments: str) -> str:
    """The one line that a command is refused with."""
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("hint-relic: error: ")
    assert err.count("\n") == 1
    return err


# --- the frame -----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_every_command(capsys, arguments):
    code, out, _ = call(capsys, *arguments)
    assert code == 0
    assert all(name in out for name in cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_of_each_command(capsys, name):
    code, out, _ = call(capsys, name, "--help")
    assert code == 0
    assert f"hint-relic {name}" in out
    assert "None" not in out


def test_version(capsys):
    code, out, _ = call(capsys, "--version")
    assert code == 0
    assert out.split()[0] == "hint-relic"
    assert out.split()[1][0].isdigit()


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("from hint_relic.cli import main; main(['--help'])", {"jax", "numba", "rich"}),
        ("from hint_relic.data import show, user_input, export", {"jax"}),
    ],
)
def test_nothing_heavy_is_imported_early(code, unwanted):
    told = f"{code}; import sys; print(*sys.modules)"
    out = subprocess.check_output([sys.executable, "-c", told], env=ENVIRONMENT, text=True)
    assert not unwanted & set(out.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trcae"], "unknown command 'trcae'; did you mean 'trace'?"),
        (["--nope"], "Unrecognized options: --nope"),
        (["trace"], "NAME"),
        (["trace", "bfs", "--size", "x"], "--size: 'x' is not a whole number"),
        (["trace", "bfs", "--size"], "Missing value"),
        (["trace", "bfs", "--sise", "3"], "--size N"),
        (["trace", "bfs", "dfs"], "dfs"),
        (["trace", "bsf"], "did you mean 'bfs'?"),
        (["trace", "bfs", "--size", "1"], "at least 2, not 1"),
        (["trace", "bfs", "--size", "-3"], "at least 2, not -3"),
        (["trace", "bfs", "--size", "5000"], "at most 4096 nodes"),
        (["trace", "floyd_warshall", "--size", "2000"], "GB for its hints"),
        (["trace", "bfs", "--seed", "-1"], "seed must lie between"),
        (["trace", "bfs", "--input", "missing.json"], "can't read missing.json: No such file"),
        (["trace", "bfs", "--input", "-", "--seed", "1"], "leave out --size and --seed"),
    ],
)
def test_mistakes_are_told_in_one_line(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


def test_a_complaint_in_an_unknown_shape_is_passed_on():
    assert one_line("something else\n") == "something else"


def test_running_out_of_memory_is_told(capsys, monkeypatch):
    def fail(options):
        raise MemoryError

    monkeypatch.setitem(cli.COMMANDS, "demo", cli.Command(cli.Demo, fail))
    assert "does not fit in memory" in refused(capsys, "demo")


def test_an_interrupt_is_quiet(capsys, monkeypatch):
    def stop(options):
        raise KeyboardInterrupt

    monkeypatch.setitem(cli.COMMANDS, "demo", cli.Command(cli.Demo, stop))
    assert call(capsys, "demo") == (130, "", "")


def test_a_reader_that_stops_reading_is_no_error():
    process = start("trace", "heapsort", "--size", "64", "--json")
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


def test_a_full_disk_under_standard_output():
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "hint_relic", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            check=False,
        )
    assert process.returncode == 2
    assert process.stderr.count(b"\n") == 1


# --- algorithms ----------------------------------------------------------------------------------


def test_algorithms_as_json(capsys):
    code, out, _ = call(capsys, "algorithms", "--json", "--no-steps")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)}
    assert list(rows) == list(ALGORITHMS)
    for name, row in rows.items():
        fields = [*row["inputs"], *row["hints"], *row["outputs"]]
        assert sorted(fields) == sorted(ALGORITHMS[name].spec)


@pytest.mark.parametrize("name", ALGORITHMS)  # each apart: this compiles it
def test_typical_steps(name):
    steps = show.algorithm_data(ALGORITHMS[name], count_steps=True)["steps"]
    assert list(steps) == ["16", "64"]
    assert all(1 <= found["median"] <= found["max"] for found in steps.values())
    always = {"insertion_sort": 64, "bubble_sort": 2017, "floyd_warshall": 64}
    if name in always:
        assert steps["64"] == {"median": always[name], "max": always[name]}


def test_algorithms_counts_steps(capsys, monkeypatch):
    monkeypatch.setattr("hint_relic.algorithms.ALGORITHMS", {"bfs": ALGORITHMS["bfs"]})
    (row,) = json.loads(call(capsys, "algorithms", "--json")[1])
    _, out, _ = call(capsys, "algorithms")
    assert "steps at 64" in out
    assert f"{row['steps']['16']['median']}, max {row['steps']['16']['max']}" in out


def test_algorithms_as_a_table_is_not_cut(capsys):
    code, out, _ = call(capsys, "algorithms", "--no-steps")
    assert code == 0
    assert "…" not in out
    for name, algorithm in ALGORITHMS.items():
        (line,) = (line for line in out.splitlines() if line.split()[:1] == [name])
        assert all(f" {field}" in line for field in algorithm.spec)


# --- trace ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_trace_as_json_is_the_trace(capsys, name):
    code, out, _ = call(capsys, "trace", name, "--size", "7", "--seed", "2", "--json")
    found, expected = json.loads(out), trace(name, 7, 2)
    assert code == 0
    assert (found["nodes"], found["steps"]) == (expected.nodes, expected.steps)
    for stage in ("inputs", "hints", "outputs"):
        assert list(found[stage]) == list(getattr(expected, stage))
        for key, value in getattr(expected, stage).items():
            np.testing.assert_array_equal(np.array(found[stage][key]), value)


@pytest.mark.parametrize("width", [40, 10_000])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_step_is_shown_at_every_width(name, width):
    from rich.console import Console

    drawn = trace(name, 6, 1)
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    with console.file:
        console.print(show.trace_tables(drawn, width))
    text = console.export_text()
    first = [line.split()[0] for line in text.splitlines() if line.split()]
    assert all(str(t) in first for t in range(drawn.steps))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


def test_trace_as_tables(capsys):
    code, out, _ = call(capsys, "trace", "insertion_sort", "--size", "4", "--seed", "1")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert "Insertion sort: 4 nodes, 4 steps" in out
    assert ["key", "0.417", "0.72", "0.000114", "0.302"] in lines
    assert ["3", "3", "0", "2", "2", "0", "3"] in lines  # step, pred_h, i, j
    assert ["pred", "3", "0", "2", "2"] in lines


def test_hints_over_pairs_show_what_changed(capsys):
    _, out, _ = call(capsys, "trace", "optimal_bst", "--size", "2", "--seed", "0")
    assert "+0,0 +1,1 +2,2" in out
    assert "+0,1 +1,2" in out


def test_show_covers_every_kind():
    assert set(show._ROW) == set(Kind)


def test_trace_of_own_input(capsys, tmp_path, monkeypatch):
    path = tmp_path / "graph.json"
    path.write_text('{"nodes": 3, "edges": [[0, 2]], "source": 2}')
    code, out, _ = call(capsys, "trace", "bfs", "--input", str(path), "--json")
    assert code == 0
    assert json.loads(out)["outputs"] == {"pi": [2, 1, 2]}
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"5,2,8")))
    code, out, _ = call(capsys, "trace", "heapsort", "--input", "-")
    assert code == 0
    assert "5 2 8" in out
    code, out, _ = call(capsys, "trace", "heapsort", "--input", "5,2,8")
    assert code == 0
    assert "5 2 8" in out


def test_trace_of_bad_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"[1, NaN]")))
    assert "key[1] must be a finite number" in refused(capsys, "trace", "heapsort", "--input", "-")


def test_demo(capsys, monkeypatch):
    monkeypatch.setenv(KERNELS, "0")  # it says so itself, and later tests would hear it
    code, out, _ = call(capsys, "demo", "--steps", "2")
    assert code == 0
    assert "Breadth-first search: 7 nodes" in out
    assert "On graphs of 64 nodes" in out


# --- export --------------------------------------------------------------------------------------


def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def assert_equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert list(found) == list(expected)
    for key, value in expected.items():
        assert found[key].dtype == value.dtype
        np.testing.assert_array_equal(found[key], value, err_msg=key)


def test_export_a_split(capsys, tmp_path):
    path = tmp_path / "bfs.npz"
    code, out, err = call(capsys, "export", "bfs", "--split", "val", "--out", str(path))
    assert (code, err) == (0, "")
    assert "32 traces of bfs" in out
    assert_equal(load(path), dense("bfs", split("bfs", "val")))
    assert os.listdir(tmp_path) == ["bfs.npz"]


@pytest.mark.parametrize(
    ("name", "options", "arguments"),
    [
        ("dijkstra", {"p": (0.1, 0.7)}, ["--p", "0.1,0.7"]),
        ("kmp_matcher", {"needle": -3}, ["--length-needle", "-3"]),
        ("lcs_length", {}, []),
        ("heapsort", {}, []),
    ],
)
def test_export_samples(capsys, tmp_path, name, options, arguments):
    path = tmp_path / "x.npz"
    wanted = ["--size", "11", "--samples", "5", "--seed", "3", *arguments]
    code, _, _ = call(capsys, "export", name, *wanted, "--out", str(path))
    assert code == 0
    assert_equal(load(path), dense(name, sample(name, 11, 5, 3, **options)))


def test_the_same_request_gives_the_same_bytes(capsys, tmp_path):
    for name in ("a", "b"):
        call(capsys, "export", "bfs", "--size", "5", "--out", str(tmp_path / name))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bfs"], "give --split train, val or test, or a --size"),
        (["bfs", "--split", "tset"], "did you mean 'test'?"),
        (["bfs", "--split", "val", "--size", "5"], "give nothing else"),
        (["bfs", "--split", "val", "--p", "0.5"], "give nothing else"),
        (["bsf", "--split", "val"], "did you mean 'bfs'?"),
        (["bfs", "--size", "1"], "at least 2, not 1"),
        (["bfs", "--size", "5", "--samples", "0"], "at least 1, not 0"),
        (["bfs", "--size", "5", "--p", "0.1;0.2"], "--p takes numbers"),
        (["bfs", "--size", "5", "--p", "1.5"], "between 0 and 1"),
        (["bfs", "--size", "5", "--p", "nan"], "between 0 and 1"),
        (["heapsort", "--size", "5", "--p", "0.5"], "takes no edge probability"),
        (["heapsort", "--size", "5", "--length-needle", "2"], "has no needle"),
        (["kmp_matcher", "--size", "9", "--length-needle", "5"], "does not fit"),
        (["bfs", "--size", "4097"], "at most 4096 nodes"),
        (["bubble_sort", "--size", "64", "--samples", "99999999"], "GB for its hints"),
    ],
)
def test_bad_requests_write_nothing(capsys, tmp_path, arguments, message):
    assert message in refused(capsys, "export", *arguments, "--out", str(tmp_path / "x.npz"))
    assert os.listdir(tmp_path) == []


def test_paths_that_cannot_be_written(capsys, tmp_path):
    def complaint(path):
        return refused(capsys, "export", "bfs", "--size", "4", "--out", str(path))

    assert "there is no folder" in complaint(tmp_path / "missing" / "x.npz")
    assert "it is a folder" in complaint(tmp_path)
    assert "not a regular file" in complaint("/dev/null")
    (tmp_path / "file").write_text("kept")
    assert "there is no folder" in complaint(tmp_path / "file" / "x.npz")
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_may_not_be_written(capsys, tmp_path, monkeypatch):
    def forbid(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "_opened_alone", forbid)
    line = refused(capsys, "export", "bfs", "--size", "4", "--out", str(tmp_path / "x.npz"))
    assert "Permission denied; choose another folder" in line


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, function, error
):
    def fail(*_):
        raise error

    path = tmp_path / "x.npz"
    path.write_text("old")
    monkeypatch.setattr(exporting.os, function, fail)
    expected = UserError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        exporting.write(path, [("a", np.zeros(3))])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.npz"]


def test_objects_are_never_pickled(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        exporting.write(tmp_path / "x.npz", [("a", np.array([{}], object))])
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed_and_permissions_are_the_usual(tmp_path):
    target, link, plain = tmp_path / "target", tmp_path / "link", tmp_path / "plain"
    target.write_text("old")
    plain.write_text("")
    link.symlink_to(target)
    exporting.write(link, [("a", np.arange(3))])
    assert link.is_symlink()
    np.testing.assert_array_equal(load(target)["a"], np.arange(3))
    assert target.stat().st_mode == plain.stat().st_mode


def test_an_interrupted_export_leaves_nothing(tmp_path):
    command = ["export", "bubble_sort", "--size", "64", "--samples", "400"]
    code = (  # an interrupt may come in ignored, where tests run in the background
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from hint_relic.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    process = start(*command, "--out", str(tmp_path / "x.npz"), program=["-c", code])
    deadline = time.monotonic() + 300
    while not os.listdir(tmp_path) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert (stdout, stderr) == (b"", b"")
    assert os.listdir(tmp_path) == []


# --- the README --------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    """The README's code blocks of a language."""
    parts = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8").split("```")[1::2]
    return [part.removeprefix(language) for part in parts if part.startswith(f"{language}\n")]


def test_the_readme_s_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)
    out = capsys.readouterr().out
    assert "[1. 2. 5. 8.] outputs: 100.0 % right" in out
    assert "'input/A': (4, 16, 16)" in out
    assert (tmp_path / "runs/small/result.json").is_file()


def test_the_readme_s_data_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("hint-relic")]
    extra = {"algorithms": ["--no-steps"], "trace": [], "export": [], "augment": []}
    assert set(extra) <= {command[1] for command in commands} <= set(cli.COMMANDS)
    for _, name, *arguments in commands:
        if name in extra:
            code, _, err = call(capsys, name, *arguments, *extra[name])
            assert (code, err) == (0, "")
