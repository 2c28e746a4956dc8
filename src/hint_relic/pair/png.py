"""A picture as PNG, by whatever is installed that can draw SVG."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import UserError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCALE = 2
SECONDS = 60


def rasterise(svg: str) -> bytes:
    """The PNG, twice as fine as the picture says."""
    if importlib.util.find_spec("cairosvg") is not None:
        import cairosvg

        return cairosvg.svg2png(bytestring=svg.encode(), scale=SCALE)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise UserError("--png needs Chromium or CairoSVG, and neither is installed; use --svg")
    return _with_browser(browser, svg)


def _with_browser(browser: str, svg: str) -> bytes:
    size = re.search(r'<svg[^>]* width="(\d+)" height="(\d+)"', svg)
    assert size is not None
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "picture.svg"), Path(folder, "picture.png")
        source.write_text(svg, encoding="utf-8")
        command = [
            browser, "--headless", "--disable-gpu", "--hide-scrollbars", f"--screenshot={target}",
            f"--user-data-dir={folder}/profile", f"--window-size={size[1]},{size[2]}",
            f"--force-device-scale-factor={SCALE}", source.as_uri(),
        ]  # fmt: skip
        if os.geteuid() == 0:  # its sandbox refuses to run as root; the page is our own
            command.insert(1, "--no-sandbox")
        try:
            subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise UserError(f"{browser} could not draw the picture; use --svg") from None
