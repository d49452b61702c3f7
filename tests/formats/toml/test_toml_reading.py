"""TOML model files: what they may say, and what is made of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import kinemorph
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.quaternions import direction_to_rotation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.errors import ModelWarning
from kinemorph.formats.sources import Options
from kinemorph.model.body import Body, Vector
from kinemorph.model.elements import ELEMENT_KINDS, Actuator
from kinemorph.model.parameter import Parameter, Value, evaluate
from kinemorph.model.shapes import Mesh, MeshFile
from support.texts.toml_texts import ARM, read, sound, told


def test_a_whole_file() -> None:
    text = """\
kinemorph = 1
name = "slider crank"
gravity = [0, 0, "-9.81 m/s^2"]

[settings]
q = { crank = "30 deg" }
v = [1, 0, 0]
time = "2 min"

[parameters]
half = "l / 2"                        # before what it depends on
l = "300 mm"
m = { value = 500, unit = "g", symbol = 'm_\\mathrm{c}' }
quarter = "pi / 2"

[bodies.crank]
mass = "m"
solid = { kind = "rod", length = "l", center = ["half", 0, 0], axis = "x" }
[bodies."rod 2"]
mass = "0.25 kg"
com = [0.1, 0, 0]
inertia = { xx = 1e-3, yy = "20 g m^2", zz = 0.02, yz = 1e-4 }
shapes = [{ kind = "capsule", radius = "5 mm", length = 0.2, rpy = [0, "90 deg", 0], color = [1, 0, 0, 0.5] }]
collisions = [{ kind = "sphere", radius = "l", placement = { translation = [0, 0, 1] } }]
[bodies.slider]
mass = 1
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]

[joints]
crank = { kind = "revolute", parent = "world", child = "crank", axis = "-y", lower = "-180 deg", damping = "0.1 N m s" }
[joints.pin]
kind = "revolute"
parent = "crank"
child = "rod 2"
translation = ["l", 0, 0]
quaternion = [1, 0, 0, 0]
axis = [0, -2, 0]
normalize = true
effort = 5
[joints.slide]
kind = "prismatic"
parent = "world"
child = "slider"
axis = "x"
upper = "80 cm"
armature = "3 kg"
[joints.closure]
kind = "revolute"
parent = "rod 2"
child = "slider"
placement = { translation = [0.4, 0, 0], rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }
child_placement = { translation = [0, 0, "quarter * 0"] }
axis = "-y"

[frames.tip]
body = "rod 2"
translation = [0.4, 0, 0]

