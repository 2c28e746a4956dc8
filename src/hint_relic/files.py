"""Files that others may share, spoil or have made: written whole or not at all, read with
suspicion, and held by one process at a time.

Nothing that is read here is believed: a file must be a plain one, of a bounded size, and lie
where it says (in a folder that somebody else made, a link could lead anywhere).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import socket
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from .errors import UserError

PATIENCE_S = 0.5  # longer than whoever looks whether a lock is held (`held`) takes
LONGEST_NAME = 200  # bytes of a name that leave room for more around it
MAX_JSON = 2**26  # bytes
DEEPEST = 64  # levels of JSON: far more than anything here writes


# --- writing -------------------------------------------------------------------------------------


def write_whole(path: Path, fill: Callable[[BinaryIO], Any], keep: Path | None = None) -> None:
    """Let `fill` write a file: aside, in the same folder, and put in its place when on disk.

    The name aside is always the same, and locked: a process that is killed leaves at most one
    file, which the next one takes over, and two that write the same file don't mix.
    keep: where the file that is replaced goes.
    """
    aside = path.with_name(_aside(path.name))
    try:
        handle = _opened_alone(aside, path)
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror}; choose another folder") from error
    try:
        with open(handle, "wb", closefd=False) as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        if keep is not None and path.exists():
            os.replace(path, keep)
        os.replace(aside, path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        what = error.strerror or str(error)
        raise UserError(f"can't write {path}: {what}; nothing was written") from error
    finally:
        os.close(handle)  # only now, so that nobody took it over before
    with suppress(OSError):  # where folders can be synced, let the rename survive a crash
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_atomically(path: Path, content: bytes, keep: Path | None = None) -> None:
    """Replace a file's content at once and durably, or not at all."""
    write_whole(path, lambda file: file.write(content), keep)


def _aside(name: str) -> str:
    raw = os.fsencode(name)
    return f".{name if len(raw) <= LONGEST_NAME else hashlib.sha256(raw).hexdigest()}.part"


def _opened_alone(aside: Path, path: Path) -> int:
    """The file aside, empty, open and locked."""
    while True:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            with suppress(_NoLocksError):
                _lock(handle)
            if os.path.samestat(os.fstat(handle), os.lstat(aside)):
                os.ftruncate(handle, 0)
                return handle
        except BlockingIOError:
            os.close(handle)
            raise UserError(f"{path} is being written by another process") from None
        except FileNotFoundError:  # whoever wrote it has put it in its place meanwhile
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


class _NoLocksError(OSError):
    """A file system without locks."""


def _lock(handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        raise _NoLocksError(error.errno, error.strerror) from error


def is_leftover(path: Path) -> bool:
    """Whether a file is what `write_whole` wrote aside in a process that was then killed."""
    return re.fullmatch(r"\..+\.part", path.name, re.DOTALL) is not None


def remove_leftovers(folder: Path) -> None:
    """Only for whoever holds the folder: nobody else is writing then."""
    for item in folder.iterdir():
        if is_leftover(item):
            item.unlink(missing_ok=True)


# --- reading -------------------------------------------------------------------------------------


def read_bounded(path: Path, most: int, *, follow: bool = False) -> bytes:
    """The content of a plain file of at most so many bytes. `FileNotFoundError` if there is none.

    follow: whether it may be a link: yes for a path that the user gave, no for what lies in a
    folder, which may be somebody else's.
    """
    if path.is_symlink() and not follow:
        raise UserError(f"can't read {path}: it is a link; put the file itself there")
    try:
        with _opened(path, follow=follow) as file:
            if os.fstat(file.fileno()).st_size > most:
                raise UserError(f"can't read {path}: it is larger than {_size(most)}")
            return file.read(most + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # a name with a null character is no OSError
        raise UserError(f"can't read {path}: {getattr(error, 'strerror', error)}") from error


def _opened(path: Path, *, follow: bool = False) -> BinaryIO:
    """A plain file, to read; anything else (a pipe, say) could keep who reads it forever."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    file = open(os.open(path, flags), "rb")  # noqa: SIM115, the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a plain file")
    return file


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 2**20 else f"{count} bytes"


def read_json(path: Path, most: int = MAX_JSON, *, follow: bool = False) -> Any:
    """The value of a JSON file. `FileNotFoundError` if there is none."""
    return decode_json(read_bounded(path, most, follow=follow), str(path))


def decode_json(text: str | bytes, source: str) -> Any:
    """The value of some JSON text, or a line that says what is wrong with it."""
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise UserError(f"{source} is not valid JSON: {error}") from None
    except RecursionError:
        value = None
        deep = True
    else:
        deep = _deeper(value, DEEPEST)
    if deep:
        raise UserError(f"{source} is nested too deeply")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise UserError("a key appears twice in one JSON object; keep one of them")
    return fields


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(item, levels - 1) for item in inside)


def tail(path: Path, size: int) -> str:
    """The last `size` bytes of a text, whole lines only; nothing if there is no such file."""
    try:
        with _opened(path) as file:
            start = max(0, file.seek(0, os.SEEK_END) - size)
            file.seek(start)
            content = file.read()
    except OSError:
        return ""
    if start:
        content = content.partition(b"\n")[2]
    return content.decode(errors="replace")


# --- holding -------------------------------------------------------------------------------------


class Lock:
    """The file `.lock` of a folder, held by this process until it is closed.

    However the process ends, the system lets go of it, so nothing is left locked by the dead.
    """

    def __init__(self, folder: Path, kind: str = "run"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._handle = os.open(folder / ".lock", flags, 0o666)
        except OSError as error:
            raise UserError(f"can't use {folder} as a {kind} folder: {error.strerror}") from error
        try:
            self._hold(folder)
            with suppress(OSError):  # it is held, even where the disk is too full to say by whom
                os.ftruncate(self._handle, 0)
                os.pwrite(self._handle, f"{os.getpid()} on {socket.gethostname()}".encode(), 0)
        except BaseException:
            os.close(self._handle)
            raise

    def _hold(self, folder: Path) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                return fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() < until:
                    time.sleep(PATIENCE_S / 10)
                    continue
                told = os.pread(self._handle, 200, 0).decode(errors="replace")
                owner = " ".join(told.split()) or "unknown"
                raise UserError(f"{folder} is in use by another process (pid {owner})") from error
            except OSError as error:
                raise UserError(f"can't lock {folder}: {error.strerror}") from error

    def close(self) -> None:
        with suppress(OSError):
            os.ftruncate(self._handle, 0)
        os.close(self._handle)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def held(folder: Path) -> bool:
    """Whether some process holds the lock of a folder."""
    try:
        with _opened(folder / ".lock") as file:
            if not file.read(1):  # closed in good order
                return False
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
