"""Where bodies are in the page is where they are here: every joint kind, every time, what follows from the poses.

The modules of the page that draw nothing are run by themselves, in a browser, on packed scenes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import compose, inverse
from kinemorph.display.cameras import Camera
from kinemorph.display.looks.poses import Poses, extent_of
from kinemorph.display.looks.quaternions import quaternions_of, rotated
from kinemorph.display.looks.solids import z_toward
from kinemorph.display.replays.joint_rows import TOLERANCE
from kinemorph.display.replays.packing import pack
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.figures import figure_of, stacked_poses
from kinemorph.display.scenes.scene import Attachment, Figure, Mark, Part, Scene, Series, Surface, Trace
from kinemorph.display.scenes.surfaces import look_surface
from kinemorph.display.stage.bundle import bundle
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from support.cases.docked_runs import docked_run
from support.robots.matrix_robots import matrix_robot
from support.robots.random_robots import joint_data, random_body, random_robot, robot_of_kind
from support.tools.browsing import Browser
from support.tools.each_case import each_case

NAMES = """unpack, posesAt, jointPoses, markEnds, tracePoints, centerOfMass, turnFromAngles, anglesFromTurn,
  gatherPieces, makeSlots, writeSlots, makeCamera, lookFrom, updateCamera, projectPoint"""


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Any]:
    """A page with the modules in `km`, and nothing else."""
    script = bundle("stage/stage.js")
    with browser.page() as page:
        page.set_content(
            f"<script>window.km = (() => {{ 'use strict'; {script}\n return {{ {NAMES} }}; }})();</script>"
        )
        yield page


def bare(robot: Robot, q: np.ndarray, **more: Any) -> Figure:
    """A figure without parts: it is only the poses that matter."""
    poses = Poses(robot, q)
    positions, quaternions = stacked_poses(robot, poses)
    masses = np.array([float(evaluate(body.mass)) for body in robot.bodies])
    centers = np.array([evaluate_all(body.com) for body in robot.bodies], dtype=float)
    size = extent_of(robot, poses)
    return Figure(robot.name, robot, np.atleast_2d(q), positions, quaternions, (), masses, centers, size, **more)


def smooth(robot: Robot, n: int, seed: int = 0) -> np.ndarray:
    """Coordinates (n, nq) of a motion over 2 s; quaternions are off their length, and turns go round several times."""
    rng = np.random.default_rng(seed)
    rate, phase, drift = rng.normal(size=(3, robot.nq))
    t = np.linspace(0.0, 2.0, n)[:, None]
    return np.sin(2.0 * rate * t + phase) + 0.5 + 4.0 * drift * t * (np.array(robot.q_units) == "rad")


def scene(figures: Sequence[Figure], times: np.ndarray, **more: Any) -> Scene:
    return Scene("test", times, tuple(figures), np.array([[-1.0] * 3, [1.0] * 3]), **more)


def packed(figures: Sequence[Figure], times: np.ndarray, **more: Any) -> str:
    return pack(scene(figures, times, **more), Camera())


def off(figure: Figure, found: dict[str, Any], p: np.ndarray, Q: np.ndarray) -> float:
    """How far bodies are off at most: in rad, and in m as a part of the figure's size."""
    positions, turns = np.array(found["positions"]).reshape(p.shape), np.array(found["quaternions"]).reshape(Q.shape)
    near = np.minimum(1.0, np.abs((turns * Q).sum(axis=-1)))
    sides = np.linalg.norm(turns - np.sign((turns * Q).sum(axis=-1))[..., None] * Q, axis=-1)
    assert near.min() > 0.999
    return max(float(np.abs(positions - p).max()) / figure.size, 2.0 * float(sides.max()))


ALL = """async (text) => {
  const scene = await km.unpack(text);
  return scene.figures.map(f => ({positions: [...f.positions], quaternions: [...f.quaternions]}));
}"""


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


# ── what follows from the poses ───────────────────────────────────────────────────────────────────────────────────────


