"""Plastic impacts: rows of frames that lock wherever they are, impulses and losses against free bodies in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.impacts.plastic_impact import locked_rows, plastic_impact
from kinemorph.mechanics.steps.state_transfer import body_states
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration


@pytest.fixture(scope="module")
def apart() -> Robot:
    """Two free bodies, an arm on the first, and a frame at the arm and at the second, far from each other."""
    builder = RobotBuilder("apart").add(
        Body.box("a", 1.0, (0.3, 0.2, 0.1)), Body.box("arm", 0.4, (0.1, 0.2, 0.3)), Body.box("b", 2.0, (0.1, 0.3, 0.2))
    )
    builder.root("a", "free").root("b", "free")
    builder.joint("hinge", "revolute", "a", "arm", axis=(0.0, 0.6, 0.8), translation=(0.2, 0.1, 0.0))
    builder.frame("port_a", "arm", translation=(0.1, 0.0, 0.2), rotation=((0, 0, 1), (1, 0, 0), (0, 1, 0)))
    builder.frame("port_b", "b", translation=(0.0, -0.3, 0.1), rotation=((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    return builder.build()


def parts(robot: Robot, q: list[float], v: list[float], *names: str) -> list[tuple[np.ndarray, ...]]:
    """R, p, velocity of the origin and angular velocity of frames, in the world's axes."""
    found = []
    for T, V in body_states(resolve(robot), names, q, v).values():
        R = np.array(T.R, dtype=float)
        found.append((R, np.array(T.p, dtype=float), R @ np.array(V[:3]), R @ np.array(V[3:])))
    return found


def test_locked_rows_are_the_twist_of_b_where_a_is(apart: Robot) -> None:
    """In a's axes and at a's origin, however far b is from there and however it is turned."""
    rng = np.random.default_rng(0)
    q, v = random_configuration(apart, rng).tolist(), rng.normal(size=apart.nv).tolist()
    (R, p, u, w), (_, p_b, u_b, w_b) = parts(apart, q, v, "port_a", "port_b")
    rows = locked_rows(resolve(apart), q, "port_a", "port_b")
    expected = [*(R.T @ (u_b + np.cross(w_b, p - p_b) - u)), *(R.T @ (w_b - w))]
    np.testing.assert_allclose(np.array(rows.J, dtype=float) @ v, expected, rtol=0, atol=1e-12)


def test_the_impulse_is_what_b_gains_and_the_loss_is_all_that_goes(apart: Robot) -> None:
    """Newton and Euler for the second body; kinetic energies of all bodies before and after."""
    rng = np.random.default_rng(1)
    q, v = random_configuration(apart, rng).tolist(), rng.normal(size=apart.nv).tolist()
    tree = resolve(apart)
    hit = plastic_impact(tree, q, v, locked_rows(tree, q, "port_a", "port_b"))
    (R, p, *_), _ = parts(apart, q, v, "port_a", "port_b")
    body, (before, after) = apart.body("b"), (parts(apart, q, list(x), "b")[0] for x in (v, hit.v))
    f, m = R @ np.array(hit.impulse[:3]), R @ np.array(hit.impulse[3:])
    np.testing.assert_allclose(float(body.mass) * (after[2] - before[2]), f, atol=1e-12)
    I_W = before[0] @ np.array(body.inertia, dtype=float) @ before[0].T
    np.testing.assert_allclose(I_W @ (after[3] - before[3]), m + np.cross(p - before[1], f), atol=1e-12)
    kinetic = [_kinetic(apart, q, x) for x in (v, list(hit.v))]
    assert hit.loss > 0.1 and hit.loss == pytest.approx(kinetic[0] - kinetic[1], rel=1e-11)


def test_rows_that_are_kept_go_on_as_they_moved(apart: Robot) -> None:
    rng = np.random.default_rng(2)
    q, v = random_configuration(apart, rng).tolist(), rng.normal(size=apart.nv).tolist()
    tree, k = resolve(apart), apart.v_slice("hinge").start
    kept = ConstraintRows([[float(j == k) for j in range(apart.nv)]], [0.0], [1.0])
    rows = locked_rows(tree, q, "port_a", "port_b")
    hit = plastic_impact(tree, q, v, rows, kept)
    assert hit.v[k] == pytest.approx(v[k], abs=1e-12) and abs(plastic_impact(tree, q, v, rows).v[k] - v[k]) > 1e-2
    np.testing.assert_allclose(np.array(rows.J, dtype=float) @ hit.v, 0.0, atol=1e-12)
    assert len(hit.impulse) == 6


def _kinetic(robot: Robot, q: list[float], v: list[float]) -> float:
    """The kinetic energy [J] of bodies whose centers of mass are at their origins."""
    found = 0.0
    for name, (R, _, u, w) in zip(robot.body_names, parts(robot, q, v, *robot.body_names), strict=True):
        inertia = np.array(robot.body(name).inertia, dtype=float)
        found += 0.5 * float(robot.body(name).mass) * u @ u + 0.5 * (R.T @ w) @ inertia @ (R.T @ w)
    return float(found)
