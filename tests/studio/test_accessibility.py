"""The pages for everybody: axe-core finds nothing wrong in any panel, light and dark; 200 % zoom, touch, reduced motion
and the colors of the system work (000-27).

axe-core comes with the development dependency axe-playwright-python. It is evaluated through the browser's debugger, so
the pages keep their policy against foreign scripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kinemorph.display.viewer.view import view
from kinemorph.model.library.choosing import choose
from kinemorph.studio.open_studio import Studio, open_studio
from support.tools.browsing import Browser
from support.tools.studio_panels import PATIENCE, STATES, STUDIO, make_project, open_panel, open_state

OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}  # this rule is off by itself
OUTSIDE = """() => {
  const scrolled = (one) => one && one !== document.documentElement
    && (["auto", "scroll"].includes(getComputedStyle(one).overflowX) || scrolled(one.parentElement));
  const seen = [...document.querySelectorAll("button, select, input, textarea, a[href], summary, [role=tab]")]
    .filter((one) => one.checkVisibility() && !one.classList.contains("skip") && !scrolled(one.parentElement));
  return seen.filter((one) => {
    const { left, right } = one.getBoundingClientRect();
    return left < -0.5 || right > innerWidth + 0.5;
  }).map((one) => one.outerHTML.slice(0, 120));
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(make_project(tmp_path_factory.mktemp("project")), open=False) as opened:
        yield opened


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong on a page, of any severity: the rule, its impact, and the element.

    Port markers are not measured: where they lie in the picture is what they tell (WCAG 2.5.8, "essential"), and the
    same modules are docked on the board with large cells.
    """
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed: pip install axe-playwright-python"
    )
    found = axe.Axe().run(page, options=OPTIONS).response["violations"]
    rows = [(one["id"], one["impact"], node["html"]) for one in found for node in one["nodes"]]
    return [
        f"{rule} ({impact}): {html[:200]}"
        for rule, impact, html in rows
        if not (rule == "target-size" and 'class="port' in html)
    ]


def check_both_colors(page: Any) -> None:
    """Nothing is wrong on the page as it is, light and dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme


def test_axe_finds_nothing_wrong_in_a_panel(browser: Browser, studio: Studio) -> None:
    with browser.page(1300, 850) as page:
        page.emulate_media(color_scheme="dark")
        open_state(page, studio.url, "cells")
        assert violations(page) == []
        page.evaluate("document.querySelector('select').removeAttribute('aria-label')")
        assert any("select-name (critical)" in one for one in violations(page))  # it would find a fault
        assert page.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_axe_finds_nothing_wrong(browser: Browser, studio: Studio, name: str) -> None:
    with browser.page(1300, 850) as page:
        open_state(page, studio.url, name)
        check_both_colors(page)
        assert page.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("subject", ["double_pendulum", "organism9"])
def test_axe_finds_nothing_wrong_in_the_viewer(browser: Browser, subject: str) -> None:
    with view(choose(subject)) as viewer, browser.page(1300, 850) as page:
        page.goto(viewer.url)
        page.wait_for_selector("html[data-ready=true]", timeout=PATIENCE)
        check_both_colors(page)


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_at_200_percent_nothing_lies_beside_the_page(browser: Browser, studio: Studio, name: str) -> None:
    """A window of 1400 pixels at 200 % is 700 wide: the page does not scroll sideways, and no control is cut off."""
    with browser.page(700, 425) as page:
        open_state(page, studio.url, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 700
        assert page.evaluate(OUTSIDE) == []
        assert violations(page) == []


@pytest.mark.slow
def test_colors_of_the_system_and_reduced_motion(browser: Browser, studio: Studio) -> None:
    """With forced colors the chosen tab is marked by its own color; with reduced motion nothing moves by itself."""
    with browser.page(1300, 850) as page:
        page.emulate_media(forced_colors="active", reduced_motion="reduce")
        panel = open_state(page, studio.url, "form")
        tabs = page.get_by_role("tab")
        color = "one => getComputedStyle(one).borderBottomColor"
        chosen = page.get_by_role("tab", selected=True).evaluate(color)
        others = {tab.evaluate(color) for tab in tabs.all() if tab.get_attribute("aria-selected") == "false"}
        assert others and chosen not in others
        label = panel.get_by_role("treeitem", selected=True).locator(".label").first
        assert label.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
        assert page.evaluate("document.getAnimations().length") == 0
        assert violations(page) == []


@pytest.mark.slow
def test_the_board_and_the_picture_work_by_touch(browser: Browser, studio: Studio) -> None:
    """A tap places a module and chooses one; one finger turns the camera, two fingers bring it nearer."""
    with browser.page(1000, 800, has_touch=True) as page:
        panel = open_panel(page, studio.url, "modules.toml", "Assemble")
        page.wait_for_function(f"() => {STUDIO}.stage?.webgl", timeout=PATIENCE)
        before = page.evaluate(f"{STUDIO}.state.revision")
        panel.get_by_role("gridcell", name="Row 4, column 3:").tap(timeout=PATIENCE)
        page.wait_for_function(f"before => {STUDIO}.state.revision > before", arg=before, timeout=PATIENCE)
        panel.get_by_role("gridcell", name="Row 4, column 3: Backbone").wait_for(timeout=PATIENCE)
        panel.get_by_role("gridcell", name="Backbone m1").tap()
        page.wait_for_function(f"() => {STUDIO}.selection?.name === 'm1'", timeout=PATIENCE)
        box = page.locator("canvas.picture").bounding_box()
        x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
        debugger = page.context.new_cdp_session(page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            fingers = [{"x": a, "y": b, "id": k} for k, (a, b) in enumerate(points)]
            debugger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

        def view_matrix() -> list[float]:
            page.wait_for_timeout(300)
            found: list[float] = page.evaluate(f"Array.from({STUDIO}.stage.camera.matrix)")
            return found

        first = view_matrix()
        touch("touchStart", (x, y))
        for step in range(1, 6):
            touch("touchMove", (x + 15 * step, y))
        touch("touchEnd")
        turned = view_matrix()
        assert turned != first
        touch("touchStart", (x - 40, y), (x + 40, y))
        for step in range(1, 6):
            touch("touchMove", (x - 40 - 10 * step, y), (x + 40 + 10 * step, y))
        touch("touchEnd")
        assert view_matrix() != turned
