"""The first steps of a newcomer in a browser, by roles and names: no document, painting, a crawl, the right run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import library, load, save
from kinemorph.display.charts.crawl_pictures import center_of_mass_path
from kinemorph.studio.documents.new_files import EMPTY_GRID
from kinemorph.studio.open_studio import Studio
from support.studio.noted_page import wait_for
from support.tools.browsing import Browser

pytestmark = pytest.mark.slow
LONG = 60_000  # [ms] that a busy machine may need
OPENED = ("Assemble", "Tables", "Model", "Text", "Start", "Equations", "Analysis", "Runs", "Live", "Exports", "Report")


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    found = Studio(tmp_path, None)
    yield found
    found.stop()


def cell(page: Any, row: int, column: int) -> Any:
    return page.get_by_role("gridcell", name=f"Row {row}, column {column}:")


def test_every_panel_offers_a_first_step_where_no_document_is_open(studio: Studio, browser: Browser) -> None:
    """FINDINGS S5: one line and three buttons, no raw errors; the panel comes when there is a document."""
    with browser.page(1200, 900) as page:
        page.goto(studio.url)
        page.get_by_role("heading", name="New model").wait_for(timeout=LONG)
        for name in OPENED:
            page.get_by_role("tab", name=name).click()
            panel = page.get_by_role("tabpanel", name=name)
            panel.get_by_text(
                "No model is open. Create one from a template, take a robot of the library, or open a"
            ).wait_for()
            assert panel.get_by_role("button").all_inner_texts() == ["New model", "Library", "Open a file"]
        page.get_by_role("tabpanel", name="Report").get_by_role("button", name="Library").click()
        assert page.get_by_role("searchbox", name="Search the library").evaluate(
            "(one) => one === document.activeElement"
        )
        page.get_by_role("tab", name="Runs").click()
        page.get_by_role("button", name="New model").click()
        assert page.get_by_role("textbox", name="Name").evaluate("(one) => one === document.activeElement")
        page.get_by_role("button", name="Create model").click()
        page.get_by_role("tree", name="Parts of the model").wait_for(timeout=LONG)
        page.get_by_role("tab", name="Runs").click()
        page.get_by_role("button", name="Start run").wait_for(timeout=LONG)
        assert page.complaints == []


def test_modules_stand_where_they_were_painted(studio: Studio, browser: Browser) -> None:
    """FINDINGS S3, on an empty board."""
    (studio.folder / "snake.toml").write_text('kinemorph = 1\nname = "snake"\n')
    with browser.page(1200, 900) as page:
        page.goto(f"{studio.url}#snake.toml")
        page.get_by_role("tab", name="Assemble").click(timeout=LONG)
        paint(page)
        assert page.complaints == []


def paint(page: Any) -> None:
    """Paints four Backbones from left to right, and looks where they are."""
    cell(page, 4, 4).wait_for(timeout=LONG)
    cell(page, 4, 4).hover()
    page.mouse.down()
    for column in (5, 6, 7):
        cell(page, 4, column).hover()
    page.mouse.up()
    page.get_by_role("button", name="Docking of m2 and m3").wait_for(timeout=LONG)
    for column in range(4, 8):
        assert f"Backbone m{column - 4}" in cell(page, 4, column).get_attribute("aria-label")


def test_modules_crawl_by_one_button(studio: Studio, browser: Browser) -> None:
    """FINDINGS S7, S9, S11 and S12: from an empty grid to a crawl; a bar of a docking is large enough to be hit."""
    (studio.folder / "snake.toml").write_text(EMPTY_GRID.replace("NAME", "snake"))
    with browser.page(1200, 900) as page:
        page.goto(f"{studio.url}#snake.toml")
        page.get_by_role("tab", name="Assemble").click(timeout=LONG)
        cell(page, 4, 4).wait_for(timeout=LONG)
        page.get_by_text("saved", exact=True).wait_for(timeout=LONG)  # and not "saved, 1 mistake"
        assert "Backbone" in page.get_by_role("radio", name="Backbone (B)").inner_text()
        paint(page)
        box = page.get_by_role("button", name="Docking of m0 and m1").bounding_box()
        assert min(box["width"], box["height"]) >= 24.0
        cell(page, 4, 4).click()
        page.get_by_role("group", name="Selected module").get_by_text("m0: Backbone, 1 kg, 105 mm").wait_for()
        page.get_by_role("button", name="Make it crawl").click()
        page.get_by_text("It crawls 0.39 m in 5 s.", exact=False).wait_for(timeout=LONG)
        page.get_by_role("button", name="Play crawl #1").wait_for(timeout=LONG)
        page.get_by_role("button", name="Undo", exact=True).click()
        wait_for(lambda: "gait" not in (studio.folder / "snake.toml").read_text())
        assert page.complaints == []


def test_nine_modules_crawl_within_twelve_clicks(studio: Studio, browser: Browser) -> None:
    """From an empty folder, by what the page says alone: build from modules, paint nine of them, make them crawl."""
    clicks = 0
    with browser.page(1200, 900) as page:
        page.goto(studio.url)
        for button in ("Build from modules", "Make it crawl"):
            if button == "Make it crawl":
                cell(page, 4, 1).hover(timeout=LONG)
                page.mouse.down()
                for column in range(2, 10):
                    cell(page, 4, column).hover()
                page.mouse.up()
                page.get_by_role("button", name="Docking of m7 and m8").wait_for(timeout=LONG)
                clicks += 1
            page.get_by_role("button", name=button).click(timeout=LONG)
            clicks += 1
        page.get_by_role("button", name="Play crawl #1").wait_for(timeout=2 * LONG)
        assert page.complaints == []
    assert clicks <= 12
    system = load(studio.folder / "organism.toml")
    run = system.run("crawl")
    path = center_of_mass_path(system.robot, run.q[[0, -1]])
    assert len(system.assembly.modules) == 9 and np.hypot(*(path[1] - path[0])[:2]) > 0.3


def test_an_edit_goes_to_the_chosen_run(studio: Studio, browser: Browser) -> None:
    """FINDINGS S2: the form of the run before takes no edits from the moment at which another one is chosen."""
    save(library.pendulum(), studio.folder / "swing.toml")
    with (studio.folder / "swing.toml").open("a") as file:
        file.write("\n[runs.one]\ntime = 1.0\n\n[runs.two]\ntime = 2.0\n")
    with browser.page(1200, 900) as page:
        page.goto(f"{studio.url}#swing.toml")
        page.get_by_role("tab", name="Runs").click(timeout=LONG)
        page.get_by_role("textbox", name="time", exact=True).wait_for(timeout=LONG)
        page.evaluate("""() => {
          const { connection } = window.kinemorph.studio, { ask } = connection;
          connection.ask = async (name, args) => {
            if (name === "form") await new Promise((done) => { setTimeout(done, 700); });
            return ask.call(connection, name, args);
          };
        }""")
        page.get_by_role("combobox", name="Run", exact=True).select_option("two")
        page.evaluate("document.querySelector('[aria-label=\"time\"]').focus()")
        page.keyboard.type("9")
        page.keyboard.press("Enter")
        wait_for(lambda: page.evaluate("document.querySelector('[aria-label=\"time\"]').value") == "2.0")
        assert load(studio.folder / "swing.toml").runs["one"].time == 1.0
        page.get_by_role("textbox", name="time", exact=True).fill("3")
        page.get_by_role("textbox", name="time", exact=True).press("Enter")
        wait_for(lambda: load(studio.folder / "swing.toml").runs["two"].time == 3.0)


def test_results_come_into_sight_and_warnings_go_with_their_document(studio: Studio, browser: Browser) -> None:
    """FINDINGS S10 and S11."""
    for name in ("one", "two"):
        save(library.double_pendulum(), studio.folder / f"{name}.toml")
    with browser.page(1200, 600) as page:
        page.goto(f"{studio.url}#one.toml")
        page.get_by_role("tab", name="Equations").click(timeout=LONG)
        page.get_by_role("button", name="Write equations").click(timeout=LONG)
        page.get_by_role("button", name="Copy LaTeX").wait_for(timeout=LONG)
        top = page.get_by_role("button", name="Copy LaTeX").bounding_box()["y"]
        assert 0.0 < top < 300.0
        page.evaluate("window.kinemorph.studio.say('The lamp is wrong.', 'warning')")
        page.get_by_role("combobox", name="Document").select_option("two.toml")
        page.get_by_text("The lamp is wrong.").wait_for(state="detached", timeout=LONG)
