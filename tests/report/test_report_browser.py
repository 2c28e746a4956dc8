"""The page in a real browser: it renders, switches, sorts and filters, by keyboard alone."""

from __future__ import annotations

from itertools import pairwise

import made
import pytest

from browser import Browser
from hint_relic.report.gather import gather
from hint_relic.report.page import page as report_page

ROWS = "[...document.querySelectorAll('#table-all tbody tr')].filter(row => !row.hidden)"
NAMES = f"{ROWS}.map(row => row.cells[0].textContent)"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    top = tmp_path_factory.mktemp("grid")
    low = {"best": [0.9, 0.9, 0.91], "best_average": [1.0, 1.0, 0.99]}
    made.cell(top, "bfs", "baseline", low | {"last": [0.5, 0.5, 0.6]})
    made.cell(top, "minimum", "baseline", [0.95, 0.96, 0.97])
    made.cell(top, "insertion_sort", "baseline", [0.999, 0.998, 0.999])
    failed = made.cell(top, "dfs", "baseline", steps=2000)
    made.write(failed / "error.json", {"message": "<b>lost</b>"})
    steps = {"reach_h": [1.0, 0.9, -1.0], "pi_h": [1.0, 0.5, 0.4]}
    scores = {"test split": {"hint_score_at_step": steps}}
    made.write(top / "bfs-baseline" / "evaluation.json", {"weights": "best", "scores": scores})
    out = top / "report.html"
    out.write_text(report_page(gather(top), "a test"))
    return out


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.fixture
def page(browser, file):
    browser.messages.clear()
    browser.requests.clear()
    browser.prefer()
    browser.resize(1280)
    browser.open("about:blank")
    browser.open(file)
    yield browser
    assert browser.messages == []
    assert browser.outside() == []


def focus(page, script):
    page.evaluate(f"({script}).focus()")


def test_it_renders(page):
    assert page.evaluate("document.title").startswith("Hint-ReLIC")
    assert page.evaluate("document.querySelectorAll('#tables table').length") == 5
    assert page.evaluate("document.querySelectorAll('#figures figure').length") == 2
    assert page.evaluate("document.querySelectorAll('#curves .curve').length") == 8
    assert page.evaluate("document.querySelectorAll('#hints .curve').length") == 2
    assert "<b>lost</b>" in page.evaluate("document.querySelector('#gaps').textContent")
    width = "document.querySelector('#figure-main rect.full').getBoundingClientRect().width"
    assert page.evaluate(width) > 50


def test_every_score_leads_to_its_command(page):
    link = "document.querySelector('#table-all a.ours[data-w=best]')"
    focus(page, link)
    page.press("Enter")
    # The page opens it when it hears of the new address, which may be after the key is answered.
    opened = "document.querySelector('details:target[open]')"
    wait = f"new Promise(r => setInterval(() => {opened} && r(true), 20))"
    assert page.evaluate(f"Promise.race([{wait}, new Promise(r => setTimeout(r, 5000, false))])")
    text = page.evaluate("document.querySelector('details:target').innerText")
    assert "hint-relic train bfs --variant baseline" in text
    assert "0123abc" in text


def test_the_switch_changes_scores_and_verdicts(page):
    seen = "[...document.querySelectorAll('#table-all .ours')].find(a => a.offsetParent)"
    assert page.evaluate(f"{seen}.textContent").startswith("90.33")
    assert page.evaluate(f"{seen}.textContent").endswith("worse than the paper")
    focus(page, "document.querySelector('input[name=weights]')")
    page.press("ArrowRight")
    assert page.evaluate("document.documentElement.dataset.weights") == "best_average"
    assert page.evaluate(f"{seen}.textContent").startswith("99.67")
    page.press("ArrowRight", "ArrowRight")
    bfs = f"{ROWS}.find(row => row.cells[0].textContent == 'BFS').cells[2].innerText"
    assert "not kept" in page.evaluate(bfs)


