"""Rows of constraints at an instant: what they say, their rates by differences, what they do not depend on, and words
for what is wrong.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kinemorph import Parameter, elements
from kinemorph.algebra.rotations import rotation
from kinemorph.algebra.scalar import sin
from kinemorph.errors import ModelError, TracingError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees import charts
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral
from kinemorph.model.robot import Robot
from support.cases.element_laws import ALONG, ROBOTS, Instant, arm, floater, linkage
from support.tools.each_case import each_case

RAIL = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.2), (1.0, 0.0, 0.5), (2.0, 1.0, 1.0))
HELD: tuple[Any, ...] = (
    elements.Sinusoid("wish", 0.3, 2.0),
    elements.Constraint("text", ("q.hinge - 0.2 * sin(w * t)", "q.hinge**2 + wish"), known={"w": 3}),
    elements.Constraint("function", lambda t, angle: angle * angle - sin(t), reads="q.hinge"),
    elements.Constraint("whole", lambda t, q: [q[0] * q[1], q[2] - t * t], names=("a", "b")),
    elements.DistanceConstraint("rod", "upper", "tool", 0.5, point_b=(0.1, 0.2, 0.3)),
    elements.DistanceConstraint("winch", "world", "tool", lambda t: 1.0 + t, point_b=(0.1, 0.2, 0.3)),
    elements.PointOnPlane("floor", "tool", (0.1, 0.2, 0.0), normal=(0.0, 3.0, 4.0), origin=(0.0, 0.0, 0.3)),
    elements.PointOnPlane("lid", "tool", (0.1, 0.2, 0.0), on="upper", normal=(0.0, 3.0, 4.0)),
    elements.PointOnLine("wire", "tool", (0.1, 0.2, 0.0), direction=(1.0, 2.0, 3.0)),
    elements.PointOnLine("slot", "tool", (0.1, 0.2, 0.0), on="slider", direction=(0.0, 2.0, 0.0)),
    elements.PointOnSurface("pipe", "tool", ("x**2 + y**2 - r**2", "z - t"), known={"r": 0.4}),
    elements.PointOnSurface("bowl", "tool", lambda t, x, y, z: z - x * x - t * y, on="upper"),
    elements.PointOnCurve("rail", "tool", RAIL, on="upper"),
    elements.PointOnCurve("ramp", "tool", RAIL, planar=True),
    elements.PrescribedMotion("held", "hinge", 0.4),
    elements.PrescribedMotion("driven", "hinge", "a * t**2 + wish", known={"a": 2.0}),
    elements.PrescribedMotion("timed", "hinge", elements.Table((0.0, 1.0, 2.0), ((0.0,), (1.0,), (0.0,)), "cubic")),
    elements.RollingDisc("wheel", "tool", 0.2, center=(0.0, 0.1, 0.0), axle=(0.0, 2.0, 0.1)),
    elements.RollingDisc("roller", "tool", 0.2, on="upper", normal=(0.1, 0.0, 1.0)),
    elements.RollingSphere("ball", "tool", 0.2, origin=(0.0, 0.0, 0.1)),
    elements.RollingSphere("bead", "tool", 0.2, on="upper"),
    elements.KnifeEdge("skate", "tool", side=(0.0, 3.0, 0.0), point=(0.1, 0.0, 0.0)),
    elements.KnifeEdge("keel", "tool", normal=(0.0, 0.0, 2.0)),
    elements.KnifeEdge("groove", "tool", on="upper", normal=(0.0, 0.0, 1.0)),
    elements.VelocityConstraint("speeds", "v.hinge * cos(q.hinge) + t"),
    elements.VelocityConstraint("both", lambda t, q, v: [v[0] * q[0] - t, v[1]], names=("a", "b")),
)


def somewhere(robot: Robot, tree: Any, seed: int = 3) -> tuple[list[Any], np.ndarray]:
    rng = np.random.default_rng(seed)
    q = charts.place(tree, list(neutral(robot)), list(0.3 * rng.normal(size=robot.nv)))
    return q, rng.normal(size=robot.nv)


@pytest.mark.parametrize("name", ROBOTS)
def test_rates_of_rows_are_differences(name: str) -> None:
    robot = ROBOTS[name]()
    instant = Instant(robot, HELD)
    q, v = somewhere(robot, instant.tree)
    t, h = 0.3, 1e-6
    up, down = (
        np.array(instant.world(t + s * h, charts.place(instant.tree, q, list(s * h * v)), v).position_rows(), float)
        for s in (1.0, -1.0)
    )
    w = [ALONG.moved(0.0, x) for x in v]
    moved = instant.world(ALONG.moved(t, 1.0), charts.place(instant.tree, q, w, finished=False), v)
    rates = [float(ALONG.tangent(row)) for row in moved.position_rows()]
    assert len(rates) == len(instant.cast.position_rows) == 26
    np.testing.assert_allclose(rates, (up - down) / (2.0 * h), atol=2e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_rows_of_velocities_are_linear(name: str) -> None:
    robot = ROBOTS[name]()
    instant = Instant(robot, HELD)
    q, a = somewhere(robot, instant.tree)
    b = np.random.default_rng(8).normal(size=robot.nv)
    ends = [np.array(instant.world(0.3, q, v).velocity_rows(), float) for v in (a, b, 0.5 * (a + b))]
    assert len(ends[0]) == len(instant.cast.velocity_rows) == 14
    np.testing.assert_allclose(ends[2], 0.5 * (ends[0] + ends[1]), atol=1e-14)


def test_what_carries_both_ends_does_not_enter() -> None:
    """A rod inside a robot that flies does not hold its flight, by structure: the rate of the row is the number 0."""
    inner = [one for one in HELD if one.name in ("rod", "lid", "slot", "bowl", "rail", "roller", "bead")]
    instant = Instant(floater(), inner)
    q, _ = somewhere(instant.robot, instant.tree)
    flight = [ALONG.moved(x, 1.0) if k < 7 else x for k, x in enumerate(q)]
    assert all(isinstance(row, float) for row in instant.world(0.3, flight, [0.0] * 10).position_rows())
    moving = [ALONG.moved(0.0, 1.0)] * 6 + [0.0] * 4
    assert all(ALONG.tangent(row) == 0.0 for row in instant.world(0.3, q, moving).velocity_rows())


# ── what they say ─────────────────────────────────────────────────────────────────────────────────────────────────────


def rows_of(robot: Robot, element: Any, q: Any, v: Any, t: float = 0.0) -> tuple[list[Any], list[Any]]:
    world = Instant(robot, (element,)).world(t, q, v)
    return world.position_rows(), world.velocity_rows()


def test_distances_and_guides_are_measured_in_meters() -> None:
    robot = arm()
    instant = Instant(robot, ())
    q, v = somewhere(robot, instant.tree)
    poses = forward_kinematics(instant.tree, q, ("upper", "tool"))
    (R_a, p_a), (R_b, p_b) = ((np.array(pose.R, float), np.array(pose.p, float)) for pose in poses)
    point = R_b @ [0.1, 0.2, 0.3] + p_b
    apart = np.linalg.norm(point - p_a)
    for length in (apart, 0.7):
        row = rows_of(robot, elements.DistanceConstraint("e", "upper", "tool", length, point_b=(0.1, 0.2, 0.3)), q, v)
        assert row[0][0] == pytest.approx((apart**2 - length**2) / (2.0 * length), abs=1e-15)
    n = np.array([0.0, 0.6, 0.8])
    plane = {"origin": (0.0, 0.0, 0.3), "normal": (0.0, 3.0, 4.0)}
    at = {"body": "tool", "point": (0.1, 0.2, 0.3)}
    height = rows_of(robot, elements.PointOnPlane("e", **at, **plane), q, v)[0][0]  # type: ignore[arg-type]
    assert height == pytest.approx(n @ (point - [0.0, 0.0, 0.3]), abs=1e-15)
    seen = R_a.T @ (point - p_a)
    height = rows_of(robot, elements.PointOnPlane("e", **at, on="upper", **plane), q, v)[0][0]  # type: ignore[arg-type]
    assert height == pytest.approx(n @ (seen - [0.0, 0.0, 0.3]), abs=1e-15)
    for direction in ((1.0, 2.0, 3.0), (0.0, 0.0, -2.0), (3.0, 0.0, 0.0), (0.0, 1.0, 0.5)):
        line = elements.PointOnLine("e", **at, on="upper", direction=direction)  # type: ignore[arg-type]
        unit = np.array(direction) / np.linalg.norm(direction)
        away = np.linalg.norm(seen - unit * (unit @ seen))
        assert np.linalg.norm(rows_of(robot, line, q, v)[0]) == pytest.approx(away, abs=1e-15)


def coin() -> Robot:
    builder = RobotBuilder("coin").add(Body.cylinder("coin", 1.0, 0.3, 0.01))
    return builder.joint("root", "free", "world", "coin").build()


@pytest.mark.parametrize("on", ["world", "floor"])
def test_a_disc_touches_with_its_lowest_point_which_stands_still(on: str) -> None:
    """The rim's lowest point by search; where it stands still, both rows of velocity are 0, and only there."""
    builder = RobotBuilder("coin").add(Body.cylinder("coin", 1.0, 0.3, 0.01)).add(Body.point("floor", 1.0))
    builder.joint("slab", "fixed", "world", "floor")
    robot = builder.joint("root", "free", "world", "coin").build()
    R = np.array(rotation((1.0, 0.0, 0.0), 1.1)) @ rotation((0.0, 0.0, 1.0), 0.4)
    turn = charts.place(Instant(robot, ()).tree, list(neutral(robot)), [0.0] * 6)
    half = 0.5 * math.acos((np.trace(R) - 1.0) / 2.0)
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    turn[3:] = [math.cos(half), *(math.sin(half) * axis / np.linalg.norm(axis))]
    turn[:3] = [0.2, -0.1, 0.5]
    disc = elements.RollingDisc("e", "coin", 0.3, axle=(0.0, 0.0, 1.0), on=on)
    angles = np.linspace(0.0, 2.0 * np.pi, 200_001)
    rim = 0.3 * np.array([np.cos(angles), np.sin(angles), 0.0 * angles])
    heights = 0.5 + (R @ rim)[2]
    assert rows_of(robot, disc, turn, [0.0] * 6)[0][0] == pytest.approx(heights.min(), abs=1e-10)
    contact = rim[:, heights.argmin()]
    spin = np.array([0.3, -1.2, 2.0])
    rolling = [*np.cross(contact, spin), *spin]  # in the body's axes: u + w x c = 0
    np.testing.assert_allclose(rows_of(robot, disc, turn, rolling)[1], 0.0, atol=1e-5)
    slipping = [
        x + (k < 3) * y for k, (x, y) in enumerate(zip(rolling, [*(R.T @ [0.3, 0.4, 0.0]), 0, 0, 0], strict=True))
    ]
    assert np.linalg.norm(rows_of(robot, disc, turn, slipping)[1]) == pytest.approx(0.5, abs=1e-5)


