"""Spring legs without mass, for models of running."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class SpringLeg:
    """A massless spring leg: the running model of Blickhan, and of McMahon and Cheng.

    In flight the leg has its full `length` [m] and points from `point` [m] of `body` along `direction`, a vector of any
    length in world axes. When the foot touches the ground it stays there, and the spring pushes with
    stiffness (length - l) [N] along the leg of current length l, until l is `length` again. Touchdown and liftoff are
    events. Where the phases of an automaton name the leg, it stands in these phases and is in flight in all others, and
    the edges between them take the place of these events.
    """

    name: str
    body: str
    stiffness: Value = field(metadata=declaration("stiffness", above=0.0))
    length: Value = field(metadata=declaration("length", above=0.0))
    direction: Vector = declared((0.0, 0.0, -1.0), "number")
    ground: Plane = field(default_factory=Plane)
    point: Vector = declared((0.0, 0.0, 0.0), "length")
