"""Pointer reversal: if A points at B, an extra edge hint says so at (B, A) (paper, section 5).

The reversed hint has its own encoder and decoder. Its truth is not stored: it is the pointer's
one-hot matrix, transposed, made on the device (`dense.stored`).
"""

from __future__ import annotations

from ..spec import Field, Kind, Location, Spec, Stage


def with_reversal(spec: Spec) -> dict[str, Field]:
    """The spec with the reverse of every node pointer hint."""
    out = dict(spec)
    for name, field in spec.items():
        is_hint = field.stage is Stage.HINT and field.location is Location.NODE
        if is_hint and field.kind in (Kind.POINTER, Kind.PERMUTATION_POINTER):
            out[f"{name}_reversed"] = Field(Stage.HINT, Location.EDGE, Kind.MASK, reverses=name)
    return out
