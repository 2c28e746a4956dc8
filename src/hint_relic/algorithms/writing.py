"""Writing into the log at speed.

`write` because Numba's own `log.x[t] = x` costs several times as much, to run and to compile.
Where the values have the log's dtype already (see `spec.py`) it comes down to moving memory,
so kernels keep what they record in that dtype. `inlined` because a call passes a log array by
array, field by field, which takes longer than writing a small step does.
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