def test_marks_traces_and_the_center_of_mass_follow_the_bodies(modules: Any) -> None:
    times = np.linspace(0.0, 1.0, 21)
    robot = robot_of_kind("free", chained=True)
    figure = bare(robot, smooth(robot, len(times), 2))
    vectors = np.stack([times, 0.0 * times, -2.0 * times], axis=-1)
    start, end, ground = (
        Attachment(1, (0.1, 0.2, -0.3)),
        Attachment(2, (0.0, 0.5, 0.0)),
        Attachment(-1, (1.0, 2.0, 3.0)),
    )
    marks = (
        Mark("spring", "spring", (1.0, 0.0, 0.0, 1.0), 0.01, start, end),
        Mark("anchor", "damper", (1.0, 0.0, 0.0, 1.0), 0.01, ground, start),
        Mark("force", "arrow", (1.0, 0.0, 0.0, 1.0), 0.01, end, None, vectors, "forces"),
    )
    figure = replace(figure, marks=marks, traces=(Trace("way", start, (0.0, 0.0, 1.0, 1.0)),))
    row = 7
    found = modules.evaluate(
        """async ([text, t]) => {
          const scene = await km.unpack(text), figure = scene.figures[0], trace = figure.traces[0];
          const way = (t) => {
            km.posesAt(scene, t);
            const count = km.tracePoints(scene, figure, trace, t);
            return [...trace.points.subarray(0, 3 * count)];
          };
          const ways = [way(1.0), way(0.0), way(t)];
          km.posesAt(scene, t);
          return {marks: figure.marks.map(mark => [...km.markEnds(scene, figure, mark, t, new Float32Array(6))]), ways,
            center: [...km.centerOfMass(figure, new Float32Array(3))], looks: Object.keys(scene.looks)};
        }""",
        [packed([figure], times), float(times[row])],
    )

    def world(at: Attachment, k: int) -> np.ndarray:
        if at.owner < 0:
            return np.array(at.point)
        return rotated(figure.quaternions[k, at.owner], np.array(at.point)) + figure.positions[k, at.owner]

    expected = [[world(start, row), world(end, row)], [world(ground, row), world(start, row)]]
    expected.append([world(end, row), world(end, row) + vectors[row]])
    assert np.array(found["marks"]).reshape(3, 2, 3) == pytest.approx(np.array(expected), abs=1e-4 * figure.size)
    whole, beginning, part = (np.array(way).reshape(-1, 3) for way in found["ways"])
    way = np.array([world(start, k) for k in range(len(times))])
    assert whole[:-1] == pytest.approx(way[:-1], abs=1e-4 * figure.size)
    assert whole[-1] == pytest.approx(way[-1], abs=1e-4 * figure.size)
    assert beginning == pytest.approx(way[[0, 0]], abs=1e-4 * figure.size)
    assert part[: row + 1] == pytest.approx(way[: row + 1], abs=1e-4 * figure.size)
    assert part[-1] == pytest.approx(way[row], abs=1e-4 * figure.size)
    masses = figure.masses[:, None]
    centers = rotated(figure.quaternions[row], figure.centers) + figure.positions[row]
    assert found["center"] == pytest.approx((masses * centers).sum(axis=0) / masses.sum(), abs=1e-4 * figure.size)
    assert found["looks"] == ["arrow", "damper", "spring"]


