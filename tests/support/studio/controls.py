"""All controls of the studio's page as the accessibility tree of the browser has them: role and name, panel by panel.

Names that come from the model, such as those of joints and files, are replaced by a word in capitals.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinemorph.studio.open_studio import open_studio
from support.studio.hands import Clicks

ARM = Path(__file__).resolve().parents[3] / "examples" / "10_urdf_to_c.urdf"
ORGANISM = """kinemorph = 1
name = "pair"

[assembly]
ground = true
grid = "B>0 B>1"

[elements.wave]
kind = "rhythmic"
joints = ["m0_hinge", "m1_hinge"]

[elements.drive]
kind = "pd"
joints = ["m0_hinge", "m1_hinge"]
kp = 40
reference = "wave"

[runs.crawl]
time = 0.1
"""
ROLES = {
    "ComboBoxSelect": "combobox", "DisclosureTriangle": "summary", "DisclosureTriangleGrouped": "summary",
    "ToggleButton": "button", "PopUpButton": "button",
}  # fmt: skip
# roles of what is listed; whatever else can have the focus needs a name too
CONTROLS = frozenset({
    "button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "spinbutton", "switch", "tab",
    "treeitem", "gridcell", "summary",
})  # fmt: skip
WORDS = (
    (r"^Row \d+, column \d+: .*", "Row ROW, column COLUMN: CONTENTS"),
    (r"^(Open|Arguments of) \w+$", r"\1 ROBOT"),
    (r"(Play|Pause|Show|Delete|Audit|Cancel) [\w ]+ #\d+$", r"\1 RUN"),
    (r"^[\w ]+ #\d+$", "RUN"),
    (r"force arrows: .*", "force arrows: LENGTH is FORCE"),
    (r"^(Docking of) \w+ and \w+$", r"\1 MODULE and MODULE"),
    (r"(side|Side) \d of m\d", r"\1 SIDE of MODULE"),
    (r"^(Copy|Convert) \w+\.\w+( to TOML)?$", r"\1 FILE\2"),
    (r"^\w+\.(toml|urdf|html|pdf)( \(.*\))?$", "FILE"),
    (r"^[\w^{}\\]+: (coordinate|velocity|effort|parameter)\b.*", r"SYMBOL: \1 ..."),
    (r"more terms of \w+", "more terms of NAME"),
    (r"\bm\d_hinge\b", "JOINT"), (r"\bm\d_root(\.\w+)?\b", "JOINT"), (r"\bm\d(_\w+)?\b", "MODULE"),
    (r"\d+ more", "N more"), (r"\(\d+\)$", "(N)"), (r"\bmode \d+\b", "mode N"), (r"\bpole \d+\b", "pole N"),
)  # fmt: skip


class Controls:
    """Collects the controls of a page, by the part of the page in which they are."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.tools = page.context.new_cdp_session(page)
        self.tools.send("Accessibility.enable")
        self.found: dict[str, dict[tuple[str, str], None]] = {}  # in the order in which they were seen
        self.unnamed: list[str] = []

    def look(self, part: str, place: str) -> None:
        """Notes all controls below the first element that matches a selector."""
        made = self.tools.send("Runtime.evaluate", {"expression": f"document.querySelector({place!r})"})
        assert "objectId" in made["result"], f"{part}: the page has no {place}"
        nodes = self.tools.send("Accessibility.queryAXTree", {"objectId": made["result"]["objectId"]})["nodes"]
        rows = self.found.setdefault(part, {})
        for node in nodes:
            role = node.get("role", {}).get("value", "")
            role = ROLES.get(role, role)
            marks = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
            if node["ignored"] or role == "option" or not (marks.get("focusable") or role in CONTROLS):
                continue
            name = " ".join(node.get("name", {}).get("value", "").split())
            if not name:
                self.unnamed.append(f"{part}: {role} without a name")
            if role in CONTROLS:
                rows.setdefault((role, general(name, part)))


def general(name: str, part: str = "") -> str:
    """A name in which what comes from the model is a word in capitals."""
    if part == "Tables" and ": " in name:
        return "TEXT: NAMES"
    if part == "Runs" and re.match(r"^\w+\.[\w.]+$", name):
        return "COLUMN"
    for pattern, word in WORDS:
        name = re.sub(pattern, word, name)
    return name if len(name) <= 90 else name[:87] + "..."


def collect(page: Any, folder: Path) -> Controls:
    """Walks through all panels and dialogs of a studio on an empty folder, and notes the controls of each."""
    (folder / "pair.toml").write_text(ORGANISM, encoding="utf-8")
    shutil.copy(ARM, folder / "arm.urdf")
    with open_studio(folder / "pair.toml", open=False) as studio:
        page.goto(studio.url)
        page.get_by_role("gridcell", name="Backbone m1").wait_for()
        hand, controls = Clicks(page), Controls(page)
        for panel, act in PANELS.items():
            hand.press("tab", panel)
            act(hand, controls)
            controls.look(panel, "[role=tabpanel]:not([hidden])")
        controls.look("Bar", "header.bar")
        controls.look("Tabs", "[role=tablist]")
    return controls


