"""How a run takes its steps: what the user chose, with every default filled in, resolved once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinemorph.errors import UnsupportedError
from kinemorph.plants.plant import Plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import usual

RTOL, ATOL = 1e-8, 1e-10
MIN_STEP = 1e-12  # [s]
UNBOUNDED = 1e30  # [s] a larger max_step is no bound


@dataclass(frozen=True)
class StepOptions:
    """The method of a run, and its step size or the tolerances that decide it. See `simulate`."""

    method: str | Method
    step: float | None = None  # [s]; None where the method chooses its steps
    rtol: float = RTOL
    atol: float = ATOL
    max_step: float = math.inf  # [s]
    min_step: float = MIN_STEP  # [s]

    def limits(self, most: int) -> list[float]:
        """The step limits as the march reads them; `most` is the number of steps to try in one call."""
        return [self.rtol, self.atol, self.min_step, min(self.max_step, UNBOUNDED), most]


def step_options(
    plant: Plant,
    method: str | Method | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float = math.inf,
    min_step: float = MIN_STEP,
) -> StepOptions:
    """The options for a plant; None means that the user did not choose."""
    method, step = usual(plant, method, step, rtol is not None or atol is not None)
    rtol, atol = RTOL if rtol is None else rtol, ATOL if atol is None else atol
    check_positive(step=step, rtol=rtol, atol=atol, max_step=max_step, min_step=min_step)
    return StepOptions(method, step, rtol, atol, max_step, min_step)


def check_positive(**given: float | None) -> None:
    """Refuses options that are not numbers above 0; an option that is None was not given."""
    for name, value in given.items():
        if value is not None and (not isinstance(value, (int, float, np.number)) or not value > 0.0):
            raise UnsupportedError(f"{name} is {value!r}; expected a number above 0.")