def test_pictures_have_bodies_and_marks_in_their_places(modules: Any) -> None:
    times = np.linspace(0.0, 1.0, 3)
    robot = robot_of_kind("free", chained=True)
    first, second = Attachment(1, (0.1, 0.2, -0.3)), Attachment(2, (0.0, 0.5, 0.0))
    force = np.stack([0.3 + times, 0.0 * times, -times], axis=-1)
    red = (1.0, 0.0, 0.0, 1.0)
    marks = (
        Mark("spring", "spring", red, 0.01, first, second),
        Mark("force", "arrow", red, 0.02, second, None, force, "forces"),
        Mark("bolt", "ball", red, 0.03, first, second),
        Mark("little", "arrow", red, 0.02, second, None, 1e-2 * force, "forces"),
    )
    offset = np.array([0.5, -2.0, 0.25])
    figure = bare(robot, smooth(robot, 3, 6), marks=marks)
    figures = [figure, replace(figure, name="beside", offset=offset)]
    values, centers = modules.evaluate(
        """async (text) => {
          const scene = await km.unpack(text), gathered = km.gatherPieces(scene), slots = km.makeSlots(scene, gathered);
          km.posesAt(scene, 0.5);
          km.writeSlots(scene, slots, 0.5);
          const at = (slot) => [...slots.values.subarray(16 * slot, 16 * slot + 16)];
          return [slots.places.map((place, f) => [
            [...scene.figures[f].bodies.keys()].map((b) => at(place.bodies + b)),
            [...scene.figures[f].marks.keys()].map((m) => at(place.marks + m)), at(place.center), at(place.line),
          ]), slots.centers.map((center) => [...center])];
        }""",
        packed(figures, times, floor=-1.5),
    )

    def world(at: Attachment) -> np.ndarray:
        return rotated(figure.quaternions[1, at.owner], np.array(at.point)) + figure.positions[1, at.owner]

    near = 2e-4 * figure.size
    for (bodies, shown, ball, line), center, shift in zip(values, centers, (np.zeros(3), offset), strict=True):
        for number, body in enumerate(bodies):
            M = np.array(body).reshape(4, 4).T
            assert M[:3, 3] == pytest.approx(figure.positions[1, number] + shift, abs=near)
            assert pytest.approx(M[:3, :3], abs=1e-4) == rotated(figure.quaternions[1, number], np.eye(3)).T
        spring, arrow, bolt, little = (np.array(one).reshape(4, 4).T for one in shown)
        ends = [(spring, world(first), world(second), 0.01), (arrow, world(second), world(second) + force[1], 0.02)]
        for M, start, end, width in ends:
            assert M[:3, 3] == pytest.approx(start + shift, abs=near)
            assert M[:3, 2] == pytest.approx(end - start, abs=near)
            across = M[:3, :2]
            assert across.T @ across == pytest.approx(width**2 * np.eye(2), abs=1e-8)
            assert np.cross(M[:3, 0], M[:3, 1]) @ M[:3, 2] > 0.0 and np.abs(across.T @ M[:3, 2]).max() < 1e-5
        assert bolt[:3, 3] == pytest.approx(world(second) + shift, abs=near)
        assert bolt[:3, :3] == pytest.approx(0.03 * np.eye(3))
        # a short arrow is slim
        assert np.linalg.norm(little[:3, 0]) < 0.5 * np.linalg.norm(little[:3, 2]) < 0.02
        masses = figure.masses[:, None]
        middle = (masses * (rotated(figure.quaternions[1], figure.centers) + figure.positions[1])).sum(axis=0)
        middle = middle / masses.sum() + shift
        assert center == pytest.approx(middle, abs=near)
        assert np.array(ball).reshape(4, 4)[3, :3] == pytest.approx(middle, abs=near)
        stem = np.array(line).reshape(4, 4)
        assert {round(stem[3, 2], 3), round(stem[3, 2] + stem[2, 2], 3)} == {-1.5, round(middle[2], 3)}


def test_the_camera_sees_the_world_from_where_it_stands(modules: Any) -> None:
    """Right is right: with z up, a camera at an azimuth a sees (-sin a, cos a, 0) to its right."""
    robot = library.pendulum()
    text = packed([bare(robot, np.zeros(robot.nq))], np.zeros(1))
    points = [[0.3, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.5], [-0.2, 0.3, -0.4], [0.0, 0.0, 0.0]]
    views: dict[str, tuple[float, float]] = {"front": (0, 0), "back": (0, 180), "left": (0, 90), "right": (0, -90)}
    views |= {"top": (90, -90), "iso": (35.264, -45)}
    found = modules.evaluate(
        """async ([text, views, points]) => {
          const camera = km.makeCamera(await km.unpack(text));
          camera.aspect = 1.6;
          return views.map((view) => {
            km.lookFrom(camera, view);
            km.updateCamera(camera);
            return [camera.elevation, camera.azimuth, camera.distance, camera.target,
              points.map((point) => km.projectPoint(camera, point, [0, 0]))];
          });
        }""",
        [text, list(views), points],
    )
    for (elevation, azimuth), (e, a, distance, target, seen) in zip(views.values(), found, strict=True):
        assert e == pytest.approx(elevation) and (a - azimuth) % 360.0 == pytest.approx(0.0)
        ce, se = np.cos(np.radians(elevation)), np.sin(np.radians(elevation))
        ca, sa = np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth))
        right, up, out = np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])
        for point, place in zip(points, seen, strict=True):
            away = np.array(point) - target
            scale = np.tan(np.radians(15.0)) * (distance - away @ out)
            assert place == pytest.approx([right @ away / scale / 1.6, up @ away / scale], abs=1e-5)


# ── surfaces and columns ──────────────────────────────────────────────────────────────────────────────────────────────