def picture(hand: Clicks, controls: Controls) -> None:
    """Notes the controls of the picture with its menus opened."""
    bar = hand.page.get_by_role("toolbar", name="Playback and views")
    for menu in ("Views", "Layers"):
        bar.get_by_label(menu, exact=True).first.click()
        controls.look("Picture", ".desk > .picture")
        bar.get_by_label(menu, exact=True).first.click()


def in_dialog(hand: Clicks, controls: Controls, opener: str) -> None:
    """Notes the controls of the dialog that a button opens, and cancels it."""
    hand.press("button", opener)
    hand.page.get_by_role("dialog").wait_for()
    controls.look(f"Dialog of '{general(opener)}'", "dialog")
    hand.press("button", "Cancel")
    hand.page.get_by_role("dialog").wait_for(state="detached")


def files(hand: Clicks, controls: Controls) -> None:
    """The list of files with its dialog."""
    hand.control("button", "Create model").wait_for()
    in_dialog(hand, controls, "Copy pair.toml")


def assemble(hand: Clicks, controls: Controls) -> None:
    """The grid with a docking form and its dialogs."""
    hand.cell(3, 3).click()
    for opener in ("Add kind", "Measured poses", "Rename"):
        in_dialog(hand, controls, opener)
    hand.page.get_by_text("Modules and their sides").first.click()
    picture(hand, controls)
    hand.press("button", "Dock at side 2 of m0")
    hand.control("button", "Dock").wait_for()


def tables(hand: Clicks, controls: Controls) -> None:
    """All tables."""
    hand.page.get_by_role("region", name="IDTL").wait_for()


def model(hand: Clicks, controls: Controls) -> None:
    """The form of an element, and the dialogs of parts."""
    hand.page.get_by_role("treeitem", name=re.compile("^elements ")).get_by_text("elements").click()
    hand.page.get_by_role("treeitem", name="drive", exact=True).click()
    hand.page.get_by_role("heading", name="elements.drive", exact=True).wait_for()
    for opener in ("Add part", "Copy part", "Rename part", "Remove part", "Choose joints"):
        in_dialog(hand, controls, opener)


def text(hand: Clicks, controls: Controls) -> None:
    """The text of the file."""
    hand.control("textbox", "Text of the file").wait_for()


def start(hand: Clicks, controls: Controls) -> None:
    """The entries of all coordinates."""
    hand.entry("m0_hinge").first.wait_for()
    picture(hand, controls)


def equations(hand: Clicks, controls: Controls) -> None:
    """Written equations."""
    hand.press("button", "Write equations")
    hand.page.get_by_role("region", name="Mass matrix M(q)").wait_for()


def analysis(hand: Clicks, controls: Controls) -> None:
    """Checks, degrees of freedom, and poles."""
    for label, shown in (
        ("Count degrees of freedom", "Where this was found"),
        ("Find equilibrium", re.compile("^(Coordinates at the equilibrium|Where the search ended)")),
        ("Find poles", re.compile("^Poles;")),
    ):
        hand.press("button", label)
        hand.page.get_by_role("region", name=shown).wait_for()
    hand.press("button", "Play mode 1")
    hand.page.get_by_role("button", name="Play mode 1", pressed=True).wait_for()


def runs(hand: Clicks, controls: Controls) -> None:
    """Two finished runs with everything that is said about them, unfolded."""
    for number in (1, 2):
        hand.press("button", "Start run")
        hand.control("button", f"Play crawl #{number}").wait_for()
    for part in ("Compare", "Audit", "Export", "All methods", "Elements that act"):
        hand.page.get_by_role("tabpanel", name="Runs").get_by_text(re.compile(f"^{part}")).first.click()
    hand.press("button", "Show crawl #2")
    hand.page.get_by_role("slider", name="Time").wait_for()
    picture(hand, controls)
    for opener in ("Add run", "Copy run", "Rename run", "Remove run"):
        in_dialog(hand, controls, opener)


def live(hand: Clicks, controls: Controls) -> None:
    """A live run."""
    hand.press("button", "Start live run")
    hand.control("button", "Pause").or_(hand.control("button", "Resume")).first.wait_for()
    hand.page.get_by_role("timer").first.wait_for()
    controls.look("Live", "[role=tabpanel]:not([hidden])")
    hand.press("button", "Stop live run")


def exports(hand: Clicks, controls: Controls) -> None:
    """All kinds of files."""
    hand.control("button", "Export model").wait_for()


def report(hand: Clicks, controls: Controls) -> None:
    """A written report; of one chapter, which is soon done."""
    hand.control("checkbox", "crawl #1").wait_for()
    for box in hand.page.get_by_role("group", name="Chapters").get_by_role("checkbox").all()[1:]:
        box.uncheck()
    hand.press("button", "Write report")
    hand.page.get_by_role("link", name="Show the report in a new tab").wait_for()


PANELS: dict[str, Callable[[Clicks, Controls], None]] = {
    "Files": files, "Assemble": assemble, "Tables": tables, "Model": model, "Text": text, "Start": start,
    "Equations": equations, "Analysis": analysis, "Runs": runs, "Live": live, "Exports": exports, "Report": report,
}  # fmt: skip