def test_sorting_goes_down_up_and_back(page):
    usual = page.evaluate(NAMES)
    head = "document.querySelectorAll('#table-all thead th')[2]"
    focus(page, f"{head}.querySelector('button')")
    page.press("Enter")
    assert page.evaluate(f"{head}.getAttribute('aria-sort')") == "descending"
    assert page.evaluate(NAMES)[:3] == ["Insertion sort", "Minimum", "BFS"]
    page.press("Enter")
    assert page.evaluate(f"{head}.getAttribute('aria-sort')") == "ascending"
    assert page.evaluate(NAMES)[:3] == ["BFS", "Minimum", "Insertion sort"]  # gaps stay at the end
    page.press("Enter")
    assert page.evaluate(f"{head}.getAttribute('aria-sort')") == "none"
    assert page.evaluate(NAMES) == usual


def test_sorting_follows_the_switch_and_what_to_sort_by(page):
    page.click("#table-all thead th:nth-child(3) button")
    page.click("input[value=best_average]")
    assert page.evaluate(NAMES)[:2] == ["Insertion sort", "BFS"]
    choose(page, "order", "paper")
    assert page.evaluate(NAMES)[0] == "BFS"
    assert page.evaluate(NAMES)[-1] == "Heapsort"
    choose(page, "order", "difference")
    assert page.evaluate(NAMES)[:3] == ["Insertion sort", "BFS", "Minimum"]


def test_names_and_measures_sort_too(page):
    focus(page, "document.querySelector('#table-all thead button')")
    page.press("Enter")
    names = page.evaluate(NAMES)
    assert names == sorted(names, key=str.lower)
    page.click("#table-resources thead th:nth-child(3) button")
    updates = (
        "[...document.querySelectorAll('#table-resources tbody tr')].map(r => r.cells[2].innerText)"
    )
    assert page.evaluate(updates) == ["10,000", "10,000", "10,000", "2,000"]


def test_filters_by_name_group_and_verdict(page):
    focus(page, "document.getElementById('search')")
    page.press(*"bfs")
    assert page.evaluate(NAMES) == ["BFS"]
    assert "1 of 18" in page.evaluate("document.getElementById('status').textContent")
    assert (
        page.evaluate(
            "[...document.querySelectorAll('details.cell')].filter(d => !d.hidden).length"
        )
        == 1
    )
    page.press("Backspace", "Backspace", "Backspace")
    choose(page, "group", "Sorting")
    assert len(page.evaluate(NAMES)) == 4
    choose(page, "group", "")
    choose(page, "show", "worse")
    assert page.evaluate(NAMES) == ["BFS", "Minimum"]
    page.click("input[value=best_average]")
    assert page.evaluate(NAMES) == ["Minimum"]
    choose(page, "show", "")
    choose(page, "variant", "hint_relic")
    assert page.evaluate("[...document.querySelectorAll('details.cell')].every(d => d.hidden)")


def choose(page, key, value):
    page.evaluate(
        f"(() => {{ const s = document.getElementById('{key}'); s.value = '{value}';"
        "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_a_select_is_worked_by_keyboard(page):
    focus(page, "document.getElementById('group')")
    page.press("ArrowDown")
    assert page.evaluate("document.getElementById('group').value") == "Depth-first search"
    assert len(page.evaluate(NAMES)) == 5


def test_tab_reaches_every_control(page):
    seen = []
    for _ in range(18):
        page.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert {"weights", "search", "group", "variant", "show", "order"} <= set(seen)


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_it_without_scrolling_sideways(page, dark):
    page.prefer(dark=dark)
    page.resize(390, 844)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const bad = new Set();
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest('svg, script')) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(e.localName + '.' + e.className + ' ' + ratio.toFixed(2));
  }
  return [...bad];
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_contrast(page, dark):
    page.prefer(dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate(CONTRAST) == []


def test_it_is_built_for_readers_of_all_kinds(page):
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.localName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    unnamed = "[...document.querySelectorAll('%s')].filter(e => !(%s)).length"
    for selector, name in (
        ("svg", "e.getAttribute('aria-label')"),
        ("table", "e.caption"),
        ("input, select", "e.labels.length"),
        (".scroll", "e.getAttribute('aria-label') && e.tabIndex === 0"),
        (
            "#tables .ours.better, #tables .ours.worse, #tables .ours.within",
            "e.querySelector('.sign')",
        ),
    ):
        assert page.evaluate(unnamed % (selector, name)) == 0, selector


def test_paper_gets_all_cells_and_no_controls(page):
    page.prefer(paper=True)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details')].every(d => d.open)")
    assert page.evaluate("getComputedStyle(document.querySelector('.controls')).display") == "none"
