"""Joints with several freedoms move as stacks of simple ones with massless bodies between them.

With v_stack = B(q) v the equations of the stack become those of the joint:

    M = B^T M_s B       h = B^T (h_s + M_s Bdot v)       a_s = B a + Bdot v
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.algebra.quaternions import quat_to_rotation
from kinemorph.deriving.dynamics import derive
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from support.robots.random_robots import joint_data, random_body, random_states

TOLERANCE = 1e-12
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
Map = tuple[np.ndarray, np.ndarray, np.ndarray]  # q of the stack, B, Bdot v


def plain(q: np.ndarray, v: np.ndarray) -> Map:
    return q, np.eye(len(v)), np.zeros(len(v))


def planar(q: np.ndarray, v: np.ndarray) -> Map:
    c, s = np.cos(q[2]), np.sin(q[2])
    B = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return q, B, B @ [-v[2] * v[1], v[2] * v[0], 0.0]


def free(q: np.ndarray, v: np.ndarray) -> Map:
    B, rate = np.eye(6), np.zeros(6)
    B[:3, :3] = R = np.array(quat_to_rotation(q[3:]))
    rate[:3] = R @ np.cross(v[3:], v[:3])
    return q, B, rate


def screw(q: np.ndarray, v: np.ndarray) -> Map:
    """A helical joint as a cylindrical one that travels with the angle: not a square map, but the same rule."""
    return np.array([q[0], -0.23 * q[0]]), np.array([[1.0], [-0.23]]), np.zeros(2)


AXES = {"given": lambda data: data.get("axis", Z), "second": lambda data: data["axis2"]}
AXES |= {f"turn{k}": lambda data, k=k: {"x": X, "y": Y, "z": Z}[data["order"][k]] for k in range(3)}
STACKS: dict[str, tuple[list[tuple[str, Any]], Callable[[np.ndarray, np.ndarray], Map]]] = {
    "universal": ([("revolute", "given"), ("revolute", "second")], plain),
    "gimbal": ([("revolute", "turn0"), ("revolute", "turn1"), ("revolute", "turn2")], plain),
    "cylindrical": ([("revolute", "given"), ("prismatic", "given")], plain),
    "planar": ([("prismatic", X), ("prismatic", Y), ("revolute", Z)], planar),
    "free": ([("prismatic", X), ("prismatic", Y), ("prismatic", Z), ("spherical", Z)], free),
    "point_on_line": ([("prismatic", "given"), ("spherical", Z)], plain),
    "point_on_plane": ([("prismatic", X), ("prismatic", Y), ("spherical", Z)], plain),
    "helical": ([("revolute", "given"), ("prismatic", "given")], screw),
}


def pair(kind: str) -> tuple[Robot, Robot]:
    """A hinge, the joint and another hinge; and the same with the joint as a stack."""
    rng = np.random.default_rng([11, len(kind)])
    bodies = [random_body(rng, f"b{n}") for n in range(3)]
    first, middle, last = (joint_data(rng, each) for each in ("revolute", kind, "revolute"))
    whole, stacked = RobotBuilder("whole"), RobotBuilder("stacked")
    for builder in (whole, stacked):
        builder.add(*bodies).joint("first", "revolute", "world", "b0", **first)
    whole.joint("middle", kind, "b0", "b1", **middle)
    parent, steps = "b0", STACKS[kind][0]
    for n, (step, axis) in enumerate(steps):
        at_end = n == len(steps) - 1
        child = "b1" if at_end else f"between{n}"
        data: dict[str, Any] = {"axis": AXES[axis](middle) if isinstance(axis, str) else axis}
        if n == 0:
            data["placement"] = middle["placement"]
        if at_end:
            data["child_placement"] = middle["child_placement"]
        else:
            stacked.add(Body.massless(child))
        stacked.joint(f"middle{n}", step, parent, child, **data)
        parent = child
    for builder in (whole, stacked):
        builder.joint("last", "revolute", "b1", "b2", **last)
    return whole.build(), stacked.build()


@pytest.mark.parametrize("kind", STACKS)
def test_a_joint_moves_as_its_stack(kind: str) -> None:
    whole, stacked = pair(kind)
    one, other = (derive(robot, backend="interpreter") for robot in (whole, stacked))
    q, v, a, tau = (part[0] for part in random_states(whole, 2, 1))
    inner_q, inner_B, inner_rate = STACKS[kind][1](q[whole.q_slice("middle")], v[whole.v_slice("middle")])
    q_s = np.array([q[0], *inner_q, q[-1]])
    n, k = inner_B.shape
    B, rate = np.zeros((n + 2, k + 2)), np.zeros(n + 2)
    B[0, 0] = B[-1, -1] = 1.0
    B[1:-1, 1:-1], rate[1:-1] = inner_B, inner_rate
    M, M_s, h_s = one.mass_matrix(q), other.mass_matrix(q_s), other.bias_forces(q_s, B @ v)
    np.testing.assert_allclose(M, B.T @ M_s @ B, rtol=0, atol=TOLERANCE * np.abs(M).max())
    h = one.bias_forces(q, v)
    np.testing.assert_allclose(h, B.T @ (h_s + M_s @ rate), rtol=0, atol=TOLERANCE * np.abs(h).max())
    needed = one.inverse_dynamics(q, v, a)
    stacked_needed = B.T @ other.inverse_dynamics(q_s, B @ v, B @ a + rate)
    np.testing.assert_allclose(needed, stacked_needed, rtol=0, atol=TOLERANCE * np.abs(needed).max())
    np.testing.assert_allclose(one.pose("b2")(q), other.pose("b2")(q_s), rtol=0, atol=1e-13)
    if n == k:  # the same motion under the same forces
        moved = B @ one.forward_dynamics(q, v, tau) + rate
        stacked_moved = other.forward_dynamics(q_s, B @ v, B @ tau)
        np.testing.assert_allclose(stacked_moved, moved, rtol=0, atol=1e-11 * np.abs(moved).max())


def test_a_screw_without_pitch_is_a_hinge() -> None:
    rng = np.random.default_rng(4)
    data, body = joint_data(rng, "revolute"), random_body(rng, "b")
    hinge, threaded = (
        derive(RobotBuilder(kind).add(body).joint("j", kind, "world", "b", **data).build(), backend="interpreter")
        for kind in ("revolute", "helical")
    )
    q, v = np.array([0.7]), np.array([1.3])
    assert hinge.mass_matrix(q) == pytest.approx(threaded.mass_matrix(q), rel=1e-14)
    assert hinge.bias_forces(q, v) == pytest.approx(threaded.bias_forces(q, v), rel=1e-14)


def test_bodies_fixed_together_are_one_body() -> None:
    """A body in two halves, the second fixed to the first at any place, moves as the two-body sum."""
    rng = np.random.default_rng(9)
    one, two = random_body(rng, "one"), random_body(rng, "two")
    data, weld = joint_data(rng, "spherical"), joint_data(rng, "fixed")
    builder = RobotBuilder("welded").add(one, two).joint("ball", "spherical", "world", "one", **data)
    welded = builder.joint("weld", "fixed", "one", "two", **weld).build()
    # the second half alone, its joint frame moved through the weld
    T: Pose = compose(weld["placement"], inverse(weld["child_placement"]))
    shifted = {**data, "child_placement": compose(inverse(T), data["child_placement"])}
    alone = [
        derive(RobotBuilder("half").add(body).joint("ball", "spherical", "world", body.name, **place).build())
        for body, place in ((one, data), (two, shifted))
    ]
    q, v, _, _ = (part[0] for part in random_states(welded, 1, 1))
    whole = derive(welded, backend="interpreter")
    np.testing.assert_allclose(whole.mass_matrix(q), sum(half.mass_matrix(q) for half in alone), rtol=1e-12)
    np.testing.assert_allclose(whole.bias_forces(q, v), sum(half.bias_forces(q, v) for half in alone), rtol=1e-11)
