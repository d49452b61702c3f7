"""Writes docs/studio_controls.md: every control of the studio with its role and name, as a browser tells them.

    python tests/tables/studio_controls.py

It needs the extras [dev] and [studio], and Chromium. A slow test compares the page with what this script would write.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.studio.controls import Controls

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "studio_controls.md"
HEAD = """# Controls of the studio

Every control of the [studio](studio.md) has a role and a name. Screen readers say both, and scripts find controls by
them alone, for example with Playwright: `page.get_by_role("button", name="Start run").click()`.

The tables are written by tests/tables/studio_controls.py, which walks through all panels of two docked modules and
reads the accessibility tree of the browser. Words in capitals, such as ROBOT, MODULE, JOINT, RUN and FILE, stand for
names of the model or the project, N for a number.
"""


def text(controls: Controls) -> str:
    """The page: one table for each panel and dialog."""
    lines = [HEAD]
    for part in sorted(controls.found, key=lambda one: (one.startswith("Dialog"), one not in ("Bar", "Tabs"))):
        rows = controls.found[part]
        lines += [f"## {part}", "", "| role | name |", "|---|---|"]
        lines += [f"| {role} | {name.replace('|', chr(92) + '|')} |" for role, name in rows] + [""]
    return "\n".join(lines)


def main() -> None:
    """Writes the page anew."""
    from support.studio.controls import collect
    from support.tools.browsing import started_browser

    browser = started_browser()
    with tempfile.TemporaryDirectory() as folder, browser.page(1400, 860) as page:
        found = collect(page, Path(folder))
    browser.close()
    PAGE.write_text(text(found), encoding="utf-8")
    print(f"wrote {PAGE.name}: {sum(map(len, found.found.values()))} controls")
    if found.unnamed:
        sys.exit("\n".join(found.unnamed))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    main()
