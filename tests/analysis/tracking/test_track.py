"""`track`: planted motions come back, and every result is that of an independent solver."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import kinemorph
from kinemorph import Body, RobotBuilder, System, simulate
from kinemorph.analysis.tracking.attachments import attached, marker_positions
from kinemorph.analysis.tracking.fitting import starts
from kinemorph.analysis.tracking.fitting.descent import descend
from kinemorph.elements import ComputedTorque
from kinemorph.errors import ModelError, RecordingWarning, ShapeError, UnsupportedError
from kinemorph.model.configuration import difference, integrate, neutral
from kinemorph.tracking import Markers, View, film, load_markers, reconstruct, synthetic_markers, track
from support.robots.tracked_arm import LINKS, SMALL, TIGHT, arm, noisy, points, swing

DATA = Path(__file__).resolve().parents[2] / "data"


def insect():
    """A box on a free base with two legs: a ball joint and a hinge, and a hinge with a slide. Markers on all parts."""
    builder = RobotBuilder("insect").add(Body.box("trunk", 1.0, (0.4, 0.2, 0.1))).root("trunk", "free")
    for name, kind, parent, place, axis in (
        ("ball", "spherical", "trunk", (0.2, 0.1, 0.0), (0.0, 0.0, 1.0)),
        ("knee", "revolute", "ball", (0.3, 0.0, 0.0), (0.0, 1.0, 0.0)),
        ("hip", "revolute", "trunk", (-0.2, -0.1, 0.0), (1.0, 0.0, 0.0)),
        ("slide", "prismatic", "hip", (0.0, -0.2, 0.0), (0.0, 1.0, 0.0)),
    ):
        builder.add(Body.box(name, 0.1, (0.3, 0.05, 0.05), (0.15, 0.0, 0.0)))
        builder.joint(f"{name}_joint", kind, parent, name, axis=axis, translation=place)
    return builder.build()


PLACES = {
    "t1": ("trunk", (0.2, 0.1, 0.0)),
    "t2": ("trunk", (-0.2, 0.1, 0.02)),
    "t3": ("trunk", (0.1, -0.1, 0.05)),
    "b1": ("ball", (0.1, 0.05, 0.0)),
    "b2": ("ball", (0.3, 0.0, 0.04)),
    "k1": ("knee", (0.3, 0.0, 0.0)),
    "h1": ("hip", (0.0, -0.1, 0.1)),
    "s1": ("slide", (0.1, 0.1, 0.1)),
}


def crawl(n=12, turning=2.0):
    """A smooth motion of `insect` that turns and travels, and its exact markers."""
    robot, rng = insect(), np.random.default_rng(3)
    rate = 0.4 * rng.normal(size=robot.nv)
    rate[3:6] = turning * np.array([0.1, -0.2, 1.0])
    t = np.linspace(0.0, 1.0, n)
    q = np.asarray(integrate(robot, np.tile(neutral(robot), (n, 1)), t[:, None] * rate))
    frames = attached(robot, tuple(PLACES), PLACES)
    return robot, q, Markers(tuple(PLACES), t, marker_positions(robot, frames, q))


# ── against planted motions and another solver ────────────────────────────────────────────────────────────────────────


def test_a_planted_motion_of_a_free_base_with_quaternions_comes_back():
    robot, q, markers = crawl()
    found = track(robot, markers, PLACES, smoothness=0.0, tolerance=1e-12, **{**SMALL, "search": 24})
    assert found and found.rms() < 1e-10
    assert np.abs(difference(robot, q, found.q)).max() < 1e-8
    quaternions = found.q[:, 3:7]
    assert (np.sum(quaternions[1:] * quaternions[:-1], axis=1) > 0.0).all(), "signs of quaternions do not change"
    turned = q.copy()
    turned[3:6, 3:7] *= -1.0
    again = track(robot, markers, PLACES, q0=turned, **SMALL).q[:, 3:7]
    assert (np.sum(again[1:] * again[:-1], axis=1) > 0.0).all()


def test_a_frame_without_markers_takes_the_pose_of_its_neighbor():
    """Without smoothness nothing else says where a free base is."""
    robot, q, markers = crawl()
    hidden = markers.positions.copy()
    hidden[5] = np.nan
    found = track(robot, replace(markers, positions=hidden), PLACES, smoothness=0.0, tolerance=1e-12, q0=q[0], **SMALL)
    assert min(np.abs(found.q[5, :7] - found.q[k, :7]).max() for k in (4, 6)) < 1e-9
    assert np.isinf(found.deviations[5]).all()


def test_a_free_base_whose_joint_is_placed_anywhere_is_aligned_with_its_markers():
    builder = RobotBuilder("box").add(Body.box("trunk", 1.0, (0.4, 0.2, 0.1)))
    turned = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()
    robot = builder.root("trunk", "free", translation=(1.0, 2.0, 3.0), rotation=turned).build()
    places = {name: PLACES[name] for name in ("t1", "t2", "t3")}
    q = np.asarray(integrate(robot, neutral(robot)[None], np.array([[0.1, 0.2, 0.3, 1.0, -0.6, 0.4]])))
    exact = marker_positions(robot, attached(robot, tuple(places), places), q)
    problem = track(robot, Markers(tuple(places), [0.0], exact), places, **SMALL).problem
    assert starts.aligned(problem, neutral(robot)[None]) == pytest.approx(q, abs=1e-9)


def test_each_frame_is_the_least_squares_of_scipy():
    markers, q = noisy(weights=np.random.default_rng(1).uniform(0.2, 3.0, size=(20, 2)))
    found = track(arm(), markers, smoothness=0.0, **TIGHT)
    for k in range(len(markers)):

        def error(x, k=k):
            off = points(x[None])[0] - markers.positions[k]
            return (np.sqrt(markers.weights[k])[:, None] * off).ravel()

        exact = least_squares(error, q[k], xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        assert np.abs(found.q[k] - exact).max() < 1e-8


def test_all_frames_with_smoothness_and_gaps_are_the_least_squares_of_scipy():
    """Also at times with different distances, and with limits that some frames reach."""
    markers, q = noisy(n=14)
    gone = markers.positions.copy()
    gone[3:7, 1] = np.nan
    gone[9, 0] = np.nan
    times = np.cumsum(np.random.default_rng(5).uniform(0.005, 0.02, size=14))
    markers = replace(markers, times=times, positions=gone)
    robot = arm(lower=-2.0, upper=1.15)
    found = track(robot, markers, smoothness=0.3, **TIGHT)
    h = np.diff(times) / np.median(np.diff(times))

    def error(x, reach):
        angles = x.reshape(-1, 2)
        bent = np.diff(np.diff(angles, axis=0) / h[:, None], axis=0)
        off = np.where(np.isnan(gone), 0.0, points(angles) - gone)
        return np.concatenate([off.ravel(), (np.sqrt(0.3) * reach * bent).ravel()])

    best, reach = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}, found.problem.model.reach
    exact = least_squares(error, q.ravel().clip(-1.9, 1.1), bounds=(-2.0, 1.15), args=(reach,), **best)
    assert np.sum(error(found.q.ravel(), reach) ** 2) <= 2.0 * exact.cost * (1.0 + 1e-9)
    assert (found.q >= 1.15 - 1e-12).any(), "some frames reach a limit"
    free = track(arm(), markers, smoothness=0.3, **TIGHT)
    exact = least_squares(error, q.ravel(), args=(free.problem.model.reach,), **best)
    assert np.abs(free.q.ravel() - exact.x).max() < 1e-7


def test_smoothness_on_a_free_base_is_a_minimum():
    """The cost with quaternions, written down here, rises from the solution in every direction."""
    robot, _, markers = crawl(n=7)
    rng = np.random.default_rng(0)
    markers = replace(markers, positions=markers.positions + 0.01 * rng.normal(size=markers.positions.shape))
    found = track(robot, markers, PLACES, smoothness=0.1, q0=crawl(n=7)[1], **TIGHT)
    frames = attached(robot, tuple(PLACES), PLACES)
    squares = found.problem.model.reach**2
    weights = np.zeros(robot.nq)
    for joint in robot.joints:
        at_q, at_v = robot.q_slice(joint.name), robot.v_slice(joint.name)
        angles = squares[at_v][-3:].mean()
        if joint.kind == "free":
            weights[at_q] = [squares[at_v][:3].mean()] * 3 + [4.0 * angles] * 4
        elif joint.kind == "spherical":
            weights[at_q] = 4.0 * angles
        else:
            weights[at_q] = squares[at_v]

    def cost(q):
        off = marker_positions(robot, frames, q) - markers.positions
        return np.sum(off**2) + 0.1 * np.sum(weights * np.diff(q, n=2, axis=0) ** 2)

    least = cost(found.q)
    for _ in range(20):
        step = rng.normal(size=(7, robot.nv)) * 1e-4
        both = [cost(np.asarray(integrate(robot, found.q, sign * step))) - least for sign in (1.0, -1.0)]
        assert min(both) > 0.0
        assert abs(both[0] - both[1]) < 1e-4 * (both[0] + both[1]), "the gradient is zero"


def test_coupled_joints_follow_their_leaders():
    links = arm()
    builder = RobotBuilder("coupled").add(*links.bodies, *links.joints, *links.frames)
    robot = builder.couple("q1", "q0", 0.5, 0.2).build()
    t = np.linspace(0.0, 0.3, 9)
    lead = 0.3 + np.sin(4.0 * t)
    q = np.stack([lead, 0.5 * lead + 0.2], axis=1)
    found = track(robot, Markers(("tip",), t, points(q)[:, 1:]), **SMALL, smoothness=0.0, tolerance=1e-13)
    assert np.abs(found.q - q).max() < 1e-7 and not found.unseen


def test_angles_are_found_without_whole_turns():
    """Whatever the first configurations were, angles are those nearest to zero, or to a given configuration."""
    markers, q = noisy(n=6, sigma=1e-6)
    for seed in range(3):
        assert np.abs(track(arm(), markers, **SMALL, seed=seed, smoothness=1e-4).q - q).max() < 1e-3
    turned = q[0] + np.array([2.0 * np.pi, 0.0])
    found = track(arm(), markers, **SMALL, smoothness=1e-4, q0=turned)
    assert np.abs(found.q - q - np.array([2.0 * np.pi, 0.0])).max() < 1e-3


def test_jumps_from_frame_to_frame_are_mended():
    """Frames with whole turns, and frames with the other bend of the elbow, which reaches the tip as well."""
    t, q = swing(12)
    tip = Markers(("tip",), t, points(q)[:, 1:])
    found = track(arm(), tip, q0=q, smoothness=0.0, **TIGHT)
    assert np.abs(found.q - q).max() < 1e-7
    jumping = q.copy()
    jumping[3, 0] += 2.0 * np.pi
    between = np.arctan2(LINKS[1] * np.sin(q[:, 1]), LINKS[0] + LINKS[1] * np.cos(q[:, 1]))
    jumping[6:9, 0] += 2.0 * between[6:9]
    jumping[6:9, 1] *= -1.0
    state = descend(found.problem, jumping, iterations=0).state
    assert state.costs.max() < 1e-20, "both bends reach the tip"
    assert np.abs(starts.mended(found.problem, state).q - q).max() < 1e-4
    away = jumping + np.array([4.0 * np.pi, -2.0 * np.pi])
    assert np.abs(starts.unwound(found.problem, away, jumping[0]) - jumping)[:3].max() < 1e-12


def two_legs():
    """A fixed box with two legs of two hinges, one to each side."""
    builder = RobotBuilder("biped").add(Body.box("trunk", 1.0, (0.2, 0.3, 0.1))).root("trunk")
    for side, y in (("left", 0.2), ("right", -0.2)):
        parent, place = "trunk", (0.0, y, 0.0)
        for part, axis in (("thigh", (1.0, 0.0, 0.0)), ("shank", (0.0, 1.0, 0.0))):
            body = f"{side}_{part}"
            builder.add(Body.rod(body, 0.1, 0.3, (0.0, 0.0, -0.15)))
            builder.joint(f"{body}_joint", "revolute", parent, body, axis=axis, translation=place)
            parent, place = body, (0.0, 0.0, -0.3)
        builder.frame(f"{side}_foot", parent, translation=place)
    return builder.build()


def test_exchanged_sides_give_a_warning_with_both_residuals():
    robot = two_legs()
    t = 0.02 * np.arange(10)
    q = 0.3 * np.sin(4.0 * t[:, None] + np.array([0.0, 1.0, 2.0, 4.0]))
    names = ("left_shank", "left_foot", "right_shank", "right_foot")
    exact = synthetic_markers(robot, (t, q), names=names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert track(robot, exact, **SMALL).rms() < 1e-3
    swapped = {name: name.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right") for name in names}
    says = r"left and right may be exchanged: the markers are 0\.\d+ m from the robot .* such as '(left|right)_shank'"
    with pytest.warns(RecordingWarning, match=says):
        found = track(robot, exact.renamed(swapped), **SMALL)
    assert len(found.notes) == 1 and found.rms() > 0.1


@pytest.mark.parametrize("n", [1, 2])
def test_few_frames_are_solved_one_by_one(n):
    t, q = swing(n)
    found = track(arm(), Markers(("elbow", "tip"), t, points(q)), tolerance=1e-12, **SMALL)
    assert np.abs(found.q - q).max() < 1e-8 and found.intervals().shape == (n, 2)


# ── results ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_path_leads_a_controller_and_the_file_is_read_again(tmp_path):
    markers, q = noisy(n=40, sigma=1e-6)
    found = track(arm(), markers, smoothness=1e-4, **SMALL)
    path = found.path("reference")
    assert path.joints == ("q0", "q1") and np.abs(np.array(path.points) - q).max() < 1e-4
    again = kinemorph.elements.SplinePath.from_csv("reference", found.write_csv(tmp_path / "angles.csv"))
    assert np.abs(np.array(again.points) - np.array(path.points)).max() < 1e-11
    header = found.write_csv(tmp_path / "new" / "with.csv", intervals=True).read_text().splitlines()[0]
    assert header == "t,q0,q1,q0 +-,q1 +-"
    system = System(arm(), (path, ComputedTorque("c", ("q0", "q1"), 400.0, 40.0, "reference")))
    start = np.gradient(q, markers.times, axis=0)[0]
    run = simulate(system, float(markers.times[-1]), q=q[0], v=start, method="rk4", step=1e-3)
    assert np.abs(run.q[-1] - q[-1]).max() < 1e-3
    base = track(insect(), crawl()[2], PLACES, q0=crawl()[1], **SMALL)
    assert base.path().joints == ("knee_joint", "hip_joint", "slide_joint")
    with pytest.raises(ModelError, match=r"joint 'ball_joint' does not have one axis"):
        base.path(joints=["ball_joint"])


BAD = {
    "a marker that the robot lacks": (
        lambda: track(arm(), noisy()[0].renamed({"tip": "tipp"})),
        ModelError,
        r"marker 'tipp': robot 'arm' has no frame or body 'tipp'.* Did you mean 'tip'\?",
    ),
    "millimeters": (
        lambda: track(arm(), replace(noisy()[0], positions=1e3 * noisy()[0].positions)),
        ShapeError,
        r"seem to be in mm.*unit='mm'",
    ),
    "a closed loop": (
        lambda: track(kinemorph.library.four_bar(), Markers(("coupler",), [0.0], np.zeros((1, 1, 3)))),
        UnsupportedError,
        r"track: robot 'four_bar' has closed loops",
    ),
    "nothing measured": (
        lambda: track(arm(), Markers(("tip",), [0.0], np.full((1, 1, 3), np.nan))),
        ShapeError,
        r"no measured position of an attached marker",
    ),
    "no marker is attached": (
        lambda: track(arm(), noisy()[0], {"tip": None, "elbow": None}),
        ShapeError,
        r"no measured position of an attached marker",
    ),
    "all markers at one place": (
        lambda: track(arm(), replace(noisy()[0], positions=0.0 * noisy()[0].positions)),
        ShapeError,
        r"are 0 times those of robot 'arm', so the unit of lengths seems to be wrong",
    ),
    "seed": (lambda: track(arm(), noisy()[0], seed=-1), ShapeError, r"seed is -1; expected a whole number"),
    "search": (lambda: track(arm(), noisy()[0], search=1.5), ShapeError, r"search is 1.5; expected a whole number"),
    "smoothness": (lambda: track(arm(), noisy()[0], smoothness=-1.0), ShapeError, r"smoothness is -1.0; expected 0"),
    "outliers": (lambda: track(arm(), noisy()[0], outliers=0.0), ShapeError, r"outliers is 0.0; expected a distance"),
    "q0": (lambda: track(arm(), noisy()[0], q0=[0.0]), ShapeError, r"q0 has shape \(1,\); expected finite numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_input_gives_a_sentence(name):
    call, error, says = BAD[name]
    with pytest.raises(error, match=says):
        call()


# ── the fly ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_recorded_fly_is_followed():
    """24 points beyond the thorax-coxa joints, 7 hinges a leg with published lengths (issue: at most 0.0255 mm)."""
    markers = load_markers(DATA / "fly_keypoints.csv").part(0, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = track(kinemorph.library.fly(), markers)
    beyond = [name for name in markers.names if not name.endswith("ThC")]
    assert found and found.rms(beyond) < 0.0255e-3
    turned = Rotation.from_quat(found.q[:, [4, 5, 6, 3]]).magnitude()
    assert turned.max() < np.radians(10.0), "the recording is in the frame of the body"


def hidden_gaps(markers: Markers, share: float, length: int, seed: int) -> np.ndarray:
    """A mask (n, k) of points beyond the thorax-coxa joints that are hidden, in gaps of so many frames."""
    rng, hidden = np.random.default_rng(seed), np.zeros(markers.seen.shape, dtype=bool)
    begins = np.arange(length, len(markers) - 2 * length, length)
    for k, name in enumerate(markers.names):
        if not name.endswith("ThC"):
            for first in begins[rng.random(len(begins)) < share]:
                hidden[first : first + length, k] = True
    return hidden


def off(found: np.ndarray, exact: np.ndarray, chosen: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum((found - exact) ** 2, axis=2)[chosen])))


def lines(markers: Markers) -> np.ndarray:
    """Positions with straight lines in time where points are missing."""
    filled = np.array(markers.positions)
    for k, seen in enumerate(markers.seen.T):
        for axis in range(3):
            filled[:, k, axis] = np.interp(markers.times, markers.times[seen], filled[seen, k, axis])
    return filled


@pytest.mark.slow
def test_all_frames_of_the_fly_and_points_that_are_hidden():
    """At most 0.0255 mm over 660 frames; hidden points come back better than by straight lines in time."""
    markers, robot = load_markers(DATA / "fly_keypoints.csv"), kinemorph.library.fly()
    found = track(robot, markers)
    beyond = [name for name in markers.names if not name.endswith("ThC")]
    assert len(found.q) == 660 and found and found.rms(beyond) < 0.0255e-3
    hidden = hidden_gaps(markers, 0.18, 5, seed=0)
    assert hidden[:, [name in beyond for name in markers.names]].mean() == pytest.approx(0.18, abs=0.01)
    seen = replace(markers, positions=np.where(hidden[..., None], np.nan, markers.positions))
    again = track(robot, seen)
    straight = off(lines(seen), markers.positions, hidden)
    assert off(again.positions, markers.positions, hidden) < 0.8 * straight
    assert off(again.positions, markers.positions, hidden) < 0.118e-3


@pytest.mark.slow
def test_hidden_points_of_the_fly_come_back_better_than_by_straight_lines():
    markers = load_markers(DATA / "fly_keypoints.csv").part(0, 24)
    hidden = hidden_gaps(markers, 0.18, 5, seed=1)
    seen = replace(markers, positions=np.where(hidden[..., None], np.nan, markers.positions))
    found = track(kinemorph.library.fly(), seen)
    assert off(found.positions, markers.positions, hidden) < 0.7 * off(lines(seen), markers.positions, hidden)


# ── a cockroach from two views to a run ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_cockroach_in_two_views_is_tracked_within_its_intervals_and_runs():
    """200 frames per second, 0.1 mm noise; angles lie within their intervals and lead a run."""
    animal = kinemorph.library.cockroach()
    robot, rng = animal.robot, np.random.default_rng(4)
    t = np.arange(60) / 200.0
    phases = rng.uniform(0.0, 2.0 * np.pi, robot.nv)
    swings = np.sin(2.0 * np.pi * 6.8 * t[:, None] + phases) - np.sin(phases)
    sizes = np.full(robot.nv, 0.12)
    sizes[:6] = (4e-4, 4e-4, 4e-4, 0.05, 0.05, 0.05)
    q = np.asarray(integrate(robot, np.tile(np.array(animal.settings.q), (60, 1)), sizes * swings))
    q[:, 0] += 0.02 * t
    views = [
        View.orthographic("lateral", look=(0, 1, 0), up=(0, 0, 1), scale=9e3, center=(320, 240), deviation=0.9),
        View.orthographic("ventral", look=(0, 0, 1), up=(0, -1, 0), scale=9e3, center=(320, 240), deviation=0.9),
    ]
    exact = synthetic_markers(animal, (t, q))
    space = reconstruct(film(exact, views, noise=0.9, seed=1), views).markers
    assert np.std(space.positions - exact.positions) == pytest.approx(1e-4, rel=0.25)
    found = track(animal, space, smoothness=1e-3)
    off = np.abs(np.asarray(difference(robot, q, found.q)))
    inside = off < found.intervals(0.95)
    assert inside.mean() > 0.92 and inside[:, 6:].mean(axis=0).min() > 0.7
    assert np.degrees(np.sqrt(np.mean(off[:, 6:] ** 2))) < 3.0
    posture = next(element for element in animal.elements if element.name == "posture")
    led = replace(posture, reference="tracked")
    system = replace(animal, elements=(found.path(), *(led if one is posture else one for one in animal.elements)))
    run = simulate(system, 0.1, q=found.q[0])
    assert run and 0.5 * q[0, 2] < run.q[-1, 2] < 1.5 * q[0, 2]
