"""TOML model files: what they may say, and what is said of them where they are wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinemorph
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.quaternions import direction_to_rotation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.findings import Finding, Findings
from kinemorph.formats.repairs import repaired
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import reader as toml
from kinemorph.model.body import Body, Vector
from kinemorph.model.elements import ELEMENT_KINDS, Actuator
from kinemorph.model.parameter import Parameter, Value, evaluate
from kinemorph.model.shapes import Mesh, MeshFile
from kinemorph.model.system import System
from support.tools.each_case import each_case

ARM = """\
kinemorph = 1
name = "arm"
[bodies.link]
mass = 1
inertia = [0.1, 0.1, 0.1]
[joints.hinge]
kind = "revolute"
parent = "world"
child = "link"
"""


def read(text: str, *, options: Options | None = None) -> tuple[System | None, list[Finding]]:
    findings = Findings("arm.toml")
    return toml.read(Source("arm.toml", text.encode()), options or Options(), findings), findings.found


def sound(text: str) -> System:
    system, found = read(text)
    assert found == []
    assert system is not None
    return system


# ── what a file may say ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_whole_file() -> None:
    text = """\
kinemorph = 1
name = "slider crank"
gravity = [0, 0, "-9.81 m/s^2"]

[settings]
q = { crank = "30 deg" }
v = [1, 0, 0]
duration = "2 min"

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
    assert system.settings.duration == 120.0
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


# ── what is wrong with a file ─────────────────────────────────────────────────────────────────────────────────────────


def told(text: str) -> tuple[str, int, str]:
    """(rule, line, problem) of the first thing found; the file must not load."""
    system, found = read(text)
    assert system is None
    assert found
    for finding in found:
        assert finding.remedy.endswith((".", "?")), finding
        assert not finding.problem.endswith("."), finding
        assert finding.line > 0 or finding.rule == "file", finding
    return found[0].rule, found[0].line, found[0].problem


MISTAKES = {
    # the file
    "": ("structure", 1, "the key 'kinemorph', which gives the version of the format, is missing"),
    "kinemorph = 2": ("structure", 1, "the key 'kinemorph', which gives the version of the format, is 2"),
    "kinemorph = 1\nbodys = 3": ("unknown", 2, "the key 'bodys' is not known, expected one of"),
    "kinemorph = 1\nbodies = 3": ("structure", 2, "'bodies' is 3, expected a table with one table per name"),
    "kinemorph = 1\n[bodies]\na = 3": ("structure", 3, "it is 3, expected a table"),
    "kinemorph = 1\nname = 3": ("structure", 2, "name is 3, expected text"),
    "kinemorph = 1\ngravity = [1, 2]": ("structure", 2, "gravity has 2 items, expected 3 items"),
    "kinemorph = 1\nparameters = []": ("structure", 2, "'parameters' is [], expected a table"),
    "kinemorph = 1": ("name", 1, "has no bodies"),
}


def before(text: str) -> tuple[str, str]:
    return "[bodies.link]", f"{text}\n[bodies.link]"


def body(text: str) -> tuple[str, str]:
    return "inertia =", f"{text}\ninertia ="


def joint(text: str) -> tuple[str, str]:
    return 'child = "link"', f'child = "link"\n{text}'


