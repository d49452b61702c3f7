"""The panels Files, Model, Text and Start in Chromium. Controls are found by their roles and names alone.

SEEDS 000-27 to 000-29: models are opened, edited and posed by hand.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph import simulate
from kinemorph.formats.limits import TOML_SIZE
from kinemorph.formats.loading import load
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.studio.open_studio import Studio, open_studio
from support.studio.lamp import URDF, triangle
from support.tools.browsing import Browser

ARM = Path(__file__).resolve().parents[2] / "examples" / "10_urdf_to_c.urdf"
WRONG = b'name = "\xff"\n'  # no UTF-8
PATIENCE = 15_000  # until a page shows what is expected [ms]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("project")
    for name in ("bars", "keys", "parts", "text", "left", "taken", "start", "slides", "picked", "turning"):
        (folder / f"{name}.toml").write_text(TEMPLATES["four_bar"].named(name))
    (folder / "wrong bytes.toml").write_bytes(WRONG)
    with (folder / "huge.toml").open("wb") as huge:
        huge.truncate(TOML_SIZE + 1)
    with open_studio(folder, port=0, open=False) as running:
        yield running


@pytest.fixture
def page(studio: Studio, browser: Browser) -> Iterator[Any]:
    with browser.page(1200, 900) as found:
        found.set_default_timeout(PATIENCE)
        found.goto(studio.url)
        found.get_by_role("tab", name="Files").wait_for()
        found.get_by_label("Connection").filter(has_text="connected").wait_for()
        yield found
        assert found.complaints == []


def _show(page: Any, document: str, tab: str) -> None:
    """Shows a document in a panel."""
    page.get_by_role("combobox", name="Document").select_option(document)
    page.get_by_role("tab", name=tab, exact=True).click()


def _choose(page: Any, section: str, part: str) -> None:
    """Chooses a part in the tree by clicks."""
    item = page.get_by_role("treeitem", name=re.compile(rf"^{section} "))
    if item.get_attribute("aria-expanded") == "false":
        item.locator(".label").first.click()
    page.get_by_role("treeitem", name=part, exact=True).click()
    page.get_by_role("heading", name=f"{section}.{part}", exact=True).wait_for()


def _fill(page: Any, name: str, text: str) -> Any:
    """Writes a text into an entry and confirms it."""
    entry = page.get_by_role("textbox", name=name, exact=True)
    entry.fill(text)
    entry.press("Enter")
    return entry


def _until(check: Any) -> None:
    """Waits until a file has the content that is expected."""
    import time

    end = time.monotonic() + PATIENCE / 1000
    while not check() and time.monotonic() < end:
        time.sleep(0.02)
    assert check()


def _run(page: Any, name: str) -> None:
    """Runs the shown model for a short time in the panel Runs, and waits until it has ended well."""
    page.get_by_role("tab", name="Runs").click()
    page.get_by_role("button", name="Add run").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    page.get_by_role("heading", name=re.compile(name)).first.wait_for()
    page.get_by_role("textbox", name="time", exact=True).fill("0.2 s")
    page.get_by_role("textbox", name="time", exact=True).press("Enter")
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("button", name=re.compile(rf"^Play {name} #\d+$")).wait_for(timeout=4 * PATIENCE)


@pytest.mark.slow
def test_a_four_bar_is_edited_by_hand_and_runs(page: Any, studio: Studio) -> None:
    file = studio.folder / "bars.toml"
    _show(page, "bars.toml", "Model")
    _choose(page, "bodies", "crank")
    _fill(page, "mass", "0.75 kg")
    _until(lambda: 'mass = "0.75 kg"' in file.read_text())
    entry = _fill(page, "mass", "3 m")  # a unit of another kind is refused at its field
    page.get_by_text("'3 m' has the unit of a length, expected a mass").wait_for()
    assert entry.get_attribute("aria-invalid") == "true" and entry.input_value() == "3 m"
    described = entry.evaluate("(one) => one.ariaDescribedByElements.map((said) => said.textContent).join()")
    assert "'3 m' has the unit of a length" in described
    assert 'mass = "0.75 kg"' in file.read_text()
    system = load(file)
    assert system.robot.body("crank").mass == 0.75
    assert simulate(system, 0.05).outcome.ok
    page.get_by_role("button", name="Undo").click()
    _until(lambda: 'mass = "500 g"' in file.read_text())


@pytest.mark.slow
def test_keys_alone_reach_a_field(page: Any, studio: Studio) -> None:
    file = studio.folder / "keys.toml"
    _show(page, "keys.toml", "Model")
    page.get_by_role("treeitem", name="model", exact=True).focus()
    page.keyboard.press("ArrowDown")  # parameters
    page.keyboard.press("ArrowDown")  # bodies
    page.keyboard.press("ArrowRight")  # opens them
    page.keyboard.press("End")
    page.keyboard.press("Enter")  # settings
    page.get_by_role("heading", name="settings", exact=True).wait_for()
    page.get_by_role("textbox", name="time", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("7 s")
    page.keyboard.press("Enter")
    _until(lambda: 'time = "7 s"' in file.read_text())
    page.get_by_role("button", name="Undo").click()
    _until(lambda: 'time = "5 s"' in file.read_text())


@pytest.mark.slow
def test_parts_are_added_renamed_and_removed_by_hand(page: Any, studio: Studio) -> None:
    file = studio.folder / "parts.toml"
    before = file.read_text()
    _show(page, "parts.toml", "Model")
    page.get_by_role("button", name="Add part").click()
    page.get_by_role("combobox", name="Part").select_option("elements")
    page.get_by_role("combobox", name="Kind").select_option("spring")
    page.get_by_role("textbox", name="Name", exact=True).fill("soft")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("heading", name="elements.soft", exact=True).wait_for()
    _fill(page, "stiffness", "20 N/m")
    page.get_by_role("button", name=re.compile("^More keys")).click()
    page.get_by_role("button", name="Add point a", exact=True).click()
    _fill(page, "point a x", "5 cm")
    _until(lambda: tomllib.loads(file.read_text())["elements"]["soft"].get("point_a") == ["5 cm", 0.0, 0.0])
    page.get_by_role("button", name="Rename part").click()
    page.get_by_role("textbox", name="New name").fill("coil")
    page.get_by_role("button", name="OK").click()
    page.get_by_role("heading", name="elements.coil", exact=True).wait_for()
    page.get_by_role("button", name="Remove part").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    _until(lambda: "elements" not in tomllib.loads(file.read_text()))
    assert tomllib.loads(file.read_text()) == tomllib.loads(before)


@pytest.mark.slow
def test_a_urdf_arm_is_added_converted_edited_and_runs(page: Any, studio: Studio) -> None:
    page.get_by_role("tab", name="Files").click()
    page.get_by_label("Files to add").set_input_files([ARM])
    page.get_by_role("button", name=f"Convert {ARM.name} to TOML").click()
    made = studio.folder / f"{ARM.stem}.toml"
    _until(made.exists)
    page.get_by_role("combobox", name="Document").wait_for()
    page.get_by_role("treeitem", name=re.compile("^joints ")).wait_for()
    joint = next(name for name, one in tomllib.loads(made.read_text())["joints"].items() if "upper" in one)
    _choose(page, "joints", joint)
    _fill(page, "damping", "0.25 N m s/rad")
    _until(lambda: "0.25 N m s/rad" in made.read_text())
    system = load(made)
    assert system.robot.joint(joint).damping == (0.25,)
    assert simulate(system, 0.05).outcome.ok
    _run(page, "lift")
    assert tomllib.loads(made.read_text())["runs"]["lift"]["time"] == "0.2 s"


@pytest.mark.slow
def test_an_edited_four_bar_runs_in_the_page(page: Any, studio: Studio) -> None:
    file = studio.folder / "turning.toml"
    _show(page, "turning.toml", "Model")
    _choose(page, "joints", "drive")
    page.get_by_role("button", name=re.compile("^More keys")).click()
    _fill(page, "damping", "0.1")
    _until(lambda: tomllib.loads(file.read_text())["joints"]["drive"].get("damping") == 0.1)
    _run(page, "turn")


@pytest.mark.slow
def test_the_crane_is_found_in_the_library_and_its_parameters_are_edited(page: Any, studio: Studio) -> None:
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("searchbox", name="Search the library").fill("crane")
    page.get_by_role("button", name="Open crane", exact=True).click()
    file = studio.folder / "crane.toml"
    _until(file.exists)
    page.get_by_role("treeitem", name=re.compile("^parameters ")).click()
    _fill(page, "m1 value", "4")
    _until(lambda: tomllib.loads(file.read_text())["parameters"]["m1"]["value"] == 4)
    assert float(load(file).robot.total_mass) == 5.0


@pytest.mark.slow
def test_text_with_mistakes_is_kept_and_its_findings_lead_to_their_lines(page: Any, studio: Studio) -> None:
    file = studio.folder / "text.toml"
    before = file.read_text()
    _show(page, "text.toml", "Text")
    area = page.get_by_role("textbox", name="Text of the file")
    area.fill(before.replace("[bodies.rocker]", "[bodies.rocker"))
    page.keyboard.press("Control+Enter")
    line = before.split("[bodies.rocker]")[0].count("\n") + 1
    page.get_by_role("list", name="Findings").get_by_role("button", name=f"Line {line}").click()
    assert area.evaluate("(one) => one.value.slice(one.selectionStart, one.selectionEnd)") == "[bodies.rocker"
    assert "[bodies.rocker\n" in file.read_text()
    area.fill(before)
    page.keyboard.press("Control+Enter")
    _until(lambda: file.read_text() == before)
    page.get_by_role("list", name="Findings").get_by_role("button").first.wait_for(state="detached")


@pytest.mark.slow
def test_a_text_is_applied_to_its_own_document_and_never_over_an_edit_that_was_made_elsewhere(
    page: Any, studio: Studio
) -> None:
    """The document changes within the pause after typing; Python stands for another page, whose edit comes first."""
    left, taken = (studio.folder / f"{name}.toml" for name in ("left", "taken"))
    before = taken.read_text()
    _show(page, "left.toml", "Text")
    area = page.get_by_role("textbox", name="Text of the file")
    page.wait_for_function("(area) => area.value.includes('name = \"left\"')", arg=area.element_handle())
    # all within the pause, on a busy machine too: the panel is hidden when the other document comes
    area.evaluate(
        """(area) => {
          area.value += "# typed in left\\n";
          area.dispatchEvent(new Event("input"));
          const { studio } = kinemorph;
          studio.open("model");
          return studio.show("taken.toml");
        }"""
    )
    _until(lambda: "# typed in left" in left.read_text())
    assert taken.read_text() == before
    page.get_by_role("tab", name="Text", exact=True).click()
    page.wait_for_function("(area) => area.value.includes('name = \"taken\"')", arg=area.element_handle())
    studio.document("taken.toml").apply({"verb": "set", "path": "name", "value": "elsewhere"})
    area.fill(before + "# typed\n")
    page.get_by_text("Not applied: 'taken.toml' was changed by another edit").wait_for()
    assert "elsewhere" in taken.read_text()
    page.get_by_role("button", name="Apply", exact=True).click()
    _until(lambda: taken.read_text() == before + "# typed\n")


@pytest.mark.slow
def test_the_start_is_set_by_numbers_and_stored(page: Any, studio: Studio) -> None:
    _show(page, "start.toml", "Start")
    panel = page.get_by_role("tabpanel", name="Start")
    entry = panel.get_by_role("textbox", name="drive")
    entry.fill("50 deg")
    entry.press("Enter")
    panel.get_by_role("status").filter(has_text="All loops are closed.").wait_for()
    panel.get_by_role("button", name="Store as start").click()
    file = studio.folder / "start.toml"
    _until(lambda: abs(tomllib.loads(file.read_text())["settings"]["q"]["drive"] - 0.8726646259971648) < 1e-12)
    page.get_by_role("button", name="Undo").click()


@pytest.mark.slow
def test_names_are_shown_as_text_and_a_picked_body_opens_its_form(page: Any, studio: Studio) -> None:
    evil = "<img src=x onerror=alert(1)>"
    text = TEMPLATES["cart"].named("cart")
    (studio.folder / "evil.toml").write_text(
        text.replace("[bodies.pole]", f'[bodies."{evil}"]')
        .replace('child = "pole"', f'child = "{evil}"')
        .replace('body = "pole"', f'body = "{evil}"')
    )
    page.get_by_role("tab", name="Files").click()
    page.reload()
    _show(page, "evil.toml", "Text")
    page.evaluate("(body) => window['kinemorph'].studio.emit('pick', { figure: 0, body, port: null })", evil)
    page.get_by_role("heading", name=f'bodies."{evil}"', exact=True).wait_for()
    assert page.get_by_role("treeitem", name=evil, exact=True).get_attribute("aria-selected") == "true"
    assert page.locator("img[src='x']").count() == 0


@pytest.mark.slow
def test_sliders_of_the_picture_set_the_start_and_loops_stay_closed(page: Any, studio: Studio) -> None:
    file = studio.folder / "slides.toml"
    before = tomllib.loads(file.read_text())["settings"]["q"]["drive"]
    _show(page, "slides.toml", "Start")
    panel = page.get_by_role("tabpanel", name="Start")
    entry = panel.get_by_role("textbox", name="drive")
    entry.wait_for()
    page.get_by_role("slider", name="drive").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    panel.get_by_role("button", name="Take pose from picture").click()
    panel.get_by_role("status").filter(has_text="All loops are closed.").wait_for()
    shown = float(entry.input_value())
    assert shown > before + 1e-3
    panel.get_by_role("button", name="Store as start").click()
    _until(lambda: abs(tomllib.loads(file.read_text())["settings"]["q"]["drive"] - shown) < 1e-9)
    system = load(file)  # its loops are closed, or this would warn
    assert abs(system.settings.q[system.robot.q_names.index("drive")] - shown) < 1e-9


@pytest.mark.slow
def test_a_click_on_a_body_opens_its_form(page: Any, studio: Studio) -> None:
    _show(page, "picked.toml", "Text")
    picture = page.get_by_role("region", name="Picture")
    page.wait_for_function("() => window['kinemorph'].studio.stage?.webgl !== undefined")
    place = picture.locator("canvas").first.bounding_box()
    heading = page.get_by_role("heading", name=re.compile("^bodies"))
    for k in range(6, 60):  # across the middle of the picture, from left to right
        page.mouse.click(place["x"] + place["width"] * k / 64, place["y"] + place["height"] * 0.5)
        if heading.count():
            break
    heading.wait_for()
    chosen = page.evaluate("() => window['kinemorph'].studio.selection")
    assert chosen["kind"] == "body" and heading.inner_text() == f"bodies.{chosen['name']}"


@pytest.mark.slow
def test_a_folder_with_a_urdf_and_its_meshes_is_added(page: Any, studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "lamp" / "meshes").mkdir(parents=True)
    (tmp_path / "lamp" / "lamp.urdf").write_text(URDF)
    (tmp_path / "lamp" / "meshes" / "arm.stl").write_bytes(triangle())
    (tmp_path / "lamp" / "run_me.exe").write_bytes(b"MZ")
    page.get_by_role("tab", name="Files").click()
    page.get_by_label("Folder to add").set_input_files(tmp_path / "lamp")
    page.get_by_role("status").filter(has_text="2 files were added. Not a model, and only used by models").wait_for()
    page.get_by_role("status").filter(has_text="Left out, because it is neither a model nor").wait_for()
    page.get_by_role("button", name="lamp/lamp.urdf", exact=True).wait_for()
    assert (studio.folder / "lamp" / "meshes" / "arm.stl").read_bytes() == triangle()
    assert not (studio.folder / "lamp" / "run_me.exe").exists()
    page.get_by_role("tab", name="Model").click()
    page.get_by_role("button", name="Convert to TOML").click()
    page.get_by_role("status").filter(has_text="<gazebo> is for other programs and not carried over").wait_for()
    assert (studio.folder / "lamp" / "lamp.toml").exists()


@pytest.mark.slow
def test_files_that_are_no_models_are_told_and_harm_nothing(page: Any, studio: Studio) -> None:
    document = page.get_by_role("combobox", name="Document")
    _show(page, "bars.toml", "Exports")
    page.get_by_role("button", name="Export code").wait_for()
    page.wait_for_function("() => window.kinemorph.studio.pictured === 'bars.toml'")
    document.select_option("wrong bytes.toml")
    page.get_by_text("has not been a whole model yet").wait_for()
    page.get_by_text("There is no picture of wrong bytes.toml yet").wait_for()
    page.wait_for_function("() => window.kinemorph.studio.stage.element.hidden")  # the picture of the other model
    page.get_by_role("button", name="1 mistake").click()  # goes to the panel Text
    text = page.get_by_role("textbox", name="Text of the file")
    text.press("Control+Home")
    page.keyboard.insert_text("# a comment\n")  # the byte that is no UTF-8 travels to the page and back
    _until(lambda: (studio.folder / "wrong bytes.toml").read_bytes() == b"# a comment\n" + WRONG)
    document.select_option("huge.toml")
    page.get_by_role("alert").get_by_text("at most 16 MB").wait_for()
    page.wait_for_function("() => document.querySelector('select').value === 'wrong bytes.toml'")
    page.go_back()  # to the document before
    page.wait_for_function("() => window.kinemorph.studio.state.document === 'bars.toml'")
    assert document.input_value() == "bars.toml"
