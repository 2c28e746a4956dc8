"""The browser that tests of pages rely on sees what they must be able to see."""

from __future__ import annotations

import pytest

from browser import Browser

PAGE = """<!doctype html><meta charset="utf-8"><title>a page</title>
<style>body { color: black } @media (prefers-color-scheme: dark) { body { color: white } }</style>
<button onclick="this.textContent = 'pressed'">press</button><input>
<script>
  console.warn("noticed");
  fetch("http://outside.invalid/").catch(() => 0);
  setTimeout(() => { throw new Error("not caught") }, 0);
</script>"""


@pytest.fixture(scope="module")
def page():
    with Browser() as opened:
        yield opened


def test_it_sees_keys_colours_messages_and_requests(page, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE)
    page.open(file)
    assert page.evaluate("document.title") == "a page"
    page.press("Tab", "Enter")
    assert page.evaluate("document.querySelector('button').textContent") == "pressed"
    page.press("Tab", *"hi")
    assert page.evaluate("document.querySelector('input').value") == "hi"
    page.prefer(dark=True)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(255, 255, 255)"
    page.resize(390)
    assert page.evaluate("innerWidth") >= 390
    page.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert any("noticed" in message for message in page.messages)
    assert any("not caught" in message for message in page.messages)
    assert page.outside() == ["http://outside.invalid/"]


def test_a_script_that_fails_is_told(page):
    with pytest.raises(AssertionError, match="nothing_of_that_name"):
        page.evaluate("nothing_of_that_name")
