"""Tires on flat ground."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Tire:
    """A tire on level ground: the model of Gim (University of Arizona), as in EasyDyn.

    The wheel is a torus with outer radius `radius` [m] and profile radius `crown` [m], around `axis` through `center`
    [m], both in the axes of `body`. The ground is at z = `height` [m]. If the lowest point of the torus is p [m] below
    the ground and moves upward at w [m/s], the normal force is

        Fz = stiffness p - damping sqrt(stiffness p / load) w,  at least 0

    `longitudinal` and `lateral` [N] are the forces per unit of slip, and `camber` [N] the force per sine of the camber
    angle, at the nominal `load` [N]. At another load they are multiplied by (Fz / load) to the power of
    `longitudinal_exponent`, `lateral_exponent` and `camber_exponent`. The friction coefficient decreases from `static`
    without slip to `kinetic` at a slip of 1 or more. Slip is the velocity of the contact point divided by the speed of
    the rim or of the wheel center, whichever is larger, but at least `slow` [m/s].
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
