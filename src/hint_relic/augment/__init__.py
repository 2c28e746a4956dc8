"""Augmented views: larger inputs on which the same steps are taken, up to one. No JAX here."""

from __future__ import annotations

from .views import check_views, make_views

__all__ = ["check_views", "make_views"]
