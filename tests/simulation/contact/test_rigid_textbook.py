"""Textbook motions with rigid contacts, set up as a user would, against their closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, simulate
from kinemorph.elements import Contact, Coulomb, PairContact, Plane, PrescribedMotion, Rigid
from kinemorph.model.robot import Robot

pytestmark = pytest.mark.slow

G = 9.81
FINE = {"rtol": 1e-10, "atol": 1e-12}


def in_plane(body: Body) -> Robot:
    """A body that moves along x and z and turns about y."""
    builder = RobotBuilder("planar").add(Body.massless("on_x"), Body.massless("on_z"), body)
    builder.joint("x", "prismatic", "world", "on_x", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "on_x", "on_z", axis=(0, 0, 1))
    return builder.joint("pitch", "revolute", "on_z", body.name, axis=(0, 1, 0)).build()


def test_a_ladder_leaves_the_wall_at_two_thirds_of_its_height() -> None:
    """Without friction, from rest: the force of the wall is zero at 2/3 of the first height, for any angle."""
    length = 2.0
    rod = Body("rod", 1.0, inertia=(length**2 / 12.0, length**2 / 12.0, 1e-6))
    floor = Contact("floor", "rod", Rigid(0.0), point=(0, 0, -length / 2))
    wall = Contact("wall", "rod", Rigid(0.0), point=(0, 0, length / 2), ground=Plane((0, 0, 0), (1, 0, 0)))
    system = System(in_plane(rod), (floor, wall))
    for lean in (0.3, 0.6):
        start = [math.sin(lean) * length / 2, math.cos(lean) * length / 2, -lean]
        run = simulate(system, 1.0, q=start, **FINE)
        event = run.events[0]
        assert event.name == "wall.lifts"
        assert event.before["q"][1] == pytest.approx(2.0 / 3.0 * start[1], abs=1e-8)


def test_a_ball_leaves_a_dome_at_two_thirds_of_its_height() -> None:
    """It slides without friction from rest near the top; cos(angle) at the end is 2/3 of that at the start."""
    dome = PairContact("dome", "ball", "world", normal=Rigid(0.0), radius_a=0.1, radius_b=1.0)
    start = [1.1 * math.sin(0.05), 1.1 * math.cos(0.05), 0.0]
    run = simulate(System(in_plane(Body.sphere("ball", 1.0, 0.1)), (dome,)), 2.0, q=start, **FINE)
    assert run.events[0].name == "dome.lifts"
    assert run.events[0].before["q"][1] == pytest.approx(2.0 / 3.0 * start[1], abs=1e-8)


def test_a_ball_bounces_on_a_table_that_moves() -> None:
    """The velocity relative to the table is reversed and multiplied by e: v+ = -e v- + (1 + e) w."""
    builder = RobotBuilder("lift").body("table", 5.0).add(Body.sphere("ball", 1.0, 0.1))
    builder.joint("lift", "prismatic", "world", "table", axis=(0, 0, 1))
    robot = builder.joint("z", "prismatic", "world", "ball", axis=(0, 0, 1)).build()
    hit = Contact("hit", "ball", Rigid(0.7), radius=0.1, ground=Plane((0, 0, 0), (0, 0, 1), on="table"))
    drive = PrescribedMotion("drive", "lift", "0.05 * sin(6 * t)")
    run = simulate(System(robot, (hit, drive)), 1.2, q=[0.0, 0.6], v=[0.3, 0.0], **FINE)
    bounces = [event for event in run.events if event.kind == "impact"]
    assert len(bounces) == 3
    for event in bounces:
        table = 0.3 * math.cos(6.0 * event.t)
        assert event.before["q"][1] == pytest.approx(0.1 + 0.05 * math.sin(6.0 * event.t), abs=1e-9)
        assert event.after["v"][1] == pytest.approx(-0.7 * event.before["v"][1] + 1.7 * table, abs=1e-8)
        assert event.after["v"][0] == pytest.approx(table, abs=1e-8)


def test_two_blocks_slide_on_each_other_and_on_the_ground() -> None:
    """The lower block is pushed; it meets the speed of the upper one, stops first, and the upper one slides on."""
    builder = RobotBuilder("blocks").body("lower", 2.0).body("upper", 1.0).add(Body.massless("a"), Body.massless("b"))
    for name, rail in (("lower", "a"), ("upper", "b")):
        builder.joint(f"{name}_x", "prismatic", "world", rail, axis=(1, 0, 0))
        builder.joint(f"{name}_z", "prismatic", rail, name, axis=(0, 0, 1))
    top = Plane((0, 0, 0.1), (0, 0, 1), on="lower")
    contacts = (
        Contact("ground", "lower", Rigid(0.0), Coulomb(0.4)),
        Contact("between", "upper", Rigid(0.0), Coulomb(0.2), ground=top),
    )
    run = simulate(System(builder.build(), contacts), 1.0, q=[0, 0, 0, 0.1], v=[3.0, 0, 0, 0])
    up = 0.2 * G  # accelerations: of the upper block, of the lower one at first, and after they have met
    first, then = -(0.4 * 3.0 * G + 0.2 * G) / 2.0, -(0.4 * 3.0 * G - 0.2 * G) / 2.0
    meet = 3.0 / (up - first)
    times = [meet, meet - up * meet / then, 2.0 * meet]
    assert [event.name for event in run.events] == ["between.halts", "ground.halts", "between.halts"]
    assert [event.t for event in run.events] == pytest.approx(times, abs=1e-8)
    assert np.abs(run.v[-1]).max() < 1e-12


def test_a_billiard_ball_reflects_as_its_path_unfolds() -> None:
    builder = RobotBuilder("billiard").add(Body.massless("on_x"), Body.sphere("ball", 1.0, 0.1))
    builder.joint("x", "prismatic", "world", "on_x", axis=(1, 0, 0)).joint(
        "y", "prismatic", "on_x", "ball", axis=(0, 1, 0)
    )
    planes = [Plane((-1, 0, 0), (1, 0, 0)), Plane((1, 0, 0), (-1, 0, 0))]
    planes += [Plane((0, -0.5, 0), (0, 1, 0)), Plane((0, 0.5, 0), (0, -1, 0))]
    walls = [Contact(f"wall{k}", "ball", Rigid(1.0), radius=0.1, ground=plane) for k, plane in enumerate(planes)]
    start, speed, room = np.array([0.2, 0.1]), np.array([1.37, 1.17]), np.array([0.9, 0.4])
    run = simulate(System(builder.build(), walls), 20.0, q=start, v=speed)
    unfolded = np.mod(start + 20.0 * speed + room, 4.0 * room)
    expected = np.where(unfolded > 2.0 * room, 4.0 * room - unfolded, unfolded) - room
    assert len(run.events) > 40
    np.testing.assert_allclose(run.q[-1], expected, atol=1e-10)
    np.testing.assert_allclose(np.abs(run.v[-1]), speed, atol=1e-12)
