"""From traces to batches: splits, rewrites and the training stream. No JAX here."""

from __future__ import annotations

from .protocol import TRAIN_SIZES, Protocol
from .splits import SPLITS, dense, sample, split, trace
from .stream import Stream

__all__ = ["SPLITS", "TRAIN_SIZES", "Protocol", "Stream", "dense", "sample", "split", "trace"]
