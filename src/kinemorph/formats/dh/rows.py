"""Rows of a Denavit-Hartenberg table, and the two screw motions that they are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kinemorph.algebra.groups import Pose, compose, translation
from kinemorph.model.body import NO_INERTIA

Convention = Literal["standard", "modified"]
DUST = 4.5e-16  # sines and cosines of quarter turns, a rounding or two from 0 or 1


@dataclass(frozen=True)
class Row:
    """A joint and the link it moves. Angles [rad], lengths [m]; `com` [m] and `inertia` [kg m^2] in the link's frame.

    Limits and the numbers from `damping` on are those of `Joint`.
    """

    kind: str = "revolute"
    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    offset: float = 0.0
    joint: str = ""
    link: str = ""
    mass: float | None = None
    com: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Any = NO_INERTIA
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float | None = None
    friction: float | None = None
    armature: float | None = None
    line: int = field(default=0, repr=False)


LIMITS = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")


def step(row: Row, convention: Convention) -> Pose:
    """The pose of frame i in frame i - 1 at q = 0."""
    turning = row.kind != "prismatic"
    along = screw_z(row.d + (0.0 if turning else row.offset), row.theta + (row.offset if turning else 0.0))
    across = screw_x(row.a, row.alpha)
    return compose(across, along) if convention == "modified" else compose(along, across)


def screw_x(a: float, alpha: float) -> Pose:
    """Trans(x a) Rot(x, alpha)."""
    c, s = _sincos(alpha)
    return Pose(((1.0, 0.0, 0.0), (0.0, c, 0.0 - s), (0.0, s, c)), (a, 0.0, 0.0))


def screw_z(d: float, theta: float) -> Pose:
    """Trans(z d) Rot(z, theta)."""
    c, s = _sincos(theta)
    if c == 1.0:
        return translation((0.0, 0.0, d))
    return Pose(((c, 0.0 - s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, d))


def _sincos(angle: float) -> tuple[float, float]:
    """(cosine, sine), exact at quarter turns: exact zeros vanish from compiled code, rounding errors do not."""
    if not isinstance(angle, (int, float)) or not math.isfinite(angle):
        return math.nan, math.nan  # told by the builder
    c, s = math.cos(angle), math.sin(angle)
    if abs(c) <= DUST * max(1.0, abs(angle)):
        return 0.0, math.copysign(1.0, s)
    if abs(s) <= DUST * max(1.0, abs(angle)):
        return math.copysign(1.0, c), 0.0
    return c, s
