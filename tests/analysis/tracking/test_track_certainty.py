"""How certain `track` is: intervals of the linearized problem with the coverage that they state, and its notes."""

from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder
from kinemorph.errors import RecordingWarning, ShapeError
from kinemorph.tracking import Markers, synthetic_markers, track
from support.robots.tracked_arm import SMALL, TIGHT, arm, noisy, points


def test_deviations_are_those_of_the_linear_problem():
    """Without smoothness the covariance of a frame is sigma^2 (J^T J)^-1, with J by differences in closed form."""
    markers, _ = noisy()
    found = track(arm(), markers, smoothness=0.0, noise=0.01, **SMALL)
    for k in (0, 7, 19):
        J = np.stack(
            [(points(found.q[k : k + 1] + e) - points(found.q[k : k + 1] - e)).ravel() / 2e-6 for e in 1e-6 * np.eye(2)]
        )
        exact = 0.01 * np.sqrt(np.diag(np.linalg.inv(J @ J.T)))
        assert found.deviations[k] == pytest.approx(exact, rel=1e-5)
    assert found.intervals(0.95) == pytest.approx(1.959964 * found.deviations, rel=1e-6)
    with pytest.raises(ShapeError, match=r"level is 1.5; expected a probability"):
        found.intervals(1.5)


def test_deviations_with_smoothness_are_those_of_the_dense_matrix():
    markers, _ = noisy(n=9)
    found = track(arm(), markers, smoothness=0.2, **SMALL)
    n, reach = 9, found.problem.model.reach
    D = np.kron(np.diff(np.eye(n), n=2, axis=0), np.diag(reach)) * np.sqrt(0.2)
    J = np.zeros((2 * n, 6 * n))
    for k in range(n):
        for i, e in enumerate(1e-6 * np.eye(2)):
            slope = (points(found.q[k : k + 1] + e) - points(found.q[k : k + 1] - e)).ravel() / 2e-6
            J[2 * k + i, 6 * k : 6 * k + 6] = slope
    data = J @ J.T
    inverse = np.linalg.inv(data + D.T @ D)
    left = 6 * n - np.trace(inverse @ data)
    sigma = np.sqrt(np.sum(found.residuals**2) / left)
    assert found.sigma == pytest.approx(sigma, rel=1e-6)
    assert found.deviations.ravel() == pytest.approx(sigma * np.sqrt(np.diag(inverse)), rel=1e-5)


@pytest.mark.slow
def test_intervals_contain_the_planted_angles_as_often_as_they_say():
    """Monte Carlo: 90 % intervals of both joints in 40 recordings with different noise."""
    inside = []
    for seed in range(40):
        markers, q = noisy(n=30, sigma=0.005, seed=seed)
        found = track(arm(), markers, smoothness=1e-6, **SMALL)
        inside.append(np.abs(found.q - q) < found.intervals(0.9))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


def test_outliers_hardly_pull_at_the_robot():
    markers, q = noisy(n=30, sigma=0.001)
    rng, positions = np.random.default_rng(2), markers.positions.copy()
    for k in range(4, 30, 5):
        positions[k, rng.integers(2)] += rng.normal(size=3) * 0.3
    false = replace(markers, positions=positions)
    plain = track(arm(), false, **SMALL)
    robust = track(arm(), false, outliers=0.005, **SMALL)
    assert np.abs(robust.q - q).max() < 0.02 < 0.1 < np.abs(plain.q - q).max()


def test_a_joint_that_no_marker_shows_is_named_and_has_no_interval():
    markers, _ = noisy()
    with pytest.warns(RecordingWarning, match=r"no marker of the recording shows the motion of 'q1'"):
        found = track(arm(), markers.only(["elbow"]), **SMALL)
    assert found.unseen == ("q1",)
    assert np.isinf(found.intervals()[:, 1]).all() and np.isfinite(found.intervals()[:, 0]).all()
    assert (found.q[:, 1] == found.q[0, 1]).all()
    gap = np.array(markers.positions)
    gap[5:9, 1] = np.nan
    alone = track(arm(), replace(markers, positions=gap), smoothness=0.0, **TIGHT)
    assert not alone.unseen and np.isinf(alone.deviations[5:9, 1]).all()
    assert np.isfinite(np.delete(alone.deviations, slice(5, 9), axis=0)).all()
    assert np.abs(np.diff(alone.q[4:10, 1], n=2)).max() < 1e-9, "it is interpolated over the gap"


