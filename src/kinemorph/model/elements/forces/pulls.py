"""Pulls: springs from a point of a body to a point in the world that is an input, such as a hand that drags a body."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Pull:
    """A spring with a damper from a point of a body to a target, a point in the world that is an input of the plant.

    With the displacement d [m] from the target to the point and the velocity w [m/s] of the point, both in world axes,
    the force on the point is

        force     -share (stiffness d + damping w)  [N]

    The inputs are the coordinates `x`, `y` and `z` [m] of the target, and `share`: 1 pulls, 0 lets go, and a number in
    between pulls with a part of the stiffness and of the damping. At the beginning of a run the share is 0.

    The spring stores  share stiffness |d|^2 / 2  [J]. Inputs are constant between the instants at which they are set. A
    target or share that is set to another value changes the stored energy at once; this work of the hand counts as
    supplied energy, so that the energy of a run balances.

    `point` [m] is in the axes of `body`, which may be a body or a frame. Without a body, the pull can act on any body:
    then there are four further inputs, the number `body` of the body in `robot.body_names`, from 0 on, and the
    coordinates `point_x`, `point_y` and `point_z` [m] of the point in the axes of that body, to which `point` is added.
    """

    name: str
    stiffness: Value = field(metadata=declaration("stiffness", least=0.0))
    body: str = ""
    damping: Value = declared(0.0, "damping", least=0.0)
    point: Vector = declared((0.0, 0.0, 0.0), "length")
