"""HTML and SVG built from Python values. All text is escaped unless it is `Markup` already."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any


class Markup(str):
    """Text that is markup, made by `tag` or `raw`; everything else is escaped."""

    __slots__ = ()


def raw(text: str) -> Markup:
    """Text of this package's own that is markup."""
    return Markup(text)


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. A trailing `_` of an attribute is dropped, other `_` become `-`.

    Children may be nested lists; None is left out, as are attributes that are None or False.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        words.append(word if value is True else f'{word}="{escape(str(value))}"')
    if name in ("input", "meta", "rect", "line", "path", "circle") and not children:
        return Markup(f"<{' '.join(words)}/>")
    return Markup(f"<{' '.join(words)}>{join(children)}</{name}>")


def join(children: Iterable[Any], between: str = "") -> Markup:
    """Children one after another."""
    return Markup(between.join(_text(child) for child in children))


def _text(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return escape(child)
    if isinstance(child, Iterable):
        return join(child)
    return escape(str(child))
