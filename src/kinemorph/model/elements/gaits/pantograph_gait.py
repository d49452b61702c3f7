"""The reference generator of walking robots with pantograph legs, as it is programmed in a microcontroller."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kinemorph.model.elements.control.references import as_rows
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.elements.declared import declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class PantographGait:
    """Positions of the drives of pantograph legs that move feet along straight lines, one sequence after the other.

    Each leg turns about the vertical by the angle a, and a pantograph places its foot at the distance
    offset + ratio c from the axis of this rotation, and (ratio - 1) b below its origin. `joints` has three names for
    each leg: those of a [rad], b and c [m]. In the axes of a leg, x outward at a = 0, z up, the foot is at

        x = foot_x + s stride_x,    y = foot_y + s stride_y,    z = -height + u lift

    and the inverse kinematics is  a = atan(y/x),  c = (x cos a + y sin a - offset) / ratio,  b = -z / (ratio - 1).

    `sequences`     what a leg does in one cycle: rows of a duration [s] and of the values s and u at its end. Both
                    change at constant rates, so that velocities jump between sequences. The last row ends where the
                    first begins.
    `starts`        the time [s] in its cycle at which each leg starts
    `settle`        the time [s] before the first sequence, in which the robot stands
    `feet`          the middle (x, y) [m] of the motion of each foot; one for all legs, or one for each
    `strides`       the vectors (stride_x, stride_y) [m] of the feet; one for all legs, or one for each
    `height`, `lift`    heights [m] of the origins of the legs over the feet, and of lifted feet over the ground
    `trigonometry`  "exact", or "polynomial" as in a microcontroller without trigonometric functions:
                    sin x = x - x^3/6,  cos x = 1 - x^2/2,  atan x = x - x^3/3
    """

    name: str
    joints: Names = ()
    sequences: tuple[Numbers, ...] = field(
        default=((0.5, -0.5, 1.0), (1.0, 0.5, 1.0), (0.5, 0.5, 0.0), (2.0, -0.5, 0.0)),
        metadata={"kinds": ("time", "number", "number")},
    )
    starts: Numbers = declared((0.0,), "time")
    settle: float = declared(1.0, "time", least=0.0)
    feet: tuple[Numbers, ...] = declared(((0.45, 0.0),), "length")
    strides: tuple[Numbers, ...] = declared(((0.0, 0.1),), "length")
    height: Value = declared(0.24, "length", above=0.0)
    lift: Value = declared(0.04, "length", least=0.0)
    offset: Value = declared(0.05, "length", above=0.0)
    ratio: Value = declared(4.0, "number", above=1.0)
    trigonometry: Literal["exact", "polynomial"] = "polynomial"

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "starts")
        for name in ("sequences", "feet", "strides"):
            as_rows(self, name)
