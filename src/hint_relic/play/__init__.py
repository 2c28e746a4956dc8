"""A page that plays one run of an algorithm, step by step: arrays in, one HTML file out."""

from __future__ import annotations

from .page import page
from .record import Prediction, Recording, predict
from .view import view_of

__all__ = ["Prediction", "Recording", "page", "predict", "view_of"]