def test_surfaces_come_back_and_like_ones_are_one(modules: Any) -> None:
    ball, rod = look_surface("ball"), look_surface("rod")
    axes = z_toward(np.array([0.6, 0.0, 0.8])) * np.array([0.02, 0.03, 0.5])
    normals = rod.normals @ np.linalg.inv(axes)
    slanted = Surface(
        rod.points @ axes.T + [1.0, 2.0, 3.0], normals / np.linalg.norm(normals, axis=1, keepdims=True), rod.faces
    )
    copied = Surface(ball.points.copy(), ball.normals.copy(), ball.faces.copy())
    inward = Surface(ball.points, -ball.normals, ball.faces)
    empty = Surface(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    tilted = Surface(np.eye(3) * 1e-3 + 5.0, np.tile([0.6, 0.0, -0.8], (3, 1)), np.array([[0, 1, 2]], dtype=np.int32))
    flip = np.array([-1.0, 1.0, 1.0])
    mirrored = Surface(slanted.points * flip, slanted.normals * flip, slanted.faces)
    surfaces = [ball, rod, slanted, copied, inward, empty, tilted, mirrored]
    robot = library.pendulum()
    figure = replace(
        bare(robot, np.zeros(robot.nq)),
        parts=tuple(Part(f"p{k}", 0, one, (0.5, 0.5, 0.5, 1.0)) for k, one in enumerate(surfaces)),
    )
    found = modules.evaluate(
        """async (text) => {
          const scene = await km.unpack(text);
          return {parts: scene.figures[0].parts.map(part => part.surface), surfaces: scene.surfaces.map(one =>
            ({points: [...one.points], normals: [...one.normals], faces: [...one.faces]}))};
        }""",
        packed([figure], np.zeros(1)),
    )
    assert found["parts"] == [0, 1, 2, 0, 3, 4, 5, 6]
    for surface, number in zip(surfaces, found["parts"], strict=True):
        one = found["surfaces"][number]
        size = float(np.ptp(surface.points, axis=0).max()) if len(surface.points) else 1.0
        assert np.array(one["points"]).reshape(-1, 3) == pytest.approx(surface.points, abs=2e-5 * size + 1e-6)
        assert np.array(one["normals"]).reshape(-1, 3) == pytest.approx(surface.normals, abs=6e-3)
        assert np.array(one["faces"]).reshape(-1, 3).tolist() == surface.faces.tolist()


def test_columns_keep_their_bits_and_their_gaps(modules: Any) -> None:
    times = np.linspace(0.0, 1.0, 9)
    values = np.array([np.nan, 1.5, -2.25e8, 0.0, -0.0, np.pi, 3e-39, np.inf, np.nan])
    robot = library.pendulum()
    figure = bare(robot, np.zeros((9, robot.nq)))
    text = packed([figure], times, series=(Series("a", "energy", "J", values),), notes=("«ü»", "</script>"))
    found = modules.evaluate(
        """async (text) => {
          const scene = await km.unpack(text);
          const bits = [...new Int32Array(scene.series[0].values.buffer)];
          return {bits, notes: scene.notes, times: [...scene.times]};
        }""",
        text,
    )
    assert found["bits"] == values.astype(np.float32).view(np.int32).tolist()
    assert found["notes"] == ["«ü»", "</script>"]
    assert found["times"] == pytest.approx(times.tolist(), abs=1e-15)


def test_damaged_data_and_old_browsers_get_a_sentence(modules: Any) -> None:
    robot = library.pendulum()
    text = packed([bare(robot, np.zeros(robot.nq))], np.zeros(1))
    said = """async (text) => km.unpack(text).then(() => "fine", error => error.message)"""
    assert modules.evaluate(said, text) == "fine"
    assert "damaged" in modules.evaluate(said, text[: len(text) // 8 * 4])
    assert "damaged" in modules.evaluate(said, "%%%")
    modules.evaluate("() => { window.kept = DecompressionStream; delete window.DecompressionStream; }")
    assert "too old" in modules.evaluate(said, text)
    modules.evaluate("() => { window.DecompressionStream = window.kept; }")


SLOTS = """async ([text, times]) => {
  const scene = await km.unpack(text), gathered = km.gatherPieces(scene), slots = km.makeSlots(scene, gathered);
  return times.map((t) => {
    km.posesAt(scene, t);
    km.writeSlots(scene, slots, t);
    const there = (slot) => slots.values.subarray(16 * slot, 16 * slot + 16).some((x) => x !== 0);
    return Object.fromEntries(gathered.pieces.map((piece) => [piece.name, there(piece.slot)]));
  });
}"""


def test_what_comes_and_goes_with_a_robot_is_there_as_long_as_it(modules: Any) -> None:
    shown = scene_of(docked_run(), columns=())
    before, at, end = modules.evaluate(SLOTS, [pack(shown, Camera()), [0.1, 0.9, 1.0]])
    gone, come = {"eye x", "eye y", "eye z"}, {"tip x", "tip y", "tip z", "latch", "dock edge"}
    assert {name for name, there in before.items() if not there} == come
    assert {name for name, there in at.items() if not there} == gone
    assert at == end
    found = modules.evaluate(ALL, pack(shown, Camera()))[0]
    assert off(shown.figures[0], found, shown.figures[0].positions, shown.figures[0].quaternions) < TOLERANCE
