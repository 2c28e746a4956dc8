"""Files that several processes share: replaced at once or not at all, and held by one of them."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import time
from pathlib import Path

from .errors import UserError

PATIENCE_S = 0.5  # longer than whoever looks whether a lock is held (`held`) takes


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content at once and durably, or not at all."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise UserError(f"could not write {path}: {error.strerror or error}") from error
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def is_leftover(path: Path) -> bool:
    """Whether a file is what `write_atomically` wrote aside in a process that was then killed."""
    return re.fullmatch(r"\..+\.\d+\.part", path.name) is not None


def remove_leftovers(folder: Path) -> None:
    """Only for whoever holds the folder: nobody else is writing then."""
    for item in folder.iterdir():
        if is_leftover(item):
            item.unlink(missing_ok=True)


def tail(path: Path, size: int) -> str:
    """The last `size` bytes of a text, whole lines only; nothing if there is no such file."""
    try:
        with open(path, "rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - size)
            file.seek(start)
            content = file.read()
    except OSError:
        return ""
    if start:
        content = content.partition(b"\n")[2]
    return content.decode(errors="replace")


class Lock:
    """The file `.lock` of a folder, held by this process until it is closed.

    However the process ends, the system lets go of it, so nothing is left locked by the dead.
    """

    def __init__(self, folder: Path, kind: str = "run"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(folder / ".lock", "a+")  # noqa: SIM115 (held until close)
        except OSError as error:
            raise UserError(f"can't use {folder} as a {kind} folder: {error.strerror}") from error
        try:
            self._hold(folder)
            self._file.truncate(0)
            self._file.write(f"{os.getpid()} on {socket.gethostname()}")
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def _hold(self, folder: Path) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                return fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() < until:
                    time.sleep(PATIENCE_S / 10)
                    continue
                self._file.seek(0)
                owner = self._file.read().strip() or "unknown"
                raise UserError(f"{folder} is in use by another process (pid {owner})") from error
            except OSError as error:
                raise UserError(f"can't lock {folder}: {error.strerror}") from error

    def close(self) -> None:
        self._file.truncate(0)
        self._file.close()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def held(folder: Path) -> bool:
    """Whether some process holds the lock of a folder."""
    try:
        with open(folder / ".lock") as file:
            if not file.read(1):  # closed in good order
                return False
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
