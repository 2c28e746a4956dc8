"""Load and call a trained network: `Reasoner.load("heapsort")([5, 2, 8, 1]).value`."""

from __future__ import annotations

from .answer import Answer, Check, Difference
from .reasoner import Reasoner

__all__ = ["Answer", "Check", "Difference", "Reasoner"]
