"""Lost connections, killed workers, no WebGL2, two pages, pages that sleep: a sentence, and nothing is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph.bench.peers.chromium import OPTIONS
from kinemorph.studio.open_studio import Studio
from support.tools.browsing import Browser
from support.tools.studio_panels import PATIENCE, STUDIO, make_project, open_panel

pytestmark = pytest.mark.slow
TYPED = "# typed while the studio was away\n"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    found = Studio(make_project(tmp_path), "swing.toml")
    yield found
    found.stop()


def type_text(page: Any, text: str) -> Any:
    """Types a text at the beginning of the panel Text, and returns its area."""
    area = page.get_by_role("textbox", name="Text of the file")
    area.press("Control+Home")
    area.press_sequentially(text)
    return area


def rename(page: Any, name: str) -> None:
    """Renames the model by a command, as a form does."""
    page.evaluate(f"name => {STUDIO}.edit({{verb: 'set', path: ['name'], value: name}})", name)


def shown_name(page: Any) -> str:
    found: str = page.evaluate(f"{STUDIO}.state.data.name")
    return found


def keep_picture(page: Any, name: str) -> None:
    """Keeps a picture of a state to look at, if the environment variable SHOTS names a folder."""
    if "SHOTS" in os.environ:
        page.screenshot(path=f"{os.environ['SHOTS']}/{name}.png")


def wait_for_name(page: Any, name: str) -> None:
    page.wait_for_function(f"name => {STUDIO}.state?.data.name === name", arg=name, timeout=PATIENCE)


def test_a_studio_that_is_started_again_has_the_typed_text_and_the_undo_history(
    browser: Browser, studio: Studio
) -> None:
    """A new studio has a new token: the address that it prints is opened, and the old page goes on too."""
    with browser.page(1300, 850) as page:
        open_panel(page, studio.url, "swing.toml", "Text")
        rename(page, "one")
        rename(page, "two")
        port, folder = studio.server.port, studio.folder
        studio.stop()
        status = page.get_by_role("status", name="Connection")
        status.get_by_text("The connection to the program is lost. Connecting again.").wait_for(timeout=PATIENCE)
        area = type_text(page, TYPED)
        page.get_by_role("alert").get_by_text("The program is not connected. Nothing was sent.").wait_for()
        keep_picture(page, "lost")
        status.get_by_text("Start it again, and open the address that it prints.").wait_for(timeout=PATIENCE)
        keep_picture(page, "gone")
        second = Studio(folder, "swing.toml", port=port)
        try:
            assert page.context.request.get(second.url).ok  # as another tab of this browser does
            status.get_by_text("connected", exact=True).wait_for(timeout=PATIENCE)
            assert area.input_value().startswith(TYPED)  # it is still there, and is applied by itself now
            page.wait_for_function(f"text => {STUDIO}.state.text.startsWith(text)", arg=TYPED, timeout=PATIENCE)
            keep_picture(page, "again")
            for name in ("two", "one", "double_pendulum"):
                page.get_by_role("button", name="Undo").click()
                wait_for_name(page, name)
        finally:
            second.stop()


def test_a_closed_socket_is_opened_again(browser: Browser, studio: Studio) -> None:
    """A laptop that sleeps closes the connection: the page connects again, with its document, panel and edits."""
    with browser.page(1300, 850) as page:
        open_panel(page, studio.url, "modules.toml", "Assemble")
        page.context.set_offline(True)
        for channel in list(studio.session.channels):
            channel.close()
        status = page.get_by_role("status", name="Connection")
        status.get_by_text("The connection to the program is lost.").wait_for(timeout=PATIENCE)
        studio.document("modules.toml").apply({"verb": "set", "path": ["name"], "value": "meanwhile"})
        page.context.set_offline(False)
        status.get_by_text("connected", exact=True).wait_for(timeout=PATIENCE)
        wait_for_name(page, "meanwhile")
        assert page.get_by_role("tab", selected=True).inner_text() == "Assemble"


def test_two_pages_edit_at_once(browser: Browser, studio: Studio) -> None:
    """Each sees the edits of the other; a text that one types is never replaced, and replaces nothing by itself."""
    with browser.page(1300, 850) as one, browser.page(1300, 850) as other:
        for page in (one, other):
            open_panel(page, studio.url, "swing.toml", "Text")
        rename(one, "first")
        wait_for_name(other, "first")
        area = type_text(other, "# mine\n")
        rename(one, "second")
        other.get_by_text("The file was changed elsewhere.").wait_for(timeout=PATIENCE)
        keep_picture(other, "two_pages")
        other.wait_for_timeout(1500)
        assert area.input_value().startswith("# mine") and 'name      = "first"' in area.input_value()
        assert studio.document("swing.toml").data["name"] == "second"
        for number in range(20):
            rename(one if number % 2 else other, f"n{number}")
        for page in (one, other):
            wait_for_name(page, "n19")
        assert len(studio.document("swing.toml").history) == 22 and studio.document("swing.toml").saved


def test_a_text_that_was_typed_is_kept_when_another_document_is_shown(browser: Browser, studio: Studio) -> None:
    with browser.page(1300, 850) as page:
        open_panel(page, studio.url, "swing.toml", "Text")
        page.wait_for_function("() => document.querySelector('textarea')?.value", timeout=PATIENCE)
        page.evaluate(
            """text => {
              const area = document.querySelector("textarea"), { studio } = window.kinemorph;
              area.value = text + area.value;
              area.dispatchEvent(new Event("input"));
              studio.show("modules.toml");
            }""",
            TYPED,
        )
        page.wait_for_function(f"() => {STUDIO}.state.document === 'modules.toml'")
        page.wait_for_timeout(500)
        assert studio.document("swing.toml").text.startswith(TYPED)


def test_a_page_in_the_background_catches_up(browser: Browser, studio: Studio) -> None:
    """A browser freezes hidden pages. The server goes on, and the page shows the newest state when it is seen again."""
    with browser.page(1300, 850) as page:
        open_panel(page, studio.url, "modules.toml", "Assemble")
        page.wait_for_function(f"() => {STUDIO}.stage?.webgl", timeout=PATIENCE)
        debugger = page.context.new_cdp_session(page)
        debugger.send("Page.setWebLifecycleState", {"state": "frozen"})
        document = studio.document("modules.toml")
        for number in range(200):
            with studio.session.edits:
                document.apply({"verb": "set", "path": ["name"], "value": f"n{number}"})
                studio.session.edited(document)
        debugger.send("Page.setWebLifecycleState", {"state": "active"})
        wait_for_name(page, "n199")
        assert page.complaints == []


def test_a_killed_worker_is_a_sentence_and_the_next_run_works(browser: Browser, studio: Studio) -> None:
    with (studio.folder / "swing.toml").open("a") as file:
        file.write("\n[runs.long]\ntime = 1e7\noutput_step = 50\nrtol = 1e-12\nq = { q1 = 2.0 }\n")
    with browser.page(1300, 850) as page:
        open_panel(page, studio.url, "swing.toml", "Runs")
        page.get_by_role("combobox", name="Run", exact=True).select_option("long", timeout=PATIENCE)
        page.get_by_role("button", name="Start run").click(timeout=PATIENCE)
        page.get_by_text("t = ", exact=False).first.wait_for(timeout=PATIENCE)
        for process in studio.session.workers.processes:
            os.kill(process, signal.SIGKILL)
        page.get_by_text("The process that did the work has ended unexpectedly (SIGKILL, phase 'run')").first.wait_for(
            timeout=PATIENCE
        )
        keep_picture(page, "killed")
        page.get_by_role("combobox", name="Run", exact=True).select_option("fall")
        page.get_by_role("button", name="Start run").click()
        page.get_by_role("button", name="Play fall").first.wait_for(timeout=PATIENCE)


def test_without_webgl2_everything_but_the_picture_works(studio: Studio) -> None:
    from playwright.sync_api import sync_playwright

    from kinemorph.bench.peers.chromium import find_chromium

    args = [one for one in OPTIONS if "swiftshader" not in one]
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=[*args, "--disable-3d-apis"])
        page = chromium.new_page(viewport={"width": 1300, "height": 850})
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        open_panel(page, studio.url, "modules.toml", "Assemble")
        page.get_by_text("This browser shows no 3-D picture because WebGL2 is missing").wait_for(timeout=PATIENCE)
        page.get_by_role("gridcell", name="Backbone m2").click()
        page.keyboard.press("r")
        page.wait_for_function(f"() => {STUDIO}.state.revision === 1", timeout=PATIENCE)
        page.get_by_role("gridcell", name="Backbone m2, front down").wait_for(timeout=PATIENCE)
        keep_picture(page, "no_webgl")
        open_panel(page, studio.url, "swing.toml", "Runs")
        page.get_by_role("button", name="Start run").click(timeout=PATIENCE)
        page.get_by_role("button", name="Play fall").first.wait_for(timeout=PATIENCE)
        assert complaints == []
        chromium.close()


def test_a_folder_with_5000_models_opens_quickly(browser: Browser, tmp_path: Path) -> None:
    for number in range(5000):
        (tmp_path / f"m{number:04}.toml").write_text('kinemorph = 1\nname = "m"\n[bodies.a]\nmass = 1\n')
    found = Studio(tmp_path)
    try:
        with browser.page(1300, 850) as page:
            page.goto(found.url)
            page.get_by_role("tab", name="Files").click(timeout=5000)
            page.get_by_role("searchbox", name="Search the files").fill("4321", timeout=5000)
            page.get_by_role("button", name="m4321.toml", exact=True).click(timeout=5000)
            page.wait_for_function(f"() => {STUDIO}.state?.document === 'm4321.toml'", timeout=5000)
            keep_picture(page, "many")
    finally:
        found.stop()
