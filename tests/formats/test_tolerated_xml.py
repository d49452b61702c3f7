"""XML errors that the parsers of robot simulators accept give a warning; the model is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinemorph
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.loading import examine
from kinemorph.formats.repairs import repaired
from support.tools.each_case import each_case

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINK = '<link name="{}">' + INERTIAL + "</link>"
JOINT = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="0 0 1"/></joint>'
ARM = '<robot name="arm">{}' + LINK.format("a") + LINK.format("b") + JOINT.format("j", "a", "b") + "</robot>"


@each_case(
    ("text", "problem", "repairable"),
    [
        ('<?xml version="0.0" ?>\n' + ARM.format(""), "version '0.0', expected 1.0", True),
        ("<?xml ?>\n" + ARM.format(""), "has no version, expected 1.0", True),
        ('\n<?xml version="1.0"?>\n' + ARM.format(""), "is not at the start of the file", True),
        (ARM.format("<gazebo><sensor:camera/></gazebo><sensor:x/>"), "prefix 'sensor'", False),
        (ARM.format("<!-- off: --><!-- a -- b -->"), "two hyphens", False),
        (ARM.format("").replace("<joint ", '<joint ext:order="2" '), "prefix 'ext'", False),
    ],
)
def test_a_blemish_of_the_xml_is_one_warning(tmp_path: Path, text: str, problem: str, repairable: bool) -> None:
    """Files with version 0.0 or undeclared prefixes, which simulators load, were refused as not well-formed."""
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    found = examine(path)
    assert found.system is not None and found.system.robot.nv == 1
    (finding,) = found.findings
    assert (finding.severity, finding.rule) == ("warning", "syntax") and problem in finding.problem
    assert (finding.repair is not None) == repairable
    if repairable:
        path.write_bytes(repaired(found.document, found.findings))
        assert not examine(path).findings


def test_other_formats_accept_the_same() -> None:
    ball = '<?xml version="0.0"?><sdf version="1.7"><model name="m"><link name="a"><drake:x/>'
    ball += "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    ball += "</link></model></sdf>"
    with pytest.warns(ModelWarning) as told:
        assert kinemorph.load_text(ball, "sdf").robot.nv == 6
    assert [str(one.message).rpartition(" [")[2] for one in told] == ["syntax]", "syntax]", "dropped]"]


@each_case(
    ("inside", "reason"),
    [("<a:b/><c>", "mismatch"), ("<a:b/>&x;", "Entity 'x'"), ("<a:b>" + "<c>" * 300, "nested deeper")],
)
def test_other_errors_are_named_also_after_a_blemish(inside: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        kinemorph.load_text(ARM.format(inside), "urdf")


@each_case("prefix", ['xmlns:xacro="http://www.ros.org/wiki/xacro"', 'xmlns:xacro="http://ros.org/xacro"', ""])
def test_a_macro_in_a_urdf_is_the_only_error(prefix: str) -> None:
    """Links whose joints come after the macro were reported as having no parent."""
    text = ARM.replace('name="arm"', f'name="arm" {prefix}').replace('<joint name="j"', '<xacro:more/><joint name="j"')
    with pytest.raises(ParseError) as refused:
        kinemorph.load_text(text.format(""), "urdf")
    (finding,) = [one for one in refused.value.findings if one.severity == "error"]
    assert "<xacro:more> is a macro" in finding.problem
