"""Renaming a part: whatever names it in the file follows, the robot stays the same, and the way back gives the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinemorph import System, load_text
from kinemorph.formats.toml import template_files
from kinemorph.studio.documents.commands.command import CommandError
from kinemorph.studio.documents.document import Document
from kinemorph.studio.schema.references import Renaming

TEMPLATES = Path(next(iter(template_files.__path__)))
HOPPER = """kinemorph = 1
name = "hopper"
[parameters]
l = "40 cm"
hip = 2.0
[bodies.trunk]
mass = 3
solid = { kind = "sphere", radius = "l / 4" }
[bodies.leg]
mass = "hip / 2"
solid = { kind = "rod", length = "l", center = [0, 0, "-l / 2"] }
[joints.root]
kind = "free"
parent = "world"
child = "trunk"
[joints.swing]
kind = "revolute"
parent = "trunk"
child = "leg"
axis = "y"
[frames.foot]
body = "leg"
translation = [0, 0, "-l"]
[elements.wave]
kind = "sinusoid"
joints = ["swing"]
amplitude = 0.1
frequency = 1.0
[elements.servo]
kind = "pid"
reads = ["q.swing"]
drives = ["swing"]
reference = "wave.swing"
kp = 10
[elements.pd2]
kind = "pd"
joints = ["swing"]
reference = "wave"
kp = 10
kd = 1
[elements.effort]
kind = "integral"
signals = ["v.swing"]
[elements.ground]
kind = "contact"
body = "foot"
normal = { kind = "hunt crossley", stiffness = 1e4 }
[settings]
q = { "root.z" = 1.0, swing = 0.1 }
[runs.a]
time = 0.1
q = { "root.z" = 1.0, swing = 0.1 }
v = { swing = 0.2, "root.vx" = 0.1 }
locked = ["swing"]
"""
WALKER = """kinemorph = 1
bodies.leg = { mass = 1, solid = { kind = "rod", length = 1, center = [0, 0, 0.5] } }
joints.ankle = { kind = "revolute", parent = "world", child = "leg", axis = "y" }
frames.toe = { body = "leg" }

[phases.swing]

[edges.strike]
source = "swing"
target = "swing"
guard = "0.4 - q.ankle"
when = "v.ankle"
reset = { "q.ankle" = "-q.ankle", "v.ankle" = "0.7 * v.ankle" }
impact = "none"
"""
CASES = [
    *((HOPPER, kind, name) for kind, name in (
        ("joint", "swing"), ("joint", "root"), ("body", "leg"), ("body", "trunk"), ("frame", "foot"),
        ("element", "wave"), ("element", "ground"), ("element", "servo"), ("parameter", "l"), ("parameter", "hip"),
        ("run", "a"),
    )),
    *((WALKER, kind, name) for kind, name in (
        ("joint", "ankle"), ("body", "leg"), ("frame", "toe"), ("phase", "swing"), ("edge", "strike"),
    )),
]  # fmt: skip


def masses(system: System) -> list[tuple[object, ...]]:
    """What a rename does not change: masses, kinds of joints and elements, the initial state and the plans of runs."""
    robot = system.robot
    return [
        tuple(str(body.mass) for body in robot.bodies) if not robot.parameters else (),
        tuple(joint.kind for joint in robot.joints),
        tuple(type(element).__name__ for element in system.elements),
        system.settings.q,
        tuple((plan.time, len(plan.q), len(plan.locked)) for plan in system.runs.values()),
    ]


@pytest.mark.parametrize(("text", "kind", "name"), CASES)
@pytest.mark.parametrize("new", ["other_name", pytest.param("two words", marks=pytest.mark.slow)])
def test_everything_that_names_a_part_follows(text: str, kind: str, name: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    before = masses(load_text(text, "toml"))
    document = Document(path)
    if kind == "parameter" and " " in new:
        new = "other"
    document.apply({"verb": "rename", "kind": kind, "name": name, "to": new})
    assert [one["problem"] for one in document.findings if one["severity"] == "error"] == []
    assert document.model is not None and masses(document.model) == before
    document.apply({"verb": "rename", "kind": kind, "name": new, "to": name})
    assert document.text == text


def test_names_that_only_look_alike_stay(tmp_path: Path) -> None:
    path = tmp_path / "four_bar.toml"
    path.write_text((TEMPLATES / "four_bar.toml").read_text())
    document = Document(path)
    document.apply({"verb": "rename", "kind": "body", "name": "crank", "to": "bar"})  # there is a parameter crank too
    assert document.data["joints"]["knee"]["parent"] == "bar"
    assert document.data["joints"]["knee"]["translation"][0] == "crank"
    document.apply({"verb": "rename", "kind": "parameter", "name": "crank", "to": "a"})
    assert document.data["joints"]["knee"]["translation"][0] == "a" and document.findings == []
    assert document.data["bodies"]["bar"]["solid"]["center"][0] == "a / 2"


def test_modules_are_renamed_in_the_grid_and_in_elements(tmp_path: Path) -> None:
    path = tmp_path / "organism.toml"
    path.write_text((TEMPLATES / "organism.toml").read_text())
    document = Document(path)
    document.apply({"verb": "rename", "kind": "module", "name": "m0", "to": "head"})
    assert document.findings == [] and document.data["assembly"]["base"] == "head"
    assert "B>head" in document.text and document.data["elements"]["wave"]["joints"][0] == "head_hinge"
    with pytest.raises(CommandError):
        document.apply({"verb": "rename", "kind": "module", "name": "m7", "to": "tail"})


def test_in_formulas_a_parameter_hides_a_joint_of_its_name() -> None:
    joint = Renaming("joints", "hip", "knee", shadowed=True)
    assert joint.formula("hip + 2 * q.hip - q.hip2 + `hip`") == "hip + 2 * q.knee - q.hip2 + `hip`"
    assert joint._replace(shadowed=False).formula("hip + q.hip") == "knee + q.knee"
    parameter = Renaming("parameters", "hip", "left hip", shadowed=False)
    assert parameter.formula("2 * hip + q.hip") == "2 * `left hip` + q.hip"
