"""Points that are held where they are when a phase begins: feet that stand, hands that grip."""

from __future__ import annotations

from dataclasses import dataclass

from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declared


@dataclass(frozen=True)
class Hold:
    """`point` [m] of a body stays where it was when the present phase began; in a run without phases, at its start.

    `axes` are the directions in which it is held: "xyz", "xz" for a planar robot, "z" for a foot that slides without
    friction. They are axes of the world, or of the body or frame `along`: along a leg of little mass and across it, the
    forces differ by many orders of magnitude, and both are found to full precision only in the axes of the leg. The
    forces on the body are the signals "name.x.force" and so on [N].

    `normal` is the one of these axes along which the surface pushes the point in an impact with a law (`Edge.impact`),
    "-x" for a surface that pushes against x. A point that is not held along its normal takes no part as a contact.
    """

    name: str
    body: str
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    axes: str = "xyz"
    along: str = "world"
    normal: str = "z"
