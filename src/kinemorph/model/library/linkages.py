"""Closed chains: robots whose joints form cycles. The builder finds the cycle and cuts it; nothing is declared here."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.groups import translation
from kinemorph.model.body import Body
from kinemorph.model.builder import RobotBuilder
from kinemorph.model.library.textbook import SWING, length_parameter, mass_parameter
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot

NAMES = ("crank", "coupler", "rocker")


def four_bar(
    ground: float = 1.0,
    lengths: Sequence[float] = (0.3, 0.9, 0.7),
    masses: Sequence[float] = (0.5, 1.0, 0.8),
    *,
    closure: str = "revolute",
) -> Robot:
    """A four-bar in the vertical x-z plane: crank, coupler, rocker, uniform rods of `lengths` [m] and `masses` [kg].

    Crank and rocker turn on the ground at x = 0 and x = `ground` [m]; their angles are measured from +x toward +z,
    the coupler's from the crank. At q = 0 all three rods lie along +x and the loop is open: an assembled
    configuration of the default data is q = (0.6, 0.02989836, 1.6066907). `closure` is the kind of the joint that
    closes the loop, between the coupler's and the rocker's ends; "revolute" is the hinge that is really there,
    "spherical" imposes fewer redundant rows.
    """
    l0 = Parameter("l0", ground, "m", "l_{0}")
    l1, l2, l3 = (length_parameter(i, length) for i, length in enumerate(lengths, 1))
    builder = RobotBuilder("four_bar")
    for i, (name, mass, length) in enumerate(zip(NAMES, masses, (l1, l2, l3), strict=True), 1):
        builder.add(Body.rod(name, mass_parameter(i, mass), length, (0.5 * length, 0.0, 0.0), axis="x", radius=0.015))
    builder.joint("q1", "revolute", "world", "crank", axis=SWING)
    builder.joint("q2", "revolute", "crank", "coupler", translation=(l1, 0.0, 0.0), axis=SWING)
    builder.joint("q3", "revolute", "world", "rocker", translation=(l0, 0.0, 0.0), axis=SWING)
    end = translation((l3, 0.0, 0.0))
    builder.joint("closure", closure, "coupler", "rocker", translation=(l2, 0.0, 0.0), child_placement=end, axis=SWING)
    return builder.build()
