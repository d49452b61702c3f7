"""A rover with rocker-bogie suspension on six driven wheels, as on Mars.

On each side a rocker turns on the chassis. It carries the rear wheel, and a bogie with the middle and the front wheel.
A differential keeps the chassis half-way between the rockers: the right one turns back as far as the left one turns
forward. No springs are needed, and at rest all wheels carry the same load.
"""

from __future__ import annotations

import math

from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.grounds import Ground, Plane
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.references import SplinePath
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.library.wheel_shapes import bar, ridge, wheel_shapes
from kinemorph.model.parameter import Coordinate
from kinemorph.model.shapes import STEEL, Color
from kinemorph.model.system import Element, Settings, System

RADIUS, WIDTH, TRACK = 0.1, 0.06, 0.25  # [m]: of a wheel, and half the distance between left and right wheels
PIVOT, JOINT = 0.28, 0.2  # [m]: the height of the rockers' pivots and of the bogies' pivots
REAR, BOGIE, MIDDLE, FRONT = -0.3, 0.15, 0.0, 0.3  # [m], forward of the rockers' pivots
ACROSS = (0.0, 1.0, 0.0)
FAR = 1e3  # [s], how long the wheels turn on
SIDES = {"left": 1.0, "right": -1.0}
WHEELS = tuple(f"{side}_{place}" for side in SIDES for place in ("rear", "middle", "front"))
BLUE: Color = (0.16, 0.44, 0.64)


def rover(speed: float = 0.2, slope: float = 0.0, bump: float = 0.0, start: float = 0.5) -> System:
    """A rover of 15 kg that drives at `speed` [m/s] up a slope of `slope` [degrees], over a bump at x = 0.

    `bump`      the height of the bump [m], which is as wide as the slope; smooth, and steepest 7 cm from its top
    `start`     the distance of the front wheels to the bump [m]

    Every wheel has a motor of 12 V with a gearbox. With speed 0 the motors hold the wheels: the rover is parked.
    """
    builder = RobotBuilder("rover")
    chassis = Body.box("chassis", 8.0, (0.5, 0.3, 0.16), (0.0, 0.0, 0.05))
    builder.add(chassis)
    builder.joint("root", "free", "world", "chassis")
    for side, sign in SIDES.items():
        y, low = sign * (TRACK - 0.5 * WIDTH - 0.03), JOINT - PIVOT
        hub = RADIUS - PIVOT
        rocker = [bar((0.0, 0.0, 0.0), end, 0.015, STEEL) for end in ((REAR, 0.0, hub), (BOGIE, 0.0, low))]
        bogie = [bar((0.0, 0.0, 0.0), (x - BOGIE, 0.0, RADIUS - JOINT), 0.015, BLUE) for x in (MIDDLE, FRONT)]
        builder.body(f"{side}_rocker", 0.9, com=(-0.05, 0.0, -0.06), inertia=(0.004, 0.02, 0.018), shapes=rocker)
        builder.body(f"{side}_bogie", 0.6, com=(0.0, 0.0, -0.05), inertia=(0.002, 0.008, 0.007), shapes=bogie)
        back = None if side == "left" else -Coordinate("left_rocker", 0.0)  # the differential
        builder.joint(
            *(f"{side}_rocker", "revolute", "chassis", f"{side}_rocker"),
            translation=(0.0, y, 0.0),
            axis=ACROSS,
            damping=1.0 if back is None else None,
            driven=back,
        )
        builder.joint(
            *(f"{side}_bogie", "revolute", f"{side}_rocker", f"{side}_bogie"),
            translation=(BOGIE, 0.0, low),
            axis=ACROSS,
            damping=0.2,
        )
        outward = sign * TRACK - y
        places = {"rear": ("rocker", REAR, PIVOT), "middle": ("bogie", MIDDLE - BOGIE, JOINT)}
        places["front"] = ("bogie", FRONT - BOGIE, JOINT)
        for place, (carrier, x, height) in places.items():
            name = f"{side}_{place}"
            builder.body(f"{name}_wheel", 0.6, inertia=(0.0017, 0.003, 0.0017), shapes=wheel_shapes(RADIUS, WIDTH))
            at = (x, outward, RADIUS - height)
            builder.joint(name, "revolute", f"{side}_{carrier}", f"{name}_wheel", translation=at, axis=ACROSS)
    ground = _ground(slope, bump)
    elements: list[Element] = [_tire(name, ground) for name in WHEELS]
    elements += [_motor(name) for name in WHEELS]
    route = tuple((turns * speed / RADIUS,) * len(WHEELS) for turns in (0.0, 0.5, 1.5, FAR - 0.5))
    elements.append(SplinePath("route", (0.0, 1.0, 2.0, FAR), route, WHEELS, method="monotone"))
    elements.append(PD("drive", joints=WHEELS, drives=tuple(f"{name}_motor" for name in WHEELS), kp=300.0, kd=8.0,
                       reference="route", lower=-12.0, upper=12.0))  # fmt: skip
    tilt = math.radians(slope)
    x, z = -(start + FRONT) if bump else 0.0, PIVOT - 1e-3
    origin = (x * math.cos(tilt) - z * math.sin(tilt), 0.0, x * math.sin(tilt) + z * math.cos(tilt))
    turn = (math.cos(0.5 * tilt), 0.0, -math.sin(0.5 * tilt), 0.0)
    robot = builder.build()
    return System(robot, tuple(elements), Settings(q=(*origin, *turn, *[0.0] * (robot.nq - 7)), time=10.0))


def _ground(slope: float, bump: float) -> Ground:
    tilt = math.radians(slope)
    if bump == 0.0:
        return Plane(normal=(-math.sin(tilt), 0.0, math.cos(tilt)))
    return ridge(bump, 0.07, math.tan(tilt))


def _tire(name: str, ground: Ground) -> Tire:
    """A tire of rubber that 24 N press in by 1.2 mm."""
    return Tire(
        *(f"{name}_tire", f"{name}_wheel", RADIUS, 2e4, 24.0, 480.0, 360.0),
        damping=120.0,
        crown=0.02,
        static=0.9,
        kinetic=0.7,
        slow=5e-4,
        ground=ground,
    )


def _motor(name: str) -> DCMotor:
    """A motor of 12 V and 60 : 1, 3.2 N m at stall and 1.7 turns per second at the wheel."""
    return DCMotor(
        *(f"{name}_motor", name, 4.5, 0.018),
        inertia=1e-6,
        ratio=60.0,
        efficiency=0.8,
        voltage_limit=12.0,
    )
