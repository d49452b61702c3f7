"""The problems of `kinemorph bench rigid`: bodies in the vertical plane with points that touch, and exact motions.

ball     a ball that slides with backspin, then rolls. In closed form: the slip decreases by 7/2 mu g, then stays 0.
block    a block of 1:3 that rocks from 0.1 rad; each impact keeps 0.85 of its rate (Housner). Exact: our event-driven
         run at a tolerance of 1e-12, to which the time-stepping methods converge.
stack    three cubes that rest on each other. Exact: nothing moves.
rod      Painleve's rod: it slides at mu = 2, has no possible force, and takes an impact without collision. Exact: as
         for the block. The overlap of 1e-9 m after which the impact happens limits what is known to some 1e-9.

The configuration of each body is (x, z, pitch), the pitch positive from z to x; the numbers that are compared are those
of all bodies at five times, in m and rad.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Anchor, Coulomb, EasyDynNormal, Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.library.walkers.planar import turning
from kinemorph.model.system import Settings, System
from kinemorph.simulation.simulate import simulate

G = 9.81  # [m/s^2]
SAMPLES = 5
BALL = {"radius": 0.1, "speed": 1.0, "spin": -20.0}  # [m], [m/s], [rad/s]
TILT = 0.1  # [rad] of the block
STIFF = 1e6  # [N/m] of soft contacts that stand for rigid ones


class Point(NamedTuple):
    """A point of a body that may touch: (x, z) [m] in its axes, with a radius [m], on a plane.

    The plane is the ground, or the top of the body with the index `on`, at the height `top` [m] in its axes.
    """

    body: int
    x: float
    z: float
    radius: float = 0.0
    on: int | None = None
    top: float = 0.0


@dataclass(frozen=True, eq=False)
class Problem:
    """Bodies (mass [kg], inertia [kg m^2]) in the plane, their points, and their state at the start."""

    name: str
    bodies: tuple[tuple[float, float], ...]
    points: tuple[Point, ...]
    q: tuple[float, ...]
    v: tuple[float, ...]
    mu: float
    end: float  # [s]

    @property
    def times(self) -> Array:
        """The times [s] at which configurations are compared."""
        return self.end * np.arange(1, SAMPLES + 1) / SAMPLES

    def system(self, *, soft: bool = False) -> System:
        """The problem as a system, with rigid contacts, or with soft ones that are as stiff as `STIFF`."""
        builder, contacts = RobotBuilder(self.name, gravity=(0.0, 0.0, -G)), []
        for k, (mass, inertia) in enumerate(self.bodies):
            moments = ((inertia, 0.0, 0.0), (0.0, inertia, 0.0), (0.0, 0.0, inertia))
            builder.add(Body(f"b{k}", mass, (0.0, 0.0, 0.0), moments))
            turning(builder, f"b{k}", f"b{k}_")
        for k, point in enumerate(self.points):
            ground = Plane() if point.on is None else Plane(point=(0.0, 0.0, point.top), on=f"b{point.on}")
            grip = Anchor(self.mu, self.mu, STIFF, 2.0 * math.sqrt(STIFF)) if soft else Coulomb(self.mu)
            normal = EasyDynNormal(STIFF, 2.0 * math.sqrt(STIFF)) if soft else Rigid()
            at = (point.x, 0.0, point.z)
            contacts.append(Contact(f"p{k}", f"b{point.body}", normal, grip, ground, point=at, radius=point.radius))
        return System(builder.build(), tuple(contacts), Settings(q=self.q, v=self.v))

    def exact(self) -> Array:
        """The configurations at `times`, shape (samples, 3 bodies)."""
        if self.name == "ball":
            return _rolled(self.times, self.mu)
        if self.name == "stack":
            return np.tile(np.array(self.q), (SAMPLES, 1))
        run = simulate(self.system(), self.end, output_step=self.times.tolist(), rtol=1e-12, atol=1e-13)
        return np.array([run.q[np.flatnonzero(run.t == t)[-1]] for t in self.times])


def _rolled(t: Array, mu: float) -> Array:
    """The motion of the ball: it slides at constant acceleration until its slip is 0, then it rolls."""
    R, v, spin = BALL["radius"], BALL["speed"], BALL["spin"]
    rolls = (v - R * spin) / (3.5 * mu * G)
    sliding, rolling = np.minimum(t, rolls), np.maximum(t - rolls, 0.0)
    x = v * sliding - 0.5 * mu * G * sliding**2 + (v - mu * G * rolls) * rolling
    faster = 2.5 * mu * G / R
    turned = spin * sliding + 0.5 * faster * sliding**2 + (spin + faster * rolls) * rolling
    return np.stack([x, np.full_like(t, R), turned], axis=1)


def problems() -> list[Problem]:
    """All problems."""
    R, w, h, side = BALL["radius"], 1.0, 3.0, 0.2
    c, s = math.cos(TILT), math.sin(TILT)
    tilted = (0.5 * (w - w * c + h * s), 0.5 * (w * s + h * c), TILT)
    cube = (1.0, side**2 / 6.0)
    feet = [
        Point(k, x, -0.5 * side, on=k - 1 if k else None, top=0.5 * side)
        for k in range(3)
        for x in (-0.5 * side, 0.5 * side)
    ]
    pitch = 0.5 * math.pi - 1.0
    stacked = [number for k in range(3) for number in (0.0, (k + 0.5) * side, 0.0)]
    return [
        Problem(
            "ball",
            ((1.0, 0.4 * R**2),),
            (Point(0, 0.0, 0.0, R),),
            (0.0, R, 0.0),
            (BALL["speed"], 0.0, BALL["spin"]),
            0.3,
            1.0,
        ),
        Problem(
            "block",
            ((1.0, (w**2 + h**2) / 12.0),),
            (Point(0, -0.5 * w, -0.5 * h), Point(0, 0.5 * w, -0.5 * h)),
            tilted,
            (0.0,) * 3,
            0.8,
            2.0,
        ),
        Problem("stack", (cube,) * 3, tuple(feet), tuple(stacked), (0.0,) * 9, 0.5, 1.0),
        Problem(
            "rod",
            ((1.0, 1.0 / 3.0),),
            (Point(0, 0.0, -1.0),),
            (0.0, math.cos(pitch), pitch),
            (-1.0, 0.0, 0.0),
            2.0,
            0.2,
        ),
    ]
