"""A motion is refused exactly where nothing resists it, however the frames lie and however far away they are."""

from __future__ import annotations

from typing import Any

import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, act, exp_so3
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import JOINT_KINDS, Axis, X, Z
from support.tools.each_case import each_case

MOVING = [kind for kind, row in JOINT_KINDS.items() if row.nv]
AXES: dict[str, tuple[Axis, Axis]] = {
    "straight": (Z, X),
    "oblique": ((0.6, 0.8, 0.0), (0.48, -0.36, 0.8)),
    "odd": ((1 / 3, 2 / 3, 2 / 3), (2 / 3, 1 / 3, -2 / 3)),
}
TURNED = exp_so3((0.3, -0.7, 0.4))
FRAMES = {
    "at the joint": IDENTITY,
    "turned": Pose(TURNED, (0.3, -0.2, 0.9)),
    "far": Pose(IDENTITY.R, (0.0, 0.0, 1e5)),
    "far and turned": Pose(TURNED, (3e4, -5e4, 8e4)),
}


def problems(kind: str, axes: str, frame: str, along: float, moment: float, **more: float) -> tuple[str, ...]:
    """One body on one joint, its center of mass on the joint's last axis at `along` [m] from the joint."""
    axis, axis2 = AXES[axes] if kind not in ("planar", "point_on_plane") else (Z, X)
    on = axis2 if kind == "universal" else axis
    com = act(FRAMES[frame], tuple(along * x for x in on))
    builder = RobotBuilder("r").body("a", 1.0, com=com, inertia=(moment,) * 3)
    data: dict[str, Any] = {"axis": axis, "axis2": axis2, "child_placement": FRAMES[frame], "placement": FRAMES[frame]}
    return builder.joint("j", kind, "world", "a", **data | more).problems()


@each_case("along", [0.0, 0.7])
@each_case("frame", FRAMES)
@each_case("axes", AXES)
@each_case("kind", MOVING)
def test_a_point_mass_on_the_axis_is_refused_where_the_joint_turns(
    kind: str, axes: str, frame: str, along: float
) -> None:
    found = problems(kind, axes, frame, along, 0.0)
    if kind == "prismatic":
        assert found == ()
    else:
        assert len(found) == 1 and "no inertia" in found[0]


@each_case("frame", FRAMES)
@each_case("axes", AXES)
def test_a_screw_moves_a_point_mass_on_its_axis(axes: str, frame: str) -> None:
    assert problems("helical", axes, frame, 0.7, 0.0, pitch=0.01) == ()


@each_case("along", [0.0, 0.7])
@each_case("frame", FRAMES)
@each_case("axes", AXES)
@each_case("kind", MOVING)
def test_a_body_far_from_its_own_frame_is_regular(kind: str, axes: str, frame: str, along: float) -> None:
    assert problems(kind, axes, frame, along, 0.1) == ()


@pytest.mark.parametrize("axis", [(1.0, 2.0, 4.0), (0.126, -0.132, 0.640), (0.19, -0.52, -0.41), (2.0, 3.0, -0.7)])
def test_a_long_travel_hides_no_point_mass(axis: Axis) -> None:
    """Rounding moves a mass off its axis by a share of the travel, here more than a picometer."""
    builder = RobotBuilder("r").body("a", 1.0)
    builder.joint("j", "cylindrical", "world", "a", axis=axis, normalize=True, lower=1e6, upper=2e6)
    assert len(builder.problems()) == 1


@each_case("kind", MOVING)
@each_case("moment", [0.0, 0.1])
def test_a_chain_of_bodies_far_from_their_frames(kind: str, moment: float) -> None:
    far, builder = FRAMES["far and turned"], RobotBuilder("r")
    builder.body("a", 1.0, com=far.p, inertia=(0.1,) * 3).body("b", 1.0, com=far.p, inertia=(moment,) * 3)
    builder.joint("first", "revolute", "world", "a", child_placement=far)
    builder.joint("second", kind, "a", "b", placement=far, child_placement=far)
    refused = moment == 0.0 and kind != "prismatic"
    assert ["'second'" in problem for problem in builder.problems()] == [True] * refused


def test_small_is_not_zero() -> None:
    """A grain of a nanometer turns; so does a mass with an armature of its own."""
    grain = RobotBuilder("r").body("a", 1e-20, inertia=(1e-20 * 1e-18,) * 3)
    assert grain.joint("j", "spherical", "world", "a").problems() == ()
    assert problems("revolute", "oblique", "at the joint", 0.0, 0.0, armature=1e-9) == ()


@pytest.mark.parametrize("moment", [1e-300, 1e150])
def test_inertias_that_overflow_or_vanish_in_products_are_told(moment: float) -> None:
    builder = RobotBuilder("r").body("a", 1.0 if moment > 1.0 else 1e-300, inertia=(min(moment, 1e99),) * 3)
    builder.body("b", 1.0, com=(0.0, 1e60, 0.0)).joint("j", "revolute", "world", "a")
    builder.joint("k", "revolute", "a", "b", translation=(1.0, 0.0, 0.0)) if moment > 1.0 else builder.root("b")
    assert any("has an inertia of" in problem for problem in builder.problems())


def test_a_rotor_between_two_slides_on_one_line_is_felt_by_the_first() -> None:
    """m - m^2 / (m + r) is what the first one moves; without the rotor r that is nothing."""

    def slides(rotor: float) -> RobotBuilder:
        builder = RobotBuilder("slides").body("a").body("b", 1.0, inertia=(0.1, 0.1, 0.1))
        builder.joint("i", "prismatic", "world", "a")
        return builder.joint("j", "prismatic", "a", "b", armature=rotor)

    assert slides(0.3).problems() == ()
    assert "has no inertia" in slides(0.0).problems()[0]


def test_in_a_loop_a_cut_or_a_rod_without_mass_mend_it_too() -> None:
    def crank(rod: float, *, cut: bool = False) -> RobotBuilder:
        """A slider-crank whose slider, a point mass, would hang on the rod."""
        builder = RobotBuilder("crank").add(Body.rod("crank", 1.0, 0.2, (0.1, 0, 0), axis="x"))
        builder.add(Body.rod("rod", rod, 0.5, (0.25, 0, 0), axis="x"), Body.point("slider", 1.0 if rod else 0.0))
        builder.joint("turn", "revolute", "world", "crank", axis=(0, -1, 0))
        builder.joint("knee", "revolute", "crank", "rod", translation=(0.2, 0, 0), axis=(0, -1, 0))
        builder.joint("pin", "revolute", "rod", "slider", translation=(0.5, 0, 0), axis=(0, -1, 0), cut=cut)
        return builder.joint("slide", "prismatic", "world", "slider", axis=(1, 0, 0), cut=not cut)

    (said,) = crank(1.0).problems()
    assert "'pin': its revolute motion has no inertia" in said and said.endswith(
        "another joint connects the body to the tree."
    )
    assert crank(1.0, cut=True).problems() == ()
    assert any("mass 0" in line and "DistanceConstraint" in line for line in crank(0.0, cut=True).problems())
