"""The functions that a derived robot offers, by name, as `kinemorph derive` lists them."""

from __future__ import annotations

from kinemorph.deriving.dynamics import (
    BODY_FUNCTIONS,
    CONSTRAINT_FUNCTIONS,
    DERIVATIVE_FUNCTIONS,
    FRAME_FUNCTIONS,
    STATE_FUNCTIONS,
)
from kinemorph.deriving.reduction import REDUCED_FUNCTIONS

FUNCTIONS = (
    *STATE_FUNCTIONS,
    *DERIVATIVE_FUNCTIONS,
    *BODY_FUNCTIONS,
    *CONSTRAINT_FUNCTIONS,
    "actuation",
    *REDUCED_FUNCTIONS,
    *FRAME_FUNCTIONS,
)
MAIN_FUNCTIONS = ("mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics")
