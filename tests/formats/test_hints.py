"""Hints: slips that people make are found, and sound bodies are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, library
from kinemorph.errors import ModelWarning
from kinemorph.formats.hints import Hint, decimal_point, density, hints, misfit
from kinemorph.model.body import diagonal
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Mesh, MeshFile
from support.tools.each_case import each_case

CUBE = (np.full(3, -0.5), np.full(3, 0.5))


def arm(body: Body, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Robot:
    builder = RobotBuilder("arm").add(body)
    builder.joint("j", "revolute", "world", body.name, axis=(0, 0, 1), translation=place)
    return builder.build()


@each_case("name", [name for name in CHOICE if name != "rabbit"])  # its inertias are as they were published
def test_the_built_in_robots_give_no_hints(name: str) -> None:
    assert hints(choose(name).robot) == []


@pytest.mark.parametrize(
    "body", [Body.rod("b", 2.0, 0.7, (0.35, 0, 0), axis="x"), Body.box("b", 3.0, (0.1, 0.4, 0.2), (0.05, 0.2, 0))]
)
def test_textbook_solids_give_no_hints(body: Body) -> None:
    assert hints(arm(body)) == []


@pytest.mark.parametrize(("power", "axis"), [(1, 0), (2, 1), (3, 2)])
def test_a_moment_a_power_of_ten_off_is_named_with_what_would_fit(power: int, axis: int) -> None:
    moments = np.array([0.10, 0.12, 0.15])
    moments[axis] *= 10.0**power
    sentence = decimal_point(np.diag(moments))
    assert f"about {'xyz'[axis]}" in sentence and "decimal point" in sentence
    fitting = float(sentence.partition(", but ")[2].partition(" ")[0])
    assert fitting <= moments.sum() - moments[axis] and fitting * 10**power >= moments[axis]


def test_moments_that_fit_or_that_no_power_of_ten_mends_are_left_alone() -> None:
    assert decimal_point(np.diag([0.1, 0.1, 0.2])) == ""
    assert decimal_point(np.diag([0.1, 0.9, 1.2])) == ""  # 0.12 is below 0.9 - 0.1


def test_an_inertia_about_the_joint_is_recognized() -> None:
    mass, length = 2.0, 0.6
    about_joint = np.diag([mass * length**2 / 3.0, mass * length**2 / 3.0, 1e-4])
    room = (np.array([-0.02, -0.02, 0.0]), np.array([0.02, 0.02, length]))
    com = np.array([0.0, 0.0, length / 2.0])
    assert "about the joint" in misfit(mass, com, about_joint, room)
    about_center = np.diag([mass * length**2 / 12.0, mass * length**2 / 12.0, 1e-4])
    assert misfit(mass, com, about_center, room) == ""


@pytest.mark.parametrize(("factor", "word"), [(1e6, "kg mm^2"), (1e4, "kg cm^2"), (1e2, "large; is a decimal point")])
def test_inertias_in_other_units_are_recognized(factor: float, word: str) -> None:
    moment = np.eye(3) / 6.0
    assert misfit(1.0, np.zeros(3), moment, CUBE) == ""
    assert word in misfit(1.0, np.zeros(3), factor * moment, CUBE)


def test_the_greatest_inertia_that_a_box_can_hold_is_no_slip() -> None:
    corners = np.diag([0.5, 0.5, 0.5])  # mass in the corners of a cube with edges of 1 m
    assert misfit(1.0, np.zeros(3), corners, CUBE) == ""


def test_a_mass_denser_than_metal_is_named() -> None:
    room = (np.zeros(3), np.array([0.1, 0.1, 0.2]))
    assert density(16.0, room) == ""  # steel
    assert "grams" in density(16000.0, room)


def test_lengths_in_millimeters_are_named_once_for_each_kind() -> None:
    builder = RobotBuilder("arm")
    for k in range(3):
        builder.add(Body.box(f"b{k}", 1.0, (60.0, 400.0, 60.0), (0.0, 200.0, 0.0)))
        parent = f"b{k - 1}" if k else "world"
        builder.joint(f"j{k}", "revolute", parent, f"b{k}", axis=(0, 0, 1), translation=(0, 400.0 if k else 0.0, 0))
    found = hints(builder.build())
    assert [(hint.kind, hint.name) for hint in found] == [("joint", "j1"), ("body", "b0"), ("body", "b0")]
    assert all("millimeters" in hint.sentence for hint in found)
    assert "1 more like it" in found[0].sentence and "scale 0.001" in found[2].sentence


def test_a_mesh_is_measured_by_the_surface_that_is_handed_over() -> None:
    body = Body("b", 1.0, inertia=diagonal(0.1, 0.1, 0.1), shapes=(MeshFile("package://a/b.stl"),))
    assert hints(arm(body)) == []  # not read, so nothing is said about it
    large = Mesh(((0.0, 0.0, 0.0), (120.0, 0.0, 0.0), (0.0, 80.0, 0.0)), ((0, 1, 2),))
    (found,) = hints(arm(body), lambda shape: large)
    assert found == Hint("body", "b", found.sentence) and "120 m large" in found.sentence


def test_shapes_count_as_they_are_placed() -> None:
    turned = library.puma().joints[0].placement  # any pose
    body = Body("b", 1.0, turned.p, diagonal(1e-3, 1e-3, 1e-3), (Box((0.3, 0.3, 0.3), turned),))
    assert hints(arm(body)) == []


def test_limits_in_degrees_a_start_beyond_them_and_gravity_upward() -> None:
    builder = RobotBuilder("arm", (0.0, 0.0, 9.81)).add(Body.sphere("ball", 1.0, 0.1))
    with pytest.warns(ModelWarning, match="degrees"):
        robot = builder.joint("j", "revolute", "world", "ball", lower=-120.0, upper=120.0).build()
    found = hints(robot, start=(130.0,))
    assert [(hint.kind, hint.name) for hint in found] == [("joint", "j"), ("joint", "j"), ("robot", "arm")]
    for hint, word in zip(found, ("degrees", "outside its limits -120 .. 120", "gravity"), strict=True):
        assert word in hint.sentence
