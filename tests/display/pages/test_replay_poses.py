"""Where bodies are in the page is where they are here: every joint kind, every time, joints moved by hand.

The modules of the page that draw nothing are run by themselves, in a browser, on packed scenes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import compose, inverse
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.replays.joint_rows import TOLERANCE
from kinemorph.display.scenes.figures import figure_of
from kinemorph.display.scenes.scene import Attachment, Trace
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from support.pages.packed_scenes import ALL, bare, off, packed, smooth
from support.robots.matrix_robots import matrix_robot
from support.robots.random_robots import joint_data, random_body, random_robot, robot_of_kind
from support.tools.each_case import each_case


def test_every_joint_kind_moves_as_it_does_here(modules: Any) -> None:
    times = np.linspace(0.0, 2.0, 41)
    robots = [robot_of_kind(kind, chained=chained) for kind in JOINT_KINDS for chained in (True, False)]
    figures = [bare(robot, smooth(robot, len(times))) for robot in robots]
    found = modules.evaluate(ALL, packed(figures, times))
    assert len(found) == len(figures) == 2 * len(JOINT_KINDS)
    for figure, one in zip(figures, found, strict=True):
        assert off(figure, one, figure.positions, figure.quaternions) < TOLERANCE, figure.name


def test_large_robots_stay_within_the_tolerance(modules: Any) -> None:
    times = np.linspace(0.0, 2.0, 61)
    robots = [random_robot(seed) for seed in (4, 7, 11, 20)] + [library.chain(50)]
    figures = [bare(robot, smooth(robot, len(times), 3)) for robot in robots]
    for figure, one in zip(figures, modules.evaluate(ALL, packed(figures, times)), strict=True):
        assert off(figure, one, figure.positions, figure.quaternions) < TOLERANCE, figure.name


def test_between_two_times_coordinates_go_straight(modules: Any) -> None:
    times = np.array([0.0, 0.1, 0.25, 0.7, 1.0])  # not equally far apart
    robot = robot_of_kind("free", chained=True)
    q = smooth(robot, len(times), 1)
    q[2, robot.q_slice("j1").start + 3 : robot.q_slice("j1").stop] *= -1.0  # the same orientation, on the other side
    figure = bare(robot, q)
    asked = [-1.0, 0.0, 0.05, 0.1, 0.3, 0.69, 1.0, 9.0]
    found = modules.evaluate(
        """async ([text, times]) => {
          const scene = await km.unpack(text), first = km.posesAt(scene, 0);
          return times.map(t => {
            const poses = km.posesAt(scene, t);
            if (poses !== first || poses[0] !== first[0]) throw new Error("allocates");
            return {positions: [...poses[0].positions], quaternions: [...poses[0].quaternions]};
          });
        }""",
        [packed([figure], times), asked],
    )
    for t, one in zip(asked, found, strict=True):
        row = min(max(int(np.searchsorted(times, t, side="right")) - 1, 0), len(times) - 2)
        part = float(np.clip((t - times[row]) / (times[row + 1] - times[row]), 0.0, 1.0))
        there = bare(robot, between(robot, q[row], q[row + 1], part))
        assert off(figure, one, there.positions[0], there.quaternions[0]) < 2.0 * TOLERANCE


def between(robot: Robot, before: np.ndarray, after: np.ndarray, part: float) -> np.ndarray:
    """Coordinates (nq,) on the straight way, quaternions the shorter one."""
    q = (1.0 - part) * before + part * after
    for joint in robot.joints:
        at = robot.q_slice(joint.name)
        if joint.kind in ("free", "spherical"):
            at = slice(at.stop - 4, at.stop)
            a, b = (one[at] / np.linalg.norm(one[at]) for one in (before, after))
            q[at] = (1.0 - part) * a + part * (b if a @ b >= 0.0 else -b)
    return q


@pytest.mark.parametrize("rate", [100.0, -100.0, 700.0, -2.0e5])
def test_fast_wheels_spin_the_way_they_do(modules: Any, rate: float) -> None:
    """A hand of 1 m at 60 pictures a second turns by more than half a turn from one to the next, in the last one by
    more whole turns than the page's numbers have bits for.
    """
    builder = RobotBuilder("clock")
    builder.body("axle", mass=1.0, inertia=(0.1, 0.1, 0.1)).body("hand", mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("spin", "revolute", "world", "axle", axis=(0.0, 0.0, 1.0))
    builder.joint("arm", "fixed", "axle", "hand", translation=(1.0, 0.0, 0.0))
    robot = builder.build()
    times = np.arange(31) / 60.0
    figure = bare(robot, 0.3 + rate * times[:, None], traces=(Trace("tip", Attachment(1, (0.0,) * 3), (0.0,) * 4),))
    asked = np.linspace(0.0, 0.5, 301)
    found = modules.evaluate(
        """async ([text, times]) => {
          const scene = await km.unpack(text), figure = scene.figures[0], trace = figure.traces[0];
          return times.map(t => {
            const hand = [...km.posesAt(scene, t)[0].positions.subarray(3, 6)];
            const end = 3 * km.tracePoints(scene, figure, trace, t);
            return [hand, [...trace.points.subarray(end - 3, end)]];
          });
        }""",
        [packed([figure], times), asked.tolist()],
    )
    angle = 0.3 + rate * asked
    there = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=-1)
    for number in (0, 1):
        hands = np.array([one[number] for one in found])
        assert hands == pytest.approx(there, abs=2e-4)


# ── joints ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_joints_pose_a_robot_as_they_do_here(modules: Any) -> None:
    rng = np.random.default_rng(5)
    robots = [robot_of_kind(kind, chained=True) for kind in JOINT_KINDS] + [random_robot(seed) for seed in (2, 9)]
    figures = [bare(robot, random_configuration(robot, rng), poseable=True) for robot in robots]
    wanted = [np.array([random_configuration(robot, rng) for _ in range(4)]) for robot in robots]
    found = modules.evaluate(
        """async ([text, all]) => {
          const scene = await km.unpack(text);
          return scene.figures.map((figure, k) => all[k].map(q => {
            const pose = km.jointPoses(figure, Float64Array.from(q));
            km.posesAt(scene, 0);  // leaves it as it is
            return {positions: [...pose.positions], quaternions: [...pose.quaternions]};
          }));
        }""",
        [packed(figures, np.zeros(1)), [q.tolist() for q in wanted]],
    )
    for robot, figure, q, ones in zip(robots, figures, wanted, found, strict=True):
        there = bare(robot, q)
        for k, one in enumerate(ones):  # single precision is what counts here
            assert off(figure, one, there.positions[k], there.quaternions[k]) < 1e-6, robot.name


def coupled() -> Robot:
    """A joint that follows one that follows another, declared in the wrong order, before a slide that follows too."""
    builder = RobotBuilder("coupled")
    for name in "abcd":
        builder.body(name, mass=1.0, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.1, 0.1))
    builder.joint("third", "revolute", "b", "c", translation=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    builder.joint("second", "revolute", "a", "b", translation=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    builder.joint("first", "revolute", "world", "a", axis=(0.0, 1.0, 0.0))
    builder.joint("slide", "prismatic", "c", "d", axis=(1.0, 0.0, 0.0))
    builder.couple("third", "second", multiplier=-0.5, offset=0.2)
    builder.couple("second", "first", multiplier=2.0, offset=-0.1)
    builder.couple("slide", "first", multiplier=0.1)
    return builder.build()


def test_joints_that_follow_others_do_so_in_the_page(modules: Any) -> None:
    robot = coupled()
    lead = 0.6
    q = np.zeros(4)
    q[robot.q_slice("first")], q[robot.q_slice("second")] = lead, 2.0 * lead - 0.1
    q[robot.q_slice("third")], q[robot.q_slice("slide")] = -0.5 * (2.0 * lead - 0.1) + 0.2, 0.1 * lead
    figure = bare(robot, np.zeros(4), poseable=True)
    found = modules.evaluate(
        """async ([text, at, lead]) => {
          const figure = (await km.unpack(text)).figures[0];
          figure.q[at] = lead;
          const pose = km.jointPoses(figure, figure.q);
          return {positions: [...pose.positions], quaternions: [...pose.quaternions], q: [...figure.q],
            free: figure.joints.filter(joint => !joint.follows).map(joint => joint.name)};
        }""",
        [packed([figure], np.zeros(1)), robot.q_slice("first").start, lead],
    )
    there = bare(robot, q)
    assert off(figure, found, there.positions[0], there.quaternions[0]) < 1e-6
    assert found["q"] == pytest.approx(q.tolist())
    assert found["free"] == ["first"]


LOOPS = [
    *(("revolute", kind) for kind in ("revolute", "spherical")),
    *(("free", kind) for kind in JOINT_KINDS if kind not in ("free", "fixed")),
]


def looped(bearing: str, kind: str) -> Robot:
    """A four-bar closed by a joint of a kind; or a free body that a loop holds to the tip of an arm."""
    if bearing == "revolute":
        return library.four_bar(closure=kind)
    rng = np.random.default_rng(8)
    builder = RobotBuilder(f"held_{kind}").add(random_body(rng, "arm"), random_body(rng, "held"))
    builder.joint("swing", "revolute", "world", "arm", **joint_data(rng, "revolute"))
    builder.joint("base", "free", "world", "held")
    builder.joint("hold", kind, "arm", "held", **joint_data(rng, kind))
    return builder.build()


def closed(robot: Robot) -> np.ndarray:
    """A configuration in which the loop is closed."""
    start = stance(robot)
    if "base" in robot.joint_names:
        loop = robot.loops[0]
        arm = Poses(robot, start).at(0)["arm"]
        held = compose(arm, loop.placement, inverse(loop.child_placement))
        start[robot.q_slice("base")] = [*held.p, *quaternions_of(np.array(held.R))]
    return start


def test_driven_joints_follow_their_formulas_in_the_page(modules: Any) -> None:
    """At the times of a motion, and after a slider has moved: matrices of formulas and hinges alike."""
    times = np.linspace(0.0, 2.0, 21)
    robots = [matrix_robot(seed) for seed in range(8)]
    figures = [figure_of(robot, 0.3 * np.sin(times[:, None] + np.arange(robot.nq)), times) for robot in robots]
    assert any(joint.kind == "pose" for robot in robots for joint in robot.driven)
    for figure, one in zip(figures, modules.evaluate(ALL, packed(figures, times)), strict=True):
        assert off(figure, one, figure.positions, figure.quaternions) < 4.0 * TOLERANCE, figure.name
    moved = """async ([text, q]) => {
      const figure = (await km.unpack(text)).figures[0];
      figure.q.set(q);
      const pose = km.jointPoses(figure, figure.q);
      return {positions: [...pose.positions], quaternions: [...pose.quaternions]};
    }"""
    for robot in robots:
        start, there = (figure_of(robot, np.full((1, robot.nq), x)) for x in (0.1, 0.4))
        found = modules.evaluate(moved, [packed([start], times[:1]), [0.4] * robot.nq])
        assert off(start, found, there.positions[0], there.quaternions[0]) < 1e-6, robot.name


@each_case(("bearing", "kind"), LOOPS)
def test_loops_stay_closed_when_a_joint_is_moved(modules: Any, bearing: str, kind: str) -> None:
    robot = looped(bearing, kind)
    assert len(robot.loops) == 1
    tree = resolve(robot)
    start = closed(robot)
    assert np.abs(constraint_error(tree, start.tolist())).max() < 1e-7
    figure = bare(robot, start, poseable=True)
    moved = "q1" if bearing == "revolute" else "swing"
    at = robot.q_slice(moved).start
    goals = [float(start[at]) + turn for turn in (0.3, -0.4, 2.0)]
    found = modules.evaluate(
        """async ([text, at, goals]) => {
          const figure = (await km.unpack(text)).figures[0];
          return goals.map(goal => {
            figure.q[at] = goal;
            const pose = km.jointPoses(figure, figure.q);
            return {q: [...figure.q], positions: [...pose.positions], quaternions: [...pose.quaternions]};
          });
        }""",
        [packed([figure], np.zeros(1)), at, goals],
    )
    for goal, one in zip(goals, found, strict=True):
        assert one["q"][at] == pytest.approx(goal, abs=1e-12)
        assert np.abs(constraint_error(tree, one["q"])).max() < 1e-7
        there = bare(robot, np.array(one["q"]))
        assert off(figure, one, there.positions[0], there.quaternions[0]) < 1e-6


def test_a_mechanism_stops_where_it_cannot_follow(modules: Any) -> None:
    robot = library.four_bar()  # its rocker swings between two dead points
    start = stance(robot)
    at = robot.q_slice("q3").start
    figure = bare(robot, start, poseable=True)
    found = modules.evaluate(
        """async ([text, at]) => {
          const figure = (await km.unpack(text)).figures[0];
          figure.q[at] = 3.1;
          km.jointPoses(figure, figure.q);
          return [...figure.q];
        }""",
        [packed([figure], np.zeros(1)), at],
    )
    # the crank lies over the coupler: the law of cosines on ground 1, rocker 0.7, and 0.9 - 0.3
    dead = np.pi - np.arccos((1.0 + 0.7**2 - 0.6**2) / (2.0 * 0.7))
    assert start[at] < found[at] <= dead + 1e-6
    assert found[at] > dead - 0.1
    assert np.abs(constraint_error(resolve(robot), found)).max() < 1e-7


def test_roll_pitch_and_yaw_there_and_back(modules: Any) -> None:
    angles = [[0.3, -0.4, 2.0], [-3.0, 1.2, -1.5], [0.0, 0.0, 0.0], [0.5, 1.5707, 0.2]]
    found = modules.evaluate(
        """(all) => all.map(([roll, pitch, yaw]) => {
          const q = new Float64Array(5);
          km.turnFromAngles(q, 1, roll, pitch, yaw);
          const longer = q.map(x => 3 * x);
          return [[...q.subarray(1)], [...km.anglesFromTurn(new Float64Array(3), longer, 1)]];
        })""",
        angles,
    )
    for (roll, pitch, yaw), (quaternion, back) in zip(angles, found, strict=True):
        (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
        X = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
        Y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
        Z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
        there = quaternions_of(Z @ Y @ X)
        assert abs(there @ np.array(quaternion)) == pytest.approx(1.0, abs=1e-12)
        assert back == pytest.approx([roll, pitch, yaw], abs=1e-6)
