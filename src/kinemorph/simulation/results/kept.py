"""What a finished run keeps beside its samples, so that a run that continues it takes the same steps as one long run.

A method remembers more than the state: the size of the next step, the error of the last one, accelerations that it
found, the side of each guard. The end of a run cuts its last step short. All this would change the steps that follow.
So a run keeps the memory of its march before that step, and the run that continues it takes the step as a whole, where
nothing has changed: the same model, method, options, inputs and parameters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kinemorph.algebra.arrays import Array
from kinemorph.frozen import dataclass
from kinemorph.plants.programs import Plant

if TYPE_CHECKING:
    from kinemorph.simulation.stepping.step_options import StepOptions


@dataclass(frozen=True, eq=False)
class Kept:
    """The memory of a march: its arrays by name (`march.layout`), the names of its guards, and a key of the rest.

    Where the plant is not `plain` data, the key does not cover it: only the same plant goes on, and no file has this.
    """

    key: str
    plain: bool
    end: float  # of the run [s]
    guards: tuple[str, ...]
    arrays: Mapping[str, Array]


RECIPE = "digest of the recipe"  # where a plant keeps it


def kept_key(plant: Plant, options: StepOptions) -> str:
    """A digest of all that determines the steps of a plant, as far as it is plain data: its recipe and the options."""
    method = options.method if isinstance(options.method, str) else options.method.name
    numbers = (options.step, options.rtol, options.atol, options.max_step, options.min_step)
    if RECIPE not in plant.kept:  # it may be long
        plant.kept[RECIPE] = hashlib.sha256(repr(plant.recipe).encode()).hexdigest()
    return hashlib.sha256(repr((plant.kept[RECIPE], method, numbers)).encode()).hexdigest()
