"""Files and text of somebody else are data only: read, or refused in one line."""

from __future__ import annotations

import json
import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from hint_relic.errors import UserError
from hint_relic.terminal import console
from hint_relic.train import checkpoint

from .fuzz import FOUND
from .mutate import VALUES, mutated
from .targets import survives, targets

pytestmark = pytest.mark.xdist_group("trust")


@pytest.fixture(scope="module")
def known():
    with targets() as found:
        yield found


with targets() as _found:
    NAMES = list(_found)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside),
    max_leaves=12,
)


@pytest.mark.parametrize("target", NAMES)
def test_mutations_of_good_files(known, target):
    rng = random.Random(target)
    for seed in known[target].seeds:
        known[target].read(seed)  # or there is nothing to mutate
    for _ in range(150):
        survives(known[target], mutated(known[target].seeds, known[target].kind, rng))


@pytest.mark.parametrize("target", NAMES)
@settings(max_examples=25)
@given(content=st.binary(max_size=200))
def test_any_bytes(known, target, content):
    survives(known[target], content)


@pytest.mark.parametrize("target", [name for name in NAMES if "packed" not in name])
@settings(max_examples=25)
@given(value=ANYTHING | st.sampled_from(VALUES))
def test_any_json(known, target, value):
    survives(known[target], json.dumps(value).encode())


def kept():
    return sorted(FOUND.iterdir()) if FOUND.is_dir() else []


@pytest.mark.parametrize("file", kept(), ids=lambda file: file.name)
def test_what_once_came_through(known, file):
    target = file.name.rpartition("-")[0].replace("_", " ")
    fitting = [name for name in known if name.replace("_", " ") == target]
    survives(known[fitting[0]], file.read_bytes())


# --- headers of checkpoints that lie -------------------------------------------------------------

F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def lying(header, body=b"\0" * 8, length=None):
    raw = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(raw) if length is None else length) + raw + body


FACTS = {"facts": "{}", "sha256": ""}
LIES = {
    "beyond the file": lying({"__metadata__": FACTS, "w": F32 | {"data_offsets": [0, 800]}}),
    "a shape beyond its bytes": lying({"__metadata__": FACTS, "w": F32 | {"shape": [2**40]}}),
    "a shape that overflows": lying({"__metadata__": FACTS, "w": F32 | {"shape": [2**33, 2**33]}}),
    "overlapping arrays": lying({"__metadata__": FACTS, "v": F32, "w": F32}),
    "backwards": lying({"__metadata__": FACTS, "w": F32 | {"data_offsets": [8, 0]}}),
    "negative": lying({"__metadata__": FACTS, "w": F32 | {"shape": [-2]}}),
    "an unknown kind": lying({"__metadata__": FACTS, "w": F32 | {"dtype": "PICKLE"}}),
    "a header beyond the file": lying({}, length=2**62),
    "deep": lying(b"[" * 50_000),
    "deep inside": lying({"__metadata__": {"facts": "[" * 50_000}, "w": F32}),
    "twice the same name": lying(
        b'{"w": {"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        b'"w": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    ),
    "no metadata": lying({"w": F32}),
    "facts that are a list": lying({"__metadata__": {"facts": "[]", "sha256": ""}, "w": F32}),
    "eight bits": save({"w": np.zeros(8, np.uint8)}, FACTS).replace(b"U8", b"F8_E4M3"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_lies_in_a_header_are_found_before_memory_is_taken(lie, tmp_path):
    file = tmp_path / "x.safetensors"
    file.write_bytes(LIES[lie])
    with pytest.raises(UserError, match="damaged") as error:
        checkpoint.read(file)
    assert "\n" not in str(error.value)


def test_text_from_files_is_no_markup(capsys):
    """rich would take it for styles, or fail on it."""
    from rich.table import Table

    table = Table("[red]name[/red]")
    table.add_row("[/] :smile: [bold]")
    console().print(table)
    out = capsys.readouterr().out
    assert "[/] :smile: [bold]" in out
    assert "[red]name[/red]" in out
