"""A bicycle with sprung wheels that moves in the vertical plane, on tires, over a bump."""

from __future__ import annotations

from kinemorph.algebra.groups import Pose
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.forces.joint_forces import TorsionSpring
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.library.wheel_shapes import bar, ridge, wheel_shapes
from kinemorph.model.shapes import GRAPHITE, ORANGE, STEEL, Sphere
from kinemorph.model.system import Settings, System

RADIUS, BASE = 0.33, 1.04  # [m]: of a wheel, and the distance of the wheels
STIFFNESS, DAMPING = 15e3, 900.0  # [N/m], [N s/m], of the suspension of a wheel
LOADS = {"rear": 0.0, "front": BASE}  # the wheels, and where they are [m]
UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # frame of the planar joint: x forward, y up


def planar_bike(speed: float = 5.0, bump: float = 0.08, start: float = 2.0) -> System:
    """A bicycle of 90 kg that coasts at `speed` [m/s] over a bump of height `bump` [m] at x = 0.

    It stays in the vertical plane. The rear wheel is `start` [m] before the bump at first. The coordinates are body.x
    (forward), body.y (up), body.theta (positive nose up), the travel of both suspensions and the turn of both wheels.
    """
    builder = RobotBuilder("planar_bike")
    hip, neck = (0.38, 0.0, 0.75), (0.55, 0.0, 1.2)
    bars = [
        ((0.0, 0.0, 0.15), (0.4, 0.0, 0.6)),
        ((0.0, 0.0, 0.15), (0.42, 0.0, 0.0)),
        ((0.4, 0.0, 0.6), (0.42, 0.0, 0.0)),
    ]
    bars += [
        ((0.42, 0.0, 0.0), (0.92, 0.0, 0.5)),
        ((0.4, 0.0, 0.6), (0.92, 0.0, 0.5)),
        ((0.9, 0.0, 0.75), (BASE, 0.0, 0.2)),
    ]
    shapes = [
        *(bar(a, b, 0.02, ORANGE) for a, b in bars),
        bar(hip, neck, 0.1, STEEL),
        bar(neck, (0.9, 0.0, 0.8), 0.04, STEEL),
    ]
    head = Sphere(0.11, Pose(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.62, 0.0, 1.4)), STEEL)
    builder.body("frame", 84.0, com=(0.47, 0.0, 0.7), inertia=(10.0, 11.0, 3.0), shapes=[*shapes, head])
    builder.joint("body", "planar", "world", "frame", rotation=UPRIGHT, child_placement=Pose(UPRIGHT, (0.0, 0.0, 0.0)))
    elements: list[TorsionSpring | Tire] = []
    ground = ridge(bump, 0.15)
    for name, x in LOADS.items():
        fork = bar((0.0, 0.0, 0.0), (0.0, 0.0, 0.2), 0.025, GRAPHITE)
        builder.body(f"{name}_fork", 1.0, inertia=(0.01, 0.01, 0.001), shapes=[fork])
        builder.body(f"{name}_wheel", 2.0, inertia=(0.11, 0.2, 0.11), shapes=wheel_shapes(RADIUS, 0.05))
        builder.joint(
            f"{name}_travel", "prismatic", "frame", f"{name}_fork", translation=(x, 0.0, 0.0), axis=(0.0, 0.0, 1.0)
        )
        builder.joint(name, "revolute", f"{name}_fork", f"{name}_wheel", axis=(0.0, 1.0, 0.0))
        preload = -9.81 * 42.0 / STIFFNESS  # so that the wheels are near the middle of their travel
        elements.append(TorsionSpring(f"{name}_spring", f"{name}_travel", STIFFNESS, preload, DAMPING))
        elements.append(
            Tire(
                *(f"{name}_tire", f"{name}_wheel", RADIUS, 1.2e5, 440.0, 9e3, 6e3),
                damping=600.0,
                crown=0.025,
                ground=ground,
            )
        )
    spin = speed / RADIUS
    q = (-start, RADIUS - 3.7e-3, *[0.0] * 5)
    v = (speed, 0.0, 0.0, 0.0, spin, 0.0, spin)  # of the frame, and of the travel and the turn of each wheel
    return System(builder.build(), tuple(elements), Settings(q=q, v=v, time=3.0))
