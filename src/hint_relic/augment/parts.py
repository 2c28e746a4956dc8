"""New parts of a graph, which views of graphs add to the old one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..algorithms.inputs import Inputs
from ..algorithms.kernel import helper
from .compile import specialised


@cache
def with_part(loop: Callable[..., Any], law: Inputs) -> Any:
    """`loop` as a kernel that draws new parts from `law` (it calls that `draw_part`)."""
    return specialised(loop, law.fast.__name__, draw_part=law.fast)


@helper
def put_part(part, n, A):
    """Write a part to the nodes from n on."""
    for i in range(part.shape[0]):
        for j in range(part.shape[0]):
            A[n + i, n + j] = part[i, j]
