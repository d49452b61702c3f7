"""Laws for tests of implicit forces: ground at z = 0, position control, and springs that nobody has linearized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinemorph.algebra.scalar import less, maximum, sqrt, where
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.steps.point_states import JointState, PointState, point_slope

UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Ground:
    """max(pen, 0) max(k + c rate, 0) along z, and Coulomb friction that is viscous below v_lim."""

    k: float = 1e4  # [N/m]
    c: float = 5e3  # [N s/m^2]
    mu: float = 0.8
    v_lim: float = 0.01  # [m/s]

    def _parts(self, point: PointState) -> Any:
        n, pen = point.into(UP), -point.coordinate(2)
        rise = dot(n, point.velocity)
        hard, slip = self.k - self.c * rise, sub(point.velocity, scale(rise, n))
        stiff, deep = maximum(hard, 0.0), maximum(pen, 0.0)
        normal = deep * stiff
        gamma = self.mu * normal / sqrt(maximum(dot(slip, slip), self.v_lim * self.v_lim))
        return n, pen, hard, stiff, deep, normal, gamma, slip

    def force(self, point: PointState) -> Any:
        n, _, _, _, _, normal, gamma, slip = self._parts(point)
        return sub(scale(normal, n), scale(gamma, slip))

    def linear(self, point: PointState, h: Any) -> Any:
        n, pen, hard, stiff, deep, normal, gamma, slip = self._parts(point)
        slope = where(less(0.0, pen), h * stiff, 0.0) + where(less(0.0, hard), self.c * deep, 0.0)
        grip = h * gamma
        beyond = scale(h * slope - grip, n)
        x, y, z = n
        D = (
            grip + beyond[0] * x,
            beyond[0] * y,
            beyond[0] * z,
            grip + beyond[1] * y,
            beyond[1] * z,
            grip + beyond[2] * z,
        )
        return sub(scale(normal, n), scale(gamma, slip)), D


@dataclass(frozen=True)
class Hold:
    """kp (target - q) - kv v."""

    kp: float = 60.0
    kv: float = 1.5
    target: Any = 0.0
    affine: bool = True

    def force(self, joint: JointState) -> Any:
        return self.kp * (self.target - joint.coordinate("hold")) - self.kv * joint.velocity

    def linear(self, joint: JointState, h: Any) -> Any:
        return self.force(joint), h * (self.kv + h * self.kp)


@dataclass(frozen=True)
class Tether:
    """A stiffening spring to a place of the world, and a drag that grows with speed; slopes by dual numbers."""

    place: tuple[float, float, float] = (0.1, -0.2, 0.3)
    k: float = 300.0
    c: float = 4.0

    def force(self, point: PointState) -> Any:
        away = sub(point.position, self.place)
        pull = scale(-self.k * (1.0 + dot(away, away)), point.into(away))
        return add(pull, scale(-self.c * sqrt(1.0 + dot(point.velocity, point.velocity)), point.velocity))

    def linear(self, point: PointState, h: Any) -> Any:
        return point_slope(self.force, point, h)
