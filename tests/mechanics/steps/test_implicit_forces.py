"""Stiff forces at the end of a step inside the articulated-body algorithm, against a dense solve of the same."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder
from kinemorph.algebra.groups import act
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.contact.contact_point import Start, Touch
from kinemorph.mechanics.elements.contact.friction import regularized
from kinemorph.mechanics.elements.contact.grounds import surface
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.mechanics.recursions.kinematics import link_poses
from kinemorph.mechanics.steps.implicit_forces import implicit_accelerations
from kinemorph.mechanics.steps.pair_forces import times_symmetric
from kinemorph.mechanics.steps.point_states import (
    JointForce,
    JointState,
    PointForce,
    PointState,
    Sight,
    joint_slope,
    point_slope,
)
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import WORLD, Tree
from kinemorph.model.elements.contact.contact_laws import HuntCrossley
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.robot import Robot
from support.cases.stiff_laws import Ground, Hold, Tether
from support.cases.stiff_plants import hexapod, with_feet
from support.references.dense_step import DenseStep
from support.references.exact_rates import numbers
from support.robots.random_robots import random_robot, random_states
from support.tools.each_case import each_case


def points_at(tree: Tree, laws: dict[str, Any]) -> list[PointForce]:
    places = {name: tree.attachments[name] for name in laws}
    return [PointForce(at.link, at.pose.p, laws[name]) for name, at in places.items() if at.link != WORLD]


def check(
    robot: Robot,
    laws: dict[str, Any],
    state: Any,
    h: float,
    passes: int,
    *,
    prepared: bool = True,
    guess: np.ndarray | None = None,
    centered: bool = False,
) -> float:
    """The largest relative difference of the accelerations and of the forces to those of the dense solve."""
    q, v, tau = state
    tree = resolve(robot)
    tree = regroup(reframe(tree)) if prepared else tree
    held = {link.v: (link.q, Hold(target=0.1 * link.v)) for link in tree.links if len(link.axes) == 1}
    laws = {name: law for name, law in laws.items() if tree.attachments[name].link != WORLD}
    points = points_at(tree, laws)
    joints = [JointForce(j, law) for j, (_, law) in held.items()]
    known = None if guess is None else guess.tolist()
    state = (q.tolist(), v.tolist(), tau.tolist())
    ends = implicit_accelerations(tree, *state, h, points, joints, passes=passes, guess=known, centered=centered)
    a, forces, condition = DenseStep(robot, laws, held).solve(q, v, tau, h, passes, guess, centered)
    error = np.abs(numbers(ends.a) - a).max() / np.abs(a).max()
    assert error < max(1e-12, 1e-15 * condition), f"condition {condition:.1e}"
    poses = link_poses(tree, q.tolist())
    for (link, _, _), ours, theirs in zip(points, ends.points, forces, strict=True):
        turned = numbers(poses[link].R) @ numbers(ours)
        scale = max(np.abs(f).max() for f in forces)
        assert np.abs(turned - theirs).max() <= max(1e-11, 1e-14 * condition) * scale
    return float(error)


def standing(robot: Robot, seed: int) -> tuple[Any, Any, Any]:
    """A hexapod near its feet's ground: some of them in it, some above, all of them moving."""
    rng = np.random.default_rng(seed)
    tree = resolve(robot)
    q = np.concatenate(
        [[0, 0, 0, 1, 0, 0, 0], np.tile([0.0, -0.3, 1.2], 6)]
        if robot.nq == 25
        else [random_states(robot, seed, 1)[0][0]]
    )
    q[7:] += 0.2 * rng.normal(size=robot.nq - 7)
    q[3:7] = [1.0, *(0.1 * rng.normal(size=3))]
    q[3:7] /= np.linalg.norm(q[3:7])
    poses = link_poses(tree, q.tolist())
    at = [tree.attachments[f"foot{k}"] for k in range(6)]
    heights = sorted(act(poses[one.link], one.pose.p)[2] for one in at)
    q[2] = -0.5 * (heights[2] + heights[3])
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize(
    "h", [pytest.param(1e-4, marks=pytest.mark.slow), 1e-3, pytest.param(4e-3, marks=pytest.mark.slow)]
)
def test_hexapods_on_the_ground(h: float, passes: int, centered: bool, record_property: Any) -> None:
    worst = 0.0
    for name in ("hexapod24", "hexapod36"):
        robot = hexapod(name)
        for seed in range(4):
            state, laws = standing(robot, seed), {f"foot{k}": Ground() for k in range(6)}
            guess = np.random.default_rng(seed).normal(size=robot.nv) if seed % 2 else None
            worst = max(worst, check(robot, laws, state, h, passes, guess=guess, centered=centered))
    named = f"hexapods, {passes} passes, h {h:g} s{', centered' if centered else ''}"
    record_property("figure", ("against a dense solve", named, worst))


