"""The API reference: a page for each module, made of the docstrings of its public names.

The source is read, not imported, so that this takes no time and shows signatures as they are
written. A name that is no longer there, or has no docstring, fails the build.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"

# page -> its title, and the names on it, by the module that users import them from
PAGES: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "data": (
        "Data",
        {
            "hint_relic.data": ("trace", "sample", "split", "dense", "Protocol", "Stream"),
            "hint_relic.data.user_input": ("run",),
            "hint_relic.data.export": ("save",),
            "hint_relic.types": ("Trace", "Batch", "View", "Paired"),
        },
    ),
    "algorithms": (
        "Algorithms",
        {
            "hint_relic.algorithms": ("get", "register", "Algorithm", "draw", "execute"),
            "hint_relic.spec": ("Stage", "Location", "Kind", "Field"),
        },
    ),
    "config": (
        "Settings",
        {
            "hint_relic.config": (
                "TrainConfig",
                "ModelConfig",
                "Hints",
                "Feedback",
                "ObjectiveConfig",
                "StopGradient",
                "Reduce",
                "ViewConfig",
                "OptimiserConfig",
                "Padding",
                "to_dict",
                "from_dict",
            ),
            "hint_relic.variants": ("preset",),
        },
    ),
    "model": (
        "Network",
        {
            "hint_relic.model.network": ("Network", "Predictions", "Seen"),
            "hint_relic.model.steps": ("loop",),
        },
    ),
    "objectives": (
        "Objectives",
        {
            "hint_relic.objectives.objective": (
                "objective_for",
                "supervised_objective",
                "view_objective",
            ),
            "hint_relic.objectives.supervised": ("supervised", "mean_losses", "Tally"),
            "hint_relic.objectives.relic": ("contrast", "pointer_terms", "category_terms"),
        },
    ),
    "train": ("Training", {"hint_relic.train.loop": ("train",)}),
    "reasoner": (
        "Reasoners",
        {"hint_relic.reasoner": ("Reasoner", "Answer", "Check", "Difference")},
    ),
}

Definition = ast.FunctionDef | ast.ClassDef


class MissingNameError(Exception):
    """A documented name is not in the source, or says nothing about itself."""


def pages() -> dict[str, str]:
    """File name -> Markdown, for every page of the reference."""
    return {f"{name}.md": page(title, names) for name, (title, names) in PAGES.items()}


def page(title: str, names: dict[str, tuple[str, ...]]) -> str:
    parts = [f"# {title}"]
    for module, wanted in names.items():
        about = ast.get_docstring(read(module).tree)
        parts += [f"## `{module}`", prose(about or "")]
        parts += [entry(module, name) for name in wanted]
    return "\n\n".join(part for part in parts if part) + "\n"


def entry(module: str, name: str) -> str:
    """One name: heading, signature or fields, docstring; for a class, its public methods."""
    home, found = find(module, name)
    parts = [f"### `{name}`", code(home, found), told(found, f"{module}.{name}")]
    if isinstance(found, ast.ClassDef):
        for method in (node for node in found.body if isinstance(node, ast.FunctionDef)):
            if shown(method):
                called = "(…)" if method.name == "__call__" else f".{method.name}"
                parts += [f"#### `{name}{called}`"]
                parts += [code(home, method), told(method, f"{module}.{name}.{method.name}")]
    return "\n\n".join(part for part in parts if part)


def shown(method: ast.FunctionDef) -> bool:
    """Public methods that say something; `__call__` is one."""
    public = not method.name.startswith("_") or method.name == "__call__"
    return public and ast.get_docstring(method) is not None


# --- reading the source --------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A module: its package, for relative imports, its lines, and its syntax tree."""

    package: str
    lines: list[str]
    tree: ast.Module


@cache
def read(module: str) -> Source:
    place = SOURCE / Path(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if not file.is_file():
        raise MissingNameError(f"the API reference names the module {module}, which is not there")
    text = file.read_text(encoding="utf-8")
    package = module if place.is_dir() else module.rpartition(".")[0]
    return Source(package, text.splitlines(), ast.parse(text))


def find(module: str, name: str) -> tuple[Source, Definition]:
    """The definition of a name, in its module or in the one that it is imported from."""
    source = read(module)
    for node in source.tree.body:
        if isinstance(node, Definition) and node.name == name:
            return source, node
        if isinstance(node, ast.ImportFrom) and any(
            (alias.asname or alias.name) == name for alias in node.names
        ):
            parents = source.package.split(".")
            base = parents[: len(parents) - node.level + 1] if node.level else []
            return find(".".join([*base, *([node.module] if node.module else [])]), name)
    raise MissingNameError(
        f"the API reference names {module}.{name}, which is not there: "
        "change PAGES in website/api.py, or bring it back"
    )


# --- writing Markdown ----------------------------------------------------------------------------


def code(source: Source, found: Definition) -> str:
    """A signature, or a class with its fields, as they are written in the source."""
    if isinstance(found, ast.FunctionDef):
        lines = _signature(source, found)
    else:
        lines = [source.lines[found.lineno - 1]]
        for node in _fields(found):
            lines += source.lines[node.lineno - 1 : node.end_lineno]
        if len(lines) == 1 and (start := _start(found)):
            lines += _signature(source, start)
    indent = len(lines[0]) - len(lines[0].lstrip())
    plain = (re.sub(r"\s*# noqa.*", "", line[indent:]).rstrip() for line in lines)
    return "\n".join(["```python", *plain, "```"])


def told(found: Definition, where: str) -> str:
    text = ast.get_docstring(found)
    if text is None and not _fields(found):  # an enum's values speak for themselves
        raise MissingNameError(f"the API reference shows {where}, which has no docstring")
    return prose(text or "", _names(found))


def prose(docstring: str, names: Set[str] = frozenset()) -> str:
    """A docstring as Markdown: lines `name: meaning` become a list, examples become code."""
    out: list[str] = []
    listed = example = False
    for line in docstring.splitlines():
        before, colon, meaning = line.partition(": ")
        if line.startswith(">>>") and not example:
            out.append("```pycon")
            example = True
        elif example and not line.strip():
            out.append("```")
            example = False
        if example:
            out.append(line.replace("  # doctest: +SKIP", ""))
        elif colon and names.issuperset(before.split(", ")):
            out += [] if listed else [""]
            out.append("- " + ", ".join(f"`{n}`" for n in before.split(", ")) + f": {meaning}")
            listed = True
        else:
            listed = listed and bool(line.strip())
            out.append(f"  {line}" if listed else line)
    return "\n".join([*out, "```"] if example else out).strip()


def _signature(source: Source, function: ast.FunctionDef) -> list[str]:
    first = min([function.lineno, *(node.lineno for node in function.decorator_list)])
    return source.lines[first - 1 : function.body[0].lineno - 1]


def _fields(found: Definition) -> list[ast.AnnAssign | ast.Assign]:
    """What a class holds; a function holds nothing."""
    if isinstance(found, ast.FunctionDef):
        return []
    return [node for node in found.body if isinstance(node, (ast.AnnAssign, ast.Assign))]


def _start(found: ast.ClassDef) -> ast.FunctionDef | None:
    functions = (node for node in found.body if isinstance(node, ast.FunctionDef))
    return next((node for node in functions if node.name == "__init__"), None)


def _names(found: Definition) -> set[str]:
    """The names that a docstring may explain: parameters or fields."""
    function = found if isinstance(found, ast.FunctionDef) else _start(found)
    names = {node.target.id for node in _fields(found) if isinstance(node, ast.AnnAssign)}
    if function:
        args = function.args
        names |= {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return names
