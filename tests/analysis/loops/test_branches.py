"""All ways to close loops: six-bars against circles and scans, slides, loops askew in space, counts and sentences."""

from __future__ import annotations

import numpy as np
import pytest

import kinemorph as km
from kinemorph.analysis.loops.close_loops import close_loops, follow_loops
from kinemorph.analysis.loops.closed_configurations import ClosedConfigurations, closed_configurations
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.library.benchmark_linkages import bricard
from kinemorph.model.robot import Robot
from support.cases.linkage_cases import Plane, links_of, stephenson, stephenson_scan, watt, watt_points

ASKEW = Plane((1.0, 2.0, -0.7), (0.3, -0.2, 0.5))
# Stephenson linkages with 6, 4, 2 and 0 closed configurations at this angle of the driver
SIX = dict(D=1.14 - 0.38j, G=0.86 - 0.18j, crank=1.46, BC=0.49, DC=0.56, E=0.49 - 0.68j, EF=0.84, GF=0.28)
DRIVER = 0.6


def plain(robot: Robot) -> Dynamics:
    return km.derive(robot, backend="interpreter")


def at(robot: Robot, **values: float) -> np.ndarray:
    q = np.zeros(robot.nq)
    for joint, value in values.items():
        q[robot.q_slice(joint)] = value
    return q


def same_links(robot: Robot, modes: ClosedConfigurations, expected: list[dict[str, complex]]) -> None:
    """Every mode is one of those expected, and each of those is a mode: by the directions of all links."""
    found = [links_of(robot, mode.q) for mode in modes]
    assert len(found) == len(expected)
    for one in expected:
        assert min(max(abs(one[link] - other[link]) for link in one) for other in found) < 1e-7


# ── six-bars ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("plane", "crank"), [(None, 0.6), (ASKEW, 2.5), (ASKEW, -1.9)])
def test_watt_closes_as_circles_say(plane: Plane | None, crank: float) -> None:
    robot = watt(plane)
    modes = closed_configurations(plain(robot), at(robot, crank=crank), held="crank")
    assert modes.complete and modes.most == 4
    same_links(robot, modes, watt_points(crank))
    assert len({mode.branch for mode in modes}) == len(modes)  # two dyads: signs name each way


def test_stephenson_has_all_six() -> None:
    robot = stephenson(ASKEW, SIX)
    modes = closed_configurations(plain(robot), at(robot, driver=DRIVER), held="driver")
    assert len(modes) == modes.most == 6 and modes.complete
    same_links(robot, modes, stephenson_scan(DRIVER, SIX, 4001))


@pytest.mark.parametrize("seed", [2, 4, *(pytest.param(k, marks=pytest.mark.slow) for k in range(10, 50))])
def test_stephensons_of_any_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ("crank", "BC", "DC", "EF")
    data = {name: complex(rng.uniform(0.4, 1.4)).real for name in names} | {"GF": float(rng.uniform(0.1, 0.6))}
    points = {name: complex(*rng.normal(size=2) * 0.8) for name in ("D", "G", "E")}
    robot = stephenson(Plane(rng.normal(size=3)), {**data, **points})
    modes = closed_configurations(plain(robot), at(robot, driver=DRIVER), held="driver")
    same_links(robot, modes, stephenson_scan(DRIVER, {**data, **points}, 4001))
    assert len(modes) % 2 == 0  # complex solutions come in pairs


def test_driven_at_the_crank_stephenson_is_two_dyads() -> None:
    robot = stephenson()
    modes = closed_configurations(plain(robot), at(robot, crank=0.4))
    assert modes.held == ("crank",) and modes.most == 4
    assert {mode.branch for mode in modes} <= {"++", "+-", "-+", "--"}


