"""A walking machine: pairs of Jansen legs on one crankshaft with a motor, and contacts of the feet with the ground.

The trunk moves only in the vertical plane, like a wide machine that does not tip sideways. Each crank throw of the
crankshaft drives a rear leg and a front leg, its mirror image. The pairs are beside each other along y.
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

COLORS: tuple[Color, ...] = (ORANGE, (0.16, 0.44, 0.64), (0.36, 0.60, 0.32))  # of the legs of each throw
PALE: Color = (0.70, 0.73, 0.76)  # of links that are single bars
UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # frame of the trunk's planar joint: x forward, y up
ACROSS = STANDING["y"]
MOST_THROWS = 100  # pairs of legs


def jansen_walker(
    throws: int = 3,
    speed: float = 4.0,
    mass: float = 2.0,
    scale: float = 0.476 / 91.8,
    density: float = 0.15,
    friction: float = 0.8,
) -> System:
    """A walker with `throws` pairs of Jansen legs; a controller turns its crankshaft at `speed` [rad/s].

    It walks toward +x if the speed is positive. `mass` [kg] is that of trunk and motor; `scale` and `density` are those
    of `jansen`, `friction` is the friction coefficient of the feet. The crank throws are evenly spaced around the
    crankshaft; with three of them, some feet are always on the ground. The coordinates of the trunk are trunk.x
    (forward), trunk.y (up) and trunk.theta (pitch, positive nose up). Feet are frames and contacts, "back1_foot",
    "front1_foot", ...
    """
    positive("jansen_walker", "mass", (mass,), 1)
    if not 2 <= throws <= MOST_THROWS:
        raise ModelError(
            f"jansen_walker: throws is {throws}, expected 2 to {MOST_THROWS}: one pair of legs falls over, and so many "
            "legs take minutes to make."
        )
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
        # the bars of the two legs of a pair are side by side
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
    return System(robot, (*feet, drive), Settings(q=start, time=10.0))


def _cuboid(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The principal moments of inertia [kg m^2] of a uniform cuboid with edge lengths x, y, z [m]."""
    return mass / 12.0 * (y * y + z * z), mass / 12.0 * (x * x + z * z), mass / 12.0 * (x * x + y * y)


def _frame(points: dict[str, Point], width: float, radius: float) -> list[Shape]:
    """The shapes of the trunk: a frame of bars on each side, cross tubes at the pivots, and the motor."""
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
    """The shapes of one throw of the crankshaft: two crank arms and the crank pin, around the plane y [m]."""
    for side in (y - 3.0 * radius, y + 3.0 * radius):
        (web,) = bar_shapes(Link("web", "O-M", 1.0), points, 1.3 * radius)
        yield Capsule(web.radius, web.length, Pose(web.placement.R, (web.placement.p[0], side, web.placement.p[2])))
    x, z = points["M"]
    yield Cylinder(radius, 7.0 * radius, Pose(ACROSS, (x, y, z)))
