"""Loops close again: at the nearest configuration, with the held joints where they are, on the same branch."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import kinemorph as km
from kinemorph.analysis.loops import close_loops as closing
from kinemorph.analysis.loops.close_loops import close_loops, follow_loops
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError
from kinemorph.model.library.benchmark_linkages import bricard
from support.cases.linkage_cases import linkage, watt

ASSEMBLED = np.array([0.6, 0.02989836, 1.6066907])


@pytest.fixture(scope="module")
def dynamics() -> Dynamics:
    return km.derive(km.library.four_bar(), backend="interpreter")


def opening(dynamics: Dynamics, q: np.ndarray) -> float:
    return float(np.abs(dynamics.constraint_error(q)).max())


def test_closes_to_the_nearest_and_keeps_what_is_held(dynamics: Dynamics) -> None:
    near = ASSEMBLED + np.array([0.05, -0.02, 0.03])
    closed = close_loops(dynamics, near)
    assert closed and opening(dynamics, closed.q) < 1e-11
    assert np.abs(closed.q - near).max() < 0.1
    held = close_loops(dynamics, near, held="q1")
    assert held and held.q[0] == near[0] and opening(dynamics, held.q) < 1e-11


def test_a_crank_goes_all_the_way_round(dynamics: Dynamics) -> None:
    goal = ASSEMBLED + np.array([2.0 * np.pi, 0.0, 0.0])
    found = follow_loops(dynamics, ASSEMBLED, goal, held="q1")
    assert found and found.q[0] == pytest.approx(goal[0])
    assert found.q[2] == pytest.approx(ASSEMBLED[2], abs=1e-6)  # the rocker is where it was: no other branch
    assert opening(dynamics, found.q) < 1e-11


def test_stops_where_it_cannot_be_closed(dynamics: Dynamics) -> None:
    swung = follow_loops(dynamics, ASSEMBLED, [2.0, 0.0, 0.0], held="q1").q
    found = follow_loops(dynamics, swung, [0.6, 0.0, 0.3], held="q3")
    assert not found and "stay open" in found.message
    assert opening(dynamics, found.q) < 1e-11
    # crank and coupler in line, 1.2 m long: the rocker, 0.7 m, on the ground 1 m away, goes no farther back
    least = np.pi - np.arccos((1.0**2 + 0.7**2 - 1.2**2) / (2.0 * 1.0 * 0.7))
    assert found.q[2] == pytest.approx(least, abs=5e-3)


def test_where_nobody_leads_it_ends_as_near_as_the_loops_allow(dynamics: Dynamics) -> None:
    goal = np.array([2.0, 3.0, -2.0])  # far from all that is closed
    found = follow_loops(dynamics, ASSEMBLED, goal)
    assert found and opening(dynamics, found.q) < 1e-11
    J = dynamics.constraint_jacobian(found.q)
    along = np.linalg.svd(J)[2][-1]  # the one way in which the crank may go
    assert np.abs(J @ along).max() < 1e-9
    assert abs(along @ (goal - found.q)) < 0.03 * np.linalg.norm(goal - found.q)  # leads no nearer
    assert np.linalg.norm(goal - found.q) < np.linalg.norm(goal - ASSEMBLED)
    near = follow_loops(dynamics, ASSEMBLED, ASSEMBLED + 1e-3)
    assert near and np.abs(near.q - ASSEMBLED).max() < 5e-3


def test_a_parallelogram_passes_where_it_is_flat_and_stays_one() -> None:
    flat = km.derive(km.library.four_bar(1.0, (0.5, 1.0, 0.5)), backend="interpreter")
    for start in (0.6, 0.45, 0.5):  # some of these steps end where it is flat
        found = follow_loops(flat, [start, -start, start], [-0.7, 0.0, 0.0], held="q1")
        assert found and found.q[2] == pytest.approx(-0.7, abs=1e-9)  # the rocker goes with the crank, not against it
    assert found.branch != close_loops(flat, [0.8, -0.8, 0.8], held="q1").branch  # as the dyad has turned over


@pytest.mark.parametrize("start", [0.6, 0.5])
def test_a_linkage_that_is_nearly_flat_keeps_its_branch(start: float) -> None:
    nearly = km.derive(km.library.four_bar(1.0, (0.497, 1.0, 0.5)), backend="interpreter")  # flat within 3 mm
    for branch in "+-":
        begun = close_loops(nearly, [start, 0.0, 0.0], held="q1", branch=branch)
        found = follow_loops(nearly, begun.q, [-0.7, 0.0, 0.0], held="q1")
        assert found and found.branch == begun.branch == branch


def test_who_is_there_already_stays(dynamics: Dynamics) -> None:
    there = close_loops(dynamics, ASSEMBLED).q
    found = follow_loops(dynamics, there, there, held="q1")
    assert found and np.abs(found.q - there).max() < 1e-9


def test_a_limit_on_the_way_is_the_end_of_it() -> None:
    robot = km.library.four_bar()
    joints = tuple(
        dataclasses.replace(joint, lower=(-1.0,), upper=(0.9,)) if joint.name == "q1" else joint
        for joint in robot.joints
    )
    limited = km.derive(dataclasses.replace(robot, joints=joints), backend="interpreter")
    found = follow_loops(limited, ASSEMBLED, [1.4, 0.0, 0.0], held="q1")
    assert not found and "limit: q1" in found.message
    assert 0.88 < found.q[0] <= 0.9 and opening(limited, found.q) < 1e-11


def test_a_way_without_end_ends(dynamics: Dynamics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "MOST_STEPS", 10)
    found = follow_loops(dynamics, ASSEMBLED, [1e9, 0.0, 0.0], held="q1")
    assert not found and "10 steps" in found.message
    assert found.q[0] == pytest.approx(ASSEMBLED[0] + 10 * closing.FARTHEST) and opening(dynamics, found.q) < 1e-11


def test_nothing_may_move(dynamics: Dynamics) -> None:
    found = close_loops(dynamics, [0.0, 0.0, 0.0], held=("q1", "q2", "q3"))
    assert not found and np.array_equal(found.q, np.zeros(3)) and found.error > 0.1


def test_coupled_joints_follow_in_an_open_tree() -> None:
    builder = km.RobotBuilder("gripper")
    for name in ("left", "right"):
        builder.add(km.Body.box(name, 1.0, (0.1, 0.1, 0.1)))
        builder.joint(f"{name}_slide", "prismatic", "world", name, axis=(1.0, 0.0, 0.0))
    builder.couple("right_slide", "left_slide", multiplier=-1.0, offset=0.5)
    closed = close_loops(builder.build(), [0.2, 0.0])
    assert closed
    np.testing.assert_allclose(closed.q, [0.2, 0.3])


def test_bad_input(dynamics: Dynamics) -> None:
    with pytest.raises(km.errors.ShapeError, match="expected \\(3,\\) finite"):
        close_loops(dynamics, [0.0, np.nan, 0.0])
    with pytest.raises(km.errors.ModelError, match="no joint 'crank'"):
        close_loops(dynamics, ASSEMBLED, held="crank")


# ── gaps, bad guesses, and what cannot close ──────────────────────────────────────────────────────────────────────────


def test_every_loop_is_told_with_its_gap_the_largest_first() -> None:
    robot = watt()
    dynamics = km.derive(robot, backend="interpreter")
    q = np.zeros(robot.nq)
    found = close_loops(dynamics, q, held=robot.joint_names)  # nothing may move
    assert not found and set(found.gaps) == {"first", "second"}
    sizes = {name: gap.length for name, gap in found.gaps.items()}
    C, F = 0.4 + 0.9, 0.4 + 0.5 + 0.4j + 0.6
    expected = {"first": abs(C - 1.7), "second": abs(F - (1.0 + 0.3 + 0.5j + 0.5))}
    assert sizes == pytest.approx(expected)
    first, second = sorted(sizes, key=lambda name: -sizes[name])
    assert found.message.index(f"'{first}' by") < found.message.index(f"'{second}' by")
    closed = close_loops(dynamics, [0.6, 0.0, 1.4, 0.0, 0.0])
    assert closed and max(map(max, closed.gaps.values())) < 1e-11


def test_hinges_closed_the_wrong_way_round_are_open() -> None:
    builder = km.RobotBuilder("turned")
    builder.add(km.Body.box("plate", 1.0, (0.1, 0.1, 0.1)))
    builder.joint("ball", "spherical", "world", "plate")
    builder.joint("hinge", "revolute", "world", "plate", axis=(0.0, 0.0, 1.0))
    dynamics = km.derive(builder.build(), backend="interpreter")
    half = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about x: the axes are parallel, one against the other
    assert np.abs(dynamics.constraint_error(half)).max() < 1e-15
    found = close_loops(dynamics, half)
    assert found and found.gaps["hinge"].angle < 1e-9 and abs(found.q[1]) < 1e-9


def test_closes_from_anywhere(dynamics: Dynamics) -> None:
    rng = np.random.default_rng(3)
    for _ in range(8):
        q = rng.uniform(-np.pi, np.pi, 3)
        found = close_loops(dynamics, q, held="q1")
        assert found and found.q[0] == q[0] and opening(dynamics, found.q) < 1e-11
    straight = close_loops(dynamics, [0.0, 0.0, 0.0])  # all in line, where every derivative points along it
    assert straight and "from initial guess 2" in straight.message


def test_closes_loops_in_space_from_anywhere() -> None:
    robot = bricard().robot
    dynamics = km.derive(robot, backend="interpreter")
    rng = np.random.default_rng(1)
    for _ in range(2):
        found = close_loops(dynamics, rng.uniform(-np.pi, np.pi, robot.nq))
        assert found and opening(dynamics, found.q) < 1e-11 and max(map(max, found.gaps.values())) < 1e-10


def test_what_cannot_close_is_proved(dynamics: Dynamics) -> None:
    long = close_loops(km.derive(km.library.four_bar(3.0), backend="interpreter"), [0.3, 0.2, 0.1])
    assert not long and "one side of it is 3 m long and the others together only 1.9 m" in long.message
    assert long.gaps["closure"].length == pytest.approx(1.1, abs=1e-3)  # and the gap is the least there is
    rocker = close_loops(dynamics, [0.0, 0.0, 0.3], held="q3")
    assert not rocker and "with q3 = 0.3" in rocker.message and "Hold other values" in rocker.message
    crowded = close_loops(dynamics, [0.6, 3.0, -2.0], held=("q1", "q2"))
    assert not crowded and "Held joint 'q2' is determined by 'q1': hold 'q1' only." in crowded.message


def test_a_dyad_that_cannot_meet_is_told_with_its_reach() -> None:
    # the second loop hangs on the far side of the crank's end, whichever way the first one closes
    robot = linkage(
        "short",
        [
            ("crank", "world", "a", 0.0),
            ("coupler", "a", "b", 0.4),
            ("rocker", "world", "c", 1.0),
            ("fourth", "b", "d", 0.5),
            ("fifth", "world", "e", -0.218 + 0.118j),
        ],
        [("first", "b", "c", 0.9, 0.7), ("second", "d", "e", 0.1, 0.1)],
    )
    found = close_loops(km.derive(robot, backend="interpreter"), np.full(5, 0.3), held="crank")
    assert not found and "two links that reach from 0 m to 0.2 m have to span" in found.message
    assert found.gaps["second"].length > 0.1


def test_limits_keep_a_loop_open() -> None:
    robot = km.library.four_bar()
    joints = tuple(
        dataclasses.replace(joint, lower=(-0.1,), upper=(0.1,)) if joint.name != "q1" else joint
        for joint in robot.joints
    )
    limited = km.derive(dataclasses.replace(robot, joints=joints), backend="interpreter")
    found = close_loops(limited, ASSEMBLED, held="q1")
    assert not found and "beyond limits" in found.message
    free = close_loops(limited, ASSEMBLED, held="q1", limits=False)
    assert free


def test_coordinates_by_name_are_held(dynamics: Dynamics) -> None:
    found = close_loops(dynamics, {"q1": 0.6})
    assert found and found.q[0] == 0.6 and opening(dynamics, found.q) < 1e-11
    assert str(found) == found.message
    other = close_loops(dynamics, {"q1": 0.6}, branch={"+": "-", "-": "+"}[found.branch])
    assert other and other.q[0] == 0.6 and np.abs(other.q - found.q).max() > 0.1
    modes = km.loops.closed_configurations(dynamics, {"q3": 1.8})
    assert modes.held == ("q3",) and all(mode.q[2] == 1.8 for mode in modes)
    assert km.loops.mobility(dynamics, {"q3": 1.8}).q[2] == 1.8


def test_a_coupled_joint_by_name_tells_its_leaders_coordinate() -> None:
    builder = km.RobotBuilder("wheels").add(*(km.Body.cylinder(name, 1.0, 0.1, 0.02) for name in ("one", "two")))
    builder.joint("one", "revolute", "world", "one").joint("two", "revolute", "world", "two", translation=(0.3, 0, 0))
    robot = builder.couple("two", "one", -2.0, 0.5).build()
    assert close_loops(robot, {"two": 1.5}).q.tolist() == [-0.5, 1.5]
    assert repr(robot).endswith("2 dof, 1 coupling>")


@pytest.mark.parametrize(
    ("q", "error", "words"),
    [
        ("x", ShapeError, "q is 'x'; expected 3 numbers, or some of them by name"),
        ({"q1": None}, ShapeError, "expected 3 numbers, or some of them by name"),
        ({"Q1": 0.3}, ShapeError, "no coordinate 'Q1'. Did you mean 'q1'? Known: q1, q2, q3"),
        ([0.1, np.nan, 0.2], ShapeError, r"q is [0.1, nan, 0.2]; expected (3,) finite numbers"),
    ],
)
def test_what_is_no_configuration_is_refused(dynamics: Dynamics, q: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        close_loops(dynamics, q)


def test_mechanisms_of_any_size_close() -> None:
    for scale in (1e-4, 1e5):  # where rounding of meters is 1e-11 m and more
        lengths = (scale, 0.3 * scale, 0.9 * scale, 0.7 * scale)
        builder = km.RobotBuilder("scaled")
        for name, length in zip(("crank", "coupler", "rocker"), lengths[1:], strict=True):
            builder.add(km.Body.rod(name, 1.0, length, (0.5 * length, 0, 0), axis="x"))
        hinge: dict[str, Any] = {"axis": (0, -1, 0)}
        builder.joint("q1", "revolute", "world", "crank", **hinge)
        builder.joint("q2", "revolute", "crank", "coupler", translation=(lengths[1], 0, 0), **hinge)
        builder.joint("q3", "revolute", "world", "rocker", translation=(lengths[0], 0, 0), **hinge)
        on_rocker = np.eye(4)
        on_rocker[0, 3] = lengths[3]
        at_coupler: dict[str, Any] = {"translation": (lengths[2], 0, 0), "child_placement": on_rocker}
        robot = builder.joint("pin", "revolute", "coupler", "rocker", **at_coupler, **hinge).build()
        found = close_loops(km.derive(robot, backend="interpreter"), [0.6, 0.0, 1.6], held="q1")
        assert found and "start 2" not in found.message
        np.testing.assert_allclose(found.q, ASSEMBLED, atol=1e-7)
        assert km.loops.mobility(robot).dof == 1
