"""What is read is kept clean: unit axes and rotations to the last digit, and complaints short enough to read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.algebra.scalar import cos, sin
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.building.part_checks import parameter_problems
from kinemorph.model.input_reader import Reader
from kinemorph.model.joint import Axis
from kinemorph.model.parameter import Formula, Parameter
from support.tools.each_case import each_case

EPS = float(np.finfo(float).eps)
SEEDS = range(40)


def axis(raw: Any, **options: bool) -> Axis:
    reader = Reader()
    read = reader.axis("axis", raw, **{"normalize": False} | options)
    assert reader.problems == []
    return read


def rotation(raw: Any) -> Any:
    reader = Reader()
    read = reader.rotation("rotation", raw)
    assert reader.problems == []
    return read


def bent(R: Any) -> float:
    return float(np.abs(np.array(R) @ np.array(R).T - np.eye(3)).max())


def rounded_rotation(seed: int, digits: int = 10) -> Any:
    w = np.random.default_rng(seed).normal(size=3)
    return np.round(np.array(exp_so3(w.tolist())), digits)


def test_an_axis_of_nine_digits_becomes_a_unit_vector() -> None:
    read = axis((0.577350269,) * 3)
    assert abs(np.linalg.norm(read) - 1.0) <= 2 * EPS and len(set(read)) == 1
    assert axis((0.0, 0.0, 1.0 + 5e-10)) == (0.0, 0.0, 1.0)  # so a planar joint takes it too


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_coordinate_axes_stay_as_they_are(k: int, sign: float) -> None:
    given = tuple(sign if i == k else 0.0 for i in range(3))
    assert axis(given) == given and axis(given, normalize=True) == given


@each_case("seed", SEEDS)
@each_case("normalize", [False, True])
def test_reading_twice_changes_nothing(seed: int, normalize: bool) -> None:
    raw = np.random.default_rng(seed).normal(size=3)
    once = axis(raw if normalize else raw / np.linalg.norm(raw) * (1.0 + 7e-10), normalize=normalize)
    assert axis(once) == once and abs(np.linalg.norm(once) - 1.0) <= 3 * EPS
    R = rotation(rounded_rotation(seed))
    assert rotation(R) == R and bent(R) <= 1e-15


@each_case("seed", SEEDS)
def test_a_rounded_rotation_becomes_the_nearest_one(seed: int) -> None:
    raw = rounded_rotation(seed)
    assert bent(raw) > 1e-12
    u, _, vt = np.linalg.svd(raw)
    read = rotation(raw)
    assert np.allclose(read, u @ vt, rtol=0.0, atol=1e-14)
    assert all(type(entry) is float for row in read for entry in row)


def test_what_is_a_rotation_already_stays_bitwise() -> None:
    renamed = ((0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
    assert rotation(renamed) == renamed
    exact = exp_so3((0.3, -0.2, 0.9))
    assert rotation(exact) == exact


def test_structural_zeros_survive_the_projection() -> None:
    c, s = round(np.cos(0.3), 10), round(np.sin(0.3), 10)
    read = rotation(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
    assert bent(read) <= 1e-15 and bent(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))) > 1e-12
    assert read[2] == (0.0, 0.0, 1.0) and read[0][2] == read[1][2] == 0.0


def test_a_rotation_with_parameters_stays_as_written() -> None:
    a = Parameter("a", 0.3)
    written = ((cos(a), -sin(a), 0.0), (sin(a), cos(a), 0.0), (0.0, 0.0, 1.0 + 1e-10))
    assert rotation(written) == written


def test_placements_of_joints_and_frames_are_cleaned() -> None:
    raw = Pose(rounded_rotation(1), (1.0, 2.0, 3.0))
    builder = RobotBuilder("r").body("a", 1.0, inertia=(1.0, 1.0, 1.0)).frame("tip", "a", rotation=raw.R)
    robot = builder.joint("j", "revolute", "world", "a", placement=raw, child_placement=raw).build()
    for pose in (robot.joint("j").placement, robot.joint("j").child_placement, robot.frame("tip").placement):
        assert bent(pose.R) <= 1e-15
    assert robot.joint("j").placement.p == raw.p


# ── complaints ────────────────────────────────────────────────────────────────────────────────────────────────────────

BODY = Body.box("a", 1.0, (0.1, 0.2, 0.3))
LONG = sum((Parameter(f"parameter_{i}", 1.0) for i in range(40)), start=Parameter("first", 1.0))


@each_case(
    "builder",
    [
        RobotBuilder("r").body(BODY, 1.0),  # type: ignore[arg-type]
        RobotBuilder("r").add(BODY).joint("j", "revolute", "world", BODY),  # type: ignore[arg-type]
        RobotBuilder("r").add(BODY).joint(BODY, "revolute", "world", "a", axis=(0.0, 0.0, 2.0)),  # type: ignore[arg-type]
        RobotBuilder("r").add(BODY).joint("j", BODY, "world", "a"),  # type: ignore[arg-type]
        RobotBuilder("r").add(BODY).root("a").frame("tip", BODY),  # type: ignore[arg-type]
        RobotBuilder("r").add(BODY).root("a").couple(BODY, BODY),  # type: ignore[arg-type]
        RobotBuilder("r").add(BODY).root("a", placement=np.full((4, 4), BODY)),
        RobotBuilder("r").body("a", 1.0, shapes=BODY).root("a"),  # type: ignore[arg-type]
        RobotBuilder("r").body("a", 1.0, shapes=[BODY]).root("a"),  # type: ignore[list-item]
        RobotBuilder("r" + "\t" * 400).add(BODY).root("a"),
        RobotBuilder("r").add(BODY).joint("j", "revolute", "world", "a", pitch=LONG, lower=LONG, damping=-LONG),
        RobotBuilder("r").add(BODY).joint("j", "revolute", "world", "a", damping=LONG / 0.0),
        RobotBuilder("r").add(BODY).joint("j", "revolute", "world", "a", damping=Formula("nonsense", (LONG,))),
    ],
)
def test_no_complaint_prints_a_whole_object(builder: RobotBuilder) -> None:
    assert builder.problems()
    for problem in builder.problems():
        for long in (repr(BODY), str(BODY), repr(LONG), str(LONG)):
            assert long[:70] not in problem
        assert len(problem) <= 340 and "\n" not in problem


def test_a_name_that_is_not_text_is_still_told() -> None:
    assert any("the name is 7, expected text" in problem for problem in RobotBuilder("r").body(7, 1.0).problems())  # type: ignore[arg-type]


def test_a_formula_that_cannot_be_evaluated_is_noted_once() -> None:
    reader = Reader()
    assert reader.not_negative("damping", Formula("nonsense", (1.0,))) == 0.0 and len(reader.problems) == 1


def test_two_parameters_of_one_name_are_told_apart_in_brief() -> None:
    (problem,) = parameter_problems([Parameter("k" * 200, 1.0), Parameter("k" * 200, 2.0)])
    assert problem.count("k" * 60) <= 3 and "1.0" in problem and "2.0" in problem


def test_a_name_with_a_line_break_is_one_mistake() -> None:
    builder = RobotBuilder("r").body("a\n", 1.0, inertia=(1.0, 1.0, 1.0)).joint("j", "revolute", "world", "a\n")
    assert len(builder.problems()) == 1


@each_case("number", [1e101, -1e308, float("nan"), float("inf")])
@each_case("place", [0, 1, 2])
def test_numbers_whose_products_overflow_are_told(number: float, place: int) -> None:
    """A length of 1e308 m below which nothing weighs anything loads elsewhere, and is NaN in some state."""
    raw = [0.0, 0.0, 0.0]
    raw[place] = number
    for given in (tuple(raw), raw):
        reader = Reader()
        assert reader.vector("p", given) == (0.0, 0.0, 0.0)
        assert len(reader.problems) == 1 and f"p[{place}]" in reader.problems[0]
    reader = Reader()
    assert reader.vector("p", (1e99, -1e99, 0.0)) == (1e99, -1e99, 0.0) and not reader.problems
