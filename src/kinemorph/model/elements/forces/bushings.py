"""Bushings: elastic mounts between two frames, with stiffness along and about three axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declaration, declared

Turning = Literal["vector", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx"]


@dataclass(frozen=True)
class Bushing:
    """Three springs with dampers along the axes of a frame A and three about them, between the frames A and B.

    A is at `placement_a` in `body_a`, B at `placement_b` in `body_b`. With the position p [m] of B in A, and the
    rotation theta [rad] of B relative to A, the bushing acts on B, at its origin, with

        force     -(stiffness p + damping dp/dt) + preload                                      along the axes of A
        moments   -(turning_stiffness theta + turning_damping dtheta/dt) + turning_preload      power-conjugate to theta

    and on A with the opposite. `turning` defines theta: the rotation "vector", which has to stay below half a turn, or
    three successive angles, such as "xyz" for R = Rx Ry Rz, of which the second has to stay below 90 degrees.
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Vector = field(metadata=declaration("stiffness", least=0.0))
    damping: Vector = declared((0.0, 0.0, 0.0), "damping", least=0.0)
    turning_stiffness: Vector = declared((0.0, 0.0, 0.0), "angular stiffness", least=0.0)
    turning_damping: Vector = declared((0.0, 0.0, 0.0), "angular damping", least=0.0)
    preload: Vector = declared((0.0, 0.0, 0.0), "force")
    turning_preload: Vector = declared((0.0, 0.0, 0.0), "torque")
    turning: Turning = "vector"
    placement_a: Pose = IDENTITY
    placement_b: Pose = IDENTITY
