"""Tires."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.contact.grounds import Ground, Plane
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Tire:
    """A tire on the ground: the model of Gim (University of Arizona), as in EasyDyn.

    The wheel is a torus with outer radius `radius` [m] and profile radius `crown` [m], around `axis` through `center`
    [m], both in the axes of `body`. The `ground` is a plane or terrain, at rest in the world. If the deepest point of
    the torus is p [m] below the ground and moves out of it at w [m/s], the normal force is

        Fz = stiffness p - damping sqrt(stiffness p / load) w,  at least 0

    `longitudinal` and `lateral` [N] are the forces per unit of slip, and `camber` [N] the force per sine of the camber
    angle, at the nominal `load` [N]. At another load they are multiplied by (Fz / load) to the power of
    `longitudinal_exponent`, `lateral_exponent` and `camber_exponent`. The friction coefficient decreases from `static`
    without slip to `kinetic` at a slip of 1 or more. Slip is the velocity of the contact point divided by the speed of
    the rim or of the wheel center, whichever is larger, but at least `slow` [m/s]: a wheel under a steady force F at
    rest creeps at `slow` F / `longitudinal`. Below this speed the camber force decreases too, down to 0 at rest.

    The tire touches the ground in one point. Where terrain bends up more sharply than the wheel, for example at a curb,
    the real tire would touch it in two.
    """

    name: str
    body: str
    radius: Value = field(metadata=declaration("length", above=0.0))
    stiffness: Value = field(metadata=declaration("stiffness", above=0.0))
    load: Value = field(metadata=declaration("force", above=0.0))
    longitudinal: Value = field(metadata=declaration("force", above=0.0))
    lateral: Value = field(metadata=declaration("force", above=0.0))
    camber: Value = declared(0.0, "force", least=0.0)
    damping: Value = declared(0.0, "damping", least=0.0)
    crown: Value = declared(0.0, "length", least=0.0)
    static: Value = declared(1.0, "number", above=0.0)
    kinetic: Value = declared(0.8, "number", above=0.0)
    longitudinal_exponent: Value = declared(0.8, "number", above=0.0)
    lateral_exponent: Value = declared(0.8, "number", above=0.0)
    camber_exponent: Value = declared(0.8, "number", above=0.0)
    slow: Value = declared(1e-3, "speed", above=0.0)
    axis: Vector = declared((0.0, 1.0, 0.0), "number")
    center: Vector = declared((0.0, 0.0, 0.0), "length")
    ground: Ground = field(default_factory=Plane)
