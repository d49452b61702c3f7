"""The panels Equations, Analysis, Exports and Report in Chromium, by roles and names alone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from kinemorph.formats.loading import saved_texts
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.choosing import choose
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.studio.open_studio import Studio, open_studio

HOSTILE = "<img src=x onerror=alert(1)>"
STUDIO = "window['kinemorph'].studio"  # the object of the page that panels share
PATIENCE = 30_000  # [ms]


@pytest.fixture(scope="module")
def studio(tmp_path_factory) -> Iterator[Studio]:
    """A studio on a folder with a double pendulum, a four-bar, and a pendulum with a hostile name."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("double_pendulum", "four_bar"):
        for file, text in saved_texts(choose(name), "toml", name).items():
            (folder / file).write_text(text)
    (text,) = saved_texts(System(hostile_robot()), "toml", "hostile").values()
    (folder / "hostile.toml").write_text(text)
    opened = open_studio(folder, open=False)
    yield opened
    opened.stop()


def hostile_robot() -> Robot:
    """A pendulum whose robot, body, joint and parameters have names that would be markup, or are very long."""
    builder = RobotBuilder(HOSTILE)
    mass, length = Parameter(f"m{HOSTILE}", 2.0, "kg"), Parameter("l" * 10_000, 0.5, "m")
    builder.add(Body.point(f"b{HOSTILE}", mass, (0.0, 0.0, -length)))
    builder.joint(f"j{HOSTILE}", "revolute", "world", f"b{HOSTILE}", axis=(0.0, 1.0, 0.0))
    return builder.build()


def opened(page: Any, studio: Studio, document: str, panel: str) -> Any:
    """The panel of a document on a page."""
    page.goto(studio.url)
    page.get_by_role("tab", selected=True).wait_for(timeout=PATIENCE)  # the page has shown its first document
    page.get_by_role("combobox", name="Document").select_option(document)
    page.wait_for_function(f"name => {STUDIO}.state?.document === name", arg=document, timeout=PATIENCE)
    page.get_by_role("tab", name=panel, exact=True).click()
    return page.get_by_role("tabpanel", name=panel, exact=True)


@pytest.mark.slow
def test_equations_are_shown_unfolded_and_light_up(browser, studio):
    with browser.page(1200, 800) as page:
        panel = opened(page, studio, "double_pendulum.toml", "Equations")
        panel.get_by_role("button", name="Write equations").click()
        panel.get_by_role("region", name="Mass matrix M(q)").wait_for(timeout=PATIENCE)
        assert panel.locator("math").count() >= 2
        panel.get_by_role("button", name="q2: coordinate").click()
        assert page.evaluate(f"{STUDIO}.selection") == {"kind": "joint", "name": "q2"}
        assert panel.locator("math .lit").count() > 0
        page.evaluate(f"{STUDIO}.select({{kind: 'joint', name: 'q1'}})")
        assert panel.get_by_role("button", name="q1: coordinate").get_attribute("aria-pressed") == "true"
        assert not [one for one in page.complaints if "Content Security" in one or "TrustedHTML" in one], (
            page.complaints
        )


@pytest.mark.slow
def test_analyses_are_shown(browser, studio):
    with browser.page(1200, 800) as page:
        panel = opened(page, studio, "double_pendulum.toml", "Analysis")
        panel.get_by_role("button", name="Verify the equations").click()
        panel.get_by_text("23 passed, 0 failed, 1 skipped, of 24 checks.").wait_for(timeout=PATIENCE)
        panel.get_by_role("button", name="Find poles").click()
        panel.get_by_role("button", name="Play mode 2").click(timeout=PATIENCE)
        panel.get_by_role("region", name="Kinetic energy of mode 2").wait_for(timeout=PATIENCE)
        panel.get_by_role("button", name="Show the model again").first.click()
        assert not page.complaints, page.complaints


@pytest.mark.slow
def test_exports_are_downloaded(browser, studio, tmp_path):
    with browser.page(1200, 800) as page:
        panel = opened(page, studio, "four_bar.toml", "Exports")
        panel.get_by_role("button", name="Export code").click()
        with page.expect_download(timeout=PATIENCE) as got:
            panel.get_by_role("link", name="four_bar").first.click(timeout=PATIENCE)
        got.value.save_as(tmp_path / "code.zip")
        with zipfile.ZipFile(tmp_path / "code.zip") as files:
            assert set(files.namelist()) == {"four_bar.c", "four_bar.h"}
        panel.get_by_role("combobox", name="Format", exact=True).select_option("dh")
        panel.get_by_role("button", name="Export model").click()
        panel.get_by_text("closes a loop").first.wait_for(timeout=PATIENCE)


@pytest.mark.slow
def test_hostile_names_stay_text_in_panels(browser, studio):
    """Names of robots, bodies, joints and parameters are text in formulas, tables and exports."""
    with browser.page(1200, 800) as page:
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        panel = opened(page, studio, "hostile.toml", "Equations")
        panel.get_by_role("checkbox", name="Position matrices of the bodies in the world").check()
        panel.get_by_role("button", name="Write equations").click()
        panel.get_by_role("region", name=f"Body 1, b{HOSTILE}").wait_for(timeout=PATIENCE)
        assert panel.get_by_role("button", name=f"parameter m{HOSTILE} = 2 kg").count() == 1
        page.get_by_role("tab", name="Analysis", exact=True).click()
        panel = page.get_by_role("tabpanel", name="Analysis", exact=True)
        panel.get_by_role("button", name="Find poles").click()
        panel.get_by_role("button", name="Play mode 1").click(timeout=PATIENCE)
        panel.get_by_role("button", name=f"b{HOSTILE}").wait_for(timeout=PATIENCE)
        page.get_by_role("tab", name="Exports", exact=True).click()
        panel = page.get_by_role("tabpanel", name="Exports", exact=True)
        panel.get_by_role("combobox", name="Format", exact=True).select_option("urdf")
        panel.get_by_role("button", name="Export model").click()
        panel.get_by_text("URDF has no parameters").first.wait_for(timeout=PATIENCE)
        assert page.locator("img[src=x]").count() == 0 and not page.complaints, page.complaints
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200  # long names do not widen the page


@pytest.mark.slow
def test_hostile_names_stay_text_in_reports(browser, studio):
    """Names of a model are text in a report, which has no origin and can run no script."""
    with browser.page(1200, 800) as page:
        panel = opened(page, studio, "hostile.toml", "Report")
        panel.get_by_role("button", name="Write report").click()
        link = panel.get_by_role("link", name="Show the report in a new tab")
        link.wait_for(timeout=2 * PATIENCE)
        with page.expect_popup() as popup:
            link.click()
        shown = popup.value
        shown.wait_for_load_state()
        assert HOSTILE in shown.inner_text("h1") and shown.locator("img[src=x]").count() == 0
        assert shown.evaluate("window.origin") == "null"
        shown.close()
        assert page.locator("img[src=x]").count() == 0
        for document, visible in (("four_bar.toml", 0), ("hostile.toml", 1)):  # a report is listed with its document
            page.get_by_role("combobox", name="Document").select_option(document)
            page.wait_for_function(f"name => {STUDIO}.state?.document === name", arg=document, timeout=PATIENCE)
            page.wait_for_timeout(200)
            assert link.count() == visible
