"""The built-in module types and their data.

    backbone()      B   two halves joined by a hinge; ports 4, 5 on the rear half, 2, 3 on the front half
    scout()         S   the same hinge; port 3 on a plate that turns about its own normal
    active_wheel()  W   three cells long; ports 2 and 5 at its ends, a hinge for lifting, two driven wheels
    cube()          L   a rigid cube with six ports, Chen and Yang's link module; K for the small cube

Backbone and Scout are modules of the SYMBRION and REPLICATOR projects (Meister and Gutenkunst); the papers do not say
which ports are on which half. Here the halves of a Backbone are equal: half a turn about z exchanges them. Most of the
mass is at the hinge, so the center of mass of each half is at the middle of the module. Sizes, masses and motor data
are assumed: pitch 0.105 m, 1.0 and 1.1 kg, 7 N m, 3 rad/s, 0.05 N m s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from numbers import Real
from typing import Any, TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.errors import ModelError, Problem
from kinemorph.model.body import Body, diagonal
from kinemorph.model.joint import Joint
from kinemorph.model.modules.cube_shapes import SILVER, half_cube, module_cube, plate_of
from kinemorph.model.modules.module_types import JointModule, ModuleType, Port, side_port
from kinemorph.model.parameter import Symbolic
from kinemorph.model.shapes import GRAPHITE, STEEL, Box, Color, Cylinder, Shape

Types: TypeAlias = Mapping[str, ModuleType] | Iterable[ModuleType] | ModuleType | None

PITCH = 0.105  # [m]
EFFORT, SPEED, DAMPING = 7.0, 3.0, 0.05  # of hinges: [N m], [rad/s], [N m s]
RIGHT = math.pi / 2.0
BLUE: Color = (0.45, 0.56, 0.69)
SAND: Color = (0.80, 0.72, 0.58)

REVOLUTE = JointModule("revolute", "R", lower=-math.pi, upper=math.pi, velocity=SPEED, effort=EFFORT, damping=DAMPING)
PRISMATIC = JointModule("prismatic", "P", lower=0.0, upper=0.1, velocity=0.2, effort=100.0, damping=1.0)
JOINT_MODULES = {"revolute": REVOLUTE, "prismatic": PRISMATIC}


def backbone(*, mass: float = 1.0, pitch: float = PITCH, inertia: float | None = None) -> ModuleType:
    """A Backbone: two equal halves joined by a hinge that bends from -90 to 90 degrees.

    `mass` [kg] and `inertia` [kg m^2] about each axis are those of the whole module; the default inertia is half that
    of a uniform cube. `pitch` [m] is the distance to the next module beside it.
    """
    _check_numbers("Backbone", mass=mass, pitch=pitch, inertia=0.0 if inertia is None else inertia)
    moment = mass * pitch * pitch / 12.0 if inertia is None else inertia
    rear, front = _halves(mass, moment, pitch, SILVER, ((4, 5), (2, 3)))
    return ModuleType(
        "Backbone",
        "B",
        (rear, front),
        (_hinge("hinge"),),
        _ports(pitch, {"rear": (4, 5), "front": (2, 3)}),
        pitch,
        hinge="hinge",
    )


def scout(
    *, mass: float = 0.9, plate_mass: float = 0.2, pitch: float = PITCH, inertia: float | None = None
) -> ModuleType:
    """A Scout: the hinge of a Backbone, and a docking plate on side 3 that turns from -180 to 180 degrees.

    `mass` [kg] and `inertia` [kg m^2] about each axis are those of both halves together, `plate_mass` [kg] that of the
    plate. The plate turns about its normal. `pitch` [m] is the distance to the next module beside it.
    """
    given = {"mass": mass, "plate_mass": plate_mass, "pitch": pitch, "inertia": 0.0 if inertia is None else inertia}
    _check_numbers("Scout", **given)
    moment = mass * pitch * pitch / 12.0 if inertia is None else inertia
    rear, front = _halves(mass, moment, pitch, BLUE, ((4, 5), (2,)))
    radius, x = pitch / 3.0, 0.46 * pitch
    across, along = plate_mass * radius * radius / 4.0, plate_mass * radius * radius / 2.0
    plate = Body("plate", plate_mass, (x, 0.0, 0.0), diagonal(along, across, across), plate_of(3, pitch))
    turn = Joint(
        "dock", "revolute", "front", "plate", axis=(1.0, 0.0, 0.0), lower=(-math.pi,), upper=(math.pi,),
        velocity=(SPEED,), effort=(EFFORT,), damping=(DAMPING,),
    )  # fmt: skip
    return ModuleType(
        "Scout",
        "S",
        (rear, front, plate),
        (_hinge("hinge"), turn),
        _ports(pitch, {"rear": (4, 5), "front": (2,), "plate": (3,)}),
        pitch,
        hinge="hinge",
    )


def active_wheel(
    *,
    mass: float = 1.3,
    wheel_mass: float = 0.15,
    radius: float = 0.05,
    tread: float = 0.25,
    pitch: float = PITCH,
) -> ModuleType:
    """An Active Wheel: three cells along y, ports 2 and 5 at its ends, a hinge about y and two driven wheels.

    `mass` [kg] is that of both halves together, `wheel_mass` [kg] that of one wheel of `radius` [m]. The wheels are
    `tread` [m] apart. `pitch` [m] is the edge length of a cell.
    """
    _check_numbers("Active Wheel", mass=mass, wheel_mass=wheel_mass, radius=radius, tread=tread, pitch=pitch)
    half, width = 0.5 * mass, 0.02
    edges = (0.6 * pitch, 1.4 * pitch, 0.5 * pitch)
    parts, joints, ports = [], [_hinge("hinge", ("left", "right"))], []
    for name, side, sign in (("left", 2, -1.0), ("right", 5, 1.0)):
        middle = (0.0, sign * 0.75 * pitch, 0.0)
        solid = Body.box(name, half, edges, middle)
        shapes: tuple[Shape, ...] = (Box(edges, Pose(IDENTITY.R, middle), SAND), *plate_of(side, pitch, 1.5 * pitch))
        parts.append(Body(name, half, middle, solid.inertia, shapes))
        ports.append(side_port(side, name, 1.5 * pitch))
    for name, half_name, sign in (("left_wheel", "left", -1.0), ("right_wheel", "right", 1.0)):
        round_one = Body.cylinder(name, wheel_mass, radius, width, axis="y")
        tire = Cylinder(radius, width, round_one.shapes[0].placement, GRAPHITE)
        hub = Cylinder(0.5 * radius, 1.1 * width, round_one.shapes[0].placement, STEEL)
        parts.append(Body(name, wheel_mass, round_one.com, round_one.inertia, (tire, hub)))
        place = Pose(IDENTITY.R, (0.0, sign * 0.5 * tread, 0.0))
        joints.append(
            Joint(
                name,
                "revolute",
                half_name,
                name,
                place,
                axis=(0.0, 1.0, 0.0),
                velocity=(20.0,),
                effort=(1.0,),
                damping=(0.01,),
            )
        )
    return ModuleType("Active Wheel", "W", tuple(parts), tuple(joints), tuple(ports), pitch, (1, 3, 1), hinge="hinge")


def cube(size: str = "large") -> ModuleType:
    """A rigid cube with six ports, the link module of Chen and Yang's kits.

    `size` is "large" (0.10 m, 1.5 kg) or "small" (0.05 m, 0.5 kg). The joints are between two cubes: dock them with
    joint="revolute" or "prismatic".
    """
    if size not in CUBES:
        raise ModelError(f"the size of the cube is {size!r}; expected 'large' or 'small'.")
    letter, pitch, mass = CUBES[size]
    moment = mass * pitch * pitch / 6.0
    sides = (1, 2, 3, 4, 5, 6)
    looks = module_cube(pitch, color=SAND if size == "large" else BLUE, ports=sides, front=None)
    body = Body("cube", mass, (0.0, 0.0, 0.0), diagonal(moment, moment, moment), looks)
    return ModuleType(f"{size} cube", letter, (body,), (), _ports(pitch, {"cube": sides}), pitch)


def _check_numbers(kind: str, **data: Any) -> None:
    """Raises ModelError if a value is not a number; `kind` is the name of the module type."""
    wrong = {name: value for name, value in data.items() if not isinstance(value, (Real, Symbolic))}
    if wrong:
        about = partial(Problem, "module type", kind)
        raise ModelError(
            [about(f"{k} is {x!r}; expected a number in SI units", "Give a number.", k) for k, x in wrong.items()]
        )


CUBES = {"large": ("L", 0.10, 1.5), "small": ("K", 0.05, 0.5)}  # letter, edge [m], mass [kg]


# module types by their names in files
KINDS: dict[str, Callable[..., ModuleType]] = {
    "backbone": backbone,
    "scout": scout,
    "active_wheel": active_wheel,
    "cube": cube,
}


def standard_types() -> dict[str, ModuleType]:
    """The built-in module types by letter, as used in grids and lists."""
    return {kind.letter: kind for kind in _standard_kinds()}


@cache
def _standard_kinds() -> tuple[ModuleType, ...]:
    # cached, because checking this data takes tens of milliseconds
    return (backbone(), scout(), active_wheel(), cube("large"), cube("small"))


def known_types(types: Types = None) -> dict[str, ModuleType]:
    """Module types by letter: the built-in ones and the given ones; a given type replaces one of the same letter."""
    given = (
        [types]
        if isinstance(types, ModuleType)
        else list(types.values() if isinstance(types, Mapping) else types or ())
    )
    wrong = [kind for kind in given if not isinstance(kind, ModuleType)]
    if wrong:
        raise ModelError(f"types contains {wrong[0]!r}; expected a ModuleType, such as backbone(mass=1.2).")
    letters = types if isinstance(types, Mapping) else [kind.letter for kind in given]
    return standard_types() | dict(zip(letters, given, strict=True))


def _hinge(name: str, parts: tuple[str, str] = ("rear", "front")) -> Joint:
    return Joint(
        name, "revolute", *parts, axis=(0.0, 1.0, 0.0), lower=(-RIGHT,), upper=(RIGHT,), velocity=(SPEED,),
        effort=(EFFORT,), damping=(DAMPING,),
    )  # fmt: skip


def _halves(
    mass: float, moment: float, pitch: float, color: Color, sides: tuple[Sequence[int], Sequence[int]]
) -> tuple[Body, Body]:
    """The rear and the front half of a module, with their centers of mass at the middle of the module.

    `mass` [kg] and `moment` of inertia [kg m^2] are those of the whole module; `pitch` [m] is its edge; `sides` are the
    numbers of the ports of the rear half and of the front half.
    """
    rear, front = (
        Body(
            name,
            0.5 * mass,
            (0.0, 0.0, 0.0),
            diagonal(0.5 * moment, 0.5 * moment, 0.5 * moment),
            half_cube(pitch, sign, ports, color=color),
        )
        for name, sign, ports in (("rear", -1.0, sides[0]), ("front", 1.0, sides[1]))
    )
    return rear, front


def _ports(pitch: float, sides: dict[str, tuple[int, ...]]) -> tuple[Port, ...]:
    """The ports on the sides of a cube, in the order of their numbers; `sides` gives the sides of each body."""
    carried = {side: body for body, own in sides.items() for side in own}
    return tuple(side_port(side, carried[side], 0.5 * pitch) for side in sorted(carried))
