"""The impact of a robot as a compiled function (E003-10): against dense equations, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, derive
from kinemorph.elements import Energetic, Newton, Plastic, Poisson
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.library import build
from kinemorph.model.robot import Robot
from support.references.maximal_coordinates import Mechanism
from support.robots.random_mechanisms import random_mechanism

FEW = [Plastic(), Energetic(0.6, in_sequence=True)]
MORE = [Newton(0.6), Poisson(0.6), Energetic(0.6), Newton(0.6, in_sequence=True), Poisson(0.6, in_sequence=True)]
LAWS = [*FEW, *(pytest.param(law, marks=pytest.mark.slow) for law in MORE)]


def foot_rows(robot: Robot, q: np.ndarray, *bodies: str) -> np.ndarray:
    return np.concatenate([derive(robot).jacobian(q, body, "local_world_aligned")[:3] for body in bodies])


def test_feet_that_stick_by_the_equations_of_the_paper() -> None:
    """[M -J^T -G^T; J 0 0; G 0 0] [v+; L; lambda] = [M v; 0; 0], with the loops' rows G, solved densely."""
    for seed in (1, 4, 8, 24):
        robot, q = random_mechanism(seed).built()
        v = Mechanism(robot, q).moving(np.random.default_rng(seed))
        dynamics, foot = derive(robot), robot.body_names[-1]
        M, G, J = dynamics.mass_matrix(q), dynamics.constraint_jacobian(q), foot_rows(robot, q, foot)
        rows = np.concatenate([J, G])
        whole = np.block([[M, -rows.T], [rows, np.zeros((len(rows),) * 2)]])
        expected = np.linalg.lstsq(whole, np.concatenate([M @ v, np.zeros(len(rows))]), rcond=1e-11)[0][: robot.nv]
        after, impulses, loss = dynamics.impact(foot, axes="xyz")(q, v)
        np.testing.assert_allclose(after, expected, atol=1e-9)
        assert impulses.shape == (1, 3)
        assert loss == pytest.approx(0.5 * (v @ M @ v - after @ M @ after), abs=1e-10)


def test_the_map_in_independent_velocities() -> None:
    """E003-10 itself: H = rho^T M rho and Jc = J rho in independent velocities, from which all others follow."""
    for seed in (0, 2, 5):
        robot, q = random_mechanism(seed).built()
        dynamics, foot = derive(robot), robot.body_names[-1]
        _, sizes, rows = np.linalg.svd(dynamics.constraint_jacobian(q))
        rho = rows[int((sizes > 1e-9).sum()) :].T  # a basis of the motions that the loops allow
        start = np.linspace(0.4, 1.0, rho.shape[1])
        H, Jc = rho.T @ dynamics.mass_matrix(q) @ rho, foot_rows(robot, q, foot)[[0]] @ rho
        solved = np.linalg.solve(np.block([[H, -Jc.T], [Jc, np.zeros((1, 1))]]), np.concatenate([H @ start, [0.0]]))
        after, impulses, _ = dynamics.impact(foot, axes="x")(q, rho @ start)
        np.testing.assert_allclose(after, rho @ solved[:-1], atol=1e-9)
        np.testing.assert_allclose(impulses, solved[None, -1:], atol=1e-9)


def biped() -> Robot:
    """Two legs with knees in the plane of x and z, free to move there; feet at both ends."""
    builder = RobotBuilder("biped").add(
        Body.point("a", 0.0), Body.point("b", 0.0), Body.box("hip", 3.0, (0.1, 0.1, 0.1))
    )
    builder.joint("x", "prismatic", "world", "a", axis=(1, 0, 0)).joint("z", "prismatic", "a", "b", axis=(0, 0, 1))
    builder.joint("pitch", "revolute", "b", "hip", axis=(0, 1, 0))
    for side in ("left", "right"):
        thigh, shank = f"{side}_thigh", f"{side}_shank"
        builder.add(Body.box(thigh, 1.0, (0.05, 0.05, 0.4)), Body.box(shank, 0.6, (0.05, 0.05, 0.4)))
        builder.joint(f"{side}_hip", "revolute", "hip", thigh, axis=(0, 1, 0))
        builder.joint(f"{side}_knee", "revolute", thigh, shank, axis=(0, 1, 0), translation=(0, 0, -0.4))
        builder.frame(f"{side}_foot", shank, translation=(0.1, 0, -0.4))
    return builder.build()


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_derivatives_of_the_map_are_its_differences(law) -> None:
    """Two feet of a planar biped, by q and by v, in impacts where feet push, slide and open."""
    robot = biped()
    dynamics = derive(robot, few_calls=True)
    function = dynamics.impact(["left_foot", "right_foot"], law, friction=0.4, axes="zx")
    by_q, by_v = dynamics.derivative(function, "q"), dynamics.derivative(function, "v")
    rng = np.random.default_rng(7)
    n, h = robot.nv, 1e-6
    q, v = rng.uniform(-1.0, 1.0, size=(12, n)), 2.0 * rng.normal(size=(12, n))
    steps = h * np.eye(n)[:, None]
    pushes = function(q, v)[1][:, :, 0] > 0.0
    assert pushes.any(axis=0).all() and not pushes.all()
    for exact, ends in (
        (by_q(q, v)[0], [function(q + s * steps, np.broadcast_to(v, (n, 12, n)))[0] for s in (1, -1)]),
        (by_v(q, v)[0], [function(np.broadcast_to(q, (n, 12, n)), v + s * steps)[0] for s in (1, -1)]),
    ):
        differences = np.moveaxis((ends[0] - ends[1]) / (2 * h), 0, -1)
        np.testing.assert_allclose(exact, differences, rtol=1e-6, atol=1e-6 * np.abs(differences).max())


def test_what_has_no_impact_is_said() -> None:
    dynamics = derive(build("pendulum"))
    with pytest.raises(ModelError, match="axes is 'zz'; expected 1 to 3 different letters"):
        dynamics.impact(dynamics.robot.body_names[0], axes="zz")
    with pytest.raises(ModelError, match="no frame is named"):
        dynamics.impact([])
    with pytest.raises(UnsupportedError, match=r"friction is -0.1; expected a coefficient mu of 0 or more"):
        dynamics.impact(dynamics.robot.body_names[0], Plastic(), friction=-0.1)