CHANGES = {
    # in a body
    ("mass = 1", "mas = 1"): ("unknown", 4, "the key 'mas' is not known, expected one of mass, solid, com"),
    ("mass = 1", 'mass = "1,5"'): ("number", 4, "mass is '1,5': column 2: found ','"),
    ("mass = 1", 'mass = "abc"'): ("number", 4, "mass is 'abc': column 1: there is no parameter 'abc'"),
    ("mass = 1", 'mass = "5 mm"'): (
        *("unit", 4, "mass: '5 mm' has the unit of a length, expected a mass such as '250 g'"),
    ),
    ("mass = 1", "mass = true"): ("number", 4, "mass is True, expected a number [kg]"),
    ("mass = 1", "mass = nan"): ("number", 4, "mass is nan, expected a finite number"),
    ("mass = 1", "mass = inf"): ("data", 4, "mass is inf, expected a finite number"),
    ("mass = 1", "mass = -1"): ("mass", 4, "mass is -1 kg"),
    ("mass = 1", f"mass = 1{'0' * 400}"): ("number", 4, "expected a finite number"),
    ("mass = 1", "mass = 1979-05-27"): ("number", 4, "expected a number"),
    ("[0.1, 0.1, 0.1]", "[0.1, 0.1]"): ("structure", 5, "inertia has 2 items, expected three moments"),
    ("[0.1, 0.1, 0.1]", "[[1, 0, 0], [0, 1, 0], 3]"): ("structure", 5, "expected three rows of three"),
    ("[0.1, 0.1, 0.1]", "{ xx = 1, yy = 1 }"): ("structure", 5, "inertia: the key 'zz' is missing"),
    ("[0.1, 0.1, 0.1]", '[0.1,\n"1 kg", 0.1]'): ("unit", 6, "inertia[1]: '1 kg' has the unit of a mass"),
    body("solid = 3"): ("structure", 5, "solid is 3, expected a table"),
    body("solid = {}"): ("structure", 5, "solid: the key 'kind' is missing"),
    body('solid = { kind = "boxx" }'): ("structure", 5, "solid: the kind is 'boxx', expected one of"),
    body('solid = { kind = "sphere", radius = 1 }'): ("structure", 6, "inertia is given together with solid"),
    body('solid = { kind = "box", size = [1, 2] }'): ("structure", 5, "solid size has 2 items"),
    body("shapes = {}"): ("structure", 5, "shapes is {}, expected a list"),
    body('shapes = [\n{ kind = "sphere" }]'): ("structure", 6, "shapes[0]: the key 'radius' is missing"),
    body('shapes = [{ kind = "mesh" }]'): ("structure", 5, "shapes[0]: the key 'file' is missing"),
    body('shapes = [{ kind = "sphere", radius = -1 }]'): ("data", 5, "radius is -1.0, expected above 0"),
    body('shapes = [{ kind = "line", start = [0, 0, 0], end = [0, 0, 1], color = [1, 1] }]'): (
        *("structure", 5, "shapes[0] color has 2 items, expected 3 or 4 items"),
    ),
    # in a joint
    ('kind = "revolute"', 'kind = "revolut"'): ("structure", 7, "kind is 'revolut', expected one of revolute"),
    ('kind = "revolute"', "kind = 3"): ("structure", 7, "kind is 3, expected one of revolute"),
    ('kind = "revolute"', 'typ = "revolute"'): ("unknown", 7, "the key 'typ' is not known"),
    ('kind = "revolute"\n', ""): ("structure", 6, "the key 'kind' is missing"),
    ('parent = "world"', 'parent = "wrold"'): ("name", 8, "parent: there is no body 'wrold'"),
    ('parent = "world"', "parent = 1"): ("structure", 8, "parent is 1, expected text"),
    ('child = "link"', 'child = "lnk"'): ("root", 3, "it is not the child of any joint, expected exactly one joint"),
    joint("axis = [0, 0, 2]"): ("axis", 10, "with length 2, expected length 1"),
    joint('axis = "w"'): ("axis", 10, "axis is 'w', expected one of x, y, z"),
    joint('lower = "5 mm"'): ("unit", 10, "lower: '5 mm' has the unit of a length"),
    joint("lower = [1, 2]"): ("structure", 10, "lower has 2 items, expected 1 item"),
    joint("lower = 2\nupper = 1"): ("data", 10, "lower limit 2 is above upper limit 1"),
    joint("rpy = [0, 0, inf]"): ("number", 10, "expected finite angles"),
    joint("rpy = [0, 0, 0]\nquaternion = [1, 0, 0, 0]"): ("structure", 11, "rpy and quaternion are given together"),
    joint("quaternion = [1, 0, 0, 1]"): ("rotation", 10, "with length 1.41421, expected length 1"),
    joint("rotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]"): ("data", 10, "is a reflection"),
    joint("rotation = 3"): ("structure", 10, "rotation is 3, expected 3 items"),
    joint("placement = 3"): ("structure", 10, "placement is 3, expected a table"),
    joint("placement = {}\ntranslation = [0, 0, 0]"): ("structure", 10, "placement is given together with translation"),
    joint("child_placement = { rpi = [0, 0, 0] }"): ("unknown", 10, "the key 'rpi' is not known"),
    joint("normalize = 1"): ("structure", 10, "normalize is 1, expected true or false"),
    # elsewhere
    before("[frames.f]"): ("structure", 3, "the key 'body' is missing"),
    before('[couplings.hinge]\nleader = "x"'): ("data", 4, "there is no tree joint 'x'"),
    before("[elements.e]"): ("structure", 3, "the key 'kind' is missing"),
    before('[elements.e]\nkind = "motor"'): ("structure", 3, "the kind is 'motor', expected one of"),
    before('[elements.e]\nkind = "actuator"\njoint = "x"'): ("name", 5, "there is no joint 'x'"),
    before('[elements.e]\nkind = "actuator"\njoint = "hinge"\ngear = "l"\n[parameters]\nl = 1'): (
        *("number", 6, "gear is 'l', expected a plain number"),
    ),
    before("[settings]\nq = [1, 2]"): ("structure", 4, "q has 2 items, expected 1 item"),
    before("[settings]\nq = { hing = 1 }"): ("unknown", 4, "the key 'hing' is not known"),
    before('[settings]\nq = { hinge = "1 m" }'): ("unit", 4, "q hinge: '1 m' has the unit of a length"),
    before("[settings]\nv = [inf]"): ("number", 4, "v is [inf], expected finite numbers"),
    before("[settings]\nduration = 0"): ("number", 4, "duration is 0 s, expected a finite time above 0"),
    before("[parameters]\na = 'b + 1'\nb = '2 * a'"): ("structure", 4, "it depends on itself: a -> b -> a"),
    before("[parameters]\na = 'a'"): ("structure", 4, "it depends on itself: a -> a"),
    before("[parameters]\na = 'c + 1'"): ("number", 4, "the value is 'c + 1': column 1"),
    before("[parameters]\na = { valu = 1 }"): ("unknown", 4, "the key 'valu' is not known"),
    before("[parameters]\na = { value = '5 mm', unit = 'mm' }"): ("unit", 4, "expected one unit"),
    before("[parameters]\na = inf"): ("number", 4, "expected a finite number"),
    before("[parameters]\na = '5 foo'"): ("unit", 4, "the unit 'foo' is not known"),
    before(f"[bodies.{'x' * 2000}]"): ("name", 3, "the name has 2000 characters"),
}


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: repr(text)[:40])
def test_a_wrong_file_is_told(text: str) -> None:
    _like(told(text), MISTAKES[text])


