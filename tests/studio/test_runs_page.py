"""The panel Runs in a browser, by roles and names alone: a run is added, started, watched, cancelled and looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph import library, load, save
from kinemorph.studio.open_studio import Studio
from support.tools.browsing import Browser

pytestmark = pytest.mark.slow
LONG = 60_000  # [ms] that a busy machine may need


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    save(library.double_pendulum(), tmp_path / "swing.toml")
    found = Studio(tmp_path, "swing.toml")
    yield found
    found.stop()


def fill(page: Any, label: str, text: str) -> None:
    """Types a text into a control and confirms it."""
    page.get_by_role("textbox", name=label, exact=True).fill(text)
    page.get_by_role("textbox", name=label, exact=True).press("Enter")


def test_a_run_is_added_started_played_plotted_audited_and_exported(studio: Studio, browser: Browser) -> None:
    """Every control is found by its role and name; the file gets what the form says."""
    with browser.page(1200, 900) as page:
        page.goto(studio.url)
        page.get_by_role("tab", name="Runs").click(timeout=LONG)
        page.get_by_role("button", name="Add run").click(timeout=LONG)
        page.get_by_role("dialog").get_by_role("textbox", name="Name").fill("fall")
        page.get_by_role("dialog").get_by_role("button", name="Add").click()
        page.get_by_role("combobox", name="method", exact=True).select_option("ode23", timeout=LONG)
        fill(page, "time", "0.3")
        page.get_by_text("saved", exact=True).wait_for(timeout=LONG)
        page.get_by_role("button", name="Start run").click()
        page.get_by_role("button", name="Play fall #1").click(timeout=LONG)
        page.get_by_role("button", name="Pause fall #1").click()
        plan = load(studio.folder / "swing.toml").runs["fall"]
        assert (plan.method, plan.time) == ("ode23", 0.3)
        assert studio.session.results.run(1).found["summary"]["method"] == "bogacki_shampine"
        page.get_by_role("checkbox", name="q.q1", exact=True).check()
        page.get_by_text("q.q1", exact=False).first.wait_for()
        page.get_by_text("Audit", exact=True).click()
        page.get_by_role("button", name="Audit fall #1").click()
        page.get_by_role("region", name="Audit of fall #1").wait_for(timeout=LONG)
        page.get_by_text("Export", exact=True).click()
        page.get_by_role("button", name="Export Table (.csv)").click()
        page.get_by_role("link", name="swing-fall-1.csv").wait_for(timeout=LONG)
        page.get_by_role("button", name="Start run").click()
        page.get_by_role("button", name="Play fall #2").wait_for(timeout=LONG)
        page.get_by_text("Compare", exact=True).click()
        page.get_by_role("button", name="Table of differences").click()
        page.get_by_text("Both runs are the same to the last bit.").wait_for(timeout=LONG)
        page.get_by_role("tabpanel", name="Runs").get_by_text("The same in Python and as a command").click()
        assert "kinemorph simulate swing.toml --run fall" in page.get_by_role("region", name="Command").inner_text()
        assert page.complaints == []


def test_a_run_is_watched_and_cancelled_by_keys_alone(studio: Studio, browser: Browser) -> None:
    """The picture grows while a run computes; Cancel is reached and pressed without a mouse."""
    with (studio.folder / "swing.toml").open("a") as file:
        file.write("\n[runs.long]\ntime = 1e5\noutput_step = 0.5\nrtol = 1e-12\nq = { q1 = 2.0 }\n")
    with browser.page(1200, 900) as page:
        page.goto(studio.url)
        page.get_by_role("tab", name="Runs").focus(timeout=LONG)
        page.keyboard.press("Enter")
        start = page.get_by_role("button", name="Start run")
        start.wait_for(timeout=LONG)
        start.focus()
        page.keyboard.press("Enter")
        bar = page.get_by_role("progressbar", name="Progress of long #1")
        bar.wait_for(timeout=LONG)
        page.get_by_text("t = ", exact=False).first.wait_for(timeout=LONG)
        count = "() => window['kinemorph'].studio.stage.scene.times.length"
        before = page.evaluate(count)
        page.wait_for_timeout(1500)
        assert page.evaluate(count) > before
        assert float(bar.get_attribute("aria-valuenow") or 0.0) >= 0.0
        cancel = page.get_by_role("button", name="Cancel long #1")
        cancel.focus()
        page.keyboard.press("Enter")
        cancel.wait_for(state="detached", timeout=LONG)
        page.get_by_role("region", name="Results").get_by_text("cancelled").wait_for(timeout=LONG)
        assert page.complaints == []
    assert studio.session.results.run(1).is_kept
