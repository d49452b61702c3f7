"""How a run takes its steps: the options with every default filled in, resolved once."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.errors import OptionWarning, UnsupportedError, users_level
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import ALIASES, METHODS, method_named, usual

MIN_STEP = 1e-12  # [s]
UNBOUNDED = 1e30  # [s] a max_step of this size or more does not bound steps


@dataclass(frozen=True)
class StepOptions:
    """The method of a run, and its step size or the tolerances that determine the step size. See `simulate`."""

    method: str | Method
    step: float | None  # [s]; None where the method chooses its steps
    rtol: float
    atol: float
    max_step: float  # [s]; UNBOUNDED where steps have no bound
    min_step: float  # [s]

    @cached_property
    def chosen(self) -> tuple[Method, bool]:
        """The method, one of ours, and whether all its steps have the same size; UnsupportedError without that size."""
        method = method_named(self.method)
        fixed = not method.adaptive or self.step is not None
        if fixed and self.step is None:
            raise UnsupportedError(
                f"method '{method.name}' needs a fixed step size, and no step is given. Give step=0.001 [s], or use an "
                "adaptive method, such as 'dop853'."
            )
        return method, fixed


def longest_step(model: object, max_step: float | None, step: float | None = None) -> float:
    """The longest step [s] that a run of a model may take: `max_step`, or where it is None that of its settings.

    A constant `step` that the user gives is taken as it is, whatever the settings say.
    """
    if max_step is not None:
        return max_step
    return model.settings.max_step if isinstance(model, System) and step is None else math.inf


def step_options(
    plant: Plant, method: Any, step: Any, rtol: Any, atol: Any, max_step: float, min_step: float = MIN_STEP
) -> StepOptions:
    """The step options of a run, with defaults in place of None; the arguments are those of `simulate`."""
    taken = usual(plant, method, step, rtol is not None or atol is not None)
    rtol, atol = taken.rtol if rtol is None else rtol, taken.atol if atol is None else atol
    check_positive(step=taken.step, rtol=rtol, atol=atol, max_step=max_step, min_step=min_step)
    size = taken.step
    if step is None and size is not None:  # the usual step of a method
        size = min(size, max_step)
    longest = taken.max_step if max_step >= UNBOUNDED else max_step
    return StepOptions(taken.method, size, rtol, atol, min(longest, UNBOUNDED), min_step)


def warn_of_tolerances(options: StepOptions, rtol: float | None, atol: float | None) -> None:
    """Warns where the user gave tolerances beside a method of ours that takes constant steps, which ignore them."""
    given = [f"{name}={value!r}" for name, value in (("rtol", rtol), ("atol", atol)) if value is not None]
    if not given:
        return
    name = options.method if isinstance(options.method, str) else options.method.name
    ours = not isinstance(options.method, str) or name in METHODS or name in ALIASES
    if ours and options.step is not None:
        warnings.warn(
            f"{' and '.join(given)} {'have' if len(given) > 1 else 'has'} no effect: all steps of method '{name}' have "
            f"the size step={options.step:g} s. Leave tolerances out, or leave step out and use an adaptive method, "
            "such as 'dop853'.",
            OptionWarning,
            stacklevel=users_level(),
        )


def check_positive(**given: float | None) -> None:
    """Raises UnsupportedError for an option that is not a number above 0; None counts as not given."""
    for name, value in given.items():
        if value is not None and (not isinstance(value, (int, float, np.number)) or not value > 0.0):
            raise UnsupportedError(f"{name} is {value!r}; expected a number above 0.")
