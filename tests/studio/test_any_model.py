"""Opening, editing and posing any model by the questions that the page asks, without a browser.

SEEDS 000-27 to 000-29 and 000-31: models are edited by forms, and MODUROB's benchmarks come from the library.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import simulate
from kinemorph.errors import KinemorphError, ModelError, StorageError, UnsupportedError
from kinemorph.formats.loading import load, load_text, saved_texts
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.model.library.choosing import CHOICE
from kinemorph.studio.forms import form as forms
from kinemorph.studio.forms import parts
from kinemorph.studio.panels.model import shown_data
from kinemorph.studio.session import Session
from kinemorph.studio.transfers.downloads import uploaded
from support.studio.lamp import URDF, triangle
from support.studio.modurob import CRANE, PENDULUM
from support.studio.noted_page import NotedPage

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / "examples" / "10_urdf_to_c.urdf"


class Page(NotedPage):
    """A page that is asked for fields."""

    session: Session

    def field(self, document: str, *path: str | int) -> dict[str, Any]:
        """A field of the form of a part."""
        data = shown_data(self.session.document(document))
        form = self.ask("form", document=document, path=list(parts.part_around(data, path)))
        return next(one for one in _all(form) if tuple(one["path"]) == path)


def _all(field: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield field
    for one in field.get("fields", ()):
        yield from _all(one)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    session = Session(tmp_path)
    yield Page(session)
    session.stop()


# ── forms ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_four_bar_is_edited_by_its_form_and_comments_stay(page: Page, tmp_path: Path) -> None:
    made = page.ask("new_model", name="bars", kind="four_bar")
    assert (made["document"], made["same"]["command"]) == ("bars.toml", "kinemorph new bars --kind four_bar")
    before = (tmp_path / "bars.toml").read_text()
    page.ask("set_field", document="bars.toml", path=["bodies", "crank", "mass"], text="0.7 kg")
    page.ask("set_field", document="bars.toml", path=["parameters", "coupler", "value"], text="95 cm")
    after = (tmp_path / "bars.toml").read_text()
    assert after == before.replace('mass = "500 g"', 'mass = "0.7 kg"').replace('"90 cm"', '"95 cm"')
    robot = load(tmp_path / "bars.toml").robot
    assert robot.total_mass == pytest.approx(2.5, abs=1e-12)
    with pytest.raises(ModelError, match="'3 m' has the unit of a length, expected a mass"):
        page.ask("set_field", document="bars.toml", path=["bodies", "crank", "mass"], text="3 m")
    assert (tmp_path / "bars.toml").read_text() == after


@pytest.mark.parametrize(
    "kind", [pytest.param(one, marks=() if one == "cart" else pytest.mark.slow) for one in TEMPLATES]
)
def test_every_field_set_to_its_own_text_leaves_every_byte(kind: str, page: Page, tmp_path: Path) -> None:
    file = page.ask("new_model", name=kind, kind=kind)["document"]
    before, document = (tmp_path / file).read_bytes(), page.session.document(file)
    fields = 0
    for section in parts.sections(document.data):
        if section["present"]:
            form = forms.form(document.data, (section["key"],))
            for field in forms.leaves(form):
                if field["present"]:
                    fields += 1
                    page.ask("set_field", document=file, path=field["path"], text=field["text"])
    assert fields > 5 and document.revision == 0
    assert (tmp_path / file).read_bytes() == before


def test_mistakes_stand_at_their_fields_and_the_last_good_model_stays(page: Page) -> None:
    page.ask("new_model", name="bars", kind="four_bar")
    document = page.session.document("bars.toml")
    good = document.model
    page.ask("set_field", document="bars.toml", path=["bodies", "crank", "mass"], text="2 * rodlength")
    document.read()
    field = page.field("bars.toml", "bodies", "crank", "mass")
    assert "rodlength" in field["findings"][0]["problem"]
    counted = {part["name"]: part["findings"] for one in page.ask("parts", document="bars.toml")["sections"]
               for part in one["parts"]}  # fmt: skip
    assert counted["crank"] >= 1 and counted["rocker"] == 0
    assert document.model is good
    page.ask("undo", document="bars.toml")
    document.read()
    assert "findings" not in page.field("bars.toml", "bodies", "crank", "mass")


def test_parts_are_added_copied_renamed_and_removed(page: Page, tmp_path: Path) -> None:
    page.ask("new_model", name="bars", kind="four_bar")
    made = page.ask("add_part", document="bars.toml", section="elements", kind="torsion spring", name="soft")
    assert made["path"] == ["elements", "soft"]
    page.ask("set_field", document="bars.toml", path=["elements", "soft", "joint"], text="pivot")
    page.ask("set_field", document="bars.toml", path=["elements", "soft", "stiffness"], text="2 N m/rad")
    page.ask("edit", document="bars.toml", command={"verb": "rename", "kind": "joint", "name": "pivot", "to": "rear"})
    page.ask("edit", document="bars.toml", command={"verb": "copy", "kind": "element", "name": "soft", "to": "hard"})
    page.ask("set_kind", document="bars.toml", path=["elements", "hard"], kind="joint friction")
    data = tomllib.loads((tmp_path / "bars.toml").read_text())
    assert data["elements"]["soft"]["joint"] == "rear" and "rear" in data["joints"]
    assert data["elements"]["hard"]["kind"] == "joint friction" and "stiffness" not in data["elements"]["hard"]
    with pytest.raises(ModelError, match="elements has a part 'soft' already"):
        page.ask("add_part", document="bars.toml", section="elements", kind="spring", name="soft")
    for name in ("hard", "soft"):
        page.ask("edit", document="bars.toml", command={"verb": "unset", "path": ["elements", name]})
    assert load(tmp_path / "bars.toml").elements == ()


def test_an_empty_grid_becomes_a_file_of_assemble_and_offers_the_joints_of_its_modules(
    page: Page, tmp_path: Path
) -> None:
    file = page.ask("new_model", name="pair", kind="grid")["document"]
    for column, front in enumerate(">v"):
        command = {"verb": "place", "cell": [0, column], "kind": "B", "front": front}
        page.ask("edit", document=file, command=command)
    document = page.session.document(file)
    assert document.model is not None
    (written,) = saved_texts(document.model, "toml", "pair").values()
    assert (tmp_path / file).read_text() == written
    page.ask("add_part", document=file, section="elements", kind="pd", name="drive")
    joints = page.field(file, "elements", "drive", "joints")
    assert joints["several"] and joints["names"] == ["m0_hinge", "m1_hinge"]
    assert not page.field(file, "elements", "drive", "kp").get("several")


# ── the library, and the benchmarks of MODUROB (000-31, section 3.2 of the requirements) ──────────────────────────────


def test_double_pendulum_of_the_library_with_edited_parameters_moves_as_published(page: Page, tmp_path: Path) -> None:
    file = page.ask("from_library", robot="double_pendulum:point=yes")["document"]
    for name in ("m1", "m2", "l1", "l2"):
        page.ask("set_field", document=file, path=["parameters", name, "value"], text="1")
    page.ask("store_start", document=file, q={"q1": "45 deg", "q2": math.pi / 4})
    run = simulate(load(tmp_path / file), 5.0, output_step=1.0, rtol=1e-12, atol=1e-13)
    for t, (first, second, rate1, rate2) in PENDULUM.items():
        row = int(np.argmin(abs(run.t - t)))
        found = (run.q[row, 0], run.q[row].sum(), run.v[row, 0], run.v[row].sum())
        assert found == pytest.approx((first, second, rate1, rate2), abs=1e-8)


def test_crane_of_the_library_with_edited_parameters_moves_as_published(page: Page, tmp_path: Path) -> None:
    file = page.ask("from_library", robot="crane:cart=3", name="hall/crane.toml")["document"]
    page.ask("set_field", document=file, path=["parameters", "m1", "value"], text="2000 g")
    page.ask("store_start", document=file, q={"theta": "60 deg"})
    run = simulate(load(tmp_path / file), 5.0, output_step=1.0, rtol=1e-12, atol=1e-13)
    for t, expected in CRANE.items():
        row = int(np.argmin(abs(run.t - t)))
        assert (*run.q[row], *run.v[row]) == pytest.approx(expected, abs=1e-8)


def test_the_library_lists_every_robot(page: Page) -> None:
    listed = {one["name"]: one for one in page.ask("files")["library"]}
    assert set(listed) == set(CHOICE)
    assert all(one["title"].endswith((".", ":")) and "`" not in one["title"] for one in listed.values())
    with pytest.raises(ModelError, match="there is no robot 'craine'"):
        page.ask("from_library", robot="craine")


@pytest.mark.slow
def test_every_robot_of_the_library_has_a_picture_and_becomes_a_file(page: Page, tmp_path: Path) -> None:
    for name in CHOICE:
        assert page.ask("robot_picture", robot=name)["source"].startswith("data:image/png;base64,"), name
        made = page.ask("from_library", robot=name)
        assert page.ask("parts", document=made["document"])["sections"]
        assert page.session.document(made["document"]).model is not None, (
            name,
            page.session.document(made["document"]).findings,
        )


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_urdf_with_meshes_is_taken_in_converted_and_edited(page: Page, tmp_path: Path) -> None:
    assert uploaded(page.session, "lamp/meshes/arm.stl", triangle()) == {"document": "lamp/meshes/arm.stl"}
    uploaded(page.session, "lamp/lamp.urdf", URDF.encode())
    assert uploaded(page.session, "lamp/lamp.urdf", URDF.encode()) == {"document": "lamp/lamp.urdf"}  # the same again
    with pytest.raises(StorageError, match=r"there is a file 'lamp/lamp\.urdf' already"):
        uploaded(page.session, "lamp/lamp.urdf", URDF.replace("lamp", "lump").encode())
    assert {one["name"]: one["format"] for one in page.ask("files")["files"]} == {"lamp/lamp.urdf": "urdf"}
    assert page.ask("parts", document="lamp/lamp.urdf")["editable"] is False
    with pytest.raises(KinemorphError, match="not a TOML file"):
        page.ask("edit", document="lamp/lamp.urdf", command={"verb": "set", "path": ["bodies"], "value": 1})
    made = page.ask("convert", document="lamp/lamp.urdf")
    assert made["document"] == "lamp/lamp.toml"
    assert "robot 'lamp': 1 <gazebo> is for other programs and not carried over." in made["lost"][0]
    assert "joint 'turn': 1 <safety_controller> is for other programs" in made["lost"][1]
    assert page.field("lamp/lamp.toml", "bodies", "arm", "shapes", 0, "file")["text"] == "meshes/arm.stl"
    page.ask("set_field", document="lamp/lamp.toml", path=["bodies", "arm", "mass"], text="2.5")
    assert load(tmp_path / "lamp" / "lamp.toml").robot.body("arm").mass == 2.5
    again = page.ask("convert", document="lamp/lamp.urdf")  # never replaces what was edited
    assert again["document"] == "lamp/lamp_2.toml"


@pytest.mark.filterwarnings("ignore::kinemorph.errors.InactiveWarning")
def test_converted_arm_moves_as_the_original(page: Page, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_bytes(ARM.read_bytes())
    made = page.ask("convert", document="arm.urdf")["document"]
    one, other = (simulate(load(tmp_path / file), 0.2) for file in ("arm.urdf", made))
    assert np.array_equal(one.q, other.q)


BAD_NAMES = (
    *(
        "../x.toml",
        "/etc/x.toml",
        "a/../../x.toml",
        "..\\x.toml",
        "a\\..\\x.toml",
        "C:/x.toml",
        "C:x.toml",
        "//host/x.toml",
    ),
    *("", ".", "..", "x\0.toml", "a//x.toml", "a/./x.toml", ".hidden/x.toml", ".kinemorph/journal/x.toml", "x.toml/"),
    *("con.toml", "a/NUL.toml", "x.toml ", " x.toml", "x\n.toml", "x.exe", "x.py", "x.html", "x.js", "x", "a:b.toml"),
    *(
        "a" * 300 + ".toml",
        "/".join("a" * 20) + "/x.toml",
        "x<y>.toml",
        "x|y.toml",
        'x"y.toml',
        "x*.toml",
        "%2e%2e\\x.toml",
    ),
)


def test_names_that_lead_elsewhere_are_refused(page: Page, tmp_path: Path) -> None:
    around = sorted(tmp_path.parent.iterdir())
    for name in BAD_NAMES:
        with pytest.raises(StorageError):
            uploaded(page.session, name, b"x")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(tmp_path.parent.iterdir()) == around


def test_links_out_of_the_folder_are_not_followed(page: Page, tmp_path: Path, tmp_path_factory: Any) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (tmp_path / "link").symlink_to(outside, target_is_directory=True)
    (tmp_path / "file.toml").symlink_to(outside / "secret.toml")
    for name in ("link/x.toml", "file.toml"):
        with pytest.raises(StorageError, match="is not in the folder of the project"):
            uploaded(page.session, name, b"x")
    assert not list(outside.iterdir())


def test_limits_of_a_project(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinemorph.studio.documents.new_files.MOST_FILES", 2)
    uploaded(page.session, "a.stl", b"1")
    uploaded(page.session, "b.stl", b"1")
    with pytest.raises(StorageError, match="would have more than 2 files or 2 GB"):
        uploaded(page.session, "c.stl", b"1")


def test_wrong_names_of_new_files_are_sentences(page: Page) -> None:
    page.ask("new_model", name="arm")
    with pytest.raises(StorageError, match=r"there is a file 'arm\.toml' already"):
        page.ask("new_model", name="arm")
    with pytest.raises(KinemorphError, match=r"kind is 'aarm'; expected one of .*Did you mean 'arm'"):
        page.ask("new_model", name="x", kind="aarm")
    with pytest.raises(KinemorphError, match="is a TOML file already"):
        page.ask("convert", document="arm.toml")
    assert page.ask("copy_file", document="arm.toml", name="robots/other") == {"document": "robots/other.toml"}


# ── the start ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_start_of_a_four_bar_closes_its_loop(page: Page, tmp_path: Path) -> None:
    page.ask("new_model", name="bars", kind="four_bar")
    found = page.ask("start", document="bars.toml")
    assert [one["name"] for one in found["coordinates"]] == ["drive", "knee", "pivot"] and found["loops"] == 1
    closed = page.ask("close_start", document="bars.toml", q={"drive": "50 deg"}, held=["drive"])
    assert closed["drive"] == pytest.approx(math.radians(50), abs=1e-14)
    # the ends of coupler and rocker meet: plane geometry by hand, angles from the x axis
    a, b, c, d = 0.3, 0.9, 0.7, 1.0
    at = closed["drive"] + closed["knee"]
    end = (a * math.cos(closed["drive"]) + b * math.cos(at), a * math.sin(closed["drive"]) + b * math.sin(at))
    other = (d + c * math.cos(closed["pivot"]), c * math.sin(closed["pivot"]))
    assert end == pytest.approx(other, abs=1e-9)
    page.ask("store_start", document="bars.toml", q=closed)
    system = load(tmp_path / "bars.toml")
    assert system.settings.q == pytest.approx([closed[name] for name in system.robot.q_names], abs=1e-9)
    assert page.session.document("bars.toml").findings == []


def test_the_start_names_only_what_differs_and_refuses_what_is_wrong(page: Page, tmp_path: Path) -> None:
    page.ask("new_model", name="body", kind="tumbler")
    names = [one["name"] for one in page.ask("start", document="body.toml")["coordinates"]]
    page.ask("store_start", document="body.toml", q={names[0]: "5 cm"})
    assert tomllib.loads((tmp_path / "body.toml").read_text())["settings"]["q"] == {names[0]: 0.05}
    page.ask("new_model", name="cart", kind="cart")
    for q, said in (
        ({"pol": 1}, "Did you mean 'pole'"),
        ({"pole": "3 m"}, "expected an angle"),
        ({"pole": []}, "expected 2 numbers, or some of them by name"),
    ):
        with pytest.raises(KinemorphError, match=said):
            page.ask("store_start", document="cart.toml", q=q)
    with pytest.raises(UnsupportedError, match="expected settings, or a run or start of the file"):
        page.ask("store_start", document="cart.toml", q={}, place="bodies")


@pytest.mark.slow
def test_equilibrium_becomes_the_start(page: Page, tmp_path: Path) -> None:
    page.ask("new_model", name="arm")
    names = [one["name"] for one in page.ask("start", document="arm.toml")["coordinates"]]
    found = page.ask("equilibrium_start", document="arm.toml", q={names[0]: 0.3})
    assert found["found"], found["message"]
    page.ask("store_start", document="arm.toml", q=found["q"])
    system = load(tmp_path / "arm.toml")
    run = simulate(system, 0.5, v=np.zeros(system.robot.nv))
    assert np.abs(run.q - run.q[0]).max() < 1e-8


@pytest.mark.slow
def test_an_element_kind_of_a_python_file_has_a_form_and_works_in_a_worker(tmp_path: Path) -> None:
    """A kind that a file given at the start registers: its form comes from its fields, and workers know it too."""
    from kinemorph.studio.workers.user_python import load_python

    file = tmp_path / "own_gravity_kind.py"
    file.write_text("from kinemorph.elements import ELEMENT_KINDS, Gravity\nELEMENT_KINDS['own gravity'] = Gravity\n")
    folder = tmp_path / "project"
    folder.mkdir()
    session = Session(folder, None, load_python([file]))
    forms.whole_schema.cache_clear()
    try:
        page = Page(session)
        page.ask("new_model", name="arm")
        page.ask("add_part", document="arm.toml", section="elements", kind="own gravity", name="moon")
        labels = [one["label"] for one in page.ask("form", document="arm.toml", path=["elements", "moon"])["fields"]]
        assert "kind" in labels and len(labels) > 1
        assert session.document("arm.toml").findings == []
        assert "message" in page.ask("equilibrium_start", document="arm.toml")
    finally:
        session.stop()
        from kinemorph.model.elements import ELEMENT_KINDS

        ELEMENT_KINDS.pop("own gravity", None)
        forms.whole_schema.cache_clear()


def test_texts_that_are_no_grids_are_not_listed(page: Page, tmp_path: Path) -> None:
    """A text file may be a grid of modules, also one with mistakes; notes are not models."""
    (tmp_path / "notes.txt").write_text("Buy screws.\n# and a motor > 5 W\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "cross.txt").write_text("; a cross\n.   B>1 .\nB>2 B>0 B<3\n")
    (tmp_path / "wrong.txt").write_text("B>0 B>1\nB>2 Q>3\n")
    (tmp_path / "large.txt").write_text("B> " * 80 + "\n" + ("B> " * 80 + "\n") * 40)
    assert [one["name"] for one in page.ask("files")["files"]] == ["cross.txt", "large.txt", "wrong.txt"]


def test_assemble_says_what_to_do_with_a_robot_without_modules(page: Page) -> None:
    page.ask("new_model", name="bars", kind="four_bar")
    page.ask("new_model", name="organism", kind="grid")
    found = page.ask("grid", document="bars.toml")
    assert found["foreign"] and found["reason"].startswith("The file has [bodies], so it describes a robot without")
    assert "in the panel Files from the template grid" in found["reason"]
    assert not page.ask("grid", document="organism.toml")["foreign"]


def test_parts_of_a_file_that_is_not_toml_are_shown(page: Page, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_bytes(ARM.read_bytes())
    assert page.session.document("arm.urdf").model is not None
    sections = {one["key"]: one for one in page.ask("parts", document="arm.urdf")["sections"] if one["present"]}
    names = [part["name"] for part in sections["bodies"]["parts"]]
    assert names == list(load(tmp_path / "arm.urdf").robot.body_names) and "joints" in sections
    assert page.field("arm.urdf", "bodies", names[1], "mass")["value"] > 0.0


def test_kinds_of_elements_are_listed_by_subject_then_by_name(page: Page) -> None:
    page.ask("new_model", name="arm")
    sections = {one["key"]: one for one in page.ask("parts", document="arm.toml")["sections"]}
    kinds = [(one["group"], one["kind"]) for one in sections["elements"]["kinds"]]
    assert kinds == sorted(kinds) and {("forces", "spring"), ("sensing", "imu"), ("gaits", "rhythmic")} <= {*kinds}


def test_texts_with_mistakes_are_drafts(page: Page, tmp_path: Path) -> None:
    page.ask("new_model", name="arm")
    document = page.session.document("arm.toml")
    good = document.model
    text = document.text + "\n[bodies.arm\n"
    page.ask("edit", document="arm.toml", command={"verb": "set_text", "text": text})
    assert (tmp_path / "arm.toml").read_text() == text
    assert document.findings[0]["line"] == text.count("\n")
    assert document.model is good and load_text(TEMPLATES["arm"].named("arm"), "toml").name == good.name  # type: ignore[union-attr]
