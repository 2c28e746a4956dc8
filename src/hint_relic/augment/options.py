"""What can be chosen about a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..errors import choose

PAPER, VERIFIED = "paper", "verified"
LARGEST, RANDOM = "largest", "random"
FRESH, KEPT = "fresh", "kept"

CHOICES = {
    "source": (PAPER, VERIFIED),
    "nodes": (LARGEST, RANDOM),
    "positions": (FRESH, KEPT),
}


class Options(Protocol):
    """Whatever has these names; see `ViewOptions`."""

    @property
    def source(self) -> str: ...
    @property
    def nodes(self) -> str: ...
    @property
    def positions(self) -> str: ...


@dataclass(frozen=True)
class ViewOptions:
    """How views are made.

    source: "paper", by construction, the algorithm is never run on them (17 algorithms); or
        "verified", random insertions on which the algorithm is run and compared (29).
    nodes: "largest", as many nodes as are allowed; or "random", any number from one more than
        the input has up to that, drawn for each sample. A verified view may have fewer.
    positions: "fresh", random for all nodes; or "kept", where old nodes keep theirs.
    """

    source: str = PAPER
    nodes: str = LARGEST
    positions: str = FRESH

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            choose(f"view.{name}", getattr(self, name), known)


DEFAULT = ViewOptions()
