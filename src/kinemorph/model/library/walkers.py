"""A machine that walks: Jansen's legs in pairs on one crankshaft, with feet on the ground and a motor that turns it.

The trunk moves in the vertical plane, as that of a broad machine does; legs side by side only keep out of each other's
way. Each throw of the crankshaft drives a leg behind and a leg ahead, the mirror image of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelError
from kinemorph.model.body import STANDING
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.control.controllers import PID
from kinemorph.model.library.bars import HINGE, SLENDER, Link, Point, bar_shapes, linkage, positive, size
from kinemorph.model.library.walking_linkages import Leg, jansen_leg
from kinemorph.model.shapes import GRAPHITE, ORANGE, Capsule, Color, Cylinder, Shape
from kinemorph.model.system import Settings, System

COLORS: tuple[Color, ...] = (ORANGE, (0.16, 0.44, 0.64), (0.36, 0.60, 0.32))  # of the legs of a throw
PALE: Color = (0.70, 0.73, 0.76)  # of single bars
UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # x forward, y up: the plane in which the trunk moves
ACROSS = STANDING["y"]


def jansen_walker(
    throws: int = 3,
    speed: float = 4.0,
    mass: float = 2.0,
    scale: float = 0.476 / 91.8,
    density: float = 0.15,
    friction: float = 0.8,
) -> System:
    """A walker of `throws` pairs of Jansen legs, whose crankshaft a speed controller turns at `speed` [rad/s].

    It walks toward +x where the speed is above 0. `mass` [kg] is that of trunk and motor; `scale` and `density` are
    those of `jansen`, `friction` the coefficient of feet on the ground. Throws are evenly spaced round the crankshaft:
    with three somebody always stands. Coordinates of the trunk are trunk.x (forward), trunk.y (up) and trunk.theta
    (pitch, nose up); feet are frames and contacts, "back1_foot", "front1_foot", ...
    """
    positive("jansen_walker", "mass", (mass,), 1)
    if throws < 2:
        raise ModelError(f"jansen_walker: throws is {throws}, expected 2 or more. With fewer it falls over.")
    legs: dict[str, Leg] = {}
    for k in range(throws):
        for name, mirrored in (("back", False), ("front", True)):
            legs[f"{name}{k + 1}"] = jansen_leg(
                scale,
                density,
                2.0 * math.pi * k / throws,
                frame="trunk",
                prefix=f"{name}{k + 1}_",
                mirrored=mirrored,
                colors=(COLORS[k % len(COLORS)],) * 2,
            )
    points = legs["back1"].points
    radius = SLENDER * size(points.values())
    planes = [8.0 * radius * (k - 0.5 * (throws - 1)) for k in range(throws)]
    width, span = planes[-1] - planes[0] + 10.0 * radius, 2.0 * abs(points["B"][0])
    throw = math.dist(points["O"], points["M"])
    builder = RobotBuilder("jansen_walker")
    builder.body("trunk", mass, inertia=_cuboid(mass, span, width, throw), shapes=_frame(points, width, radius))
    shaft = 2.0 * density * throws * throw
    pins = [leg.points for name, leg in legs.items() if name.startswith("back")]
    shapes = [shape for y, at in zip(planes, pins, strict=True) for shape in _throw(at, y, radius)]
    builder.body("crank", shaft, inertia=_cuboid(shaft, throw, width, throw), shapes=shapes)
    builder.joint("trunk", "planar", "world", "trunk", rotation=UPRIGHT, child_placement=Pose(UPRIGHT, (0.0, 0.0, 0.0)))
    builder.joint("crank", "revolute", "trunk", "crank", axis=HINGE)
    soil, slip = EasyDynNormal(2e4, 1e5), Regularized(friction, 0.01)
    feet = []
    for name, leg in legs.items():
        # bars of one pair lie side by side
        plane = planes[int(name[-1]) - 1] + (radius if name.startswith("front") else -radius)
        fixed = {"trunk": points["O"], "crank": points["O"]}
        links = [link if link.bars.count("-") > 1 else link._replace(color=PALE) for link in leg.links]
        linkage(builder, leg.points, links, leg.hinges, carriers=fixed, plane=plane)
        builder.frame(f"{name}_foot", f"{name}_leg", translation=leg.foot)
        feet.append(Contact(f"{name}_foot", f"{name}_foot", soil, slip, radius=radius))
    robot = builder.build()
    drive = PID("drive", reads=("v.crank",), drives=("crank",), reference=(-speed,), kp=(2.0,), ki=(20.0,))
    height = radius - min(leg.points["P5"][1] for leg in legs.values())
    start = (0.0, height, *[0.0] * (robot.nq - 2))
    return System(robot, (*feet, drive), Settings(q=start, duration=10.0))


def _cuboid(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Principal moments [kg m^2] of a uniform cuboid."""
    return mass / 12.0 * (y * y + z * z), mass / 12.0 * (x * x + z * z), mass / 12.0 * (x * x + y * y)


def _frame(points: dict[str, Point], width: float, radius: float) -> list[Shape]:
    """A cheek of bars at each side, tubes across at the pivots, the motor at the end of the crankshaft."""
    (x, z), O = points["B"], points["O"]
    cheek = Link("cheek", "O-B-F-O", 1.0, GRAPHITE)
    shapes: list[Shape] = []
    for side in (-0.5 * width, 0.5 * width):
        for bar in bar_shapes(cheek, {"O": O, "B": (x, z), "F": (-x, z)}, radius):
            pose = bar.placement
            shapes.append(Capsule(radius, bar.length, Pose(pose.R, (pose.p[0], side, pose.p[2])), GRAPHITE))
    for pivot in ((x, z), (-x, z), O):
        shapes.append(Cylinder(0.8 * radius, width, Pose(ACROSS, (pivot[0], 0.0, pivot[1])), GRAPHITE))
    motor = Pose(ACROSS, (0.0, 0.5 * width + 4.0 * radius, 0.0))
    return [*shapes, Cylinder(3.0 * radius, 6.0 * radius, motor, GRAPHITE)]


def _throw(points: dict[str, Point], y: float, radius: float) -> Iterable[Shape]:
    """Two webs and the pin of one throw of the crankshaft."""
    for side in (y - 3.0 * radius, y + 3.0 * radius):
        (web,) = bar_shapes(Link("web", "O-M", 1.0), points, 1.3 * radius)
        yield Capsule(web.radius, web.length, Pose(web.placement.R, (web.placement.p[0], side, web.placement.p[2])))
    x, z = points["M"]
    yield Cylinder(radius, 7.0 * radius, Pose(ACROSS, (x, y, z)))
