"""Sidecars: what a model's own format cannot say, added to it, and told of the file where it stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, Parameter, RobotBuilder, System
from kinemorph.errors import ParseError
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml.sidecar import extend, sidecar_path, write_sidecar
from kinemorph.model.elements import Actuator
from kinemorph.model.library import four_bar
from kinemorph.model.robot import Coupling, Frame
from kinemorph.model.system import Settings


def blueprint(findings: Findings) -> Blueprint:
    """A four-bar without what closes it."""
    plan = Blueprint(findings, "bars", words={"body": "link"})
    for line, (name, length) in enumerate((("crank", 0.3), ("coupler", 0.9), ("rocker", 0.7)), 1):
        rod = Body.rod(name, 1.0, length, (0.5 * length, 0.0, 0.0), axis="x")
        plan.body(line, name, rod.mass, com=rod.com, inertia=rod.inertia)
    plan.joint(11, "q1", "revolute", "world", "crank", axis=(0.0, -1.0, 0.0))
    plan.joint(12, "q2", "revolute", "crank", "coupler", axis=(0.0, -1.0, 0.0), translation=(0.3, 0.0, 0.0))
    plan.joint(13, "q3", "revolute", "world", "rocker", axis=(0.0, -1.0, 0.0), translation=(1.0, 0.0, 0.0))
    return plan


def extended(folder: Path, text: str | None, options: Options | None = None) -> tuple[bool, System | None, Findings]:
    findings = Findings(str(folder / "bars.urdf"))
    plan = blueprint(findings)
    if text is not None:
        (folder / "bars.sidecar.toml").write_text(text)
    applied = extend(plan, Source(str(folder / "bars.urdf"), b"", folder), options or Options(), findings)
    return applied, plan.system(), findings


CLOSURE = """\
kinemorph = 1
gravity = [0, 0, -1.62]
[joints.closure]
kind = "revolute"
parent = "coupler"
child = "rocker"
translation = [0.9, 0, 0]
child_placement = { translation = [0.7, 0, 0] }
axis = "-y"
[frames.tip]
body = "coupler"
[elements.motor]
kind = "actuator"
joint = "q1"
[settings.q]
q1 = "30 deg"
"""


def test_a_sidecar_closes_a_loop(tmp_path: Path) -> None:
    applied, system, findings = extended(tmp_path, CLOSURE)
    assert applied
    assert findings.found == []
    assert system is not None
    assert [loop.name for loop in system.robot.loops] == ["closure"]
    assert system.robot.gravity == (0.0, 0.0, -1.62)
    assert system.robot.frame("tip").body == "coupler"
    assert system.elements == (Actuator("motor", "q1"),)
    assert system.settings.q == (np.radians(30.0), 0.0, 0.0)


def test_without_a_sidecar_nothing_happens(tmp_path: Path) -> None:
    applied, system, findings = extended(tmp_path, None)
    assert (applied, findings.found) == (False, [])
    assert system is not None
    assert not extend(blueprint(findings), Source("<urdf>", b""), Options(), findings)


@pytest.mark.parametrize(
    ("old", "new", "rule", "line", "element"),
    [
        ("kinemorph = 1", "", "structure", 1, ""),
        ("gravity =", "gravty =", "unknown", 2, ""),
        ("kinemorph = 1", 'kinemorph = 1\nname = "x"', "unknown", 2, ""),
        ('parent = "coupler"', 'parent = "couple"', "name", 5, "joint 'closure'"),
        ("[joints.closure]", "[joints.q1]", "name", 3, "joint 'q1'"),
        ('axis = "-y"', "axis = [0, 0, 2]", "axis", 9, "joint 'closure'"),
        ('joint = "q1"', 'joint = "q9"', "name", 14, "element 'motor'"),
        ("q1 =", "q9 =", "unknown", 16, "settings"),
        ("[0.7, 0, 0] }", "[0.7, 0, 0]", "syntax", 8, ""),
    ],
)
def test_mistakes_are_told_of_the_sidecar(
    tmp_path: Path, old: str, new: str, rule: str, line: int, element: str
) -> None:
    _, system, findings = extended(tmp_path, CLOSURE.replace(old, new, 1))
    assert system is None
    first = findings.found[0]
    assert (first.rule, first.line, first.element) == (rule, line, element)
    assert first.file == str(tmp_path / "bars.sidecar.toml")


def test_a_named_sidecar_must_exist(tmp_path: Path) -> None:
    applied, system, findings = extended(tmp_path, CLOSURE, Options(sidecar=tmp_path / "other.toml"))
    assert not applied
    assert system is None
    assert [(finding.rule, finding.file) for finding in findings.found] == [("file", str(tmp_path / "other.toml"))]
    (tmp_path / "other.toml").write_text(CLOSURE)
    assert extended(tmp_path, None, Options(sidecar=tmp_path / "other.toml"))[1] is not None


def test_mistakes_of_the_model_are_told_of_the_model(tmp_path: Path) -> None:
    findings = Findings("bars.urdf")
    plan = blueprint(findings)
    plan.frame(14, "mark", "nowhere")
    (tmp_path / "bars.sidecar.toml").write_text(CLOSURE)
    assert extend(plan, Source("bars.urdf", b"", tmp_path), Options(), findings)
    assert plan.system() is None
    assert [(finding.file, finding.line) for finding in findings.found] == [("bars.urdf", 14)]


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    robot = four_bar(lengths=(0.3, 0.9, 0.7))
    settings = Settings(q=(0.6, 0.02989836, 1.6066907), time=3.0)
    frame, coupling = Frame("tip", "coupler", robot.loops[0].placement), Coupling("q3", "q1", Parameter("k", 0.5))
    elements = (Actuator("motor", "q1"),)
    findings = Findings("bars.urdf")
    path = sidecar_path(tmp_path / "bars.urdf")
    assert path == tmp_path / "bars.sidecar.toml"
    system = System(robot, elements, settings)
    written = write_sidecar(
        system, robot.loops, path, findings, frames=[frame], couplings=[coupling], elements=elements
    )
    assert written == path
    assert findings.found == []
    plan = blueprint(findings)
    assert extend(plan, Source(str(tmp_path / "bars.urdf"), b"", tmp_path), Options(), findings)
    back = plan.system()
    assert findings.found == []
    assert back is not None
    assert back.settings == settings
    assert back.elements == elements
    assert back.robot.parameters == ()  # nominal values, as the model has them
    loop = back.robot.loops[0]
    assert (loop.name, loop.placement.p, loop.child_placement.p) == ("closure", (0.9, 0.0, 0.0), (0.7, 0.0, 0.0))
    assert back.robot.frames[0].placement.p == (0.9, 0.0, 0.0)
    assert back.robot.couplings == (Coupling("q3", "q1", 0.5),)
    assert "parameters" not in path.read_text()


def test_a_urdf_with_its_sidecar(tmp_path: Path) -> None:
    """The way of a user: a URDF of a tree, a sidecar that closes it."""
    inertial = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("ground", "crank", "coupler", "rocker"))
    ends = '<parent link="{}"/><child link="{}"/><origin xyz="{} 0 0"/><axis xyz="0 -1 0"/>'
    joint = f'<joint name="{{}}" type="continuous">{ends}</joint>'
    joints = joint.format("q1", "ground", "crank", 0) + joint.format("q2", "crank", "coupler", 0.3)
    path = tmp_path / "bars.urdf"
    path.write_text(f'<robot name="bars">{links}{joints}{joint.format("q3", "ground", "rocker", 1)}</robot>')
    (tmp_path / "bars.sidecar.toml").write_text(CLOSURE)
    system = kinemorph.load(path)
    assert [loop.name for loop in system.robot.loops] == ["closure"]
    (tmp_path / "bars.sidecar.toml").write_text(CLOSURE.replace("coupler", "couple"))
    with pytest.raises(ParseError, match=r"bars\.sidecar\.toml:5: joint 'closure'"):
        kinemorph.load(path)


def test_a_toml_model_with_a_sidecar(tmp_path: Path) -> None:
    path, beside = tmp_path / "arm.toml", tmp_path / "more.toml"
    path.write_text('kinemorph = 1\n[bodies.a]\nmass = 1\nsolid = { kind = "sphere", radius = 1 }\n')
    beside.write_text('kinemorph = 1\n[joints.root]\nkind = "free"\nparent = "world"\nchild = "a"\n')
    with pytest.raises(ParseError, match=r"arm\.toml:2: body 'a': it is not the child of any joint"):
        kinemorph.load(path)
    assert kinemorph.load(path, sidecar=beside).robot.joint_names == ("root",)


def test_builders_know_nothing_of_sidecars() -> None:
    assert RobotBuilder("x").add(Body.sphere("a", 1.0, 1.0)).root("a").build().loops == ()


def test_a_sidecar_beside_is_not_that_of_a_toml_file(tmp_path: Path) -> None:
    """Written for linkage.urdf, it would close the loop of linkage.toml a second time."""
    (model,) = kinemorph.save(four_bar(), tmp_path / "linkage.toml")
    before = kinemorph.load(model)
    with pytest.warns(kinemorph.errors.ModelWarning, match="parameters"):
        files = kinemorph.save(before, tmp_path / "linkage.urdf")
    assert [file.name for file in files] == ["linkage.urdf", "linkage.sidecar.toml"]
    assert kinemorph.load(model) == before


def test_a_sidecar_that_is_left_over_is_told(tmp_path: Path) -> None:
    (tmp_path / "arm.sidecar.toml").write_text(CLOSURE)
    arm = RobotBuilder("arm").add(Body.sphere("ball", 1.0, 0.1)).joint("j", "revolute", "world", "ball").build()
    with pytest.warns(
        kinemorph.errors.ModelWarning, match=r"'arm\.sidecar\.toml' of another model is in the same folder"
    ):
        kinemorph.save(arm, tmp_path / "arm.urdf")