@pytest.mark.parametrize("name", ["klann", pytest.param("jansen", marks=pytest.mark.slow)])
def test_walking_linkages_fall_apart_into_dyads(name: str) -> None:
    robot = km.library.build(name)
    dynamics = plain(robot)
    modes = closed_configurations(dynamics, np.zeros(robot.nq))
    assert modes.complete and len(modes) == 2 ** len(robot.loops)
    assert min(float(np.abs(mode.q).max()) for mode in modes) < 1e-9  # as it was built
    for mode in modes:
        assert np.abs(dynamics.constraint_error(mode.q)).max() < 1e-11


# ── slides ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_slider_crank_has_two_ways() -> None:
    robot = km.library.build("slider_crank")
    modes = closed_configurations(plain(robot), at(robot, crank_joint=0.7))
    assert len(modes) == 2 and modes.complete and modes.held == ("crank_joint",)
    # the crank decides two ways, the slide of any place two as well
    slide = next(joint.name for joint in robot.joints if joint.kind == "prismatic")
    held = closed_configurations(plain(robot), modes[0].q, held=slide)
    assert len(held) == 2 and min(float(np.abs(mode.q - modes[0].q).max()) for mode in held) < 1e-9


@pytest.mark.parametrize("cut", ["hinge", "slide"])
def test_a_swinging_slide(cut: str) -> None:
    """Crank of 0.3 m at 0, a lever at 1 m with a block that slides on it and is pinned to the crank's end."""
    builder = km.RobotBuilder("whitworth")
    for name in ("crank", "lever", "block"):
        builder.add(km.Body.box(name, 1.0, (0.1, 0.1, 0.1)))
    z, x = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    builder.joint("q1", "revolute", "world", "crank", axis=z)
    builder.joint("q2", "revolute", "world", "lever", translation=(1.0, 0.0, 0.0), axis=z)
    if cut == "hinge":
        builder.joint("q3", "prismatic", "lever", "block", axis=x)
        builder.joint("closure", "revolute", "crank", "block", translation=(0.3, 0.0, 0.0), axis=z)
    else:
        builder.joint("q3", "revolute", "crank", "block", translation=(0.3, 0.0, 0.0), axis=z)
        builder.joint("closure", "prismatic", "lever", "block", axis=x)
    robot = builder.build()
    dynamics = plain(robot)
    modes = closed_configurations(dynamics, at(robot, q1=0.8), held="q1")
    way = 0.3 * np.exp(0.8j) - 1.0
    expected = sorted([np.angle(way), np.angle(-way)])  # the block is on this side of the lever's hinge or on the other
    assert modes.complete and len(modes) == 2 and {mode.branch for mode in modes} == {"+", "-"}
    np.testing.assert_allclose(sorted(np.angle(np.exp(1j * mode.q[1])) for mode in modes), expected, atol=1e-12)
    for mode in modes:
        assert np.abs(dynamics.constraint_error(mode.q)).max() < 1e-12


# ── branches ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_branch_is_chosen_by_signs_by_number_and_by_example() -> None:
    robot = watt()
    dynamics, q = plain(robot), at(robot, crank=0.6)
    modes = closed_configurations(dynamics, q, held="crank")
    for number, mode in enumerate(modes):
        for branch in (mode.branch, number, mode.q):
            closed = close_loops(dynamics, q, held="crank", branch=branch)
            assert closed and closed.branch == mode.branch
            np.testing.assert_allclose(np.exp(1j * closed.q), np.exp(1j * mode.q), atol=1e-9)
    assert modes["+-"].branch == "+-"


def test_signs_keep_while_the_crank_goes_round() -> None:
    robot = km.library.build("klann")
    dynamics = plain(robot)
    for mode in closed_configurations(dynamics, np.zeros(robot.nq)):
        lead = robot.joints[0].name
        goal = mode.q.copy()
        goal[0] += 1.0
        there = follow_loops(dynamics, mode.q, goal, held=lead)
        if there:  # other ways of assembly may not go so far
            assert there.branch == mode.branch
            again = close_loops(dynamics, goal, held=lead, branch=mode.branch)
            assert again and np.abs(np.exp(1j * again.q) - np.exp(1j * there.q)).max() < 1e-8


