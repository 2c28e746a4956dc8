"""The table in one as a picture of its own, and the one that the documentation shows."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import made
import pytest

from hint_relic.report.figure import Axis, to_svg
from hint_relic.report.gather import gather
from hint_relic.report.layout import layout

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def drawn(top: Path):
    """The picture's own lines: (words, centres of the marks of ours), by height."""
    picture = ElementTree.fromstring(to_svg(gather(top)))
    marks = {
        float(circle.get("cy")) + 4: float(circle.get("cx"))
        for group in picture.iter(f"{SVG}g")
        if group.get("class") == "ours"
        for circle in group.iter(f"{SVG}circle")
    }
    words: dict[float, list[str]] = {}
    for text in picture.iter(f"{SVG}text"):
        words.setdefault(float(text.get("y")), []).append(text.text)
    return {told[0]: (told[1], marks.get(y)) for y, told in words.items() if len(told) == 2}


def test_each_algorithm_has_a_line_and_ours_stands_where_its_score_is(tmp_path):
    made.cell(tmp_path, "bfs", "hint_relic", [0.8, 0.9, 1.0])
    made.cell(tmp_path, "heapsort", "hint_relic", [0.5, 0.5, 0.5])
    found = drawn(tmp_path)
    assert [*found] == [*(row.title for row in layout().rows), "mean of 2"]
    assert found["BFS"] == ("90.00 ± 5.77", Axis(20.0)(90.0))
    assert found["Heapsort"] == ("50.00 ± 0.00", Axis(20.0)(50.0))
    assert found["mean of 2"] == ("70.00", Axis(20.0)(70.0))
    assert found["Dijkstra"] == ("not run", None)


@pytest.mark.parametrize(("score", "low"), [(0.012, 0.0), (0.155, 10.0), (0.99, 20.0)])
def test_the_axis_reaches_the_lowest_score(tmp_path, score, low):
    made.cell(tmp_path, "bfs", "hint_relic", [score] * 3)
    assert drawn(tmp_path)["BFS"][1] == Axis(low)(100 * score)


def test_without_any_result_it_is_the_papers_figures(tmp_path):
    made.cell(tmp_path, "bfs", "hint_relic")
    found = drawn(tmp_path)
    assert set(found.values()) == {("not run", None)}
    assert [*found] == [row.title for row in layout().rows]


def test_the_documentation_shows_what_is_recorded():
    told = (ROOT / "docs" / "img" / "results.svg").read_text()
    assert told == to_svg(gather(ROOT / "results")), (
        "docs/img/results.svg: `hint-relic report results --svg --out PAGE.html` makes it"
    )
