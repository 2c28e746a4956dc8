"""Judges for string matching, by Python's own `str.find`."""

from __future__ import annotations


def first_match(trace, text, pattern):
    """The first place where the needle stands; the needle's head where it stands nowhere."""
    place = as_string(text).find(as_string(pattern))
    assert trace.outputs["match"] == (len(text) if place < 0 else place)


def prefix_function_and_first_match(trace, text, pattern):
    """The match, and at the last step the needle's borders."""
    first_match(trace, text, pattern)
    n = len(text)
    borders = [longest_border(as_string(pattern[: q + 1])) for q in range(len(pattern))]
    assert trace.hints["pi"][-1].tolist() == [*range(n), *(n + max(b - 1, 0) for b in borders)]
    assert trace.hints["is_reset"][-1].tolist() == [0] * n + [int(b == 0) for b in borders]


def as_string(letters):
    return "".join("ATCG"[letter] for letter in letters)


def longest_border(string):
    """The length of the longest proper beginning that is an end too."""
    return max(k for k in range(len(string)) if string.endswith(string[:k]))