@each_case("change", CHANGES, ids=lambda change: change[1][:40].replace("\n", " "))
def test_a_wrong_line_is_told(change: tuple[str, str]) -> None:
    assert change[0] in ARM
    _like(told(ARM.replace(*change, 1)), CHANGES[change])


def _like(found: tuple[str, int, str], expected: tuple[str, int, str]) -> None:
    assert found[:2] == expected[:2], found
    assert expected[2] in found[2]


REMEDIES = {
    ("mass = 1", "mass = l1"): 'in quotes, such as "l1"',
    ("mass = 1", "mass = 1 kg"): "words and quantities in quotes",
    ("mass = 1", 'mass = "2 gram"'): "Did you mean 'g'?",
    ("mass = 1", 'mass = "2 ^ 3"'): "Write ** for a power.",
    ("mass = 1", 'mass = "1 + 5 kg"'): "Make the quantity a parameter",
    ("[bodies.link]\nmass = 1", '[parameters]\nb = 1\n[bodies.link]\nmass = "2 b"'): 'Write "2 * b" for a product.',
    ("[0.1, 0.1, 0.1]", "[1, 0, 0, 1, 0, 1]"): "Write [xx, yy, zz]",
    ("[0.1, 0.1, 0.1]", "{ ixx = 1, iyy = 1, izz = 1 }"): "Write xx for ixx.",
    ('kind = "revolute"', 'kind = "hinge"'): "Did you mean 'revolute'?",
    ('kind = "revolute"', 'kind = "floating"'): "Did you mean 'free'?",
    ('child = "link"', 'child = "link'): "Close the quotes.",
    ('child = "link"', 'child: "link"'): "Write key = value.",
    ("[bodies.link]", "[bodies.link]\n[bodies.link]"): "Rename one of the two",
    joint("axis = [0, 1]"): "Write 3 items.",
}


@each_case("change", REMEDIES, ids=lambda change: change[1][:40].replace("\n", " "))
def test_a_slip_is_one_sentence_with_the_remedy_that_fits(change: tuple[str, str]) -> None:
    assert change[0] in ARM
    _, (finding,) = read(ARM.replace(*change, 1))
    assert REMEDIES[change] in finding.remedy, finding


def test_a_start_by_the_name_of_a_joint_that_closes_a_loop_is_told_as_such() -> None:
    ring = """kinemorph = 1
[bodies]
a = { mass = 1, solid = { kind = "sphere", radius = 1 } }
b = { mass = 1, solid = { kind = "sphere", radius = 1 } }
[joints]
j = { kind = "revolute", parent = "world", child = "a" }
k = { kind = "revolute", parent = "world", child = "b" }
l = { kind = "revolute", parent = "a", child = "b" }
[settings]
q = { l = 1 }
"""
    _, (finding,) = read(ring)
    assert (finding.rule, finding.line) == ("name", 10) and "joint 'l' closes a loop" in finding.problem


def test_angles_of_more_than_a_turn_are_doubtful_unless_they_have_a_unit() -> None:
    _, (finding,) = read(ARM + "rpy = [0, 0, 90]\n")
    assert (finding.severity, finding.rule, finding.line) == ("warning", "unit", 10)
    assert finding.remedy == 'Write "90 deg" if degrees are meant.'
    assert not read(ARM + 'rpy = [0, "800 deg", 6.28]\n')[1]


