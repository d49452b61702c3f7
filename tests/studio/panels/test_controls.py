"""Every control of the studio has a role and a name, and docs/studio_controls.md lists them (000-27)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from support.studio.controls import collect
from support.tools.browsing import Browser

SCRIPT = Path(__file__).parents[2] / "tables" / "studio_controls.py"


@pytest.mark.slow
def test_every_control_has_a_name_and_is_listed(tmp_path: Path, browser: Browser) -> None:
    found = importlib.util.spec_from_file_location("studio_controls", SCRIPT)
    assert found is not None and found.loader is not None
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    with browser.page(1400, 860) as page:
        controls = collect(page, tmp_path)
        complaints = list(page.complaints)
    assert controls.unnamed == []
    assert complaints == []
    assert sum(map(len, controls.found.values())) > 250
    assert script.text(controls) == script.PAGE.read_text(encoding="utf-8"), f"run {SCRIPT.name} to write the page anew"
