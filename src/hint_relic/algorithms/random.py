"""A counter-based random generator for kernels: SplitMix64.

The n-th number of a stream is a hash of (stream, n), so any sample of any batch can be drawn
at once, in any order and on any thread. A state is a one-element uint64 array.
"""

from __future__ import annotations

import numpy as np

from .arrays import places
from .kernel import helper

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / (1 << 53)


@helper
def mix(x):
    """SplitMix64's finaliser: a bijection of 64-bit words that looks random."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@helper
def stream(seed, sample):
    """The generator of one sample: independent of every other (seed, sample)."""
    state = np.empty(1, np.uint64)
    state[0] = mix(mix(np.uint64(seed) + _GAMMA) + np.uint64(sample) * _GAMMA)
    return state


@helper
def bits(state):
    state[0] += _GAMMA
    return mix(state[0])


@helper
def uniform(state, low, high):
    """One number of U[low, high)."""
    return low + (high - low) * ((bits(state) >> _S11) * _UNIT)


@helper
def integer(state, n):
    """One integer of 0 … n-1 (the bias, n / 2^53, is far below what can be seen)."""
    return np.int64((bits(state) >> _S11) * _UNIT * n)


@helper
def uniforms(state, n, low, high):
    out = np.empty(n)
    for i in range(n):
        out[i] = uniform(state, low, high)
    return out


@helper
def integers(state, count, n):
    out = np.empty(count, np.int64)
    for i in range(count):
        out[i] = integer(state, n)
    return out


@helper
def permutation(state, n):
    out = places(n)
    for i in range(n - 1, 0, -1):
        j = integer(state, i + 1)
        out[i], out[j] = out[j], out[i]
    return out
