"""Nothing is sent or fetched at run time."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.xdist_group("trust")

TOY = """
steps = 2
seeds = 1
sizes = [4]
validation_samples = 4
[model]
hidden = 4
triplets = 2
"""
SCRIPT = """
import sys

def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        raise SystemExit(f"the network was used: {event} {arguments}")

sys.addaudithook(refuse)
from hint_relic.cli import main

out = sys.argv[1]
tiny = ["--steps", "2", "--seeds", "1", "--sizes", "4", "--validation-samples", "4",
        "--model.hidden", "4", "--model.triplets", "2"]
graph = '{"edges": [[0, 1], [1, 2]], "source": 0}'
for command in (
    ["train", "bfs", "--out", f"{out}/run", *tiny],
    ["evaluate", f"{out}/run", "--sizes", "5", "--samples", "2"],
    ["pack", f"{out}/run", "--out", f"{out}/x.safetensors", "--sizes", "5", "--samples", "2"],
    ["solve", "bfs", "--input", graph, "--model", f"{out}/x.safetensors", "--check"],
    ["report", f"{out}/run", "--out", f"{out}/page.html"],
    ["play", "bfs", "--size", "4", "--model", f"{out}/x.safetensors", "--out", f"{out}/play.html"],
    ["reproduce", "--algorithms", "bfs", "--variants", "no_hints", "--config", f"{out}/c.toml",
     "--out", f"{out}/grid"],
    ["status", f"{out}/grid"],
    ["export", "bfs", "--size", "4", "--out", f"{out}/x.npz"],
):
    assert main(command) == 0, command
"""


def can_leave_the_network() -> bool:
    try:
        return subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def test_no_command_opens_a_socket(tmp_path):
    """No socket from Python; where the system allows it, in a process that has no network."""
    (tmp_path / "c.toml").write_text(TOY)
    alone = ["unshare", "-rn"] if can_leave_the_network() else []
    done = subprocess.run(
        [*alone, sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
