"""Repairs: what can be read in one way is mended in the document; the rest is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinemorph.formats.loading import examine
from kinemorph.formats.repairs import copy_name, repaired
from kinemorph.formats.xml_values import corrected_numbers
from support.tools.each_case import each_case

INERTIA = '<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
LINK = '<link name="{0}"><inertial><mass value="{1}"/>' + INERTIA + "</inertial></link>"
ARM = (
    '<robot name="arm">\n  <!-- kept -->\n'
    + LINK.format("a", "1,5")
    + "\n"
    + LINK.format("b", "2")
    + '\n<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
    + '<origin xyz="0, 0, 0.5"/><axis xyz="0 0 1"/></joint></robot>'
)


@each_case(
    ("text", "count", "mended"),
    [
        ("1,5", 1, "1.5"),
        ("-,5e-3", 1, "-.5e-3"),
        ("0,125", 1, "0.125"),
        ("1,234", 1, ""),  # or one thousand
        ("1.234,5", 1, ""),
        ("abc", 1, ""),
        ("1,5 kg", 1, ""),
        ("0,0,1", 3, "0 0 1"),
        ("0, 0, 1", 3, "0 0 1"),
        ("0;0;1.5", 3, "0 0 1.5"),
        ("0,5 1 2,25", 3, "0.5 1 2.25"),
        ("1,0", 2, "1 0"),
        ("1,2,3,4", 3, ""),
        ("1,2,3,4,5,6", 3, ""),
        ("1 2", 3, ""),
    ],
)
def test_numbers_are_mended_where_they_can_be_read_in_one_way(text: str, count: int, mended: str) -> None:
    assert corrected_numbers(text, count) == mended


def test_a_document_is_mended_and_then_loads(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    examination = examine(path)
    assert examination.system is None and len(examination.errors) == 2
    assert all(finding.repair for finding in examination.errors)
    copy = copy_name(path)
    assert copy.name == "arm.fixed.urdf"
    copy.write_bytes(repaired(examination.document, examination.findings))
    again = examine(copy)
    assert again.findings == () and again.system is not None
    assert again.system.robot.body("a").mass == 1.5
    assert tuple(again.system.robot.joint("j").placement.p) == (0.0, 0.0, 0.5)
    assert "<!-- kept -->" in copy.read_text()
    assert path.read_text() == ARM


@pytest.mark.parametrize("head", ['<?xml version="1.0"?>\n<!-- a -->\n\n<!-- b\nc -->\n', "<!-- a -->\n", ""])
def test_comments_stay_and_lines_keep_their_numbers(tmp_path: Path, head: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(f'{head}<robot name="r"><!-- d -->\n{LINK.format("b", "2,5")}\n</robot>\n<!-- e -->\n')
    examination = examine(path)
    text = repaired(examination.document, examination.findings).decode()
    assert text.splitlines()[-3:] == [LINK.format("b", "2.5"), "</robot>", "<!-- e -->"]
    assert len(text.splitlines()) == len(path.read_text().splitlines())
    assert [note for note in ("a", "b\nc") if f"<!-- {note} -->" in text] == [n for n in ("a", "b\nc") if n in head]


def test_one_bad_number_among_others_is_not_mended_in_part(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("0, 0, 0.5", "0,5 nix 0"))
    bad = [finding for finding in examine(path).errors if "xyz" in finding.problem]
    assert bad and all(finding.repair is None for finding in bad)


def test_lines_of_parts_are_known_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("1,5", "1.5").replace("0, 0, 0.5", "0 0 0.5"))
    examination = examine(path)
    assert (examination.format, examination.lines["body", "b"], examination.lines["joint", "j"]) == ("urdf", 4, 5)


SDF = """<sdf version="1.9">
  <model name="arm">
    <link name="a">
      <pose rotation_format="quat_xyzw">0 0 1 0 0 0 2</pose>
      <inertial><mass>1,5<!-- kg --></mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>
    </link>
    <joint name="j" type="revolute">
      <parent>world</parent><child>a</child>
      <pose>0, 0, 1, 0, 0, 0</pose>
      <axis><xyz>0 3 4</xyz></axis>
    </joint>
  </model>
</sdf>
"""


def test_the_texts_of_elements_are_mended_as_well(tmp_path: Path) -> None:
    path = tmp_path / "arm.sdf"
    path.write_text(SDF)
    examination = examine(path)
    assert {finding.rule for finding in examination.findings if finding.repair} == {"number", "rotation", "axis"}
    copy = copy_name(path)
    copy.write_bytes(repaired(examination.document, examination.findings))
    again = examine(copy)
    assert again.findings == () and again.system is not None
    assert again.system.robot.body("a").mass == 1.5
    assert again.system.robot.joint("j").axis == pytest.approx((0.0, 0.6, 0.8))