def test_a_blade_that_leans_slips_along_its_edge_alone() -> None:
    robot = coin()
    lean = rotation((1.0, 0.0, 0.0), 0.5)
    q = [0.0, 0.0, 0.0, math.cos(0.25), math.sin(0.25), 0.0, 0.0]
    plain, cutting = (elements.KnifeEdge("e", "coin", normal=normal) for normal in (None, (0.0, 0.0, 1.0)))
    for velocity, side, level in (
        ((1.0, 0.0, 0.0), 0.0, 0.0),
        ((0.0, 1.0, 0.0), math.cos(0.5), math.cos(0.5)),
        ((0.0, 0.0, 1.0), math.sin(0.5), 0.0),
    ):
        v = [*(np.array(lean).T @ velocity), 0.0, 0.0, 0.0]
        assert rows_of(robot, plain, q, v)[1][0] == pytest.approx(side, abs=1e-15)
        assert rows_of(robot, cutting, q, v)[1][0] == pytest.approx(level, abs=1e-15)


def test_names_of_rows() -> None:
    cast = ensemble(arm(), HELD)
    assert cast.position_rows[:6] == ("text.1", "text.2", "function", "whole.a", "whole.b", "rod")
    assert cast.velocity_rows[:4] == ("wheel.forward", "wheel.sideways", "roller.forward", "roller.sideways")
    assert cast.constraint_names == cast.position_rows + cast.velocity_rows
    sliding = ensemble(arm(), (elements.RollingDisc("e", "tool", 0.1, touching=False, sliding=True),))
    assert sliding.constraint_names == ("e.forward",)
    assert cast.signals["rod.force"][1].unit == "N" and cast.signals["held.force"][1].unit == "N m"


