"""A project of small models, and every panel of the studio brought into a state in which it shows something.

Each state is reached by roles and names alone, as a user would: a panel with a model in it, with results, with
mistakes, or with an open dialog.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinemorph import System, library, save
from kinemorph.elements import PD

PATIENCE = 60_000  # [ms] that a busy machine may need
STUDIO = "window['kinemorph'].studio"  # the object of the page that panels share
MISTAKE = '\n[runs.bad]\ntime = "two"\nmethod = "rkk45"\n'


def make_project(folder: Path) -> Path:
    """Writes a controlled double pendulum with a run, three docked modules, a wrong grid and a file with mistakes."""
    robot = library.double_pendulum()
    save(System(robot, (PD("hold", robot.joint_names, 2.0, 0.3, reference=0.3),)), folder / "swing.toml")
    text = (folder / "swing.toml").read_text()
    (folder / "mistakes.toml").write_text(text + MISTAKE)
    (folder / "swing.toml").write_text(text + "\n[runs.fall]\ntime = 0.05\noutput_step = 0.01\nq = { q1 = 1.0 }\n")
    (folder / "modules.toml").write_text("kinemorph = 1\nname = \"three\"\n[assembly]\ngrid = '''\nB>0 Bv1 B<2\n'''\n")
    (folder / "apart.toml").write_text("kinemorph = 1\nname = \"apart\"\n[assembly]\ngrid = '''\nB>0 . Bv1\n'''\n")
    return folder


def open_panel(page: Any, address: str, document: str, panel: str) -> Any:
    """A panel of the studio at `address` that shows a document."""
    if not page.url.startswith(address.split("?")[0]):
        page.goto(address)
    page.get_by_role("tab", selected=True).wait_for(timeout=PATIENCE)  # the page has shown its first document
    page.get_by_role("combobox", name="Document").select_option(document)
    page.wait_for_function(f"name => {STUDIO}.state?.document === name", arg=document, timeout=PATIENCE)
    page.get_by_role("tab", name=panel, exact=True).click()
    return page.get_by_role("tabpanel", name=panel, exact=True)


def show_files(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Open puma", exact=True).wait_for(timeout=PATIENCE)


def show_cells(page: Any, panel: Any) -> None:
    panel.get_by_role("gridcell", name="Backbone m1").click(timeout=PATIENCE)


def show_wrong_cells(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Show cell").first.wait_for(timeout=PATIENCE)


def show_poses_dialog(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Measured poses").click(timeout=PATIENCE)
    page.get_by_role("dialog").wait_for()


def show_tables(page: Any, panel: Any) -> None:
    panel.get_by_role("region", name="IDTL").wait_for(timeout=PATIENCE)


def show_form(page: Any, panel: Any) -> None:
    panel.get_by_role("treeitem").nth(3).click(timeout=PATIENCE)
    panel.get_by_role("region", name="Form").get_by_role("textbox").first.wait_for(timeout=PATIENCE)


def show_name_dialog(page: Any, panel: Any) -> None:
    show_form(page, panel)
    panel.get_by_role("button", name="Add part").click()
    page.get_by_role("dialog").wait_for()


def show_findings(page: Any, panel: Any) -> None:
    panel.get_by_role("list", name="Findings").get_by_role("button").first.wait_for(timeout=PATIENCE)
    page.evaluate(f"{STUDIO}.say('This is a warning.', 'warning'); {STUDIO}.say('This is a note.')")
    page.evaluate(f"{STUDIO}.say('This is an error.', 'error')")


def show_start(page: Any, panel: Any) -> None:
    panel.get_by_role("textbox", name="q1", exact=True).wait_for(timeout=PATIENCE)


def show_equations(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Write equations").click(timeout=PATIENCE)
    panel.get_by_role("region", name="Mass matrix M(q)").wait_for(timeout=PATIENCE)
    panel.get_by_role("button", name="q2: coordinate").click()


def show_analyses(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Verify the equations").click(timeout=PATIENCE)
    panel.get_by_text(" passed, 0 failed, ").wait_for(timeout=PATIENCE)
    panel.get_by_role("button", name="Find poles").click()
    panel.get_by_role("button", name="Play mode 2").click(timeout=PATIENCE)
    panel.get_by_role("region", name="Kinetic energy of mode 2").wait_for(timeout=PATIENCE)


def show_run(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Start run").click(timeout=PATIENCE)
    panel.get_by_role("button", name="Play fall").first.click(timeout=PATIENCE)
    panel.get_by_role("checkbox", name="q.q1", exact=True).check(timeout=PATIENCE)
    for part in ("Audit", "Export", "Compare", "The same in Python and as a command"):
        panel.get_by_text(part, exact=True).click(timeout=PATIENCE)
    panel.get_by_role("button", name="Audit fall").first.click(timeout=PATIENCE)
    panel.get_by_role("region", name="Audit of fall").wait_for(timeout=PATIENCE)


def show_live(page: Any, panel: Any) -> None:
    """A live run of the document may be on already: all pages share it."""
    panel.locator("button:enabled", has_text="live run").first.wait_for(timeout=PATIENCE)
    start = panel.get_by_role("button", name="Start live run")
    if start.is_enabled():
        start.click(timeout=PATIENCE)
    panel.get_by_role("button", name="Resume").wait_for(timeout=PATIENCE)


def show_exports(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Export code").click(timeout=PATIENCE)
    panel.get_by_role("link", name="double_pendulum_code").first.wait_for(timeout=PATIENCE)


def show_report(page: Any, panel: Any) -> None:
    panel.get_by_role("button", name="Write report").click(timeout=PATIENCE)
    panel.get_by_role("link", name="Show the report in a new tab").wait_for(timeout=2 * PATIENCE)


STATES: dict[str, tuple[str, str, Callable[[Any, Any], None]]] = {  # name: document, panel, what is done there
    "files": ("swing.toml", "Files", show_files),
    "cells": ("modules.toml", "Assemble", show_cells),
    "wrong cells": ("apart.toml", "Assemble", show_wrong_cells),
    "poses dialog": ("modules.toml", "Assemble", show_poses_dialog),
    "tables": ("modules.toml", "Tables", show_tables),
    "form": ("swing.toml", "Model", show_form),
    "name dialog": ("swing.toml", "Model", show_name_dialog),
    "form with mistakes": ("mistakes.toml", "Model", show_form),
    "text": ("mistakes.toml", "Text", show_findings),
    "start": ("swing.toml", "Start", show_start),
    "equations": ("swing.toml", "Equations", show_equations),
    "analysis": ("swing.toml", "Analysis", show_analyses),
    "run": ("swing.toml", "Runs", show_run),
    "live": ("swing.toml", "Live", show_live),
    "exports": ("swing.toml", "Exports", show_exports),
    "report": ("swing.toml", "Report", show_report),
}


def open_state(page: Any, address: str, name: str) -> Any:
    """Brings a page into one of STATES, and returns the panel that is open."""
    document, panel, show = STATES[name]
    found = open_panel(page, address, document, panel)
    show(page, found)
    return found
