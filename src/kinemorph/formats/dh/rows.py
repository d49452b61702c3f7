"""Rows of a Denavit-Hartenberg table, and the two screw motions, along x and along z, that a row describes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kinemorph.algebra.groups import Pose, compose, translation
from kinemorph.model.body import NO_INERTIA

Convention = Literal["standard", "modified"]
DUST = 4.5e-16  # rounding error of the sine or cosine of a quarter turn


@dataclass(frozen=True)
class Row:
    """A row: a joint and the link that it moves. Angles [rad], lengths [m], mass [kg].

    `com` [m] and `inertia` [kg m^2] about it are in the link's frame. Limits, damping, friction and armature are those
    of `Joint`; None stands for its default.
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
    """The pose of frame i in frame i - 1 at q = 0, where i is the number of the row."""
    turning = row.kind != "prismatic"
    along = screw_z(row.d + (0.0 if turning else row.offset), row.theta + (row.offset if turning else 0.0))
    across = screw_x(row.a, row.alpha)
    return compose(across, along) if convention == "modified" else compose(along, across)


def screw_x(a: float, alpha: float) -> Pose:
    """The screw motion Trans(x a) Rot(x, alpha), with a [m] and alpha [rad]."""
    c, s = _sincos(alpha)
    return Pose(((1.0, 0.0, 0.0), (0.0, c, 0.0 - s), (0.0, s, c)), (a, 0.0, 0.0))


def screw_z(d: float, theta: float) -> Pose:
    """The screw motion Trans(z d) Rot(z, theta), with d [m] and theta [rad]."""
    c, s = _sincos(theta)
    if c == 1.0:
        return translation((0.0, 0.0, d))
    return Pose(((c, 0.0 - s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, d))


def _sincos(angle: float) -> tuple[float, float]:
    """(cosine, sine) of an angle [rad], exact at quarter turns: compiled code has no operations for exact zeros."""
    if not isinstance(angle, (int, float)) or not math.isfinite(angle):
        return math.nan, math.nan  # the builder reports NaN
    c, s = math.cos(angle), math.sin(angle)
    if abs(c) <= DUST * max(1.0, abs(angle)):
        return 0.0, math.copysign(1.0, s)
    if abs(s) <= DUST * max(1.0, abs(angle)):
        return math.copysign(1.0, c), 0.0
    return c, s
