"""TensorBoard event files, written without TensorFlow.

An event file is a list of records: length, checksum of the length, a small protocol-buffer
message, checksum of the message. Only scalars are written.
"""

from __future__ import annotations

import os
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import UserError

LARGEST = 3e38  # of a number with four bytes


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)  # Castagnoli, reflected
        table.append(crc)
    return table


_TABLE = _crc_table()


def _masked_crc(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes_field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _record(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + _masked_crc(length) + message + _masked_crc(message)


def scalars(record: dict[str, Any], seeds: list[int]) -> dict[str, float]:
    """What TensorBoard shows of a record of the metrics."""
    lists = {k: v for k, v in record.items() if isinstance(v, list) and v}
    if record.get("kind") == "train":
        losses = {f"loss/seed{s}": number(x) for s, x in zip(seeds, lists.get("loss", []))}
        return losses | {"updates_per_s": number(record.get("updates_per_s"))}
    return {f"{record.get('kind')}/{k}": sum(map(number, v)) / len(v) for k, v in lists.items()}


def number(value: Any) -> float:
    """A number that a file holds, or 0 if it is none."""
    return float(value) if isinstance(value, float) or type(value) is int else 0.0


class EventWriter:
    """Appends scalars to one event file; those of earlier parts of a run are removed.

    Whoever goes on with a run writes its earlier records again: so what a crash cut short or
    left behind is neither shown nor counted twice.
    """

    def __init__(self, folder: Path):
        if folder.is_symlink():
            raise UserError(f"{folder} is a link; remove it, it would lead out of the run folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("events.out.tfevents.*"):
                old.unlink()
            name = f"events.out.tfevents.{int(time.time())}.hint-relic.{os.getpid()}"
            self._file = open(folder / name, "xb")  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise UserError(f"can't write {folder}: {error.strerror}") from error
        version = b"\x09" + struct.pack("<d", time.time()) + _bytes_field(3, b"brain.Event:2")
        self._file.write(_record(version))

    def scalars(self, step: int, values: dict[str, float], ago: float = 0.0) -> None:
        """ago: for how many seconds they have been known."""
        summary = b"".join(
            _bytes_field(1, _bytes_field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
            for tag, value in values.items()
            if abs(value) < LARGEST
        )
        event = b"\x09" + struct.pack("<d", time.time() - ago) + b"\x10" + _varint(step)
        try:
            self._file.write(_record(event + _bytes_field(5, summary)))
            self._file.flush()
        except OSError as error:
            raise UserError(f"can't write {self._file.name}: {error.strerror}") from error

    def close(self) -> None:
        with suppress(OSError):  # a disk that is full was complained about before
            self._file.close()
