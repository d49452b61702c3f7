"""Forces of a fluid on bodies that move in it, without states of the fluid: drag, viscosity, lift, added mass.

The two models are MuJoCo's. A body is seen by the fluid as boxes or ellipsoids, each at a pose in the body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.body import Vector
from kinemorph.model.declared import declared

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class DragBox:
    """A box in a fluid, with `half` edges r [m]. With v and w in its axes, at its center, for i, j, k = x, y, z cyclic:

    force   -2 density r_j r_k |v_i| v_i - 6 pi viscosity r v_i                             r = (r_x + r_y + r_z) / 3
    moment  -1/2 density r_i (r_j^4 + r_k^4) |w_i| w_i - 8 pi viscosity r^3 w_i
    """

    body: str
    half: Vector = field(metadata=declared("length", above=0.0))
    placement: Pose = IDENTITY


@dataclass(frozen=True)
class DragEllipsoid:
    """An ellipsoid in a fluid, with `half` axes [m]: drag, viscosity, lift, and the inertia of the fluid it displaces.

    The coefficients are those of drag across a `blunt` and along a `slender` body, of drag against turning (`angular`),
    of lift by the Kutta condition (`kutta`) and by turning (`magnus`). `added_mass` [m^3] and `added_inertia` [m^5],
    times the density, are the mass and inertia of the fluid that moves with the body; they act by the forces across the
    motion, not by those of accelerations. `share` scales all forces.
    """

    body: str
    half: Vector = field(metadata=declared("length", above=0.0))
    placement: Pose = IDENTITY
    blunt: float = field(default=0.5, metadata=declared("number"))
    slender: float = field(default=0.25, metadata=declared("number"))
    angular: float = field(default=1.5, metadata=declared("number"))
    kutta: float = field(default=1.0, metadata=declared("number"))
    magnus: float = field(default=1.0, metadata=declared("number"))
    added_mass: Vector = field(default=ZERO, metadata=declared(unit="m^3"))
    added_inertia: Vector = field(default=ZERO, metadata=declared(unit="m^5"))
    share: float = field(default=1.0, metadata=declared("number"))


@dataclass(frozen=True)
class Fluid:
    """A fluid of a `density` [kg/m^3] and a `viscosity` [Pa s] that acts on the boxes and ellipsoids `parts`.

    It moves with the velocity `wind` [m/s], in world axes.
    """

    name: str
    parts: tuple[DragBox | DragEllipsoid, ...]
    density: float = field(default=0.0, metadata=declared(unit="kg/m^3", least=0.0))
    viscosity: float = field(default=0.0, metadata=declared(unit="Pa s", least=0.0))
    wind: Vector = field(default=ZERO, metadata=declared("speed"))
