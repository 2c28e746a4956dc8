"""The command that reports on a folder of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from .errors import UserError
from .files import write_atomically
from .terminal import Flag, option, progress


@dataclass(frozen=True)
class Report:
    """Write one page about a grid or a folder of runs: tables, figures and curves, ours beside the
    paper's."""

    folder: Annotated[Path, tyro.conf.Positional, option("DIR")]
    """the folder of a grid, or any folder with run folders in it"""
    out: Annotated[Path | None, option("PAGE.html", "(default: DIR/report.html)")] = None
    """where to write the page"""
    csv: Flag = False
    """write the scores beside it as CSV, too"""
    latex: Flag = False
    """write the tables beside it as LaTeX, too"""
    markdown: Flag = False
    """write the table in one beside it as Markdown, too"""
    svg: Flag = False
    """write the table in one beside it as a picture, too"""


def report(options: Report) -> None:
    from datetime import UTC, datetime

    from .cli import version
    from .report.export import to_csv, to_latex, to_markdown
    from .report.figure import to_svg
    from .report.gather import gather
    from .report.page import coverage, page

    out = options.out or options.folder / "report.html"
    if out.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"--out {out}: the page's name must end in .html")
    if not out.parent.is_dir():
        raise UserError(f"there is no folder {out.parent} to write {out.name} to")
    with progress() as bar:
        findings = gather(options.folder, lambda folders: bar.track(folders, description="reading"))
        today = datetime.now(UTC).date().isoformat()
        texts = {out: page(findings, f"hint-relic {version()} on {today}")}
    if options.csv:
        texts[out.with_suffix(".csv")] = to_csv(findings)
    if options.latex:
        texts[out.with_suffix(".tex")] = to_latex(findings)
    if options.markdown:
        texts[out.with_suffix(".md")] = to_markdown(findings)
    if options.svg:
        texts[out.with_suffix(".svg")] = to_svg(findings)
    for file, text in texts.items():
        write_atomically(file, text.encode(errors="replace"))
    print(coverage(findings))
    for file in texts:
        print(file)
