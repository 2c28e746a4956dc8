"""The documentation site: no warnings, nothing asked for outside, faults are noticed."""

from __future__ import annotations

import http.server
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from browser import Browser

WEBSITE = Path(__file__).parents[1] / "website"
PHONE = 390
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def tools():
    """The two modules of `website/`, imported from there."""
    sys.path.insert(0, str(WEBSITE))
    try:
        import api
        import build

        yield build, api
    finally:
        sys.path.remove(str(WEBSITE))


@pytest.fixture(scope="module")
def site(tools, tmp_path_factory):
    return tools[0].build(tmp_path_factory.mktemp("site")).parent


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site):
    """The site on a server of its own, as readers will see it."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=site)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def page(address):
    with Browser() as opened:
        yield opened


def test_every_page_is_built(site):
    for name in ("index", "tour", "results", "api/data", "decisions/0001-compact-traces"):
        assert (site / f"{name}.html").is_file()
    assert "Reasoner.load" in (site / "api" / "reasoner.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["index", "results", "api/config"])
def test_pages_ask_for_nothing_outside_and_fit_a_phone(page, address, name):
    page.requests.clear()
    page.messages.clear()
    for width in (1280, PHONE):
        page.resize(width)
        page.open(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    assert [asked for asked in page.requests if not asked.startswith((address, "data:"))] == []
    assert page.messages == []


def test_pages_can_be_opened_as_files(site):
    with Browser() as page:
        page.open(site / "index.html")
        assert page.evaluate("document.querySelector('img.pipeline').naturalWidth") > 0
        assert page.outside() == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[x](no-such-page.md)", "page does not exist"),
        ("[x](data.md#no-such-part)", "anchor does not exist"),
        ("![x](img/none.svg)", "none.svg, which does not exist"),
        ("[x](../src/none.py)", "none.py, which does not exist"),
        ('<img src="https://outside.invalid/x.png">', "would fetch https://outside.invalid/x.png"),
    ],
    ids=["page", "part", "picture", "file", "outside"],
)
def test_a_broken_link_fails_the_build(tools, tmp_path, monkeypatch, text, fault):
    build, _ = tools
    small_site(build, tmp_path, monkeypatch)
    (tmp_path / "docs" / "index.md").write_text(f"# A page\n\n{text}\n")
    with pytest.raises(build.SiteError, match=fault):
        build.build(tmp_path / "out")


def test_the_navigation_names_every_page_and_no_other(tools, tmp_path, monkeypatch):
    build, _ = tools
    small_site(build, tmp_path, monkeypatch)
    (tmp_path / "docs" / "forgotten.md").write_text("# Forgotten\n")
    (tmp_path / "docs" / "data.md").unlink()
    with pytest.raises(build.SiteError) as told:
        build.build(tmp_path / "out")
    assert str(told.value).splitlines() == [
        "zensical.toml leaves out forgotten.md: add it to nav",
        "zensical.toml names data.md, which does not exist",
    ]


def small_site(build, folder, monkeypatch):
    """Two pages and no API reference, where the real ones would be."""
    (folder / "docs").mkdir()
    for name in ("index", "data"):
        (folder / "docs" / f"{name}.md").write_text("# A page\n")
    config = '[project]\nsite_name = "x"\ndocs_dir = "pages"\nsite_dir = "html"\n'
    config += 'use_directory_urls = false\nnav = [{ "A" = "index.md" }, { "B" = "data.md" }]\n'
    config += "[project.theme]\nfont = false\n"
    (folder / "zensical.toml").write_text(config)
    (folder / "style.css").touch()
    monkeypatch.setattr(build, "ROOT", folder)
    monkeypatch.setattr(build, "CONFIG", folder / "zensical.toml")
    monkeypatch.setattr(build, "STYLE", folder / "style.css")
    monkeypatch.setattr(build, "ROOT_PAGES", {})
    monkeypatch.setattr(build.api, "pages", dict)


def test_a_name_that_vanished_fails_the_build(tools, tmp_path, monkeypatch):
    build, api = tools
    monkeypatch.setitem(api.PAGES, "train", ("Training", {"hint_relic.train.loop": ("trainn",)}))
    with pytest.raises(api.MissingNameError, match=r"hint_relic\.train\.loop\.trainn"):
        build.build(tmp_path)
    monkeypatch.setitem(api.PAGES, "train", ("Training", {"hint_relic.gone": ("train",)}))
    with pytest.raises(api.MissingNameError, match=r"hint_relic\.gone"):
        build.build(tmp_path)


def test_docstrings_become_markdown(tools):
    _, api = tools
    text = "What it does.\n\nsize, seed: of the draw,\nboth whole.\nNote: a word.\n\n>>> f()\n1"
    assert api.prose(text, {"size", "seed"}) == (
        "What it does.\n\n\n- `size`, `seed`: of the draw,\n  both whole.\n  Note: a word.\n\n"
        "```pycon\n>>> f()\n1\n```"
    )
