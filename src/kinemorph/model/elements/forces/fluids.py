"""Forces of a fluid on bodies that move in it, without states of the fluid: drag, viscosity, lift, added mass.

The two models are MuJoCo's. A body is seen by the fluid as boxes or ellipsoids, each at a pose in the body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declaration, declared

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class DragBox:
    """A box in a fluid, with `half` edges r [m]. With v and w in its axes, at its center, for i, j, k = x, y, z cyclic:

    force   -2 density r_j r_k |v_i| v_i - 6 pi viscosity r v_i                             r = (r_x + r_y + r_z) / 3
    moment  -1/2 density r_i (r_j^4 + r_k^4) |w_i| w_i - 8 pi viscosity r^3 w_i
    """

    body: str
    half: Vector = field(metadata=declaration("length", above=0.0))
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
    half: Vector = field(metadata=declaration("length", above=0.0))
    placement: Pose = IDENTITY
    blunt: float = declared(0.5, "number")
    slender: float = declared(0.25, "number")
    angular: float = declared(1.5, "number")
    kutta: float = declared(1.0, "number")
    magnus: float = declared(1.0, "number")
    added_mass: Vector = declared(ZERO, unit="m^3")
    added_inertia: Vector = declared(ZERO, unit="m^5")
    share: float = declared(1.0, "number")


@dataclass(frozen=True)
class Fluid:
    """A fluid of a `density` [kg/m^3] and a `viscosity` [Pa s] that acts on the boxes and ellipsoids `parts`.

    It moves with the velocity `wind` [m/s], in world axes.
    """

    name: str
    parts: tuple[DragBox | DragEllipsoid, ...]
    density: float = declared(0.0, unit="kg/m^3", least=0.0)
    viscosity: float = declared(0.0, unit="Pa s", least=0.0)
    wind: Vector = declared(ZERO, "speed")
