"""Up is against gravity: a robot whose gravity is along -y is drawn with y up, and its motion is that of its run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.painting.draw import draw
from kinemorph.display.scenes.building import scene_of
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.robot import Robot
from kinemorph.model.system import System


def hanging(gravity: tuple[float, float, float], hook: tuple[float, float, float]) -> Robot:
    """A bar below a hinge about z at a place [m] in the world."""
    builder = RobotBuilder("bar", gravity=gravity).add(Body.box("bar", 1.0, (0.1, 0.6, 0.1), (0.0, -0.3, 0.0)))
    return builder.joint("hinge", "revolute", "world", "bar", axis=(0, 0, 1), translation=hook).build()


@pytest.mark.parametrize(("gravity", "up"), [((0.0, -9.81, 0.0), 1), ((-9.81, 0.0, 0.0), 0), ((0.0, 0.0, -9.81), 2)])
def test_what_is_up_in_the_model_is_up_in_the_scene(gravity: Any, up: int) -> None:
    """FINDINGS R7: z was up."""
    robot = hanging(gravity, (0.1, 0.2, 0.3))
    q = np.array([[0.0], [0.4]])
    figure = scene_of(robot, q=q, times=[0.0, 1.0]).figures[0]
    known = Poses(robot, q)
    assert np.allclose(figure.positions[:, 0, 2], known.p["bar"][:, up])
    for axis in np.eye(3):  # every axis of the body, and so of the picture
        turned = rotated(figure.quaternions[:, 0], axis)
        assert np.allclose(turned[:, 2], (known.R["bar"] @ axis)[:, up])
    again = Poses(figure.robot, figure.q)  # as a replay computes them in its page
    assert np.allclose(again.p["bar"], figure.positions[:, 0]) and figure.robot.gravity == (0.0, 0.0, -9.81)
    assert np.allclose(figure.turn @ np.eye(3)[up], (0.0, 0.0, 1.0))


def test_a_plane_whose_normal_is_up_is_a_level_floor() -> None:
    """FINDINGS R7: the ground of a model with y up was a wall."""
    builder = RobotBuilder("ball", gravity=(0.0, -9.81, 0.0)).add(Body.sphere("ball", 1.0, 0.1))
    ball = builder.root("ball", "free").build()
    ground = Plane((0.0, -0.5, 0.0), (0.0, 1.0, 0.0))
    scene = scene_of(System(ball, (Contact("skin", "ball", EasyDynNormal(1e-3), ground=ground, radius=0.1),)))
    assert scene.floor == -0.5 and not scene.grounds and not scene.loose
    kept = scene_of(ball, z_up=True)
    assert (kept.figures[0].turn == np.eye(3)).all()


def test_the_axes_of_a_flat_picture_are_those_of_the_model() -> None:
    """FINDINGS R7."""
    robot = hanging((0.0, -9.81, 0.0), (0.0, 0.0, 0.0))
    axes = draw(robot, camera="right").axes[0]
    assert (axes.get_xlabel()[0], axes.get_ylabel()[0]) == ("x", "y")
    low, high = axes.get_ylim()
    assert low < -0.55 and high < 0.3  # it hangs
