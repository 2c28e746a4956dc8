"""A page that plays one run of an algorithm, step by step: arrays in, one HTML file out."""

from __future__ import annotations

from .page import render
from .record import Prediction, Recording, predicted
from .view import view_of

__all__ = ["Prediction", "Recording", "predicted", "render", "view_of"]
