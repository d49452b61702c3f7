"""Products of exponentials over modules: equal to the poses of derived models, local and spatial, each product once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import compose, matrix_of, relative
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError
from kinemorph.mechanics.formulations.exponentials import base_poses, pendant_poses, pendant_poses_spatial, transforms
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration
from kinemorph.model.modules import Assembly, Docking, Module, traverse
from kinemorph.model.modules.organisms import Dyads
from kinemorph.model.modules.traversal import traverse_bodies
from kinemorph.model.parameter import evaluate_all
from support.cases.paper_organism import paper_organism
from support.robots.random_assemblies import TYPES

AGREE = 1e-13


def mixed() -> Assembly:
    """Scouts docked by their turning plates, a Wheel, and cubes with joints between them."""
    names = {"b": "B", "s": "S", "t": "S", "w": "W", "l": "L", "k": "K"}
    return (
        Assembly("mixed", tuple(Module(name, TYPES[letter]) for name, letter in names.items()))
        .dock("b", 3, "s", 3)
        .dock("s", 4, "t", 4)
        .dock("t", 3, "w", 2, turn=1)
        .dock("b", 5, "l", 2)
        .dock("l", 5, "k", 1, joint="prismatic", turn=2)
    )


@pytest.mark.parametrize("dyads", ["adapted", "halves"])
@pytest.mark.parametrize("assembly", [paper_organism(), mixed()], ids=lambda a: a.name)
def test_poses_are_those_of_the_derived_model(assembly: Assembly, dyads: Dyads) -> None:
    """All bodies and all frames at ports, at a random configuration, free root included."""
    robot = assembly.robot(dyads=dyads)
    at = random_configuration(robot, np.random.default_rng(3))
    assert np.abs(at).min() > 0.0
    dynamics, q = derive(robot, backend="interpreter"), at.tolist()
    walk = traverse_bodies(robot)
    poses = base_poses(robot, q, walk)
    assert poses == base_poses(robot, q) and transforms(robot, q) == transforms(robot, q, walk)
    for name, expected in zip(robot.body_names, dynamics.forward_kinematics(at), strict=True):
        np.testing.assert_allclose(matrix_of(poses[name]), expected, atol=AGREE)
    ports = {frame.name: compose(poses[frame.body], evaluate_all(frame.placement)) for frame in robot.frames}
    for found, expected in zip(ports.values(), forward_kinematics(resolve(robot), q, [*ports]), strict=True):
        np.testing.assert_allclose(matrix_of(found), matrix_of(expected), atol=AGREE)
    last = robot.frames[-1].name
    np.testing.assert_allclose(matrix_of(ports[last]), dynamics.pose(last)(at), atol=AGREE)
    local, spatial = pendant_poses(robot, q, walk), pendant_poses_spatial(robot, q, walk)
    assert [*local] == [*spatial] == [*walk.pendants]
    for name, pose in local.items():
        np.testing.assert_allclose(matrix_of(pose), matrix_of(spatial[name]), atol=AGREE)
        np.testing.assert_allclose(matrix_of(pose), matrix_of(poses[name]), atol=0.0)


def test_the_lists_of_the_paper_hold_all_relative_poses() -> None:
    """Table III: 8 direct transformations, 7 indirect ones by 7 products, all equal to what world poses say."""
    organism = paper_organism()
    robot, walk = organism.robot(dyads="adapted"), traverse(organism)
    q = random_configuration(robot, np.random.default_rng(4)).tolist()
    found, world = transforms(robot, q, walk), base_poses(robot, q, walk)
    assert (len(found.direct), len(found.indirect), found.products) == (8, 7, 7)
    for (i, j), pose in (found.direct | found.indirect).items():
        np.testing.assert_allclose(matrix_of(pose), matrix_of(relative(world[i], world[j])), atol=AGREE)


def test_walks_over_modules_pass_their_plates_and_stubs() -> None:
    """One step from module to module, whatever turns between them."""
    organism = mixed()
    robot = organism.robot(dyads="adapted")
    q = random_configuration(robot, np.random.default_rng(5)).tolist()
    by_module, by_body = base_poses(robot, q, traverse(organism)), base_poses(robot, q)
    assert len(by_module) == 6 < len(by_body)
    for name, pose in by_module.items():
        np.testing.assert_allclose(matrix_of(pose), matrix_of(by_body[name]), atol=AGREE)


def test_products_go_over_any_scalar() -> None:
    """On dual numbers the same products give velocities: the columns of the Jacobian."""
    robot = paper_organism().robot(dyads="adapted", root="fixed")
    q = random_configuration(robot, np.random.default_rng(6))
    J = derive(robot, backend="interpreter").jacobian("m8", "local_world_aligned")(q)
    for k in range(robot.nv):
        along = Direction()
        moving = [along.moved(x, float(i == k)) for i, x in enumerate(q.tolist())]
        for poses in (pendant_poses(robot, moving), pendant_poses_spatial(robot, moving)):
            np.testing.assert_allclose(along.tangents(poses["m8"].p), J[:3, k], atol=AGREE)


def test_joints_with_several_axes_away_from_the_base() -> None:
    """A ball in the middle of a chain has no exponential of its own: its motion about where it was."""
    turned = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    builder = RobotBuilder("ball").add(*(Body.box(name, 1.0, (0.1, 0.1, 0.1)) for name in "abc")).root("a", "free")
    builder.joint("ball", "spherical", "a", "b", translation=(0.3, 0.1, 0.0), rotation=turned)
    builder.joint("tip", "revolute", "b", "c", translation=(0.2, 0.0, 0.1), axis=(1.0, 0.0, 0.0))
    robot = builder.build()
    q = random_configuration(robot, np.random.default_rng(5)).tolist()
    local, spatial = pendant_poses(robot, q), pendant_poses_spatial(robot, q)
    np.testing.assert_allclose(matrix_of(local["c"]), matrix_of(spatial["c"]), atol=AGREE)
    np.testing.assert_allclose(matrix_of(local["c"]), derive(robot, backend="interpreter").pose("c")(q), atol=AGREE)


def test_a_bent_pair_by_hand() -> None:
    """Side 3 on side 4, pitch 0.105 m, bent by 90 degrees about y: the second module's x axis points down."""
    pair = Assembly("pair", (Module("m0", TYPES["B"]), Module("m1", TYPES["B"])), (Docking("m0", 3, "m1", 4),))
    robot = pair.robot(dyads="adapted", root="fixed")
    (pose,) = pendant_poses(robot, [math.pi / 2.0]).values()
    np.testing.assert_allclose(pose.p, [0.105, 0.0, 0.0], atol=1e-16)
    np.testing.assert_allclose([row[0] for row in pose.R], [0.0, 0.0, -1.0], atol=1e-15)


def test_a_walk_that_is_not_the_robots_is_refused() -> None:
    organism = paper_organism()
    robot = organism.robot(dyads="adapted", root="fixed")
    with pytest.raises(ModelError, match="traversal of the assembly, body 'm2' carries 'm1'; in the robot it does not"):
        pendant_poses(robot, [0.0] * 8, traverse(organism, "m2"))
