"""The page in a real browser: it steps by keys and buttons, says nothing, asks for nothing."""

from __future__ import annotations

import time

import numpy as np
import pytest

from browser import Browser
from hint_relic.data import trace
from hint_relic.paper import scores
from hint_relic.play import Recording, predicted, render, view_of
from hint_relic.play.record import accuracy
from hint_relic.reasoner import Reasoner
from hint_relic.spec import Kind

from .noise import noisy

PAPER = sorted({name for name, _ in scores()})
OTHERS = ["segments_intersect", "graham_scan", "kmp_matcher", "lcs_length", "optimal_bst"]
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
SEEN = """(() => {
  const copy = document.querySelector("main").cloneNode(true);
  copy.querySelectorAll("[visibility=hidden]").forEach((hidden) => hidden.remove());
  const maps = [...document.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL());
  return [copy.innerHTML, ...maps].join();
})()"""
FASTEST = """(() => {
  const speed = document.getElementById("speed");
  speed.value = 30;
  speed.dispatchEvent(new Event("change"));
})()"""


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.fixture
def shown(browser, tmp_path):
    """A function that opens the page of some recordings; at the end it must have been quiet."""
    browser.resize(1280)
    browser.prefer(calm=True)

    def opened(*recordings: Recording) -> Browser:
        browser.messages.clear()
        browser.requests.clear()
        file = tmp_path / "page.html"
        file.write_text(render(recordings))
        browser.open(file)
        until(browser, "document.body.dataset.ready === 'yes'")
        return browser

    yield opened
    assert browser.messages == []
    assert browser.outside() == []
    assert browser.evaluate("document.getElementById('trouble').hidden")


def until(page: Browser, condition: str) -> None:
    for _ in range(600):
        if page.evaluate(condition):
            return
        time.sleep(0.05)
    raise AssertionError(f"never: {condition}")


def step(page: Browser) -> int:
    return int(page.evaluate("document.body.dataset.step"))


def size(name: str) -> int:
    return 4 if name == "segments_intersect" else 8


@pytest.mark.parametrize("name", PAPER + OTHERS)
def test_it_steps_forward_and_back_by_keys(name, shown):
    run = trace(name, size(name))
    page, last = shown(Recording(run)), run.steps - 1
    assert step(page) == 0
    first = page.evaluate(SEEN)
    page.press("ArrowRight", "ArrowRight")
    assert step(page) == min(2, last)
    page.press("ArrowLeft")
    assert step(page) == min(2, last) - 1
    page.press("End")
    assert step(page) == last
    page.press("ArrowRight")
    assert step(page) == last
    end = page.evaluate(SEEN)
    assert end != first
    page.press("Home")
    assert step(page) == 0
    again = page.evaluate(SEEN)
    assert again == first
    assert page.evaluate("document.getElementById('status').value") == f"Step 0 of {last}"


def test_it_plays_pauses_and_ends(shown):
    page = shown(Recording(trace("insertion_sort", 8)))
    page.evaluate(FASTEST)
    page.press(" ")
    until(page, "document.body.dataset.step > 1")
    page.press(" ")
    assert page.evaluate("document.getElementById('play').getAttribute('aria-label')") == "Play"
    page.press(" ")
    until(page, "document.body.dataset.step === '7'")
    until(page, "!document.body.classList.contains('playing')")
    page.press(" ")  # from the start again
    until(page, "document.body.classList.contains('playing') && document.body.dataset.step < 7")


def test_buttons_and_the_timeline_step_too(shown):
    page = shown(Recording(trace("heapsort", 8)))
    for button, at in (("last", 35), ("back", 34), ("first", 0), ("forward", 1)):
        page.click(f"#{button}")
        assert step(page) == at
    page.click("#timeline")
    assert step(page) in (17, 18)
    page.press("ArrowRight", shift=True)
    assert step(page) in (27, 28)
    page.click("#play")
    assert page.evaluate("document.body.classList.contains('playing')")
    page.press(" ")  # on the button, which has the focus: once, not twice
    assert not page.evaluate("document.body.classList.contains('playing')")


