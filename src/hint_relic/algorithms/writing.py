"""Writing into the log at speed.

`write` because Numba's own `log.x[t] = x` costs several times as much: it does not vectorise
the copy. `inlined` because a log is passed to a function array by array, field by field, which
costs more than a step's recording; what is shared between rooms' `record`s is put in place.
"""

from __future__ import annotations

import numba

from .kernel import kernel

inlined = numba.njit(inline="always")


@kernel
def write(values, out):
    """Copy a vector or a matrix."""
    if values.ndim == 1:
        for i in range(values.size):
            out[i] = values[i]
    else:
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                out[i, j] = values[i, j]