@each_case("seed", range(24))
def test_random_trees_with_ground_and_tethers(seed: int) -> None:
    """Fixed and free bases, all joint kinds, several points on a link, as declared and made ready for recursions."""
    robot, rng = random_robot(seed, most=25), np.random.default_rng(seed)
    bodies = [body.name for body in robot.bodies]
    feet = {
        f"p{k}": (bodies[int(rng.integers(len(bodies)))], tuple(map(float, 0.3 * rng.normal(size=3)))) for k in range(5)
    }
    laws = {name: Tether() if k == 4 else Ground() for k, name in enumerate(feet)}
    q, v, a, tau = (part[0] for part in random_states(robot, seed, 1))
    h, passes, guess = (1e-4, 1e-3, 4e-3)[seed % 3], 1 + seed // 3 % 3, a if seed % 5 else None
    options: Any = {"prepared": bool(seed % 2), "guess": guess, "centered": seed % 7 in (1, 2, 4)}
    check(with_feet(robot, feet), laws, (q, v, tau), h, passes, **options)


def test_locked_velocities_stay_and_the_others_feel_it() -> None:
    robot = hexapod()
    tree, (q, v, tau) = regroup(reframe(resolve(robot))), standing(robot, 3)
    points = points_at(tree, {f"foot{k}": Ground() for k in range(6)})
    found = implicit_accelerations(tree, q.tolist(), v.tolist(), tau.tolist(), 1e-3, points, passes=2, locked=(0, 8))
    assert found.a[0] == found.a[8] == 0.0
    heavy = [JointForce(j, Heavy()) for j in (0, 8)]
    pressed = implicit_accelerations(tree, q.tolist(), v.tolist(), tau.tolist(), 1e-3, points, heavy, passes=2)
    np.testing.assert_allclose(pressed.a, found.a, atol=1e-6 * np.abs(found.a).max())


@dataclass(frozen=True)
class Heavy:
    """A joint that hardly accelerates."""

    affine: bool = True

    def force(self, joint: JointState) -> Any:
        return 0.0

    def linear(self, joint: JointState, h: Any) -> Any:
        return 0.0, 1e12


def test_passes_approach_the_implicit_step() -> None:
    """Newton's iteration with the secant of friction: what the step is off by falls from pass to pass, to rounding."""
    robot = hexapod()
    tree, (q, v, tau) = regroup(reframe(resolve(robot))), standing(robot, 1)
    points = points_at(tree, {f"foot{k}": Ground() for k in range(6)})
    state = (q.tolist(), (0.1 * v).tolist(), tau.tolist())
    steps = [numbers(implicit_accelerations(tree, *state, 4e-3, points, passes=n).a) for n in (1, 2, 3, 4, 5, 20)]
    off = [np.abs(step - steps[-1]).max() / np.abs(steps[-1]).max() for step in steps[:-1]]
    assert all(after < 0.5 * before for before, after in itertools.pairwise(off)), off
    assert off[-1] < 1e-6


# ── what laws see, and slopes by dual numbers ─────────────────────────────────────────────────────────────────────────


def test_sight_is_the_pose_of_the_link() -> None:
    robot = hexapod()
    tree, (q, _, _) = reframe(resolve(robot)), standing(robot, 2)
    moves, poses = tree.moves(q.tolist()), link_poses(tree, q.tolist())
    sight = Sight(tree, moves)
    for link, pose in enumerate(poses):
        R, p = numbers(pose.R), numbers(pose.p)
        for k in range(3):
            axis, coordinate = sight.row(link, k)
            np.testing.assert_allclose(axis, R[k], atol=1e-14)
            assert abs(coordinate - p[k]) < 1e-14
        state = PointState(link, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0), 0.5, sight)
        np.testing.assert_allclose(state.position, p + R @ [0.6, 1.2, 1.8], atol=1e-14)
        np.testing.assert_allclose(state.into((1.0, -2.0, 0.5)), R.T @ [1.0, -2.0, 0.5], atol=1e-14)
        assert abs(state.along((1.0, -2.0, 0.5)) - (p + R @ [0.6, 1.2, 1.8]) @ [1.0, -2.0, 0.5]) < 1e-14


def test_slopes_are_symmetric_and_never_drive() -> None:
    """A law whose slope is anything at all: its D is positive semi-definite, and the slope where that may be."""
    rng = np.random.default_rng(0)
    sight = Sight(resolve(stored_robot("hexapod24")), [])
    for _ in range(200):
        K = rng.normal(size=(3, 3))
        state = PointState(WORLD, (0.0, 0.0, 0.0), (0.1, 0.2, 0.3), 1.0, sight)

        def law(point: PointState, K: Any = K) -> Any:
            return tuple(sum(-K[i, j] * point.velocity[j] for j in range(3)) for i in range(3))

        _, (xx, xy, xz, yy, yz, zz) = point_slope(law, state, 0.5)
        D = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert np.linalg.eigvalsh(D).min() > -1e-12
        S = 0.25 * (K + K.T)
        if (
            np.all(np.abs(S) - np.diag(np.diag(S)) < 0.5 * np.sqrt(np.abs(np.outer(np.diag(S), np.diag(S)))))
            and np.diag(S).min() > 0
        ):
            np.testing.assert_allclose(D, S, atol=1e-14)


