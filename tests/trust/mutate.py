"""Bad input made from good: bytes, tokens, JSON values and headers, changed at random."""

from __future__ import annotations

import hashlib
import json
import random
import struct
from typing import Any

import numpy as np

TOKENS = [
    b"",
    b"\x00",
    b"\xff",
    b"\xf0\x9f\x92\xa9",
    b"\xed\xa0\x80",
    b"\r\n",
    b"NaN",
    b"Infinity",
    b"-1",
    b"0",
    b"1e999",
    b"-0.0",
    b"1" * 5000,
    b"9" * 25,
    b"2147483648",
    b"4294967296",
    b"18446744073709551616",
    b"[" * 200,
    b"{" * 200,
    b"[" * 5000,
    b'{"a":' * 500,
    b"null",
    b"true",
    b'""',
    b'"\\ud800"',
    b'"' + b"a" * 3000 + b'"',
    b"[red]",
    b"[/]",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"&a;",
    b"<node/>",
    b"<edge source='a' target='zzz'/>",
    b"../../etc/passwd",
    b"%s%n",
    b"1979-05-27T07:32:00Z",
    b"a.b.c = 1\n",
    b"__metadata__",
    b"1\n",
    b" ",
    b"#",
    b"\t",
    b"-",
    b"e",
    b".",
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    0.5,
    -0.0,
    float("nan"),
    float("inf"),
    10**400,
    2**31,
    2**63,
    -(2**70),
    1e308,
    "",
    "a",
    "\ud800",
    "[/]",
    "a" * 3000,
    [],
    {},
    [[]],
    [None],
    {"a": {}},
    [0] * 500,
    [[0.0] * 3] * 3,
    "nan",
    "-1",
    "bfs",
    "dfs",
    "hint_relic",
    "feedback",
    [1, "a", None],
    {"steps": 1},
    [10**9],
    10**9,
    65536,
]


def mutated(seeds: list[bytes], kind: str, rng: random.Random) -> bytes:
    """A seed with one to a few changes."""
    content = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if kind == "safetensors" and rng.random() < 0.7:
            content = _header(content, rng)
        elif rng.random() < 0.5 and content[:1] in (b"{", b"["):
            content = _json(content, rng)
        else:
            content = _bytes(content, rng)
    return content


def _bytes(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    to = min(len(content), at + rng.choice((0, 1, 1, 2, 4, 16, 100)))
    what = rng.randrange(6)
    if what == 0:
        return content[:at]
    if what == 1:
        return content[:at] + content[to:]
    if what == 2:
        return content[:to] + content[at:]
    if what == 3:
        return content[:at] + rng.choice(TOKENS) + content[to:]
    if what == 4:
        return content[:at] + bytes(rng.randrange(256) for _ in range(to - at)) + content[to:]
    flipped = bytearray(content)
    if flipped:
        flipped[at % len(flipped)] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _json(content: bytes, rng: random.Random) -> bytes:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return _bytes(content, rng)
    return json.dumps(changed(value, rng)).encode()


def changed(value: Any, rng: random.Random) -> Any:
    """A JSON value with another one somewhere in it."""
    if rng.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        key = rng.choice(list(value))
        what = rng.random()
        if what < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if what < 0.2:
            return {**value, rng.choice(("", "a", "format", key + "x")): rng.choice(VALUES)}
        return {**value, key: changed(value[key], rng)}
    at = rng.randrange(len(value))
    if rng.random() < 0.2:
        return value[:at] + value[at + rng.randrange(2) :] + value[at:]
    return [*value[:at], changed(value[at], rng), *value[at + 1 :]]


def _header(content: bytes, rng: random.Random) -> bytes:
    """Lies in the header of a safetensors file; sometimes with a checksum that fits them."""
    try:
        (size,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + size])
        body = content[8 + size :]
        facts = json.loads(header["__metadata__"]["facts"])
    except (ValueError, RecursionError, KeyError, TypeError, struct.error):
        return _bytes(content, rng)
    what = rng.random()
    if what < 0.4:
        try:
            header["__metadata__"]["facts"] = json.dumps(changed(facts, rng))
        except RecursionError:
            return content
    elif what < 0.9:
        header = changed(header, rng)
    else:
        body = _bytes(body, rng)
    if rng.random() < 0.5:
        _sign(header, body)
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    length = len(raw) if rng.random() < 0.9 else rng.choice((0, 2**40, 2**63, len(raw) - 1))
    return struct.pack("<Q", length) + raw + body


def _sign(header: Any, body: bytes) -> None:
    """Make the checksum fit what the header says, where it says something."""
    kinds = {"F32": "<f4", "F16": "<f2", "I32": "<i4"}
    sha = hashlib.sha256()
    try:
        for name in sorted(k for k in header if k != "__metadata__"):
            entry = header[name]
            start, end = entry["data_offsets"]
            kind = np.dtype(kinds[entry["dtype"]])
            array = np.frombuffer(body[start:end], kind).reshape(entry["shape"])
            sha.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
            sha.update(array.tobytes())
        header["__metadata__"]["sha256"] = sha.hexdigest()
    except (ValueError, LookupError, TypeError, OverflowError, AttributeError, MemoryError):
        return
