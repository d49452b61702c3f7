"""Hexapods on the ground: the problem is the same on both sides, it stands, and errors are compared fairly."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.equal_error import Curve, comparisons, errors_by_step, step_with
from kinemorph.bench.peers.mujoco_twin import MujocoTwin
from kinemorph.bench.result_tables import curves_grid, standing_grid
from kinemorph.bench.runs import equal_accuracy
from kinemorph.bench.standing import equal_error, kinemorph_run
from kinemorph.bench.standing.kinemorph_run import OursStanding
from kinemorph.bench.standing.mujoco_run import MujocoStanding, fitted
from kinemorph.bench.standing.problem import BASE, STEPS, Push, Standing, rms_errors, standing
from kinemorph.bench.targets import judge_standing
from kinemorph.bench.timing import Pace
from kinemorph.codegen.building.compile import build
from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from support.tools.command_line import run


def depths(problem: Standing, q: np.ndarray) -> np.ndarray:
    poses = forward_kinematics(resolve(problem.robot), q.tolist(), problem.feet)
    return -np.array([pose.p[2] for pose in poses])


@pytest.mark.parametrize("name", ["hexapod24", pytest.param("hexapod36", marks=pytest.mark.slow)])
def test_it_stands_on_six_feet_after_the_push_as_mujoco_does(name: str) -> None:
    problem = standing(name, "pushed")
    assert np.ptp(depths(problem, problem.q)) < 1e-12  # all feet on the ground at once
    rows = OursStanding(problem, "semi_implicit_euler").run(STEPS[9])
    e = depths(problem, rows[-1])
    assert np.all((e > 1e-4) & (e < 1e-3))
    weight = 9.81 * problem.robot.total_mass
    # feet creep to the end: the body of 36 dof is still slowed down by some 1e-5 m/s^2
    assert problem.ground.stiffness * e.sum() == pytest.approx(weight, rel=2e-6)
    assert problem.push is not None
    moved = np.linalg.norm(rows[problem.times == problem.push.end, :2] - rows[problem.times == problem.push.start, :2])
    assert 1e-3 < moved < 1e-2
    # the same masses and gains: at rest it comes to the same posture, whatever the ground is
    there = MujocoStanding(problem).run(0.004)[-1]
    assert np.abs(rows[-1] - there)[BASE:].max() < 5e-4
    assert rms_errors(rows[-1:], there[None])["base orientation"] < 2e-3


def by_hand(problem: Standing, height: float, velocity: Any) -> np.ndarray:
    """The force on a foot in world axes, as the page on the benchmark has it."""
    ground, (x, y, z) = problem.ground, velocity
    normal = max(-height, 0.0) * max(ground.stiffness - ground.damping * z, 0.0)
    grip = ground.friction * normal / max(math.hypot(x, y), ground.creep)
    return np.array([-grip * x, -grip * y, normal])


@pytest.mark.parametrize("t", [3.9, 4.0, 4.1, 4.24])
def test_elements_are_the_ground_springs_and_push_of_the_page(t: float) -> None:
    """Accelerations of a state with feet in the ground, above it, sliding and creeping; with Jacobians and by hand."""
    problem = standing("hexapod24", "pushed")
    robot, plant, model = problem.robot, kinemorph_run.standing_plant(problem), derive(problem.robot)
    rng = np.random.default_rng(1)
    q, v = problem.q + 0.0, 0.05 * rng.normal(size=robot.nv)
    q[BASE:] += 0.01 * rng.normal(size=robot.nq - BASE)
    tau = np.concatenate([np.zeros(6), problem.stiffness * (problem.posture - q[BASE:]) - problem.damping * v[6:]])
    heights = -depths(problem, q)
    assert min(heights) < 0.0 < max(heights)
    frames = {foot: (lambda u, z=z: by_hand(problem, z, u)) for foot, z in zip(problem.feet, heights, strict=True)}
    assert problem.push is not None
    frames["pushed"] = lambda u: np.array(problem.push.force) * (4.0 <= t < 4.24)  # type: ignore[union-attr]
    for frame, force in frames.items():
        J = model.jacobian(frame, "local_world_aligned")(q)[:3]
        tau += J.T @ force(J @ v)
    wanted = model.forward_dynamics(q, v, tau)
    found = build(plant.rate)(t, q, [*np.zeros(robot.nv), *v], [], np.zeros(plant.nu), [])
    np.testing.assert_allclose(found[robot.nv :], wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())


def test_push_springs_and_dampers_are_the_same_in_the_air() -> None:
    problem = standing("hexapod24", "pushed")
    problem = replace(
        problem, q=problem.q + np.eye(len(problem.q))[2], push=Push(0.0, 0.16, (500.0, 800.0, 0.0)), duration=0.32
    )

    ours, theirs = OursStanding(problem, "semi_implicit_euler"), MujocoStanding(problem)
    gaps = [rms_errors(ours.run(h), theirs.run(h)) for h in STEPS[5:8:2]]
    assert np.abs(ours.run(STEPS[7])[:, BASE:] - problem.posture).max() > 0.02  # the legs swing
    # both are of first order: the gap is gone with the step
    for name, gap in gaps[1].items():
        assert gap < 1e-3 and gap == pytest.approx(0.25 * gaps[0][name], rel=0.1), (name, gaps)


def test_feet_and_drives_in_mujoco_weigh_nothing() -> None:
    problem = standing("hexapod36", "dropped")
    twin = MujocoTwin(problem.robot, lambda spec: fitted(problem, spec))
    M = derive(problem.robot).mass_matrix(problem.q)
    assert np.abs(twin.mass_matrix(problem.q) - M).max() < 1e-12
    assert (twin.model.nu, twin.model.ngeom, twin.model.opt.disableflags) == (30, 7, 0)


def test_an_explicit_step_that_is_too_large_is_wrong_without_a_sign() -> None:
    problem = replace(standing("hexapod24", "pushed"), push=None, duration=1.6)
    ours = OursStanding(problem, "semi_implicit_euler")
    errors = errors_by_step(ours.run, STEPS[5:7], rms_errors)
    chattering, right = (errors[h] for h in STEPS[5:7])
    assert all(math.isfinite(chattering[name]) and chattering[name] > 100.0 * right[name] for name in right)


def test_a_batch_runs() -> None:
    run = OursStanding(standing("hexapod24", "pushed"), "semi_implicit_euler").batch(1e-4)()
    assert run.ok.all() and np.unique(run.q[:, -1, 0]).size > 100


def test_errors_are_distances_angles_and_joint_angles() -> None:
    wanted = np.zeros((2, 9))
    wanted[:, 3] = 1.0
    found = wanted.copy()
    found[0, :3] = (3e-3, 0.0, 4e-3)
    found[:, 3:7] = [-math.cos(0.01), 0.0, -math.sin(0.01), 0.0]  # 0.02 rad about y, the other quaternion of it
    found[1, 7] = 0.1
    errors = rms_errors(found, wanted)
    assert errors["base position"] == pytest.approx(5e-3 / math.sqrt(2.0))
    assert errors["base orientation"] == pytest.approx(0.02, rel=1e-9)
    assert errors["joint angles"] == pytest.approx(0.05)
    found[0, 0] = np.nan
    assert set(rms_errors(found, wanted).values()) == {math.inf}


def test_the_step_for_an_error_is_read_between_two_steps() -> None:
    linear = {h: 3.0 * h for h in (1.0, 2.0, 4.0)}
    assert step_with(linear, 7.5) == pytest.approx(2.5)
    assert step_with(linear, 100.0) == 4.0  # no further than what was tried
    assert step_with(linear, 2.9) is None
    assert step_with({1.0: 1.0, 2.0: 5.0, 4.0: 2.0}, 3.0) < 2.0  # type: ignore[operator]  # good by luck at 4
    assert step_with({1.0: 1.0, 2.0: 1e4}, 10.0) == 1.0  # unstable
    assert step_with({1.0: 1.0, 2.0: math.inf}, 10.0) == 1.0


def test_times_are_compared_at_equal_error() -> None:
    def curve(name: str, size: float, cost: float, batched: float) -> Curve:
        steps = STEPS[:5]
        errors = {h: dict.fromkeys(("base position", "base orientation", "joint angles"), size * h) for h in steps}
        return Curve(name, "some", errors, {h: cost * 10.0 / h for h in steps}, batched)

    contest = equal_error.contest_of(standing("hexapod24", "pushed"), "ground", equal_error.COMPARED, judge_standing)
    slow = curve("Kinemorph", 0.5, 3e-6, 3e-6)
    ours = [slow, curve("Kinemorph", 0.5, 1e-6, 0.25e-6), slow]  # the fastest counts
    rows = list(comparisons(contest, curve("MuJoCo", 1.0, 20e-6, 20e-6), ours))
    assert len(rows) == 12
    for row in rows:  # half the error: twice the step
        assert row["step"] == pytest.approx(2.0 * row["peer_step"])
        assert row["ratio"] == pytest.approx({"one robot": 40.0, "batched": 160.0}[row["contestant"][11:]])
        assert row["verdict"] == "met" and row["real_time"] == pytest.approx(1e4 / row["ms"])
    bad = list(comparisons(contest, curve("MuJoCo", 1e-3, 1.0, 1.0), [curve("Kinemorph", 1.0, 1.0, 1.0)]))
    assert {(row["reached"], row["ratio"], row["verdict"]) for row in bad} == {(False, None, "missed")}
    # only step sizes that were run count: between 2 and 4 ms for MuJoCo's 1 ms, it is 2 ms
    whole = replace(contest, whole=True, compared=(0.0015,), modes=("one robot",))
    peer = Curve("MuJoCo", "some", {0.0015: {"base position": 0.0015}}, {0.0015: 0.1})
    (row,) = comparisons(replace(whole, components={"base position": "m"}), peer, ours)
    assert row["step"] == 0.002 and row["our_error"] == pytest.approx(0.001) and row["ms"] == pytest.approx(5.0)


@pytest.mark.slow
def test_rows_table_and_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kinemorph.bench.timing.QUICK", Pace(rounds=1, seconds=1e-5))
    monkeypatch.setattr(equal_accuracy, "PROBLEMS", ())
    monkeypatch.setattr(equal_accuracy, "batches", lambda pace, quick: iter(()))
    monkeypatch.setattr(kinemorph_run, "BATCH_STEPS", 8)
    methods = {"semi_implicit_euler": STEPS[7:8], "centered_contact": STEPS[3:5]}
    monkeypatch.setattr(equal_error, "METHODS", methods)
    short = replace(standing("hexapod24", "pushed"), duration=0.24, push=Push(0.08, 0.16))
    monkeypatch.setattr(equal_error, "standing", lambda name, scenario: short)
    picture = tmp_path / "ground.png"
    found: Any = run("bench", "simulate", "--quick", "--json", "--picture", str(picture))
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)
    assert [row["kind"] for row in rows] == ["point"] * 7 + ["ground"] * 12 + ["terrain"] * 6
    assert all(row["ms"] > 0.0 and row["ratio"] > 0.0 for row in rows if row["kind"] == "ground")
    assert picture.stat().st_size > 10_000
    page = "\n".join(grid.markdown() for grid in (standing_grid(rows), curves_grid(rows)))
    assert "| hexapod24 pushed | joint angles | 1 |" in page and "| MuJoCo | Euler | 2 |" in page


def test_a_picture_of_another_table_is_refused() -> None:
    result = run("bench", "speed", "--picture", "x.png")
    assert result.exit_code != 0 and "expected table simulate, loops" in result.output + str(result.exception)
