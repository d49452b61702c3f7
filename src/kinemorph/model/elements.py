"""Elements as data: what acts on a robot, as a model file lists it. Their laws live in mechanics.

`ELEMENT_KINDS` is the table by which files name them; an element is a frozen dataclass of plain values with a `name`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Actuator:
    """A drive on a joint: the effort is `gear` times its force or torque. Its numbers are kept; no law uses them yet.

    `control` says what its input is: "effort", "position" or "velocity"; `gain` and `damping` are those of the latter
    two. `lower` and `upper` limit the input, `effort` the force or torque [N or N m] before the gear. `inertia`
    [kg m^2] is that of the rotor.
    """

    name: str
    joint: str
    gear: float = 1.0
    control: Literal["effort", "position", "velocity"] = "effort"
    gain: float = 0.0
    damping: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = math.inf
    inertia: float = 0.0


ELEMENT_KINDS: dict[str, type[Any]] = {"actuator": Actuator}