def test_parameters_in_texts_are_parameters_of_the_plant() -> None:
    reach = Parameter("reach", 0.7)
    builder = RobotBuilder("arm").add(Body.rod("rod", 1.0, reach, (0.5 * reach, 0.0, 0.0), axis="x"))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    rate = Parameter("rate", 2.0)
    element = elements.Constraint("e", "q.hinge - reach * sin(rate * t)", known={"rate": rate})
    instant = Instant(robot, (element,))
    assert instant.cast.parameters == (rate,)
    assert instant.world(0.3, [0.0], [0.0]).position_rows()[0] == -0.7 * math.sin(0.6)
    instant.cast.__dict__.pop("parameters")
    world = instant.world(0.3, [0.0], [0.0])
    world.lookup = {"rate": 1.0, "reach": 2.0}
    assert world.position_rows()[0] == -2.0 * math.sin(0.3)


# ── what is wrong ─────────────────────────────────────────────────────────────────────────────────────────────────────

ROD = {"body_a": "upper", "body_b": "tool"}
WRONG: dict[str, tuple[Any, str]] = {
    "joint": (elements.Constraint("e", "q.hing + 1"), "no such coordinate, parameter or ref.* Did you mean 'q.hinge'"),
    "bare": (elements.Constraint("e", "hinge + 1"), "Did you mean 'q.hinge'?"),
    "parameter": (elements.Constraint("e", "q.hinge - lenght", known={"length": 1.0}), "Did you mean 'length'?"),
    "syntax": (elements.Constraint("e", "q.hinge +* 3"), r"'q.hinge \+\* 3': column 10: found '\*'"),
    "function": (elements.Constraint("e", "sine(q.hinge)"), "there is no function 'sine'. Did you mean 'sin'?"),
    "infinite": (elements.Constraint("e", "q.hinge - 1 / 0"), "has a number that is not finite"),
    "empty": (elements.Constraint("e", ()), r"rows is \(\); expected at least one expression"),
    "still": (elements.Constraint("e", "t + 1"), "'t \\+ 1' depends on no coordinate"),
    "velocity": (elements.Constraint("e", "v.hinge"), "names the velocity 'v.hinge'.* Use a VelocityConstraint"),
    "names": (elements.Constraint("e", "q.hinge", names=("a", "b")), "has 1 row and 2 names"),
    "reads": (elements.Constraint("e", "q.hinge", reads="q.hinge"), "its rows are text"),
    "product": (elements.VelocityConstraint("e", "v.hinge * v.slide"), "is not linear in the velocities"),
    "absolute": (elements.VelocityConstraint("e", "abs(v.hinge)"), "is not linear in the velocities"),
    "square": (elements.VelocityConstraint("e", lambda t, q, v: v[0] ** 2), "its row is not linear in the velocities"),
    "flat": (elements.VelocityConstraint("e", "sin(q.hinge)"), "depends on no velocity"),
    "arguments": (elements.Constraint("e", lambda q: q[0]), r"has the arguments \(q\); expected 2 arguments: t, q"),
    "signal": (elements.Constraint("e", lambda t, x: x, reads="q.hing"), "reads 'q.hing'.* Did you mean 'q.hinge'?"),
    "too fast": (elements.Constraint("e", lambda t, x: x, reads="v.hinge"), "reads the velocity 'v.hinge'"),
    "same": (elements.DistanceConstraint("e", "tool", "tool", 1.0), "body_a and body_b are both 'tool'"),
    "body": (elements.PointOnPlane("e", "tol"), "body is 'tol'.* Did you mean 'tool'?"),
    "on": (elements.KnifeEdge("e", "tool", on="tool"), "body and on are both 'tool'"),
    "normal": (elements.PointOnPlane("e", "tool", normal=(0.0, 0.0, 0.0)), r"normal is \(0, 0, 0\); expected a direct"),
    "surface": (elements.PointOnSurface("e", "tool", "x + w"), "names 'w'.* Known: x, y, z, t"),
    "rail": (elements.PointOnCurve("e", "tool", ((0.0, 0.0, 0.0), (0.0, 1.0, 1.0))), "points: curve: .*Sort the"),
    "motion": (elements.PrescribedMotion("e", "hing", "t"), "joint is 'hing'.* Did you mean 'hinge'?"),
    "motion of": (elements.PrescribedMotion("e", "hinge", "q.slide"), "the coordinate 'q.slide'.* Use a Constraint"),
    "axes": (elements.PrescribedMotion("e", "wrist", "t"), "wrist' is universal with 2 velocities"),
}  # fmt: skip


