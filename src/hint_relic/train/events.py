"""TensorBoard event files, written without TensorFlow.

An event file is a list of records: length, checksum of the length, a small protocol-buffer
message, checksum of the message. Only scalars are written.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path


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


class EventWriter:
    """Appends scalars to one event file."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.hint-relic.{os.getpid()}"
        self._file = open(folder / name, "ab")  # noqa: SIM115 (closed by close)
        version = b"\x09" + struct.pack("<d", time.time()) + _bytes_field(3, b"brain.Event:2")
        self._file.write(_record(version))

    def scalars(self, step: int, values: dict[str, float]) -> None:
        summary = b"".join(
            _bytes_field(1, _bytes_field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
            for tag, value in values.items()
        )
        event = b"\x09" + struct.pack("<d", time.time()) + b"\x10" + _varint(step)
        self._file.write(_record(event + _bytes_field(5, summary)))
        self._file.flush()

    def close(self) -> None:
        self._file.close()
