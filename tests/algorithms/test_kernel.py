"""What kernels are made of: sorting without NumPy, and one compiled copy of each helper."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from hint_relic.algorithms import arrays, draw, engine, get
from hint_relic.algorithms import kernel as compiling
from hint_relic.errors import UserError


@numba.njit
def in_order(values):
    """Helpers are for kernels only, so here is one."""
    values = values.copy()
    rising, falling = arrays.argsort(values), arrays.falling(values)
    arrays.sort(values)
    return values, rising, falling


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 16, 64, 1000])
@pytest.mark.parametrize("different", [3, 10**9])
def test_sorting_is_stable(n, different):
    values = np.random.default_rng(n).integers(different, size=n).astype(np.float64)
    ordered, rising, falling = in_order(values)
    assert np.array_equal(ordered, np.sort(values))
    assert np.array_equal(rising, np.argsort(values, kind="stable"))
    assert np.array_equal(falling, np.argsort(-values, kind="stable"))


def test_a_helper_is_compiled_once_for_all_integers(monkeypatch):
    monkeypatch.setattr(compiling, "_CACHE", "")  # in memory only, so that it is compiled here

    @compiling.helper
    def add(a, b):
        return a + b

    @compiling.kernel
    def calls(small):
        return add(0, 1) + add(2, b=small[0]) + add(small.size, small[1])

    assert calls(np.array([3, 4], np.int8)) == 12
    assert len(add.signatures) == 1


def test_draws_that_would_not_fit_are_refused(monkeypatch):
    sort = get("bubble_sort")
    whole = draw(sort, 8, 4, seeds=[0])
    size = sum(hint[:, : whole.lengths.max()].nbytes for hint in whole.hints.values())
    monkeypatch.setattr(engine, "MAX_HINTS", size)
    again = draw(sort, 8, 4, seeds=[0])
    for name, hint in again.hints.items():
        assert np.array_equal(hint, whole.hints[name][:, : hint.shape[1]])
    monkeypatch.setattr(engine, "MAX_HINTS", size - 1)
    with pytest.raises(UserError, match="GB for its hints"):
        draw(sort, 8, 4, seeds=[0])