def test_a_branch_that_is_not_there_is_told() -> None:
    robot = km.library.four_bar()
    dynamics = plain(robot)
    with pytest.raises(ShapeError, match="branch '\\+\\+' has 2 signs; expected 1"):
        close_loops(dynamics, [0.6, 0.0, 0.0], held="q1", branch="++")
    with pytest.raises(ShapeError, match="expected 0 to 1"):
        close_loops(dynamics, [0.6, 0.0, 0.0], held="q1", branch=2)
    with pytest.raises(ShapeError, match=r"expected one \+ or - for each block"):
        close_loops(dynamics, [0.6, 0.0, 0.0], branch="left")
    beyond = close_loops(dynamics, [0.0, 0.0, 0.3], held="q3", branch="+")
    assert not beyond and "q3 = 0.3" in beyond.message


# ── what cannot be listed, and what is not planar ─────────────────────────────────────────────────────────────────────


def test_too_few_and_too_many_held() -> None:
    robot = km.library.build("five_bar")
    with pytest.raises(UnsupportedError, match="Name 1 more joint in `held`"):
        closed_configurations(plain(robot), held=robot.joints[0].name)
    with pytest.raises(UnsupportedError, match="held joint 'q2' is determined by 'q1': hold 'q1' only"):
        closed_configurations(plain(km.library.four_bar()), [0.6, 0.0, 0.0], held=("q1", "q2"))


def test_none_is_an_answer_with_a_reason() -> None:
    modes = closed_configurations(plain(km.library.four_bar()), [0.0, 0.0, 0.3], held="q3")
    assert not modes and modes.complete
    assert "reach from 0.6 m to 1.2 m have to span 1.682 m" in modes.message


def test_loops_in_space_are_looked_for_and_not_promised() -> None:
    robot = bricard().robot
    dynamics = plain(robot)
    q = close_loops(dynamics, np.full(robot.nq, 0.4)).q
    modes = closed_configurations(dynamics, q, held=robot.joints[0].name)
    assert not modes.complete and "may be more" in modes.message
    assert min(float(np.abs(mode.q - q).max()) for mode in modes) < 1e-9
    for mode in modes:
        assert mode.q[0] == q[0] and np.abs(dynamics.constraint_error(mode.q)).max() < 1e-9
    with pytest.raises(UnsupportedError, match="can still move"):
        closed_configurations(dynamics, q)


def test_loops_that_share_no_joint_are_combined_and_keep_limits() -> None:
    builder = km.RobotBuilder("pair")
    for side, where in (("left", 0.0), ("right", 2.0)):
        for name in ("crank", "coupler", "rocker"):
            builder.add(km.Body.box(f"{side}_{name}", 1.0, (0.1, 0.1, 0.1)))
        y, name = (0.0, -1.0, 0.0), f"{side}_"
        limits = {"lower": 0.0, "upper": 3.0} if side == "right" else {}
        builder.joint(f"{name}1", "revolute", "world", f"{name}crank", translation=(where, 0.0, 0.0), axis=y)
        builder.joint(f"{name}2", "revolute", f"{name}crank", f"{name}coupler", translation=(0.3, 0.0, 0.0), axis=y)
        builder.joint(
            f"{name}3", "revolute", "world", f"{name}rocker", translation=(where + 1.0, 0.0, 0.0), axis=y, **limits
        )
        builder.joint(
            f"{name}closure",
            "revolute",
            f"{name}coupler",
            f"{name}rocker",
            translation=(0.9, 0.0, 0.0),
            child_placement=Plane().at(0.7),
            axis=y,
        )
    robot = builder.build()
    q = at(robot, left_1=0.6, right_1=0.6)
    assert len(closed_configurations(plain(robot), q, limits=False)) == 4
    inside = closed_configurations(plain(robot), q)
    assert len(inside) == 2 and all(0.0 <= mode.q[robot.q_slice("right_3")][0] <= 3.0 for mode in inside)
