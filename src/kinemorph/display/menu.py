"""The functions that a derived robot offers, by name, as `kinemorph derive` lists them."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.deriving import FRAME_FUNCTIONS, STATE_FUNCTIONS
from kinemorph.model.robot import Robot

FUNCTIONS = (*STATE_FUNCTIONS, *FRAME_FUNCTIONS)
MAIN_FUNCTIONS = ("mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics")


def open_functions(robot: Robot, names: Sequence[str] = MAIN_FUNCTIONS) -> list[str]:
    """Those functions that a robot has: one held together by loops or couplings has no forward dynamics."""
    return [name for name in names if robot.is_open or name != "forward_dynamics"]
