"""Where a figure was measured: what every benchmark stores beside its numbers."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def commit() -> str | None:
    """The commit of this source tree, if it is one."""
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None


def processor() -> str:
    """Its name, as Linux tells it."""
    if (info := Path("/proc/cpuinfo")).exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def versions(*packages: str) -> dict[str, str]:
    found = {"python": platform.python_version()}
    return found | {package: metadata.version(package) for package in packages}


def machine(*packages: str) -> dict[str, Any]:
    """Processor, load, versions of Python and of these packages, commit and time."""
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "versions": versions(*packages),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