[elements.motor]
kind = "actuator"
joint = "crank"
gear = 50
effort = "120 mN m"
"""
    system = sound(text)
    robot = system.robot
    l, m = Parameter("l", 0.3, "m"), Parameter("m", 0.5, "kg", "m_\\mathrm{c}")
    assert robot.name == "slider crank"
    assert robot.parameters == (m, l)
    assert robot.bodies[0] == Body.rod("crank", m, l, (l / 2.0, 0.0, 0.0), axis="x")
    assert robot.body_names == ("crank", "rod 2", "slider")
    rod = robot.body("rod 2")
    assert rod.mass == 0.25
    assert rod.inertia == ((1e-3, 0.0, 0.0), (0.0, 0.02, 1e-4), (0.0, 1e-4, 0.02))
    assert rod.shapes[0].color == (1.0, 0.0, 0.0, 0.5)
    assert rod.shapes[0].placement.R == ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
    assert rod.collisions[0].placement == Pose(IDENTITY.R, (0.0, 0.0, 1.0))
    assert robot.joint_names == ("crank", "pin", "slide")
    assert [loop.name for loop in robot.loops] == ["closure"]
    assert robot.joint("crank").lower == (-math.pi,)
    assert robot.joint("crank").damping == (0.1,)
    assert robot.joint("pin").axis == (0.0, -1.0, 0.0)
    assert robot.joint("slide").upper == (0.8,)
    assert system.settings.q == (math.radians(30.0), 0.0, 0.0)
    assert system.settings.v == (1.0, 0.0, 0.0)
    assert system.settings.time == 120.0
    assert system.elements == (Actuator("motor", "crank", 50.0, effort=0.12),)


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("rpy = [0.1, 0.2, 0.3]", rotation_of_angles(0.1, 0.2, 0.3)),
        ('rpy = ["90 deg", 0, "-90 deg"]', ((0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
        (f"rpy = [0, 0, {math.pi / 2!r}]", rotation_of_angles(0.0, 0.0, math.pi / 2)),
        ('rpy = ["pi", 0, 0]', ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))),
        ("quaternion = [0.7071, 0, 0, 0.7071]", direction_to_rotation((0.7071, 0.0, 0.0, 0.7071))),
        ("quaternion = [0.6, 0, 0.8, 0]", direction_to_rotation((0.6, 0.0, 0.8, 0.0))),
        ("rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]", ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
    ],
)
def test_ways_of_turning(turn: str, expected: tuple[tuple[float, ...], ...]) -> None:
    R: Any = sound(f"{ARM}{turn}\n").robot.joints[0].placement.R
    assert np.abs(np.subtract(R, expected)).max() < 1e-15
    assert np.array_equal(np.equal(R, 0.0), np.equal(expected, 0.0))


@pytest.mark.parametrize(
    ("solid", "body"),
    [
        ('{ kind = "point", position = [0, 1, 0] }', Body.point("link", 1.0, (0.0, 1.0, 0.0))),
        (
            '{ kind = "rod", length = 2, radius = "1 cm", axis = "x" }',
            Body.rod("link", 1.0, 2.0, radius=0.01, axis="x"),
        ),
        ('{ kind = "cylinder", radius = 1, length = 2, axis = "y" }', Body.cylinder("link", 1.0, 1.0, 2.0, axis="y")),
        (
            '{ kind = "box", size = [1, 2, 3], center = [1, 0, 0] }',
            Body.box("link", 1.0, (1.0, 2.0, 3.0), (1.0, 0.0, 0.0)),
        ),
        ('{ kind = "sphere", radius = 1 }', Body.sphere("link", 1.0, 1.0)),
    ],
)
def test_solids(solid: str, body: Body) -> None:
    assert sound(ARM.replace("inertia = [0.1, 0.1, 0.1]", f"solid = {solid}")).robot.bodies[0] == body


def test_units_follow_the_coordinate() -> None:
    text = ARM.replace('kind = "revolute"', 'kind = "cylindrical"')
    joint = sound(
        f'{text}lower = ["-90 deg", "-5 cm"]\nvelocity = ["1 rad/s", "10 mm/s"]\ndamping = 0.5\n'
    ).robot.joints[0]
    assert joint.lower == (-math.pi / 2, -0.05)
    assert joint.velocity == (1.0, 0.01)
    assert joint.damping == (0.5, 0.5)
    wrong = f'{text}lower = ["-90 deg", "-5 deg"]\n'
    assert told(wrong) == ("unit", 10, "lower[1]: '-5 deg' has the unit of an angle, expected a length such as '5 mm'")


def test_a_body_without_a_joint_is_a_root_where_the_caller_says_so() -> None:
    text = ARM.partition("[joints")[0]
    system, found = read(text, options=Options(base="free"))
    assert found == []
    assert system is not None
    assert system.robot.joints[0].kind == "free"
    assert told(text)[:2] == ("root", 3)


def test_the_caller_may_fix_or_free_the_one_root() -> None:
    fixed = ARM.replace("revolute", "fixed")
    for text, base, kind in ((fixed, "free", "free"), (fixed, "fixed", "fixed"), (fixed, None, "fixed")):
        system, found = read(text, options=Options(base=base))  # type: ignore[arg-type]
        assert found == []
        assert system is not None
        assert system.robot.joints[0].kind == kind
    damped = ARM.replace('kind = "revolute"', 'kind = "free"\ndamping = [1, 1, 1, 1, 1, 1]')
    assert read(damped, options=Options(base="fixed"))[1] == []
    system, found = read(ARM, options=Options(base="free"))
    assert system is not None
    assert [(finding.severity, finding.rule) for finding in found] == [("warning", "root")]
    assert system.robot.joints[0].kind == "revolute"


def test_meshes(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "part.stl").write_text("solid")
    (tmp_path.parent / "secret.stl").write_text("solid")
    path = tmp_path / "model" / "arm.toml"
    mesh = '{ kind = "mesh", vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces = [[0, 1, 2]] }'
    names = ("part.stl", "gone.stl", "../../secret.stl", "file:///etc/passwd", "\\u0000")
    files = ", ".join(f'{{ kind = "mesh", file = "{name}", scale = [1e-3, 1e-3, 1e-3] }}' for name in names)
    path.write_text(ARM.replace("inertia =", f"shapes = [{mesh}, {files}]\ninertia ="))
    with pytest.warns(ModelWarning) as caught:
        robot = kinemorph.load(path).robot
    assert [str(w.message)[-6:] for w in caught] == ["[mesh]", "[path]"]
    inline, *rest = robot.bodies[0].shapes
    assert isinstance(inline, Mesh)
    assert inline.faces == ((0, 1, 2),)
    assert [shape.source for shape in rest if isinstance(shape, MeshFile)] == ["part.stl", "gone.stl"]
    assert rest[0] == MeshFile("part.stl", str((tmp_path / "model" / "part.stl").resolve()), (1e-3, 1e-3, 1e-3))


@dataclass(frozen=True)
class Spring:
    """An element of all the forms that a dataclass may have."""

    name: str
    body: str
    anchor: Vector
    rest: Value
    mode: Literal["linear", "cubic"] = "linear"
    table: tuple[tuple[float, float], ...] = ()
    count: int = 1
    on: bool = True
    limit: float | None = None
    placement: Pose = IDENTITY


def test_elements_are_read_by_their_type_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ELEMENT_KINDS, "spring", Spring)
    text = (
        ARM
        + """\
[parameters]
l = 0.5
[elements.s]
kind = "spring"
body = "link"
anchor = [0, "2 cm", "l"]
rest = "2 * l"
mode = "cubic"
table = [[0, 1], [2, 3]]
count = 3
on = false
limit = "3 N"
placement = { translation = [1, 2, 3] }
"""
    )
    l = Parameter("l", 0.5)
    spring = sound(text).elements[0]
    pose = Pose(IDENTITY.R, (1.0, 2.0, 3.0))
    table = ((0.0, 1.0), (2.0, 3.0))
    assert spring == Spring("s", "link", (0.0, 0.02, l), 2.0 * l, "cubic", table, 3, False, 3.0, pose)
    assert told(text.replace('"cubic"', '"cubik"'))[1:] == (17, "mode is 'cubik', expected one of linear, cubic")
    assert told(text.replace('body = "link"', 'body = "lint"')) == (
        *("name", 14, "there is no body 'lint', expected a declared name"),
    )
    assert told(text.replace("rest = ", "reset = "))[0] == "unknown"


def test_dependent_parameters_resolve_in_any_order_and_number() -> None:
    chain = "".join(f'p{i} = "p{i + 1} + 1"\n' for i in range(100)) + "p100 = 1\n"
    robot = sound(ARM.replace("mass = 1", 'mass = "p0"') + f"[parameters]\n{chain}").robot
    assert evaluate(robot.bodies[0].mass) == 101.0
