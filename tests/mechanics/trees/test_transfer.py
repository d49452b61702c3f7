"""States carried from one robot to another of the same bodies: new joints are measured, old ones keep their state."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder
from kinemorph.mechanics.steps.state_transfer import body_states, transferred
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration

TURNED = ((0.0, -0.6, 0.8), (1.0, 0.0, 0.0), (0.0, 0.8, 0.6))


def pair(kind: str = "", parent: str = "a", child: str = "b") -> Robot:
    """Two free bodies, or one on the other by a joint askew."""
    builder = RobotBuilder("pair").add(Body.box("a", 1.0, (0.1, 0.2, 0.3)), Body.box("b", 2.0, (0.3, 0.1, 0.1)))
    builder.root(parent if kind else "a", "free", name="root_a")
    if not kind:
        return builder.root("b", "free", name="root_b").build()
    ends = ((np.eye(3), (0.1, -0.2, 0.3)), (TURNED, (0.05, 0.1, 0.0)))
    placement, child_placement = ends if parent == "a" else ends[::-1]
    sign = 1.0 if parent == "a" else -1.0
    return builder.joint(
        "joint", kind, parent, child, axis=(0.0, 0.6 * sign, 0.8 * sign), placement=placement,
        child_placement=child_placement,
    ).build()  # fmt: skip


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_new_joint_is_measured_by_the_motion_of_its_bodies(kind: str) -> None:
    """To two free bodies and back; angles to all sides of half a turn."""
    joined, apart, rng = pair(kind), pair(), np.random.default_rng(0)
    for angle in (-3.0, -1.2, 0.4, 2.9):
        q, v = random_configuration(joined, rng), rng.normal(size=joined.nv)
        q[joined.q_slice("joint")] = angle
        there = transferred(joined, resolve(joined), apart, q, v, {})
        for name, (T, V) in body_states(resolve(joined), ("a", "b"), q.tolist(), v.tolist()).items():
            T_there, V_there = body_states(resolve(apart), ("a", "b"), *(x.tolist() for x in there))[name]
            np.testing.assert_allclose((*T.p, *V), (*T_there.p, *V_there), atol=1e-13)
            np.testing.assert_allclose(T.R, T_there.R, atol=1e-13)
        back = transferred(apart, resolve(apart), joined, *there, {})
        np.testing.assert_allclose(back[0][-1], angle, atol=1e-13)
        np.testing.assert_allclose(back[1], v, atol=1e-12)


def test_a_joint_that_is_turned_round_keeps_its_angle() -> None:
    first, second, rng = pair("revolute"), pair("revolute", "b", "a"), np.random.default_rng(1)
    q, v = random_configuration(first, rng), rng.normal(size=first.nv)
    there = transferred(first, resolve(first), second, q, v, {})
    assert there[0][-1] == q[-1] and there[1][-1] == v[-1]
    states = [
        body_states(resolve(robot), ("a", "b"), list(map(float, x)), list(map(float, y)))
        for robot, x, y in ((first, q, v), (second, *there))
    ]
    for name in "ab":
        np.testing.assert_allclose((*states[0][name][0].p, *states[0][name][1]),
                                   (*states[1][name][0].p, *states[1][name][1]), atol=1e-13)  # fmt: skip