def test_hinges_of_which_only_the_sum_is_seen_are_named():
    """Two hinges about one axis: markers show the sum of their angles, and neither angle."""
    builder = RobotBuilder("twins").add(Body.sphere("inner", 1.0, 0.1), Body.sphere("outer", 1.0, 0.1))
    builder.joint("first", "revolute", "world", "inner").joint("second", "revolute", "inner", "outer")
    robot = builder.frame("tip", "outer", translation=(0.5, 0.0, 0.0)).build()
    t = 0.02 * np.arange(8)
    markers = synthetic_markers(robot, (t, np.stack([np.sin(5.0 * t), 0.3 * t], axis=1)), names=["tip"])
    with pytest.warns(RecordingWarning, match=r"shows the motion of 'first', 'second' alone"):
        found = track(robot, markers, **SMALL)
    assert found.unseen == ("first", "second") and np.isinf(found.deviations).all()
    assert found.q.sum(axis=1) == pytest.approx(np.sin(5.0 * t) + 0.3 * t, abs=1e-3)


def test_intervals_of_few_data_are_those_of_students_distribution():
    """One marker in one frame has three coordinates for two angles: one is left over, and 12.7 takes the place of 2."""
    markers, _ = noisy(n=1)
    found = track(arm(), markers.only(["tip"]), **SMALL)
    assert found.freedom == pytest.approx(1.0)
    assert found.intervals(0.95) == pytest.approx(12.7062 * found.deviations, rel=1e-5)


@pytest.mark.slow
def test_intervals_of_few_data_contain_the_planted_angles_as_often_as_they_say():
    """Monte Carlo: 90 % intervals of both joints in 200 recordings of one frame, which leave four coordinates over."""
    inside = []
    for seed in range(200):
        markers, q = noisy(n=1, seed=seed)
        found = track(arm(), markers, q0=q, **SMALL)
        inside.append(np.abs(found.q - q) < found.intervals(0.9))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_nothing_is_certain_where_no_freedom_is_left():
    """Three slides reach any point exactly: residuals are 0, and do not say how large the errors of the marker are."""
    builder = RobotBuilder("crane").add(*(Body.sphere(name, 1.0, 0.1) for name in "xyz"))
    for parent, name, axis in (("world", "x", (1, 0, 0)), ("x", "y", (0, 1, 0)), ("y", "z", (0, 0, 1))):
        builder.joint(f"along_{name}", "prismatic", parent, name, axis=axis)
    robot, markers = builder.build(), Markers(("z",), [0.0, 0.1], [[[0.1, 0.2, 0.3]], [[0.2, 0.2, 0.3]]])
    found = track(robot, markers, **SMALL)
    assert found.freedom == pytest.approx(0.0, abs=1e-6) and np.isinf(found.sigma)
    assert np.isinf(found.intervals()).all()
    told = track(robot, markers, noise=0.01, **SMALL)
    assert told.intervals(0.95) == pytest.approx(0.01959964)


def test_freedom_is_what_measured_coordinates_leave_over():
    """Missing positions measure nothing, and joints that no marker shows are not determined."""
    markers, _ = noisy(n=10)
    positions = markers.positions.copy()
    positions[2:5, 1] = np.nan
    found = track(arm(), replace(markers, positions=positions), smoothness=0.0, **SMALL)
    assert found.freedom == pytest.approx((60 - 9) - (20 - 3))
    with pytest.warns(RecordingWarning, match="no marker"):
        alone = track(arm(), markers.only(["elbow"]), {"elbow": "link1"}, smoothness=0.0, **SMALL)
    assert alone.freedom == pytest.approx(30 - 10)


def test_exact_markers_leave_unseen_joints_infinite():
    with pytest.warns(RecordingWarning, match="no marker"):
        found = track(arm(), noisy(sigma=0.0)[0].only(["elbow"]), smoothness=0.0, **TIGHT)
    assert found.sigma < 1e-12 and np.isinf(found.intervals()[:, 1]).all() and (found.intervals()[:, 0] < 1e-9).all()


def test_a_follower_is_as_certain_as_its_leader():
    links = arm()
    builder = RobotBuilder("coupled").add(*links.bodies, *links.joints, *links.frames)
    robot = builder.couple("q1", "q0", -0.5, 0.2).build()
    lead = np.linspace(0.3, 0.9, 9)
    exact = points(np.stack([lead, 0.2 - 0.5 * lead], axis=1))[:, 1:]
    positions = exact + 0.01 * np.random.default_rng(0).normal(size=exact.shape)
    found = track(robot, Markers(("tip",), 0.1 * np.arange(9), positions), **SMALL)
    assert found.deviations[:, 1] == pytest.approx(0.5 * found.deviations[:, 0])


def test_a_recording_that_is_far_from_the_robot_is_told():
    markers, _ = noisy()
    away = replace(markers, positions=markers.positions + np.array([5.0, 0.0, 0.0]))
    with pytest.warns(RecordingWarning, match=r"from their own middle: robot and recording hardly agree"):
        found = track(arm(), away, **SMALL)
    assert len(found.notes) == 1 and not track(arm(), markers, **SMALL).notes