def wrong(run, said, t, names) -> int:
    return sum(int(np.sum((said.hints[k][t] != run.hints[k][t]) & (run.hints[k][t] >= 0)))
               for k in names)  # fmt: skip


@pytest.mark.parametrize("name", ["insertion_sort", "dijkstra", "bridges"])
def test_what_is_wrong_is_marked_in_words_and_shapes(name, shown):
    run = trace(name, 8)
    said = noisy(run, 0.2)
    page = shown(Recording(run, said, "noise"))
    judged = [k for k in run.hints if run.spec[k].kind is not Kind.SCALAR]
    mistakes = np.flatnonzero(accuracy(Recording(run, said)) < 1.0)
    assert page.evaluate("document.querySelectorAll('.panel').length") == 2
    assert page.evaluate("document.querySelectorAll('.count')[1].textContent") == "given"
    for t in mistakes[:3]:
        page.click("#mistake")
        assert step(page) == t
        count = wrong(run, said, t, judged)
        text = page.evaluate("document.querySelectorAll('.count')[1].textContent")
        assert text == f"✕ {count} value{'' if count == 1 else 's'} wrong"
    rows = [k for k in judged if len(run.hints[k][0].shape) == 1]
    cells = page.evaluate("document.querySelector('table').querySelectorAll('td.wrong').length")
    assert cells == wrong(run, said, step(page), rows)
    if cells:
        mark = "getComputedStyle(document.querySelector('td.wrong'), '::after').content"
        assert "✕" in page.evaluate(mark)


def test_a_trained_network_beside_the_truth(shown):
    run = trace("bfs", 6)
    answer = Reasoner.load("bfs").follow(run)
    page = shown(predicted(Recording(run), answer, "a network"))
    page.press("ArrowRight")
    assert page.evaluate("document.getElementById('status').value").endswith("% right")
    assert "predicted by a network" in page.evaluate("document.getElementById('about').textContent")
    assert page.evaluate("document.querySelectorAll('td.sure').length") == 18  # hints, output


def test_the_view_beside_the_input(shown):
    own = Recording(trace("heapsort", 8))
    view = view_of(own, seed=0)
    page = shown(own, view)
    assert page.evaluate("document.querySelectorAll('.recording').length") == 2
    page.press("End")
    assert step(page) == view.trace.steps - 1
    assert "ended at step 35" in page.evaluate("document.querySelector('.count').textContent")


def test_names_are_shown_as_they_are(shown):
    run = trace("bfs", 4)
    page = shown(Recording(run, noisy(run, 0.5), NASTY, (NASTY, "b", "c", "d")))
    assert page.evaluate("document.querySelector('th[scope=col]').textContent") == NASTY
    assert NASTY in page.evaluate("document.getElementById('about').textContent")
    assert page.evaluate("document.images.length") == 0


@pytest.mark.parametrize("name", ["heapsort", "floyd_warshall", "dag_shortest_paths"])
def test_a_phone_shows_all_of_it_in_its_width(name, shown, browser):
    browser.resize(390, 800)
    run = trace(name, 64)
    page = shown(Recording(run, noisy(run, 0.1), "noise"))
    page.press("ArrowRight")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sides = page.evaluate("[...document.querySelectorAll('.stage')].map((s) => s.clientWidth)")
    assert max(sides) <= 390


def test_dark_colours_paper_and_names_for_those_who_listen(shown, browser):
    page = shown(Recording(trace("floyd_warshall", 6)))
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    browser.prefer(dark=True)
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != light
    browser.prefer(paper=True)
    assert page.evaluate("getComputedStyle(document.getElementById('deck')).display") == "none"
    browser.prefer(calm=True)
    named = "[...document.querySelectorAll('button, select, canvas, svg[role=img], input')]"
    assert page.evaluate(
        f"{named}.every((e) => e.hidden || e.ariaLabel || e.labels?.length || e.textContent.trim())"
    )
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.evaluate("document.getElementById('step').getAttribute('aria-valuetext')")
