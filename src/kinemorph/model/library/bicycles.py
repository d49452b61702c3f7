"""Whipple's bicycle: four rigid bodies, two wheels that roll on the ground, and a rider who does not move.

The data are those of the benchmark of Meijaard, Papadopoulos, Ruina and Schwab (Proc. R. Soc. A 463, 2007), whose axes
are x forward, y right, z down. Here x is forward, y left, z up, and the origin is where the rear wheel touches the
ground. Lean and steer have the signs of the benchmark: both are positive toward the right.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.notation import Tdisp, Trotn, Trotx, Troty, Trotz
from kinemorph.errors import ModelError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.constraints.rolling import RollingDisc
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.library.wheel_shapes import bar, between, wheel_shapes
from kinemorph.model.positions.position_builder import PositionBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, ORANGE, STEEL, Shape, Sphere
from kinemorph.model.system import Settings, System
from kinemorph.words import quoted

WHEELBASE, TRAIL, TILT = 1.02, 0.08, math.pi / 10.0  # [m], [m], [rad]: of the steering axis, backward from upright
STEERING = (math.sin(TILT), 0.0, -math.cos(TILT))  # the steering axis, downward: steer is positive toward the right
HEAD = (
    WHEELBASE + TRAIL - 0.8 * math.tan(TILT),
    0.0,
    0.8,
)  # a point of the steering axis, which is at x = w + c, z = 0
FORMS = ("joints", "matrices")
WHEELS = ("discs", "tires")


class Part(NamedTuple):
    """A body of the bicycle: its mass [kg], its center of mass [m] and its inertia [kg m^2], in the upright bicycle."""

    name: str
    mass: float
    at: tuple[float, float, float]
    xx: float
    yy: float
    zz: float
    xz: float = 0.0

    @property
    def inertia(self) -> tuple[tuple[float, float, float], ...]:
        """The inertia about the center of mass, shape (3, 3)."""
        return ((self.xx, 0.0, self.xz), (0.0, self.yy, 0.0), (self.xz, 0.0, self.zz))


REAR = Part("rear_wheel", 2.0, (0.0, 0.0, 0.3), 0.0603, 0.12, 0.0603)
FRAME = Part("frame", 85.0, (0.3, 0.0, 0.9), 9.2, 11.0, 2.8, -2.4)
FORK = Part("fork", 4.0, (0.9, 0.0, 0.7), 0.05892, 0.06, 0.00708, 0.00756)
FRONT = Part("front_wheel", 3.0, (WHEELBASE, 0.0, 0.35), 0.1405, 0.28, 0.1405)

LOADS = {"rear_wheel": 612.8, "front_wheel": 309.3}  # [N], of the wheels at rest
SINK = 4e-3  # [m], of tires under these loads


def whipple_bicycle(speed: float = 4.6, lean_rate: float = 0.0, form: str = "joints", wheels: str = "discs") -> System:
    """Whipple's bicycle at a `speed` [m/s] along x, upright, with a `lean_rate` [rad/s] toward the right.

    `form`      "joints": the frame flies freely, with hinges for the steering and both wheels; or "matrices": every
                body by its position matrix, in the coordinates x, y, z, yaw, lean, pitch, steer, rear and front
    `wheels`    "discs" that roll without slipping (`RollingDisc`), or "tires" with slip, camber and an elastic load
    """
    if form not in FORMS or wheels not in WHEELS:
        raise ModelError(
            f"whipple_bicycle: form is {form!r} and wheels is {wheels!r}, expected one of {quoted(FORMS)} and one of "
            f"{quoted(WHEELS)}."
        )
    robot, centers = _by_joints() if form == "joints" else _by_matrices()
    sunk = SINK if wheels == "tires" else 0.0
    spins = tuple(speed / (part.at[2] - sunk / 3.0) for part in (REAR, FRONT))  # slip is measured at 2/3 of the depth
    place: tuple[float, ...]
    if form == "joints":
        place = (0.0, 0.0, -sunk, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        motion = (speed, 0.0, 0.0, lean_rate, 0.0, 0.0, 0.0, *spins)
    else:
        place = (0.0, 0.0, -sunk, *[0.0] * 6)
        motion = (speed, 0.0, 0.0, 0.0, lean_rate, 0.0, 0.0, *spins)
    ground: list[Any] = []
    for part, center in zip((REAR, FRONT), centers, strict=True):
        name = part.name.replace("wheel", "rolls" if wheels == "discs" else "tire")
        ground.append(_disc(part, name, center) if wheels == "discs" else _tire(part, name, center))
    return System(robot, tuple(ground), Settings(q=place, v=motion, time=5.0))


def _disc(part: Part, name: str, center: tuple[float, float, float]) -> RollingDisc:
    return RollingDisc(name, part.name, part.at[2], center=center)


def _tire(part: Part, name: str, center: tuple[float, float, float]) -> Tire:
    """A narrow tire that the weight on its wheel presses in by SINK."""
    load = LOADS[part.name]
    return Tire(
        *(name, part.name, part.at[2], load / SINK, load, 25.0 * load, 15.0 * load, 1.0 * load),
        damping=0.8 * load,
        crown=0.02,
        center=center,
    )


def _by_joints() -> tuple[Robot, tuple[tuple[float, float, float], ...]]:
    """(robot, centers of the wheels in the axes of their bodies)."""
    builder = RobotBuilder("whipple_bicycle")
    builder.body("frame", FRAME.mass, com=FRAME.at, inertia=FRAME.inertia, shapes=_frame_shapes((0.0, 0.0, 0.0)))
    com = between(HEAD, FORK.at)
    builder.body("fork", FORK.mass, com=com, inertia=FORK.inertia, shapes=_fork_shapes(HEAD))
    for part in (REAR, FRONT):
        builder.body(part.name, part.mass, inertia=part.inertia, shapes=wheel_shapes(part.at[2], 0.03))
    builder.joint("root", "free", "world", "frame")
    builder.joint("steer", "revolute", "frame", "fork", translation=HEAD, axis=STEERING, normalize=True)
    builder.joint("rear", "revolute", "frame", REAR.name, translation=REAR.at, axis=(0.0, 1.0, 0.0))
    builder.joint("front", "revolute", "fork", FRONT.name, translation=between(HEAD, FRONT.at), axis=(0.0, 1.0, 0.0))
    return builder.build(), ((0.0, 0.0, 0.0),) * 2


def _by_matrices() -> tuple[Robot, tuple[tuple[float, float, float], ...]]:
    """(robot, centers of the wheels in the axes of their bodies)."""
    builder = PositionBuilder("whipple_bicycle")
    x, y, z = builder.coordinates("x y z", "m")
    yaw, lean, pitch, steer, rear, front = builder.coordinates("yaw lean pitch steer rear front")
    T0P = Tdisp(x, y, z) * Trotz(yaw) * Trotx(lean) * Troty(pitch)
    T0H = T0P * Tdisp(*HEAD) * Trotn(STEERING, steer)
    places = {
        FRAME: T0P * Tdisp(*FRAME.at),
        FORK: T0H * Tdisp(*between(HEAD, FORK.at)),
        REAR: T0P * Tdisp(*REAR.at) * Troty(rear),
        FRONT: T0H * Tdisp(*between(HEAD, FRONT.at)) * Troty(front),
    }
    shapes = {FRAME: _frame_shapes(FRAME.at), FORK: _fork_shapes(FORK.at), REAR: wheel_shapes(REAR.at[2], 0.03)}
    shapes[FRONT] = wheel_shapes(FRONT.at[2], 0.03)
    for part, T0G in places.items():
        builder.body(part.name, part.mass, part.inertia, T0G=T0G, shapes=shapes[part])
    return builder.build(), ((0.0, 0.0, 0.0),) * 2


# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _frame_shapes(origin: Any) -> list[Shape]:
    seat, crank, head, low = (0.22, 0.0, 0.75), (0.42, 0.0, 0.27), (0.83, 0.0, 0.84), (0.85, 0.0, 0.76)
    hip, neck = (0.2, 0.0, 0.85), (0.42, 0.0, 1.32)
    bars = [(REAR.at, crank), (REAR.at, seat), (crank, seat), (crank, low), (seat, head)]
    rider = [(hip, neck, 0.1), (neck, (0.75, 0.0, 1.02), 0.04), (hip, (0.6, 0.0, 0.65), 0.06)]
    shapes: list[Shape] = [bar(between(origin, a), between(origin, b), 0.018, ORANGE) for a, b in bars]
    shapes += [bar(between(origin, a), between(origin, b), radius, STEEL) for a, b, radius in rider]
    shapes.append(bar(between(origin, (0.6, 0.0, 0.65)), between(origin, (0.45, 0.0, 0.2)), 0.045, STEEL))
    shapes.append(Sphere(0.11, Pose(IDENTITY.R, between(origin, (0.5, 0.0, 1.52))), STEEL))
    return shapes


def _fork_shapes(origin: Any) -> list[Shape]:
    up = (HEAD[0] - 0.2 * STEERING[0], 0.0, HEAD[2] - 0.2 * STEERING[2])
    left, right = (up[0], 0.25, up[2]), (up[0], -0.25, up[2])
    bars = ((FRONT.at, HEAD), (HEAD, up), (left, right))
    return [bar(between(origin, a), between(origin, b), 0.016, GRAPHITE) for a, b in bars]
