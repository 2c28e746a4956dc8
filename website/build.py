"""Build the documentation site: `python website/build.py [FOLDER]`, or `make site`.

In FOLDER (`.site` unless told) `pages/` is put together from `docs/`, the two pages of the
repository's root and the API reference; zensical turns it into `html/`. Any broken link,
missing page, or page that the navigation forgets, fails the build. The site asks for nothing
outside itself, and its pages can also be opened as files (search needs a server: the plugin
that would do without one fetches a script from elsewhere).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import api

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "website" / "zensical.toml"
STYLE = ROOT / "website" / "style.css"
ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
UPWARD = re.compile(r"(?<=\]\()\.\./[^)#\s]+")  # the target of a Markdown link to a folder above
BETWEEN_NUMBERS = re.compile(r"(?<=\d) ± (?=\d)")  # a score and its error stay on one line


class SiteError(Exception):
    """The site can't be built as it should be; one line for each reason."""


def build(folder: Path) -> Path:
    """Build the site in a folder; where its first page is."""
    pages, html = folder / "pages", folder / "html"
    for old in (pages, html):
        shutil.rmtree(old, ignore_errors=True)
    gather(pages)
    shutil.copy(CONFIG, folder)
    check_navigation(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"], pages)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f"]
    done = subprocess.run(
        [*command, str(folder / CONFIG.name)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SiteError((done.stdout + done.stderr).strip())
    check_links(html)
    return html / "index.html"


# --- what goes in --------------------------------------------------------------------------------


def gather(pages: Path) -> None:
    """All pages and what they show, links into the repository turned into links to copies."""
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("__pycache__"))
    for name, page in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        (pages / page).write_text(text.replace("](docs/", "]("), encoding="utf-8")
    (pages / "api").mkdir()
    for name, text in api.pages().items():
        (pages / "api" / name).write_text(text, encoding="utf-8")
    shutil.copy(STYLE, pages)
    for page in pages.rglob("*.md"):
        text = BETWEEN_NUMBERS.sub("\u00a0±\u00a0", page.read_text(encoding="utf-8"))
        text = UPWARD.sub(lambda up, page=page: inside(up[0], page, pages), text)
        page.write_text(text, encoding="utf-8")


def inside(target: str, page: Path, pages: Path) -> str:
    """Where the site has a file that a page links to; one from outside `docs/` is copied."""
    place = page.relative_to(pages)
    original = (ROOT / "docs" / place.parent / target).resolve()
    if original.is_relative_to(ROOT / "docs") or not original.is_file():
        return target  # where it does not exist, the checks below will say so
    name = original.relative_to(ROOT).as_posix()
    copy = ROOT_PAGES.get(name, f"files/{name}")
    if not (pages / copy).exists():
        (pages / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(original, pages / copy)
    return "../" * (len(place.parts) - 1) + copy


# --- what must hold ------------------------------------------------------------------------------


def check_navigation(nav: list, pages: Path) -> None:
    """Every page is in the navigation, once, and nothing else is."""
    named = list(in_navigation(nav))
    there = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    problems = [f"{CONFIG.name} names {page}, which does not exist" for page in set(named) - there]
    problems += [f"{CONFIG.name} leaves out {page}: add it to nav" for page in there - set(named)]
    problems += [f"{CONFIG.name} names {page} twice" for page in named if named.count(page) > 1]
    if problems:
        raise SiteError("\n".join(sorted(set(problems))))


def in_navigation(nav: list | dict | str) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from in_navigation(part)


class Links(HTMLParser):
    """What a page refers to: links, and what the browser fetches by itself."""

    def __init__(self, page: Path):
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif tag == "link" and "canonical" not in given.get("rel", ""):
            self.fetched.add(given.get("href", ""))
        elif tag in ("img", "script", "iframe", "source", "video", "audio") and "src" in given:
            self.fetched.add(given["src"])


def check_links(html: Path) -> None:
    """All that pages link to or show is there, and nothing is fetched from elsewhere.

    Zensical itself checks links between pages; this is for pictures and plain files, too.
    """
    problems = []
    for page in sorted(html.rglob("*.html")):
        found = Links(page)
        name = page.relative_to(html)
        problems += [f"{name} would fetch {a}" for a in found.fetched if urlsplit(a).netloc]
        if name.name == "404.html":  # its links are those of the address it is shown at
            continue
        for address in found.links | found.fetched:
            parts = urlsplit(address)
            if not (parts.scheme or parts.netloc or (page.parent / unquote(parts.path)).exists()):
                problems.append(f"{name} refers to {address}, which does not exist")
    if problems:
        raise SiteError("\n".join(problems))


if __name__ == "__main__":
    try:
        print(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".site"))
    except (SiteError, api.MissingNameError) as error:
        sys.exit(f"the site is not built:\n{error}")
