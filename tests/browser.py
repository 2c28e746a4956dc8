"""A real browser for tests of pages: headless Chromium, driven over its own DevTools pipe.

    with Browser() as page:
        page.open(path)
        page.press("Tab", "Enter")
        assert page.evaluate("document.title") == "…"
        assert page.messages == [] and page.outside() == []

The pipe needs no port and no further package. Tests are skipped where no Chromium is installed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60.0  # for one answer; only a browser that hangs takes that long

# Chromium reads commands from descriptor 3 and writes answers to 4, whatever they are here.
LAUNCH = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
LAUNCH += "os.execvp(sys.argv[3], sys.argv[3:])"

KEYS = {  # name -> (code of the key, its virtual number, the text it types)
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    " ": ("Space", 32, " "),
    "End": ("End", 35, ""),
    "Home": ("Home", 36, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "Backspace": ("Backspace", 8, ""),
}
SHIFT = 8


def chromium() -> str | None:
    """The installed browser, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One browser with one page.

    messages: what the page wrote to the console, and errors it did not catch.
    requests: every address it asked for.
    """

    def __init__(self, width: int = 1280, height: int = 900):
        self.size = width, height
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        self._next = 0
        self._unread = b""

    def __enter__(self) -> Browser:
        program = chromium()
        if program is None:
            pytest.skip("no Chromium is installed (apt-get install chromium)")
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        commands, self._write = _pipe()
        self._read, answers = _pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(commands), str(answers), program, *FLAGS]
            + [f"--user-data-dir={self._profile}", "about:blank"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        try:
            self._session = None
            target = self._call("Target.createTarget", url="about:blank")["targetId"]
            attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self._call(f"{domain}.enable")
            self.resize(*self.size)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)  # Chromium leaves when its pipe closes
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    # --- what a test does with the page ----------------------------------------------------------

    def open(self, page: Path | str) -> None:
        """Load a file or an address, and wait until it is loaded."""
        self._loaded = False
        address = page.resolve().as_uri() if isinstance(page, Path) else page
        if failed := self._call("Page.navigate", url=address).get("errorText"):
            raise AssertionError(f"{address}: {failed}")
        end = time.monotonic() + PATIENCE_S
        while not self._loaded:
            self._take(end)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression (awaited, if it is a promise), as plain data."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if problem := answer.get("exceptionDetails"):
            raise AssertionError(f"{script}: {_told(problem)}")
        return answer["result"].get("value")

    def press(self, *keys: str, shift: bool = False) -> None:
        """Press keys, one after another: names as in `KEYS`, or single characters."""
        for key in keys:
            code, number, text = KEYS.get(key, ("", ord(key[0].upper()), key))
            event = {"key": key, "code": code, "windowsVirtualKeyCode": number}
            event["modifiers"] = SHIFT if shift else 0
            typed = {"text": text} if text else {}
            self._call("Input.dispatchKeyEvent", type="keyDown", **typed, **event)
            self._call("Input.dispatchKeyEvent", type="keyUp", **event)

    def click(self, selector: str) -> None:
        """Click the middle of the first element that fits, with a real mouse event."""
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width: int, height: int = 900) -> None:
        """The size of the window; a narrow one is a phone's."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def prefer(self, *, dark: bool = False, paper: bool = False, calm: bool = False) -> None:
        """Dark colours, the print layout, or reduced motion; the plain screen otherwise."""
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
        ]
        media = "print" if paper else "screen"
        self._call("Emulation.setEmulatedMedia", media=media, features=features)

    def screenshot(self, file: Path, *, whole: bool = True) -> None:
        """A PNG of the whole page, or of what the window shows."""
        answer = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(answer["data"]))

    def outside(self) -> list[str]:
        """The addresses asked for that are neither files nor part of the page."""
        inside = ("file:", "data:", "blob:", "about:")
        return [address for address in self.requests if not address.startswith(inside)]

    # --- the pipe: JSON messages, each ended by a zero byte ---------------------------------------

    def _call(self, method: str, **values: Any) -> dict[str, Any]:
        self._next += 1
        message = {"id": self._next, "method": method, "params": values}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self._take(end)
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _take(self, end: float) -> dict[str, Any]:
        """The next message; what the page does by itself is noted on the way."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise AssertionError("Chromium does not answer" if not ready else "Chromium ended")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event: str | None, values: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.messages.append(_told(values["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled":
            said = (str(a.get("value", a.get("description", ""))) for a in values["args"])
            self.messages.append(f"{values['type']}: {' '.join(said)}")
        elif event == "Log.entryAdded":
            entry = values["entry"]
            self.messages.append(f"{entry['level']}: {entry['text']}")


def _told(problem: dict[str, Any]) -> str:
    return problem.get("exception", {}).get("description") or problem["text"]


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are numbered past those that Chromium reads and writes."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
