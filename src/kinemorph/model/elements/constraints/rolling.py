"""Blades that do not slip sideways, and discs and balls that roll: constraints on velocities."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class KnifeEdge:
    """`point` [m] of a body does not move along `side`, a direction of any length in the body's axes: skates, keels.

    It does not move relative to `on`: the ground, or a body. With a `normal` in the axes of `on`, the edge cuts a plane
    with that normal: only the part of `side` in that plane counts, however the blade leans.
    """

    name: str
    body: str
    side: Vector = (0.0, 1.0, 0.0)
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    on: str = "world"
    normal: Vector | None = None


@dataclass(frozen=True)
class RollingDisc:
    """A thin disc rolls without slipping on a plane: wheels, coins. It may lean, and must not lie flat.

    Its `center` [m] and `axle` (of any length) are in the axes of the body; the plane, with `origin` [m] and `normal`,
    in those of `on`. The lowest point of the rim is on the plane (`height`, a constraint on positions) and does not
    move along it: forward (`forward`) and across (`sideways`). `touching` = False leaves the height to others, as where
    a base is planar; `sliding` = True lets the disc slide along its axle, as an omnidirectional wheel does.
    """

    name: str
    body: str
    radius: Value = field(metadata={"kind": "length"})
    center: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    axle: Vector = (0.0, 1.0, 0.0)
    on: str = "world"
    origin: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    normal: Vector = (0.0, 0.0, 1.0)
    touching: bool = True
    sliding: bool = False


@dataclass(frozen=True)
class RollingSphere:
    """A ball of `radius` [m] about `center` [m] of a body rolls without slipping on a plane that `on` carries.

    `height` is a constraint on positions, left out where it is not `touching`; `first` and `second` are two directions
    along the plane. Where `on` is a body that turns, the plane turns with it.
    """

    name: str
    body: str
    radius: Value = field(metadata={"kind": "length"})
    center: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    on: str = "world"
    origin: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    normal: Vector = (0.0, 0.0, 1.0)
    touching: bool = True
