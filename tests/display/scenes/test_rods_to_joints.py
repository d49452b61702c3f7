"""Bodies with shapes of their own: the picture shows how they reach joints that lie off these shapes."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder, library
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.display.canvas import depth_colors
from kinemorph.display.looks.outlines import _nearest, mounts, shapes_of
from kinemorph.model.shapes import Box, Capsule, Cylinder, Frustum, Shape, Sphere

SIZE = 2.0  # [m], the extent of the robot


def ternary(off: float) -> Robot:
    """A rod with its joints at both ends, and a third joint at the distance `off` [m] beside it."""
    builder = RobotBuilder("ternary").add(
        Body.rod("link", 1.0, 1.0, (0.5, 0.0, 0.0), axis="x"), Body.rod("next", 1.0, 1.0)
    )
    builder.joint("root", "revolute", "world", "link", axis=(0.0, 1.0, 0.0))
    return builder.joint("side", "revolute", "link", "next", axis=(0.0, 1.0, 0.0), translation=(0.5, 0.0, off)).build()


def test_a_joint_beside_a_rod_is_joined_to_it() -> None:
    """The links of a linkage with three joints each floated in the picture: their ends did not meet."""
    robot = ternary(0.4)
    own, rod, ball = shapes_of(robot, robot.body("link"), SIZE)
    assert own is robot.body("link").shapes[0]
    assert isinstance(rod, Cylinder) and isinstance(ball, Sphere)
    assert rod.length == pytest.approx(0.4 - 0.03) and rod.placement.p == pytest.approx((0.5, 0.0, 0.215))
    assert ball.placement.p == pytest.approx((0.5, 0.0, 0.4))


@pytest.mark.parametrize("off", [0.0, 0.04])
def test_joints_on_or_near_the_shapes_get_no_rod(off: float) -> None:
    robot = ternary(off)
    assert len(shapes_of(robot, robot.body("link"), SIZE)) == 1


@pytest.mark.parametrize(
    "shape", [Box((0.4, 0.6, 0.8)), Sphere(0.3), Cylinder(0.2, 1.0), Capsule(0.2, 1.0), Frustum(0.2, 0.2, 1.0)]
)
def test_the_nearest_point_of_a_solid(shape: Shape) -> None:
    """No point of the solid is nearer, and a point inside is its own nearest point."""
    turned = type(shape)(**{**vars(shape), "placement": Pose(rotation_of_angles(0.3, -0.8, 1.1), (0.4, -0.2, 0.7))})
    rng = np.random.default_rng(3)
    inside = np.array(turned.placement.p) + rng.uniform(-0.08, 0.08, 3)
    np.testing.assert_allclose(_nearest(turned, inside), inside, atol=1e-14)
    for far in rng.uniform(-2.0, 2.0, (20, 3)):
        near = _nearest(turned, far)
        np.testing.assert_allclose(_nearest(turned, near), near, atol=1e-12)  # it belongs to the solid
        for other in rng.uniform(-1.0, 2.0, (40, 3)):
            assert np.linalg.norm(far - near) <= np.linalg.norm(far - _nearest(turned, other)) + 1e-12


def test_the_links_of_a_linkage_have_colors_of_their_own() -> None:
    for name in ("four_bar", "slider_crank", "five_bar"):
        robot = library.build(name)
        colors = depth_colors(robot)
        assert len(set(colors.values())) == len(robot.bodies)


def test_massless_bodies_between_joints_are_not_drawn() -> None:
    """A robot that stands on three slides and three hinges was drawn with rails and blocks as large as itself."""
    builder = RobotBuilder("table").body("between").add(Body.box("top", 1.0, (0.4, 0.3, 0.1)))
    builder.joint("x", "prismatic", "world", "between", axis=(1.0, 0.0, 0.0))
    robot = builder.joint("y", "prismatic", "between", "top", axis=(0.0, 1.0, 0.0)).build()
    assert not shapes_of(robot, robot.body("between"), SIZE) and not mounts(robot, SIZE)
    assert shapes_of(robot, robot.body("top"), SIZE)
    bare = RobotBuilder("bare").body("between").body("top", 1.0, inertia=(0.1, 0.1, 0.1))
    bare.joint("x", "prismatic", "world", "between", axis=(1.0, 0.0, 0.0))
    plain = bare.joint("y", "prismatic", "between", "top", axis=(0.0, 1.0, 0.0)).build()
    assert shapes_of(plain, plain.body("between"), SIZE) and mounts(plain, SIZE)  # automatic shapes show all joints
