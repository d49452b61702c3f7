"""Surfaces of SDF and URDF files, read and written: friction mu, and spring kp [N/m] and damper kd [N s/m] of contacts.

A spring and a damper are an ImpedanceNormal whose impedance is always one half: F = i/(1 - i) (k i d + c d'), i = 1/2.
Gazebo takes the smaller of two frictions. Here the ground decides where it is slippery, and else the body.
"""

from __future__ import annotations

from typing import NamedTuple

from kinemorph.model.elements.contact.contact_laws import ImpedanceNormal
from kinemorph.model.parameter import evaluate
from kinemorph.model.shapes import Surface

HALF = 0.5
HARD = 1e9  # [N/m]: a stiffer spring stands for a rigid surface, and is not used; SDF's default is 1e12
ALL_GROUPS = 0xFFFF
SLIPPERY = 1.0  # ground with a smaller friction decides; SDF's default is 1


def gazebo_surface(
    mu: float | None, kp: float | None, kd: float | None, *, mask: int = ALL_GROUPS, ground: bool = False
) -> Surface | None:
    """The surface with these numbers, of which None are not given; None if the file says nothing."""
    normal = None
    if kp is not None and 0.0 < kp < HARD and not ground:
        normal = ImpedanceNormal(kp / HALF, max(kd or 0.0, 0.0), HALF, HALF)
    if ground:
        slippery = mu is not None and 0.0 <= mu < SLIPPERY
        found = Surface(mu if slippery else None, None, mask, mask, priority=int(slippery))
    else:
        found = Surface(mu if mu is not None and mu >= 0.0 else None, normal, mask, mask)
    return None if found == Surface(groups=ALL_GROUPS, meets=ALL_GROUPS) else found


class GazeboNumbers(NamedTuple):
    """The numbers of `gazebo_surface`; None for those that the file does not give."""

    mu: float | None = None
    kp: float | None = None
    kd: float | None = None
    mask: int = ALL_GROUPS


def gazebo_numbers(surface: Surface | None, *, ground: bool = False) -> GazeboNumbers | None:
    """The numbers from which `gazebo_surface` makes this surface; None if there are none."""
    if surface is None:
        return GazeboNumbers()
    law, kp, kd = surface.normal, None, None
    if isinstance(law, ImpedanceNormal):
        kp, kd = HALF * float(evaluate(law.stiffness)), float(evaluate(law.damping))
    found = GazeboNumbers(surface.friction, kp, kd, surface.groups)
    return found if gazebo_surface(*found[:3], mask=found.mask, ground=ground) == surface else None