def test_slope_of_a_joint_law() -> None:
    force, pivot = joint_slope(lambda joint: -3.0 * joint.position**2 - 2.0 * joint.velocity, JointState(0.5, 1.0), 0.1)
    assert force == pytest.approx(-2.75)
    assert pivot == pytest.approx(0.1 * 2.0 + 0.01 * 3.0)
    assert joint_slope(lambda joint: 5.0 * joint.velocity, JointState(None, 1.0), 0.1)[1] == 0.0


def test_a_law_of_positions_on_a_joint_without_a_coordinate_is_refused() -> None:
    robot = hexapod()
    tree, (q, v, tau) = resolve(robot), standing(robot, 0)
    with pytest.raises(ModelError, match=r"'hold'.*one axis"):
        implicit_accelerations(tree, q.tolist(), v.tolist(), tau.tolist(), 1e-3, joints=[JointForce(2, Hold())])


# ── arithmetic ────────────────────────────────────────────────────────────────────────────────────────────────────────

CEILINGS = {1: 7411, 2: 13626}  # of the study of a whole step, hexapod of 24 dof


@pytest.mark.parametrize("passes", CEILINGS)
def test_arithmetic_of_a_step_stays_below_its_ceiling(passes: int, record_property: Any) -> None:
    tree = regroup(reframe(resolve(hexapod())))
    points = points_at(tree, {f"foot{k}": Ground() for k in range(6)})

    def step(q: Any, v: Any, target: Any, h: Any) -> Any:
        joints = [JointForce(6 + j, Hold(target=target[j])) for j in range(18)]
        return implicit_accelerations(tree, q, v, [0.0] * 24, h, points, joints, passes=passes).a

    program = trace(step, {"q": (25,), "v": (24,), "target": (18,), "h": ()})
    count = sum(program.op_counts.get(op, 0) for op in ("add", "sub", "mul"))
    record_property("figure", ("products and sums", f"hexapod24 implicit step, {passes} passes", count))
    assert count <= CEILINGS[passes]


def loaded_box() -> tuple[Any, list[PointForce]]:
    """A free box at a tilt with contacts at eight corners, three of them in the ground: (tree, forces at points)."""
    builder = RobotBuilder("box").add(Body.box("box", 2.0, (0.4, 0.3, 0.2)))
    tree = resolve(builder.root("box", "free").build())
    link = tree.attachments["box"].link
    sight = Sight(tree, tree.moves(BOX_Q))
    press = normal_law(HuntCrossley(1e4, 0.5))
    found = []
    for point in itertools.product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1)):
        start = Start(-PointState(link, point, (0.0, 0.0, 0.0), 0.0, sight).coordinate(2), -0.3)

        def rub(point: Any, force: Any, slip: Any, normal: Any) -> tuple[Any, None]:
            return regularized(0.5, 0.01, force, slip), None

        found.append(PointForce(link, point, Touch(surface(Plane()), press, rub, start)))
    return tree, found


BOX_Q = [0.0, 0.0, 0.09, 0.999, 0.02, -0.03, 0.01]
BOX_V = [0.2, -0.1, -0.3, 0.5, 0.4, -0.6]


def test_the_line_of_a_contact_is_that_of_its_derivative() -> None:
    """Contacts give f + D J a directly; it is the force and the matrix of `linear`, joined."""
    tree, points = loaded_box()
    sight, h = Sight(tree, tree.moves(BOX_Q)), 1e-3
    velocity, free = (0.3, -0.2, -0.4), (0.1, 0.05, -0.2)
    for link, point, law in points:
        late = PointState(link, point, velocity, h, sight)
        (f, D), (line, same) = law.linear(late, h), law.line(late, free, h)
        reach = (numbers(velocity) - numbers(free)) / h
        wanted = numbers(f) + numbers(times_symmetric(D, reach))
        assert np.allclose(numbers(line), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())
        assert np.allclose(numbers(D), numbers(same), rtol=1e-12)


def test_the_power_of_a_link_is_the_sum_of_the_powers_of_its_points() -> None:
    tree, points = loaded_box()
    ends = implicit_accelerations(tree, BOX_Q, BOX_V, [0.0] * 6, 1e-3, points, passes=2)
    powers = [account.power for account in ends.accounts[0]]
    pushing = [k for k, power in enumerate(powers) if power != 0.0]
    assert len(pushing) == 3
    assert ends.power_at(range(8)) == pytest.approx(sum(powers), rel=1e-12)
    assert ends.power_at(pushing[:2]) == pytest.approx(powers[pushing[0]] + powers[pushing[1]], rel=1e-12)
