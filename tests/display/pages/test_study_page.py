"""A study as a page and as cards: names are escaped, the best items come first, and nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import library
from kinemorph.errors import UnsupportedError
from kinemorph.studies import Choice, Normal, Range, Space, Study, monte_carlo, sensitivity, sweep
from support.tools.browsing import Browser

BAD = '<script>alert(1)</script> & "more"'
GAITS = ("wave", "<b>tripod</b>")


def cost(x: float, gait: str, y: float = 0.5) -> dict[str, float]:
    if x > 0.95:
        raise ArithmeticError(f"no <i>cost</i> at {x:.2f}")
    return {"cost": (x - 0.4) ** 2 + 0.1 * GAITS.index(gait) + y, "<work>": x}


@pytest.fixture(scope="module")
def gaits() -> Study:
    space = Space({"x": Range(0.0, 1.0, points=8), "gait": Choice(*GAITS)})
    with pytest.warns(match="2 of 16 items failed"):
        return sweep(cost, space, name=BAD, workers=0)


def rows(page: str) -> list[list[str]]:
    """The cells of the items, as a browser would show them."""
    table = page.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", line) for line in table.strip().splitlines()]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in cells]


def test_the_page_lists_the_best_items_first_and_escapes_all_names(gaits: Study, tmp_path: Path) -> None:
    text = gaits.page(tmp_path / "deep" / "gaits.html", measure="cost").read_text(encoding="utf-8")
    items = rows(text)
    assert len(items) == 16
    best = gaits.best("cost", 14)
    assert [int(row[0]) for row in items[:14]] == [item.number for item in best]
    assert items[0][3:5] == ["wave", "0.428571"] and float(items[0][2]) == pytest.approx(best[0].measures["cost"], 1e-5)
    assert all("no <i>cost</i> at 1.00" in row[-1] for row in items[14:])
    assert html.escape(BAD) in text and "alert(1)</script>" not in text and "<b>tripod" not in text
    # nothing is loaded, and no script runs but the one whose digest the policy has
    assert not re.search(r"(src|href)=\"(?!data:)", text) and "http" not in text.replace("http-equiv", "")
    script = text.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert html.escape(f"script-src 'sha256-{digest}'") in text
    with pytest.raises(UnsupportedError, match=r"ends in \.html"):
        gaits.page(tmp_path / "gaits.txt")


@pytest.mark.slow
def test_a_page_may_have_few_rows_and_another_order(gaits: Study, tmp_path: Path) -> None:
    largest = rows(gaits.page(tmp_path / "b.html", measure="<work>", largest=True, rows=3).read_text(encoding="utf-8"))
    assert len(largest) == 3 and float(largest[0][1]) == pytest.approx(6 / 7, 1e-5)


@pytest.mark.slow
def test_a_click_sorts_the_table_in_a_browser(gaits: Study, tmp_path: Path, browser: Browser) -> None:
    path = gaits.page(tmp_path / "gaits.html", measure="cost")
    with browser.page() as page:
        page.goto(path.as_uri())

        def column(k: int) -> Any:
            return page.evaluate(f"[...document.querySelectorAll('tbody tr')].map((row) => row.cells[{k}].textContent)")

        page.click("th:nth-child(3) button")  # it was sorted upward by the cost
        costs = [cell for cell in column(2) if cell]
        assert costs == sorted(costs, key=float, reverse=True) and column(2)[-2:] == ["", ""]
        page.click("th:nth-child(1) button")
        assert column(0) == [str(k) for k in range(16)]
        assert page.complaints == [] and page.requests == [path.as_uri()]


@pytest.mark.slow
def test_kept_runs_have_replays(tmp_path: Path) -> None:
    study = sweep(library.pendulum(), Space({"q.q1": Range(0.1, 1.0, points=3)}), {"angle": "q.q1"}, until=0.2,
                  keep="all", store=tmp_path / "a.study", workers=0)  # fmt: skip
    page = study.page(tmp_path / "a.html", replays=2).read_text(encoding="utf-8")
    links = re.findall(r'href="(a\.replays/item-\d\.html)"', page)
    assert len(links) == 2 and all((tmp_path / link).stat().st_size > 50_000 for link in links)
    assert "3 runs were kept; the best 2 have replays." in page
    one = study.item(1).replay(tmp_path / "one.html").path
    assert "a, item 1: q.q1 = 0.55" in html.unescape(one.read_text(encoding="utf-8"))
    assert study.item(1).plot("q.q1").axes[0].lines


def test_a_study_that_keeps_runs_only_has_a_page_and_a_card_without_pictures(tmp_path: Path) -> None:
    study = sweep(lambda x: {}, Space({"x": Range(0.0, 1.0, points=3)}), workers=0)
    page = study.page(tmp_path / "runs.html").read_text(encoding="utf-8")
    assert page.count('<td class="text">done</td>') == 3 and "<img" not in page
    assert "items 3 · done 3" in study._repr_html_()
    with pytest.raises(UnsupportedError, match="has no measures to show"):
        study.plot()


def test_the_usual_picture_depends_on_what_varies(gaits: Study, tmp_path: Path) -> None:
    assert gaits.plot().axes[0].get_ylabel() == "x" and gaits.plot("curve", "cost", x="gait").axes[0].lines
    assert gaits.plot(where={"gait": "wave"}, path=tmp_path / "a.svg").axes[-1].get_xlabel() == "x"
    assert (tmp_path / "a.svg").stat().st_size > 5000
    for options, sentence in (
        ({"kind": "mapp"}, "kind is 'mapp'; expected one of curve, map.* Did you mean 'map'"),
        ({"kind": "histogram", "x": "x"}, "'histogram' has no option 'x'. Its options: title"),
        ({"measure": "cots"}, "no measure 'cots'. Did you mean 'cost'"),
        ({"kind": "map", "x": "gate"}, "no part 'gate'. Did you mean 'gait'"),
        ({"kind": "map", "of": "median"}, "of is 'median'; expected one of 'mean', 'largest', 'smallest'"),
    ):
        with pytest.raises(UnsupportedError, match=sentence):
            gaits.plot(**options)


def test_cards_have_a_picture_a_table_and_no_script(gaits: Study) -> None:
    card = gaits._repr_html_()
    assert "items 16 · done 14 · failed 2" in card and "data:image/png;base64," in card
    assert "<script" not in card and "<b>tripod" not in card and "no &lt;i&gt;cost" in card


@pytest.mark.slow
def test_estimates_and_sensitivities_have_cards_and_pictures() -> None:
    drawn = monte_carlo(_height, {"x": Normal(1.0, 0.1)}, count=40, workers=0)
    card = drawn._repr_html_()
    assert "items 40" in card and "intervals of 95 %" in card and "data:image/png" in card
    assert drawn.plot("convergence").axes[0].lines and drawn.plot("histogram").axes[0].patches
    assert drawn.plot("curve").axes[0].get_xlabel() == "x"
    found = sensitivity(_height, {"x": Range(0.0, 1.0), "y": Range(0.0, 1.0)}, method="morris", count=4, workers=0)
    assert "morris" in found._repr_html_() and "mu*" in found._repr_html_()
    names = {text.get_text() for text in found.plot().axes[0].texts}
    assert names == {"x", "y"}
    bars = sensitivity(_height, {"x": Range(0.0, 1.0), "y": Range(0.0, 1.0)}, count=32, workers=0).plot()
    assert [text.get_text() for text in bars.axes[0].get_yticklabels()] == ["x", "y"]
    with pytest.raises(UnsupportedError, match="where chooses items"):
        found.plot(where={"x": 1.0})


def test_a_study_that_was_interrupted_in_its_pilot_has_a_page_of_its_items(tmp_path: Path) -> None:
    left = [20]

    def interrupted(x: float) -> float:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return x

    found = monte_carlo(interrupted, {"x": Normal(1.0, 0.1)}, error=0.001, workers=0)
    page = found.page(tmp_path / "page.html").read_text()
    assert "curve of the study" in page and "nothing is estimated before its pilot is done" in page
    with pytest.raises(UnsupportedError, match="choose another kind of picture"):
        found.plot()
    assert "choose another kind of picture" in found._repr_html_()


def _height(x: float, y: float = 0.0) -> float:
    return float(2.0 * x + 0.5 * np.sin(3.0 * y))
