"""Markers on robots: synthetic recordings, checks against the robot, and lengths that a recording shows.

Requirement 004-10, and the bad input of recordings: a marker that the model lacks, mm for m, left and right exchanged,
too few points for a segment.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph import (
    Body,
    Robot,
    RobotBuilder,
    System,
    derive,
    library,
    neutral,
    random_configuration,
    scaled,
    simulate,
)
from kinemorph.algebra.groups import Pose
from kinemorph.analysis.tracking.attachments import attached, points_on_bodies
from kinemorph.elements import Contact, HuntCrossley
from kinemorph.errors import ModelError, RecordingWarning, ShapeError, UnsupportedError
from kinemorph.mechanics.scaling.scaled_bodies import scaled_bodies
from kinemorph.model.parameter import evaluate_all
from kinemorph.tracking import (
    Markers,
    View,
    check_markers,
    disturbed,
    film,
    load_markers,
    reconstruct,
    scaled_segments,
    synthetic_markers,
    track,
    tripod_markers,
)

HEXAPOD = library.build("hexapod36")
SMALLEST = {"mass": 0.0, "com": 1e-15, "inertia": 1e-24}  # rounding of numbers that are 0
FEET = [["foot1", "foot3", "foot5"], ["foot2", "foot4", "foot6"]]


def leg(femur: float = 0.3, tibia: float = 0.4) -> Robot:
    """A thorax on a free joint with one leg of a ball joint and a knee; a foot at the end of the tibia."""
    b = RobotBuilder("leg")
    b.add(Body.box("thorax", 1.0, (0.3, 0.2, 0.1)))
    b.add(Body.rod("femur", 0.2, femur, (femur / 2, 0.0, 0.0), axis="x"))
    b.add(Body.rod("tibia", 0.1, tibia, (tibia / 2, 0.0, 0.0), axis="x"))
    b.root("thorax", "free")
    b.joint("hip", "spherical", "thorax", "femur", translation=(0.1, 0.2, 0.0))
    b.joint("knee", "revolute", "femur", "tibia", translation=(femur, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    b.frame("foot", "tibia", translation=(tibia, 0.0, 0.0))
    return b.build()


def moved(robot: Robot, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.arange(n) / 200.0, np.array([random_configuration(robot, rng) for _ in range(n)])


# ── synthetic recordings ──────────────────────────────────────────────────────────────────────────────────────────────


def test_synthetic_markers_are_where_compiled_kinematics_put_frames() -> None:
    robot = leg()
    times, q = moved(robot)
    markers = synthetic_markers(
        robot, (times, q), attachments={"bump": ("thorax", (0.01, 0.02, 0.3))}, names=["foot", "bump"]
    )
    dynamics = derive(robot, backend="interpreter")
    for k in (0, 17, 39):
        np.testing.assert_allclose(markers.path("foot")[k], dynamics.pose(q[k], "foot")[:3, 3], atol=1e-14)
        T = dynamics.pose(q[k], "thorax")
        np.testing.assert_allclose(markers.path("bump")[k], T[:3, :3] @ [0.01, 0.02, 0.3] + T[:3, 3], atol=1e-14)
    inside = synthetic_markers(robot, (times, q), relative_to="thorax", names=["thorax", "femur"])
    np.testing.assert_allclose(inside.positions[:, 1], np.tile([0.1, 0.2, 0.0], (40, 1)), atol=1e-14)


def test_runs_and_functions_of_time_are_recorded_at_the_rate() -> None:
    robot = library.build("double_pendulum")
    run = simulate(robot, 0.1, output_step=0.005, q=[0.3, 0.2])
    markers = synthetic_markers(robot, run, rate=100)
    assert len(markers) == 11 and markers.rate == pytest.approx(100.0)
    np.testing.assert_allclose(markers.positions[3], run.body_poses([0.03], markers.names)[0, :, :3, 3], atol=1e-14)
    swing = synthetic_markers(robot, lambda t: [t, 2.0 * t], duration=0.5, rate=10)
    assert len(swing) == 6
    with pytest.raises(ShapeError, match="a function of the time, which has no end"):
        synthetic_markers(robot, lambda t: [t, t])
    with pytest.raises(ShapeError, match=r"shape \(2, 3\) at 2 times; expected \(2, 2\)"):
        synthetic_markers(robot, (np.arange(2.0), np.zeros((2, 3))))


def test_noise_and_gaps_are_those_asked_for_and_repeat_with_the_seed() -> None:
    clean = synthetic_markers(leg(), moved(leg(), 200))
    noisy = disturbed(clean, noise=1e-4, gaps=0.18, gap_frames=5, seed=3)
    again = disturbed(clean, noise=1e-4, gaps=0.18, gap_frames=5, seed=3)
    np.testing.assert_array_equal(noisy.positions, again.positions)
    assert np.nanstd(noisy.positions - clean.positions) == pytest.approx(1e-4, rel=0.05)
    assert 1.0 - noisy.seen.mean() == pytest.approx(0.18, abs=0.005)
    hidden = ~noisy.seen.reshape(40, 5, -1)
    assert (hidden.all(axis=1) | ~hidden.any(axis=1)).all()
    with pytest.raises(ShapeError, match="gaps is 2"):
        disturbed(clean, gaps=2)


def test_feet_of_a_tripod_stand_still_and_step_with_continuous_velocity() -> None:
    speed, period, duty = 0.2, 0.5, 0.6
    markers = tripod_markers(
        HEXAPOD, FEET, speed=speed, period=period, duty=duty, rate=1000, duration=2.0, body_markers=["trunk"]
    )
    velocity = np.diff(markers.positions, axis=0) * 1000
    np.testing.assert_allclose(velocity[:, -1], np.tile([speed, 0.0, 0.0], (2000, 1)), atol=1e-9)
    standing = np.abs(velocity[:, :6]).max(axis=2) < 1e-9
    assert standing.mean() == pytest.approx(duty, abs=0.01)
    assert (standing.sum(axis=1) >= 3).all()
    np.testing.assert_array_equal(standing[:, 0], standing[:, 1])  # feet of one group stand together
    finer = tripod_markers(HEXAPOD, FEET, speed=speed, period=period, duty=duty, rate=4000, body_markers=["trunk"])
    changes = [np.abs(np.diff(one.positions, 2, axis=0)).max() * one.rate for one in (markers, finer)]
    assert changes[1] < 0.3 * changes[0]  # no jump of the velocity: changes shrink with the distance of frames
    steps = markers.positions[500] - markers.positions[0]
    np.testing.assert_allclose(steps, np.tile([speed * period, 0.0, 0.0], (7, 1)), atol=1e-12)
    with pytest.raises(ShapeError, match=r"duty is 1\.2"):
        tripod_markers(HEXAPOD, FEET, speed=1.0, period=1.0, duty=1.2)


def test_films_of_a_walk_give_the_walk_back() -> None:
    """200 frames per second, lateral and ventral: without noise to rounding, with noise as the covariances state."""
    walk = tripod_markers(HEXAPOD, FEET, speed=0.3, period=0.4, body_markers=["trunk"])
    views = [
        View.orthographic("lateral", look=(0, 1, 0), up=(0, 0, 1), scale=1e3, deviation=0.5),
        View.orthographic("ventral", look=(0, 0, 1), up=(0, -1, 0), scale=1e3, deviation=0.5),
    ]
    np.testing.assert_allclose(reconstruct(film(walk, views), views).markers.positions, walk.positions, atol=1e-13)
    space = reconstruct(film(walk, views, noise=0.5, gaps=0.1, seed=2), views)
    assert 1.0 - space.markers.seen.mean() == pytest.approx(1.0 - 0.9**2, abs=0.02)
    errors = (space.markers.positions - walk.positions)[space.markers.seen]
    stated = np.sqrt(np.diagonal(space.covariances[space.markers.seen], axis1=1, axis2=2))
    assert np.sqrt(np.mean((errors / stated) ** 2, axis=0)) == pytest.approx([1.0, 1.0, 1.0], abs=0.08)
    assert space.scatter == pytest.approx(1.0, abs=0.08)


# ── markers on bodies, and mistakes ───────────────────────────────────────────────────────────────────────────────────


def test_centers_of_joints_that_turn_are_fixed_on_both_bodies() -> None:
    robot = leg()
    points = points_on_bodies(robot, attached(robot, ["thorax", "femur", "tibia", "foot"]))
    assert {body: sorted(found) for body, found in points.items()} == {
        "thorax": ["femur", "thorax"],
        "femur": ["femur", "tibia"],
        "tibia": ["foot", "tibia"],
    }
    np.testing.assert_allclose(points["thorax"]["femur"], [0.1, 0.2, 0.0])


def test_markers_that_the_robot_lacks_are_told_in_one_sentence() -> None:
    robot = leg()
    with pytest.raises(
        ModelError, match=r"marker 'fot': robot 'leg' has no frame or body 'fot'. Did you mean 'foot'\?"
    ):
        attached(robot, ["fot"])
    with pytest.raises(ModelError, match=r"marker 'a': robot 'leg' has no frame or body 'wing'. attachments=\{'a'"):
        attached(robot, ["a"], {"a": "wing"})
    with pytest.raises(ModelError, match=r"marker 'toe': the recording has no such marker; its markers: foot"):
        attached(robot, ["foot"], {"toe": "foot"})
    with pytest.raises(ModelError, match=r"its offset on 'femur' is \(1, 2\), expected three finite numbers"):
        attached(robot, ["a"], {"a": ("femur", (1, 2))})
    with pytest.raises(ModelError, match=r"its offset on 'femur' is \(1, 2, 'x'\), expected three finite numbers"):
        attached(robot, ["a"], {"a": ("femur", (1, 2, "x"))})  # type: ignore[dict-item]
    with pytest.raises(ModelError, match=r"marker 'a': its place is 3, expected a frame, a body or \(body, offset\)"):
        attached(robot, ["a"], {"a": 3})  # type: ignore[dict-item]
    assert [frame.name for frame in attached(robot, ["foot", "a"], {"a": None})] == ["foot"]
    with pytest.raises(
        ModelError, match=r"relative_to is 'femr', and .* no such body or frame. Did you mean 'femur'\?"
    ):
        synthetic_markers(robot, moved(robot), relative_to="femr")
    with pytest.raises(ShapeError, match="seed is -1; expected a whole number"):
        synthetic_markers(robot, moved(robot), seed=-1)
    one = synthetic_markers(robot, moved(robot)).part(0, 1)
    with pytest.warns(RecordingWarning, match="no body has two markers at different places .* All bodies keep"):
        assert scaled_segments(robot, one).factors == {}


@pytest.mark.parametrize(
    ("factor", "unit"),
    [
        (1e3, "lengths seem to be in mm. Load it with unit='mm'"),
        (1e2, "in cm"),
        (1e-3, "unit of lengths seems to be wrong"),
        (1 / 0.0254, "unit of lengths seems to be wrong"),
    ],
)
@pytest.mark.parametrize("names", [["thorax", "femur", "tibia", "foot"], ["thorax", "foot"]])
def test_another_unit_is_told_with_its_figures(factor: float, unit: str, names: list[str]) -> None:
    """By the lengths of rigid bodies, or by all markers where no two are on one body."""
    robot = leg()
    markers = synthetic_markers(robot, moved(robot), names=names)
    check_markers(markers, robot, attached(robot, names))
    wrong = replace(markers, positions=factor * markers.positions)
    with pytest.raises(ShapeError, match=rf"times those of robot 'leg', so .*{unit}") as told:
        check_markers(wrong, robot, attached(robot, names))
    if len(names) == 4:
        assert f"distances of markers on the same bodies are {factor:.4g} times" in str(told.value)


def with_bumps(robot: Robot) -> dict[str, tuple[str, tuple[float, float, float]]]:
    places = {"nose": (0.2, 0, 0), "left": (0, 0.1, 0), "right": (0, -0.1, 0), "top": (-0.1, 0, 0.08)}
    return {name: ("thorax", place) for name, place in places.items()}


def test_markers_on_a_body_that_are_mirrored_are_refused() -> None:
    robot = leg()
    places = with_bumps(robot)
    markers = synthetic_markers(robot, moved(robot), names=[*places], attachments=places, noise=2e-3)
    frames = attached(robot, markers.names, places)
    check_markers(markers, robot, frames)
    for wrong in (
        markers.renamed({"left": "right", "right": "left"}),
        replace(markers, positions=markers.positions * [1.0, -1.0, 1.0]),
    ):
        with pytest.raises(ShapeError, match=r"the markers on body 'thorax' \(nose, .*\) are its mirror image"):
            check_markers(wrong, robot, frames)


def test_a_posture_that_is_mirrored_gives_a_warning() -> None:
    """No body has four markers, but feet below the trunk tell left from right; a flat posture tells nothing."""
    q = neutral(HEXAPOD)
    for k in range(1, 7):
        q[HEXAPOD.q_slice(f"leg{k}_shank_joint")] = 1.0
    names = ["trunk", *(f"leg{k}_thigh" for k in (1, 2, 4)), *(f"foot{k}" for k in range(1, 7))]
    walk = synthetic_markers(HEXAPOD, (np.arange(5.0), np.tile(q, (5, 1))), names=names, noise=1e-3)
    frames = attached(HEXAPOD, names)
    wrong = replace(walk, positions=walk.positions * [1.0, -1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_markers(walk, HEXAPOD, frames, q)
        check_markers(wrong, HEXAPOD, frames)
    with pytest.warns(RecordingWarning, match="left and right seem to be exchanged: the markers fit the posture of"):
        check_markers(wrong, HEXAPOD, frames, q)


# ── lengths ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_robot_gets_the_lengths_of_its_recording() -> None:
    """The scaled robot is the one that was recorded: all markers are where its own kinematics put them."""
    true, robot = leg(0.36, 0.31), leg(0.3, 0.4)
    times, q = moved(true)
    markers = synthetic_markers(true, (times, q))
    fitted = scaled_segments(robot, markers)
    assert fitted.factors == pytest.approx({"thorax": 1.0, "femur": 1.2, "tibia": 0.775})
    np.testing.assert_allclose(synthetic_markers(fitted.model, (times, q)).positions, markers.positions, atol=1e-13)
    assert fitted.model.body("femur").mass == pytest.approx(0.2 * 1.2**3)
    assert scaled_segments(robot, markers, mass="kept").model.body("femur").mass == 0.2


def test_noise_does_not_lengthen_segments_beyond_the_stated_error() -> None:
    """Noise of a fifth of the femur would lengthen it by 8 in 100; the correction leaves what frames explain."""
    robot = leg(0.3, 0.4)
    markers = synthetic_markers(robot, moved(robot, 2000), noise=0.06, seed=5)
    fitted = scaled_segments(robot, markers, bodies=["femur", "tibia"])
    for body in ("femur", "tibia"):
        assert abs(fitted.factors[body] - 1.0) < 4.0 * fitted.deviations[body] < 0.04
    plain = np.median(np.linalg.norm(markers.path("femur") - markers.path("tibia"), axis=1)) / 0.3
    assert plain - 1.0 > 0.06
    shared = scaled_segments(robot, markers, alike=[("femur", "tibia")])
    assert shared.factors["femur"] == shared.factors["tibia"]


@pytest.mark.slow
def test_standard_errors_of_factors_are_those_of_many_recordings() -> None:
    """Five markers on one body give ten pairs, whose errors are not independent; 200 recordings of 50 frames."""
    robot = leg()
    places = with_bumps(robot) | {"tail": ("thorax", (-0.2, 0.05, -0.05))}
    clean = synthetic_markers(robot, moved(robot, 50), names=[*places], attachments=places)
    fits = [scaled_segments(robot, disturbed(clean, noise=5e-3, gaps=0.1, seed=k), places) for k in range(200)]
    factors, stated = (
        np.array([one["thorax"] for one in kind])
        for kind in zip(*((f.factors, f.deviations) for f in fits), strict=True)
    )
    assert factors.std() == pytest.approx(stated.mean(), rel=0.2)
    assert abs(factors.mean() - 1.0) < 4.0 * factors.std() / np.sqrt(200)


def test_offsets_grow_with_their_bodies_and_lone_bodies_keep_their_sizes() -> None:
    true, robot = leg(0.36, 0.4), leg()
    places = {"shin": ("tibia", (0.2, 0.0, 0.01)), "mid": ("femur", (0.18, 0.0, 0.0)), "knee": "tibia", "hip": "femur"}
    markers = synthetic_markers(
        true, moved(true), names=["hip", "mid", "knee"], attachments={k: places[k] for k in ("hip", "mid", "knee")}
    )
    given = {"hip": "femur", "mid": ("femur", (0.15, 0.0, 0.0)), "knee": "tibia"}
    fitted = scaled_segments(robot, markers, given)
    assert fitted.factors == pytest.approx({"femur": 1.2}) and fitted.unscaled == ("thorax", "tibia")
    assert fitted.attachments["mid"] == ("femur", pytest.approx((0.18, 0.0, 0.0)))
    with pytest.raises(
        ShapeError, match=r"too few points for the segment 'tibia': markers on it are knee; expected two"
    ):
        scaled_segments(robot, markers, given, bodies=["tibia"])
    with pytest.raises(ShapeError, match=r"has no body 'tibja'. Did you mean 'tibia'\?"):
        scaled_segments(robot, markers, given, bodies=["tibja"])


def test_scaled_bodies_move_points_of_elements_and_change_inertias_by_dimension() -> None:
    robot = leg()
    foot = Contact("ground", "tibia", HuntCrossley(1e4), point=(0.4, 0.0, 0.0))
    system = scaled_bodies(System(robot, (foot,)), {"tibia": 0.5, "femur": 2.0})
    assert system.elements[0].point == pytest.approx((0.2, 0.0, 0.0))  # type: ignore[attr-defined]
    femur, tibia = system.robot.body("femur"), system.robot.body("tibia")
    again = leg(0.6, 0.2)
    assert femur.mass == pytest.approx(8.0 * 0.2) and tibia.com == pytest.approx(again.body("tibia").com)
    assert femur.inertia[1][1] == pytest.approx(8.0 * again.body("femur").inertia[1][1])
    assert system.robot.frame("foot").placement.p == pytest.approx(again.frame("foot").placement.p)
    with pytest.raises(ModelError, match=r"body 'tibja': robot 'leg' has no such body; .* Did you mean 'tibia'"):
        scaled_bodies(robot, {"tibja": 2.0})
    with pytest.raises(ModelError, match=r"body 'tibia': its factor is 0.0, expected a finite number above 0"):
        scaled_bodies(robot, {"tibia": 0.0})
    with pytest.raises(UnsupportedError, match="has driven joints, whose formulas contain lengths"):
        scaled_bodies(library.build("amru5"), {})


def test_all_bodies_by_one_factor_are_the_scaled_robot() -> None:
    """The cockroach, whose lengths are parameters that several bodies share; masses and inertias by dimension."""
    robot = library.cockroach().robot
    one = scaled_bodies(robot, dict.fromkeys(robot.body_names, 1.7))
    other = scaled(robot, length=1.7, mass=1.7**3, time=1.0)
    for a, b in zip(one.bodies, other.bodies, strict=True):
        for field in ("mass", "com", "inertia"):
            found, expected = (np.array(evaluate_all(getattr(body, field)), dtype=float) for body in (a, b))
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=SMALLEST[field])
    for a, b in zip(one.joints, other.joints, strict=True):
        np.testing.assert_allclose(evaluate_all(a.placement.p), evaluate_all(b.placement.p), rtol=1e-12, atol=1e-15)
    for a, b in zip(one.frames, other.frames, strict=True):
        np.testing.assert_allclose(evaluate_all(a.placement.p), evaluate_all(b.placement.p), rtol=1e-12)


def test_markers_and_frames_keep_their_axes() -> None:
    """A frame that is turned on its body: an offset is in the axes of the frame."""
    robot = leg()
    turned = Pose(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), (0.1, 0.0, 0.0))
    robot = replace(robot, frames=(*robot.frames, replace(robot.frame("foot"), name="shin", placement=turned)))
    frame = attached(robot, ["a"], {"a": ("shin", (0.02, 0.0, 0.0))})[0]
    assert frame.body == "tibia" and frame.placement.p == pytest.approx((0.1, 0.02, 0.0))
    assert isinstance(synthetic_markers(robot, moved(robot)), Markers)


def test_the_path_of_a_tracked_gimbal_leads_each_of_its_angles() -> None:
    """A leg on a fixed thorax: the reference has the angles that were planted, under the names of single axes."""
    b = RobotBuilder("leg")
    b.add(Body.box("femur", 1.0, (0.3, 0.2, 0.2), (0.15, 0.0, 0.0)), Body.box("tibia", 1.0, (0.4, 0.1, 0.1)))
    b.joint("hip", "gimbal", "world", "femur", order="xyz")
    b.joint("knee", "revolute", "femur", "tibia", translation=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    b.frame("foot", "tibia", translation=(0.4, 0.0, 0.0))
    robot = b.build()
    times = np.arange(30) / 100.0
    q = np.array([0.1, 0.2, -0.3, 1.0]) + 0.3 * np.sin(8.0 * times[:, None] + np.arange(4.0))
    found = track(
        robot, synthetic_markers(robot, (times, q)), smoothness=0.0, q0=np.tile(q[0], (30, 1)), backend="interpreter"
    )
    path = found.path("swing")
    assert path.joints == ("hip.first", "hip.second", "hip.third", "knee")
    np.testing.assert_allclose(np.array(path.points), q, atol=1e-8)
    assert found.path(joints=["hip.third"]).joints == ("hip.third",)


@pytest.mark.slow
def test_a_fly_with_the_lengths_of_its_recording_follows_it_better() -> None:
    """Published lengths are those of another fly, within 5 in 100."""
    markers = load_markers(Path(__file__).resolve().parents[2] / "data" / "fly_keypoints.csv").part(0, 60)
    fly = library.build("fly")
    fitted = scaled_segments(fly, markers)
    assert len(fitted.factors) == 25 and max(abs(f - 1.0) for f in fitted.factors.values()) < 0.05
    beyond = [name for name in markers.names if not name.endswith("ThC")]
    assert track(fitted.model, markers).rms(beyond) < 0.99 * track(fly, markers).rms(beyond)