@each_case("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    element, says = WRONG[case]
    with pytest.raises(ModelError, match=says):
        ensemble(arm(), (element,))


def test_a_joint_that_closes_a_loop_has_no_coordinate() -> None:
    with pytest.raises(ModelError, match=r"names 'q\.end', whose joint closes a loop and has no coordinate"):
        ensemble(linkage(), (elements.Constraint("e", "q.end - 1"),))


def test_only_references_are_read() -> None:
    servo = elements.PD("servo", ("hinge",), kp=1.0, kd=0.1)
    for element in (
        elements.Constraint("e", "q.slide - servo"),
        elements.Constraint("e", lambda t, x, y: x - y, reads=("q.slide", "servo")),
    ):
        with pytest.raises(ModelError, match="'servo', a signal that depends on more than time"):
            ensemble(arm(), (servo, element))


@pytest.mark.parametrize(
    "rows, error, says",
    [
        (lambda t, q: (q[0], q[1]), ModelError, "the function given as rows returns 2 numbers; expected 1"),
        (lambda t, q: None, ModelError, "the function given as rows returns None; expected numbers"),
        (
            lambda t, q: q[9],
            ModelError,
            "the function given as rows raised IndexError.*expected a function that works for any scalar",
        ),
        (lambda t, q: q[0] if q[0] > 0 else q[1], TracingError, "element 'e': whether an expression is true"),
    ],
)
def test_functions_that_cannot_be_rows(rows: Any, error: Any, says: str) -> None:
    from kinemorph import System
    from kinemorph.plants import plant

    with pytest.raises(error, match=says):
        _ = plant(System(arm(), (elements.Constraint("e", rows),))).constraints
