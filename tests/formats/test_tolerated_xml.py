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
        (ARM.format("<gazebo><sensor:camera/></gazebo><sensor:x/>"), "prefix 'sensor'", True),
        (ARM.format("<!-- off: --><!-- a -- b -->"), "two hyphens", False),
        (ARM.format("").replace("<joint ", '<joint ext:order="2" '), "prefix 'ext'", True),
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


def test_a_declared_prefix_keeps_its_meaning(tmp_path: Path) -> None:
    """Joints of Drake are read with and without a declaration of their prefix."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format("").replace("<joint ", "<drake:joint ").replace("</joint>", "</drake:joint>"))
    found = examine(path)
    path.write_bytes(repaired(found.document, found.findings))
    again = examine(path)
    assert found.system is not None and again.system is not None and not again.findings
    assert again.system.robot == found.system.robot


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
def test_a_macro_that_is_left_over_is_left_out_if_the_links_are_a_tree_without_it(prefix: str) -> None:
    """Valkyrie's files have calls of macros that only its xacro files define; all other parsers load them."""
    text = ARM.replace('name="arm"', f'name="arm" {prefix}').replace('<joint name="j"', '<xacro:more/><joint name="j"')
    with pytest.warns(ModelWarning, match="<xacro:more> is a macro that the file does not define: it is left out"):
        assert kinemorph.load_text(text.format(""), "urdf").robot.nv == 1
    for needing in (text.format(LINK.format("c")), text.format("").replace('child link="b"', 'child link="c"')):
        with pytest.raises(ParseError) as refused:  # links without a parent, and unknown links, follow from the macro
            kinemorph.load_text(needing, "urdf")
        (finding,) = [one for one in refused.value.findings if one.severity == "error"]
        assert "<xacro:more> is a macro, expected plain URDF" in finding.problem


def test_a_urdf_with_macros_is_expanded_if_it_declares_the_prefix(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    path = tmp_path / "arm.urdf"
    macro = f'<xacro:macro name="more" params="n">{LINK.format("${n}")}{JOINT.format("k", "b", "${n}")}</xacro:macro>'
    text = ARM.format(macro).replace("</robot>", '<xacro:more n="c"/></robot>')
    path.write_text(text.replace('name="arm"', 'name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    assert kinemorph.load(path).robot.nv == 2
    path.write_text(text)  # the prefix is not declared, which xacro needs
    (finding,) = examine(path).errors
    assert "<xacro:macro> is a macro, expected plain URDF" in finding.problem
