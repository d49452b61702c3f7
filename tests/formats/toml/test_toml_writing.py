"""TOML writing: what is saved and loaded is the same System, field by field, and the file is pleasant to read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinemorph
from kinemorph import Body, Parameter, Robot, RobotBuilder, System
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import reader as toml
from kinemorph.formats.toml.text import pose
from kinemorph.formats.toml.writer import written_system
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.elements import ELEMENT_KINDS, Actuator, EasyDynNormal, HuntCrossley, ImpedanceNormal
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.library import LIBRARY
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.parameter import Formula
from kinemorph.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfEllipsoid,
    HalfSpace,
    Line,
    Mesh,
    MeshFile,
    Shape,
    Sphere,
    Surface,
    Terrain,
    Triangle,
)
from kinemorph.model.system import Settings
from support.robots.random_robots import joint_data, random_robot
from support.tools.each_case import each_case


def text_of(model: Robot | System) -> str:
    findings = Findings("robot.toml")
    text = written_system(model if isinstance(model, System) else System(model), findings)
    assert findings.found == []
    return text


def back(text: str, *, rules: tuple[str, ...] = ()) -> System:
    """The system of a text, in which nothing is found but what is told by the name of its rule."""
    findings = Findings("robot.toml")
    system = toml.read(Source("robot.toml", text.encode()), Options(), findings)
    assert tuple(finding.rule for finding in findings.found) == rules
    assert system is not None
    return system


def one_body(*, name: str = "link", **data: Any) -> Robot:
    given: dict[str, Any] = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)} | data
    return RobotBuilder("robot").body(name, **given).joint("hinge", "revolute", "world", name).build()


# ── the same again ────────────────────────────────────────────────────────────────────────────────────────────────────


# their controllers are Python functions
NOT_IN_FILES = ("segway", "raibert_hopper")


@each_case("name", [name for name in CHOICE if name not in NOT_IN_FILES])
def test_library_robots_come_back(name: str, tmp_path: Path) -> None:
    system = choose(name)
    path = tmp_path / f"{name}.toml"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kinemorph.save(system, path) == (path,)
        found = kinemorph.load(path)
    if system.robot.positions and not system.settings.q:  # a file has the initial values of coordinates
        assert list(found.settings.q) == initial_configuration(system.robot).tolist()
        found = replace(found, settings=replace(found.settings, q=()))
    assert found == system
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@each_case("seed", range(12))
def test_random_robots_come_back(seed: int) -> None:
    robot = random_robot(seed, most=20, symbolic=seed % 2 == 0)
    assert back(text_of(robot)).robot == robot


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 400))
def test_many_random_robots_come_back(seed: int) -> None:
    robot = random_robot(seed, symbolic=seed % 2 == 0)
    assert back(text_of(robot)).robot == robot


@each_case("kind", JOINT_KINDS)
@each_case("role", ["tree", "loop"])
def test_joints_of_all_kinds_come_back(kind: str, role: str) -> None:
    if role == "loop" and kind == "free":
        return
    rng = np.random.default_rng(5)
    row = JOINT_KINDS[kind]
    data = joint_data(rng, kind)
    limited = not row.quaternions and kind != "fixed"
    if limited:
        data |= {"lower": [-math.pi / 2 - i for i in range(row.nq)], "upper": 1.5}
    data |= {"velocity": [1.0 + i for i in range(row.nv)], "effort": 7.0, "damping": [0.1 * i for i in range(row.nv)]}
    data |= {"friction": Parameter("f", 0.3), "armature": 0.01} if row.nv else {}
    if not row.nv:
        data = {key: data[key] for key in ("placement", "child_placement")}
    builder = RobotBuilder("robot", gravity=(0.0, Parameter("g", 1.6), -1.0)).add(Body.box("a", 1.0, (1.0, 2.0, 3.0)))
    builder.joint("joint", kind if role == "tree" else "free", "world", "a", **(data if role == "tree" else {}))
    if role == "loop":
        builder.joint("loop", kind, "world", "a", **data)
    in_vain = ("loop",) if role == "loop" and row.nv else ()  # a loop has no coordinate to be limited or damped
    with pytest.warns(ModelWarning, match="has no coordinate on which its") if in_vain else nullcontext():
        robot = builder.build()
    assert back(text_of(robot), rules=in_vain).robot == robot


SHAPES: list[Shape] = [
    Box((0.1, Parameter("l", 0.2, "m"), 0.3)),
    Cylinder(0.1, 2.0 * Parameter("l", 0.2, "m"), Pose(rotation_of_angles(0.1, 0.2, 0.3), (1.0, 2.0, 3.0))),
    Capsule(0.1, 0.2, color=(0.1, 0.2, 0.3, 0.4)),
    Sphere(1e-17),
    Ellipsoid((0.1, 0.2, Parameter("l", 0.2, "m"))),
    HalfEllipsoid((0.1, 0.2, 0.3), Pose(rotation_of_angles(0.1, 0.2, 0.3), (1.0, 2.0, 3.0))),
    Frustum(0.1, 0.0, 0.3),
    Line((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    Triangle((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    Mesh(tuple((0.1 * i, 0.0, 1.0 / 3.0) for i in range(40)), tuple((i, i + 1, i + 2) for i in range(38)), "a.stl"),
    MeshFile("package://gone/part.stl", scale=(1e-3, 1e-3, 1e-3)),
    HalfSpace((2.0, 3.0), Pose(rotation_of_angles(0.1, 0.2, 0.3), (1.0, 2.0, 3.0))),
    Terrain(((0.0, 0.1, 0.2), (0.3, 0.2, 1.0 / 3.0)), (0.1, 0.2)),
]
TOUCHING = [
    Surface(0.7, ImpedanceNormal(1e4, 20.0, width=0.002), groups=3, meets=4, priority=-1, margin=0.01, gap=0.002),
    Surface(0.0, HuntCrossley(1e5, 0.5)),
    Surface(normal=EasyDynNormal(1e5)),
]


def _touching(shapes: list[Shape]) -> list[Shape]:
    """Shapes for contact with surfaces."""
    rough = [shape for shape in shapes if hasattr(shape, "surface")]
    return [replace(shape, surface=TOUCHING[k % 3]) for k, shape in enumerate(rough)]  # type: ignore[call-arg]


def test_all_shapes_come_back() -> None:
    assert {type(shape) for shape in SHAPES} == set(kinemorph.model.shapes.SHAPE_FIELDS)
    robot = one_body(shapes=SHAPES, collisions=_touching(SHAPES))
    findings = Findings("robot.toml")
    system = toml.read(Source("robot.toml", text_of(robot).encode()), Options(), findings)
    assert [finding.rule for finding in findings.found] == ["mesh"]
    assert system is not None
    assert system.robot == robot


def test_couplings_frames_elements_and_settings_come_back() -> None:
    builder = RobotBuilder("robot").add(*(Body.sphere(name, 1.0, 0.1) for name in "abc"))
    builder.joint("j1", "revolute", "world", "a").joint("j2", "prismatic", "a", "b", axis=(1.0, 0.0, 0.0))
    builder.joint("base", "free", "world", "c").couple("j2", "j1", Parameter("k", 0.5, "m/rad"), 0.1)
    builder.frame("tool", "b", translation=(0.1, 0.0, 0.0)).frame("mark", "world", rotation=rotation_of_angles(1, 2, 3))
    robot = builder.build()
    q = (0.5, 0.35, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    elements = (Actuator("m 1", "j1", 50.0, "position", 1e3, upper=math.pi), Actuator("m2", "j2"))
    for state in (
        Settings(),
        Settings(q, time=1.0),
        Settings(v=(0.0,) * 8, sample=1e-3),
        Settings(v=(0.0,) * 7 + (1.0,)),
        Settings((0.0,) * 5 + (1.0,) + (0.0,) * 3, (1.0,) * 8),
    ):
        system = System(robot, elements, state)
        assert back(text_of(system)) == system


NAMES = [
    "a b",
    "q\"u'o`te",
    "back\\slash",
    "dot.ted",
    "ünï",
    "世界",
    "#[x]",
    "=",
    "-1",
    "1e5",
    "inf",
    "x" * 200,
    "\U0001f916",
]


@each_case("name", NAMES)
def test_names_of_any_kind_come_back(name: str) -> None:
    mass = Parameter(name, 2.0, name, r"\dot{m}_1")
    robot = one_body(name=name, mass=2.0 * mass, inertia=(mass, mass, mass))
    robot = replace(robot, name=name)
    findings = Findings("robot.toml")
    system = toml.read(Source("x.toml", text_of(robot).encode()), Options(), findings)
    assert {finding.rule for finding in findings.found} <= {"unit"}  # units of that name are not known
    assert system is not None
    assert system.robot == robot


def test_parameters_of_odd_names_come_back() -> None:
    for name in ("line\nbreak", "\x7f", " ", "pi", "sin", "``"):
        mass = Parameter(name, 2.0)
        robot = one_body(mass=mass * mass)
        text = text_of(robot)
        findings = Findings("robot.toml")
        system = toml.read(Source("x.toml", text.encode()), Options(), findings)
        if name.strip() and name.isprintable():
            assert system is not None
            assert system.robot == robot
        else:
            assert [finding.rule for finding in findings.errors] == ["name"]


FLOATS = st.floats(-1e6, 1e6).filter(lambda x: x == 0.0 or abs(x) > 1e-30)


@settings(max_examples=60, deadline=None)
@given(st.tuples(FLOATS, FLOATS, FLOATS), st.tuples(*[st.floats(-7.0, 7.0)] * 3), FLOATS)
def test_numbers_come_back_to_the_last_bit(p: tuple[float, ...], angles: tuple[float, ...], limit: float) -> None:
    R = rotation_of_angles(*angles)
    builder = RobotBuilder("robot").body("a", 1.0, com=[1e-6 * x for x in p], inertia=(0.1, 0.1, 0.1))
    inf = math.inf
    builder.joint("j", "revolute", "world", "a", placement=Pose(R, p), lower=limit, upper=inf, armature=9.0)
    robot = builder.build()
    assert back(text_of(robot)).robot == robot


# ── pleasant to read ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("turn", "written"),
    [
        (((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)), '["90 deg", 0, 0]'),
        (rotation_of_angles(math.pi / 2, 0.0, 0.0), "[1.5707963267948966, 0, 0]"),
        (rotation_of_angles(1.57, 0.0, -3.14), "[1.57, 0, -3.14]"),
        (rotation_of_angles(0.0, 3.14159265359, 0.0), "[0, 3.14159265359, 0]"),
        (rotation_of_angles(0.0, 0.0, -3.14159265359), "[0, 0, -3.14159265359]"),
        (rotation_of_angles(0.0, 0.0, math.radians(45.0)), '[0, 0, "45 deg"]'),
        (((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)), '[0, "180 deg", 0]'),
    ],
)
def test_rotations_are_written_as_people_write_them(turn: Any, written: str) -> None:
    assert pose(Pose(turn, (0.0, 0.0, 0.0))) == {"rpy": written}


def test_a_rotation_that_no_angles_give_is_a_matrix() -> None:
    turn = ((0.36, 0.48, -0.8), (-0.8, 0.6, 0.0), (0.48, 0.64, 0.6))
    assert pose(Pose(turn, IDENTITY.p)) == {"rotation": "[[0.36, 0.48, -0.8], [-0.8, 0.6, 0], [0.48, 0.64, 0.6]]"}


@pytest.mark.parametrize("name", ["puma", "four_bar", "scara"])
def test_golden_files(name: str, request: pytest.FixtureRequest) -> None:
    golden = Path(__file__).resolve().parents[2] / "data" / "models" / f"{name}.toml"
    text = text_of(LIBRARY[name]())
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == text
    assert max(map(len, text.splitlines())) <= 130


# ── what cannot be written ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Wind:
    """An element that no file knows."""

    name: str


def _warned(model: Robot | System, path: Path) -> Iterator[str]:
    with pytest.warns(ModelWarning) as caught:
        kinemorph.save(model, path)
    return (str(warning.message) for warning in caught)


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    assert Wind not in ELEMENT_KINDS.values()
    robot = one_body(mass=Parameter("m", 500.0, "g"))
    said = list(_warned(System(robot, (Wind("storm"),)), tmp_path / "a.toml"))
    assert len(said) == 2
    assert "parameter 'm': its unit is 'g', but its value is in SI" in said[0]
    assert "element 'storm': its type Wind is not known in model files" in said[1]
    assert kinemorph.load(tmp_path / "a.toml").robot.parameters == (Parameter("m", 500.0),)


def test_meshes_are_the_same_files_or_named(tmp_path: Path) -> None:
    here, there, away = tmp_path / "here", tmp_path / "there", tmp_path / "far" / "away"
    for folder in (here, there, away):
        folder.mkdir(parents=True)
    (here / "part.stl").write_text("")
    robot = one_body(shapes=[MeshFile("part.stl", str((here / "part.stl").resolve()))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kinemorph.save(robot, here / "a.toml")
        assert kinemorph.load(here / "a.toml").robot == robot
        kinemorph.save(robot, there / "a.toml")
        (shape,) = kinemorph.load(there / "a.toml").robot.bodies[0].shapes
        assert shape.source == "../here/part.stl" and shape.path == robot.bodies[0].shapes[0].path
    assert "the mesh '../../here/part.stl' is not found" in next(_warned(robot, away / "a.toml"))
    (shape,) = kinemorph.load(away / "a.toml", package_dirs=[here]).robot.bodies[0].shapes
    assert shape.path == robot.bodies[0].shapes[0].path


def test_a_tree_that_was_cut_by_hand_comes_back() -> None:
    builder = RobotBuilder("ring").add(*(Body.sphere(name, 1.0, 0.1) for name in "ab"))
    builder.joint("j1", "revolute", "world", "a").joint("j2", "revolute", "a", "b", translation=(1.0, 0.0, 0.0))
    robot = builder.joint("j3", "revolute", "world", "b").build()
    other = replace(robot, joints=robot.joints[:1] + robot.loops, loops=robot.joints[1:])
    assert "cut" not in text_of(robot) and text_of(other).count("cut    = true") == 1
    assert back(text_of(other)).robot == other


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    kinemorph.save(one_body(), path)
    before = path.read_bytes()
    deep: Any = Parameter("m", 1.0)
    for _ in range(5000):
        deep = Formula("abs", (deep,))
    with pytest.raises(ParseError, match="a nesting depth of 5000"):
        kinemorph.save(one_body(mass=deep), path)
    with pytest.raises(ParseError, match="UTF-8 cannot encode"):
        kinemorph.save(one_body(mass=Parameter("\ud800", 1.0)), path)
    with pytest.raises(ParseError, match="cannot be written"):
        kinemorph.save(one_body(), path / "folder.toml")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.toml"]


def test_axes_that_a_joint_does_not_have_are_not_written(tmp_path: Path) -> None:
    """A free joint of another library may come with an axis of zeros, which a reader would refuse."""
    builder = RobotBuilder("ball").add(Body("ball", 1.0, inertia=(0.1, 0.1, 0.1)))
    robot = builder.joint("root", "free", "world", "ball").build()
    robot = replace(robot, joints=(replace(robot.joints[0], axis=(0.0, 0.0, 0.0)),))
    (path,) = kinemorph.save(robot, tmp_path / "ball.toml")
    assert "axis" not in path.read_text("utf-8") and kinemorph.load(path).robot.nv == 6
