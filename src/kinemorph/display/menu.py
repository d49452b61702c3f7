"""The functions that a derived robot offers, by name. A light module: `kinemorph derive --help` reads it, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinemorph.model.robot import Robot

# the functions of a Dynamics by what they ask for
PLAIN_FUNCTIONS = (
    "mass_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "bias_forces",
    "coriolis_matrix",
    "gravity_forces",
    "energy",
    "forward_kinematics",
    "center_of_mass",
    "centroidal_matrix",
    "momentum",
    "configuration_rate",
)
FRAME_FUNCTIONS = ("pose", "jacobian", "jacobian_rate")
FUNCTIONS = (*PLAIN_FUNCTIONS, *FRAME_FUNCTIONS)
MAIN_FUNCTIONS = ("mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics")


def open_functions(robot: Robot, names: Sequence[str] = MAIN_FUNCTIONS) -> list[str]:
    """Those functions that a robot has: one held together by loops or couplings has no forward dynamics."""
    closed = bool(robot.loops or robot.couplings)
    return [name for name in names if not (closed and name == "forward_dynamics")]