def test_all_mistakes_are_told_at_once() -> None:
    _, found = read(ARM.replace("mass = 1", "mas = 1").replace("revolute", "revolut").replace("0.1]", '"x"]'))
    assert [(finding.rule, finding.line) for finding in found] == [("unknown", 4), ("number", 5), ("structure", 7)]


def test_more_mistakes_than_are_listed() -> None:
    text = "kinemorph = 1\n" + "".join(f"[joints.j{i}]\nlower = 'x'\n" for i in range(300))
    with pytest.raises(ParseError, match="more findings"):
        kinemorph.load_text(text, "toml")


def test_what_is_safe_to_repair_carries_its_repair() -> None:
    text = ARM.replace("mass = 1", 'mass = "1,5"  # kg').replace("[0.1, 0.1", '[0.1, "0,1"') + "axis = [0, 0, 2]\n"
    findings = Findings("arm.toml")
    assert toml.read(Source("arm.toml", text.encode()), Options(), findings) is None
    assert [(finding.rule, finding.line, finding.repair is not None) for finding in findings.found] == [
        ("number", 4, True),
        ("number", 5, True),
        ("axis", 10, True),
    ]
    mended = repaired(findings.document, findings.found).decode()
    assert "mass = 1.5  # kg" in mended
    robot = sound(mended).robot
    assert (robot.bodies[0].mass, robot.joints[0].axis) == (1.5, (0.0, 0.0, 1.0))


def test_a_parameter_of_another_unit_is_doubtful() -> None:
    text = ARM.replace("mass = 1", 'mass = "l"') + '[parameters]\nl = "1 m"\nf = { value = 2, unit = "furlong" }\n'
    system, found = read(text)
    assert system is not None
    assert [(finding.severity, finding.rule, finding.line) for finding in found] == [
        ("warning", "unit", 12),
        ("warning", "unit", 4),
    ]


def test_dependent_parameters_resolve_in_any_order_and_number() -> None:
    chain = "".join(f'p{i} = "p{i + 1} + 1"\n' for i in range(100)) + "p100 = 1\n"
    robot = sound(ARM.replace("mass = 1", 'mass = "p0"') + f"[parameters]\n{chain}").robot
    assert evaluate(robot.bodies[0].mass) == 101.0


# ── whatever the bytes ────────────────────────────────────────────────────────────────────────────────────────────────

PIECES = [line for line in ARM.splitlines() if line] + [
    *("[settings]", "q = { hinge = 1 }", "[parameters]", "a = 'b'", "b = 1", "c = { value = '5 mm' }", "[elements.e]"),
    *('kind = "actuator"', 'joint = "hinge"', "[frames.f]", 'body = "link"', "[couplings.hinge]", 'leader = "hinge"'),
    *(
        "axis = 'x'",
        "rpy = [1, 2, 3]",
        "shapes = [{ kind = 'box', size = [1, 1, 1] }]",
        "lower = '-5 deg'",
        "gravity = 3",
    ),
    *("solid = { kind = 'rod', length = 'a' }", "[bodies.link.inertia]", "xx = 1", "[[bodies.link.shapes]]"),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.binary(max_size=4), st.integers(0, 300))
def test_nothing_but_findings_comes_out(pieces: list[str], noise: bytes, at: int) -> None:
    data = "\n".join(["kinemorph = 1", *pieces]).encode()
    findings = Findings("arm.toml")
    system = toml.read(Source("arm.toml", data[:at] + noise + data[at:]), Options(), findings)
    assert (system is None) == findings.failed


@pytest.mark.parametrize(
    ("rest", "rule", "told"),
    [
        ("[settings]\nq = [0, 0, 0, 0]", "rotation", "length 0, expected 1"),
        ('[settings]\nq = { "j.qw" = 2 }', "rotation", "length 2, expected 1"),
        ('[elements.m]\nkind = "actuator"\njoint = "j"\ncontrol = "positon"', "structure", "effort, position"),
        ('[settings]\nloops = "projektion"', "structure", "one of projection, baumgarte, partitioning"),
    ],
)
def test_starts_and_drives_that_cannot_be_are_refused(rest: str, rule: str, told: str) -> None:
    ball = 'kinemorph = 1\n[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[joints.j]\nkind = "spherical"\n'
    findings = Findings("robot.toml")
    text = f'{ball}parent = "world"\nchild = "b"\n{rest}\n'
    assert toml.read(Source("robot.toml", text.encode()), Options(), findings) is None
    (error,) = findings.errors
    assert error.rule == rule and told in error.problem
