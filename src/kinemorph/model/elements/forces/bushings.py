"""Bushings: elastic mounts between two frames, with stiffness along and about three axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.body import Vector
from kinemorph.model.declared import declared

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
    stiffness: Vector = field(metadata=declared("stiffness", least=0.0))
    damping: Vector = field(default=(0.0, 0.0, 0.0), metadata=declared("damping", least=0.0))
    turning_stiffness: Vector = field(default=(0.0, 0.0, 0.0), metadata=declared("angular stiffness", least=0.0))
    turning_damping: Vector = field(default=(0.0, 0.0, 0.0), metadata=declared("angular damping", least=0.0))
    preload: Vector = field(default=(0.0, 0.0, 0.0), metadata=declared("force"))
    turning_preload: Vector = field(default=(0.0, 0.0, 0.0), metadata=declared("torque"))
    turning: Turning = "vector"
    placement_a: Pose = IDENTITY
    placement_b: Pose = IDENTITY
