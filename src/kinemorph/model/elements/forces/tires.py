"""Tires on flat ground."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Tire:
    """A tire on level ground, by Gim (University of Arizona), as EasyDyn has it.

    The wheel is a torus: `radius` [m] outside, `crown` [m] of its round profile, about `axis` through `center` [m],
    both in the axes of `body`. With the depth p of its lowest point below the ground at `height` [m], rising at w,

        Fz = stiffness p - damping sqrt(stiffness p / load) w,  not below 0

    `longitudinal` and `lateral` [N] are its forces per unit of slip and `camber` [N] per sine of camber, at the nominal
    `load` [N]; at another they go with (Fz / load) to the power of their exponents. Friction falls from `static`
    without slip to `kinetic` at a slip of 1 and beyond. Slip is the speed of the contact over that of the rim or of the
    wheel, whichever is larger, of which at least `slow` [m/s] counts.
    """

    name: str
    body: str
    radius: Value = field(metadata={"kind": "length"})
    stiffness: Value = field(metadata={"kind": "stiffness"})
    load: Value = field(metadata={"kind": "force"})
    longitudinal: Value = field(metadata={"kind": "force"})
    lateral: Value = field(metadata={"kind": "force"})
    camber: Value = field(default=0.0, metadata={"kind": "force"})
    damping: Value = field(default=0.0, metadata={"kind": "damping"})
    crown: Value = field(default=0.0, metadata={"kind": "length"})
    static: Value = field(default=1.0, metadata={"kind": "number"})
    kinetic: Value = field(default=0.8, metadata={"kind": "number"})
    longitudinal_exponent: Value = field(default=0.8, metadata={"kind": "number"})
    lateral_exponent: Value = field(default=0.8, metadata={"kind": "number"})
    camber_exponent: Value = field(default=0.8, metadata={"kind": "number"})
    slow: Value = field(default=1e-3, metadata={"kind": "speed"})
    axis: Vector = (0.0, 1.0, 0.0)
    center: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    height: Value = field(default=0.0, metadata={"kind": "length"})
