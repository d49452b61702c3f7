"""`contacts`: contacts of a robot with the ground, from its collision shapes and what its file says of touching.

The ground is that of the file: its half spaces and terrains, on bodies that do not move. Without them it is the plane
z = 0 if the settings of the system say so, or nothing and the robot has a free base. An MJCF file, a whole scene, says
that there is none. A shape touches a ground unless their groups exclude it.

Laws are, in this order, those that are given, those of the file, and the defaults of this file: a normal force by which
a contact that carries a quarter of the robot's weight rests REST deep, and the friction FRICTION.

Spheres and capsules become contacts with a radius, other solids contacts with a shape. A mesh touches with the corners
of its convex hull, of which as few are kept as describe it within the tolerance. On planes, what is hidden inside other
shapes of the same rigid part is left out (`outer_shapes`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, act, compose, inverse
from kinemorph.algebra.vectors import add, matvec, scale
from kinemorph.errors import GroundWarning, MissingExtraError, ModelError, users_level
from kinemorph.model.body import Body
from kinemorph.model.elements.contact.contact_laws import Coulomb, Friction, HuntCrossley, Normal, Regularized, Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Ground, HeightMap, Plane
from kinemorph.model.elements.contact.outer_shapes import extent, hidden
from kinemorph.model.elements.contact.unstopped import stopped_bodies
from kinemorph.model.hulls import hull_points
from kinemorph.model.meshes import hull_of_file
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import (
    Capsule,
    HalfSpace,
    Line,
    Mesh,
    MeshFile,
    Shape,
    Sphere,
    Surface,
    Terrain,
    Triangle,
)
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.words import counted, did_you_mean, quoted

REST = 1e-4  # [m]: depth at which a contact rests that carries a quarter of the weight, by the default normal force
LOSS = 2.0  # [s/m], the damping of the default normal force
FRICTION = 1.0  # the default coefficient of friction, that of MuJoCo
DEEP = 5e-3  # [m]: shapes that are deeper than this inside their rigid part get no contact with a plane
EARTH = 9.81  # [m/s^2], where a robot has no gravity
LEVEL = 1e-9  # largest error of the axes of a terrain


class _Floor(NamedTuple):
    """A ground of the file, with the surface that it has there."""

    ground: Ground
    surface: Surface


def contacts(
    system: System | Robot,
    normal: Normal | None = None,
    friction: Friction | float | None = None,
    *,
    ground: Ground | None = None,
    bodies: Iterable[str] | None = None,
    tolerance: float | None = None,
) -> tuple[Contact, ...]:
    """Contacts with the ground, one for each collision shape of each body that moves; see the top of this file.

    `normal`       the law of normal forces of all contacts, instead of those of the file
    `friction`     the law of friction of all contacts, or a coefficient, instead of those of the file
    `ground`       the ground, instead of that of the file
    `bodies`       only for the bodies with these names
    `tolerance`    [m], the most by which the hull of a mesh may differ; default: 1 % of its size, but at least 1 mm

    Bodies that an element of the system stops already, such as a contact, are left out, with a warning. Without a
    ground there are no contacts.
    """
    robot, elements = (system.robot, system.elements) if isinstance(system, System) else (system, ())
    named = _known(robot, bodies)
    floors = [_Floor(ground, Surface())] if ground is not None else _floors(system)
    held = {body.name for body in robot.bodies if fixed_pose(robot, body.name) is not None}
    stopped = stopped_bodies(robot, elements)
    wanted = [
        body for body in robot.bodies if body.collisions and body.name not in held and (not named or body.name in named)
    ]
    if floors and any(body.name in stopped for body in wanted):
        _tell(robot, [body.name for body in wanted if body.name in stopped])
    touching = [
        one
        for body in wanted
        if body.name not in stopped
        for shape in body.collisions
        for one in _of_shape(robot, body, shape, floors, tolerance)
    ]
    if floors and all(isinstance(floor.ground, Plane) for floor in floors):
        touching = _outer(touching)
    usual = normal or default_normal(robot)
    taken = {element.name for element in elements}
    return tuple(_contact(one, (normal, usual, friction), taken) for one in touching)


def default_normal(robot: Robot) -> HuntCrossley:
    """The normal force by which a contact that carries a quarter of the robot's weight rests REST deep."""
    mass = sum(float(evaluate(body.mass)) for body in robot.bodies)
    weight = mass * (math.hypot(*(float(evaluate(g)) for g in robot.gravity)) or EARTH)
    return HuntCrossley(0.25 * max(weight, 1e-9) / REST**1.5, LOSS)


class _Touching(NamedTuple):
    """A shape of a body that touches a ground."""

    body: Body
    part: str  # the body nearest to the world of those that are fixed to the shape's body
    pose: Pose  # of the body, in the axes of this one
    shape: Shape
    floor: _Floor
    data: dict[str, Any]  # fields of the contact that say what touches

    @property
    def surface(self) -> Surface:
        return getattr(self.shape, "surface", None) or Surface()


def _of_shape(
    robot: Robot, body: Body, shape: Shape, floors: Sequence[_Floor], tolerance: float | None
) -> list[_Touching]:
    """What one shape of a body touches, once for each ground."""
    own = (shape.surface if not isinstance(shape, (Line, Triangle)) else None) or Surface()
    met = [floor for floor in floors if own.touches(floor.surface)]
    data = _touching(shape, tolerance) if met else None
    if data is None:
        return []
    return [_Touching(body, *rigid_part(robot, body.name), shape, floor, data) for floor in met]


def _outer(touching: Sequence[_Touching]) -> list[_Touching]:
    """What is not hidden inside the other shapes of its rigid part that touch the same plane with the same margin.

    It is hidden if it is deeper inside than these shapes sink into the ground: DEEP, or the width of a soft law.
    """
    groups: dict[Any, list[int]] = {}
    for k, one in enumerate(touching):
        groups.setdefault((one.part, id(one.floor), one.surface.margin), []).append(k)
    kept = list(touching)
    for rows in groups.values():
        widths = [float(evaluate(getattr(touching[k].surface.normal, "width", 0.0))) for k in rows]
        inside = hidden([extent(touching[k].data, touching[k].pose) for k in rows], max(DEEP, *widths))
        for k, within in zip(rows, inside, strict=True):
            shape = touching[k].data.get("shape")
            if within.all():
                kept[k] = touching[k]._replace(data={})
            elif isinstance(shape, Mesh) and within.any():
                left = tuple(vertex for vertex, inner in zip(shape.vertices, within.tolist(), strict=True) if not inner)
                kept[k] = touching[k]._replace(data={"shape": replace(shape, vertices=left)})
    return [one for one in kept if one.data]


def _contact(one: _Touching, laws: tuple[Normal | None, Normal, Any], taken: set[str]) -> Contact:
    """The contact of what touches a ground.

    `laws` are the normal force that is given, or None, that which acts if the file has none, and the friction given.
    `taken` are the names of elements, to which that of the contact is added.
    """
    given, usual, friction = laws
    normal = given or one.surface.normal or usual
    return Contact(
        _unique(one.surface.name or f"{one.body.name} {type(one.shape).__name__.lower().removesuffix('file')}", taken),
        one.body.name,
        normal,
        _friction(friction, one.surface, one.floor.surface, normal),
        _raised(one.floor.ground, one.surface, one.floor.surface),
        **one.data,
    )


def _unique(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} {number}"
    taken.add(found)
    return found


# ── laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _friction(given: Any, own: Surface, floor: Surface, normal: Normal) -> Friction | None:
    """The friction of a contact: a law that is given, or a coefficient as the law that fits the normal force."""
    if given is not None and not isinstance(given, (int, float)):
        return given  # type: ignore[no-any-return]
    mu = own.friction_on(floor) if given is None else given
    if mu is None:
        mu = FRICTION
    if mu == 0.0:
        return None
    return Coulomb(float(mu)) if isinstance(normal, Rigid) else Regularized(float(mu))


def _raised(ground: Ground, own: Surface, floor: Surface) -> Ground:
    """The ground, raised by the distance at which forces begin."""
    reach = floor.margin + own.margin
    if reach == 0.0:
        return ground
    if isinstance(ground, Plane):
        normal = evaluate_all(ground.normal)
        return replace(ground, point=tuple(add(ground.point, scale(reach / math.hypot(*normal), normal))))
    if isinstance(ground, HeightMap):
        return replace(ground, heights=np.asarray(ground.heights) + reach)
    return ground


# ── grounds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


_WORDS = {HalfSpace: "half space", Terrain: "terrain"}


def grounds(system: System | Robot) -> tuple[Ground, ...]:
    """The grounds that the collision shapes of a robot can touch: those of its file, or the plane z = 0."""
    return tuple(floor.ground for floor in _floors(system))


def has_own_ground(robot: Robot) -> bool:
    """Whether a body that does not move has a half space or terrain."""
    fixed = [body for body in robot.bodies if fixed_pose(robot, body.name) is not None]
    return any(isinstance(shape, (HalfSpace, Terrain)) for body in fixed for shape in body.collisions)


def has_free_base(robot: Robot) -> bool:
    """Whether a free joint connects a body to the world."""
    return any(joint.parent == WORLD and joint.kind == "free" for joint in robot.joints)


def _floors(system: System | Robot) -> list[_Floor]:
    """The grounds of the bodies that do not move; without any, z = 0 where `Settings.ground` says so."""
    robot, stated = (system.robot, system.settings.ground) if isinstance(system, System) else (system, None)
    found = []
    for body in robot.bodies:
        pose = fixed_pose(robot, body.name)
        for shape in body.collisions:
            if not isinstance(shape, (HalfSpace, Terrain)):
                continue
            if pose is None:
                warnings.warn(
                    f"body '{body.name}' moves, so that its {_WORDS[type(shape)]} is no ground for contacts; expected "
                    "a body that is fixed to the world. Fix the body, or leave out this shape.",
                    GroundWarning,
                    stacklevel=users_level(),
                )
            else:
                ground = _ground(shape, compose(pose, shape.placement))
                if ground is None:
                    warnings.warn(
                        f"the terrain of body '{body.name}' is turned, so that it is no ground for contacts; expected "
                        "axes along those of the world. Give contacts(..., ground=...) a HeightFunction.",
                        GroundWarning,
                        stacklevel=users_level(),
                    )
                else:
                    found.append(_Floor(ground, shape.surface or Surface()))
    added = has_free_base(robot) if stated is None else stated
    return found or ([_Floor(Plane(), Surface())] if added else [])


def _ground(shape: HalfSpace | Terrain, pose: Pose) -> Ground | None:
    """The ground of a shape at a pose in the world; None for a terrain that is turned."""
    if isinstance(shape, HalfSpace):
        x, y, z = matvec(pose.R, (0.0, 0.0, 1.0))
        return Plane(tuple(pose.p), (x, y, z))
    R, p = (np.array(evaluate_all(one), dtype=float) for one in (pose.R, pose.p))
    if np.abs(R - np.eye(3)).max() > LEVEL:
        return None
    heights = np.asarray(shape.heights, dtype=float)
    corner = [float(p[k]) - 0.5 * shape.spacing[k] * (heights.shape[k] - 1) for k in (0, 1)]
    return HeightMap(heights + p[2], shape.spacing, (corner[0], corner[1]))


def fixed_pose(robot: Robot, body: str) -> Pose | None:
    """The pose of a body in the world, if fixed joints connect it to the world; else None."""
    part, pose = rigid_part(robot, body)
    return pose if part == WORLD else None


def rigid_part(robot: Robot, body: str) -> tuple[str, Pose]:
    """Of the bodies that fixed joints connect, this one included, the one nearest to the world, or the world; and the
    pose of this body in its axes.
    """
    pose = IDENTITY
    while body != WORLD:
        joint = robot.parent_joint.get(body)
        if joint is None or joint.kind != "fixed":
            break
        pose = compose(compose(joint.placement, inverse(joint.child_placement)), pose)
        body = joint.parent
    return body, pose


# ── shapes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _touching(shape: Shape, tolerance: float | None) -> dict[str, Any] | None:
    """The data of a contact that say what touches; None for shapes that do not touch."""
    if isinstance(shape, (Line, Triangle, HalfSpace, Terrain)):
        return None
    if isinstance(shape, Sphere):
        return {"point": tuple(shape.placement.p), "radius": shape.radius}
    if isinstance(shape, Capsule):
        ends = [act(shape.placement, (0.0, 0.0, side * shape.length)) for side in (-0.5, 0.5)]
        return {"point": tuple(ends[0]), "end": tuple(ends[1]), "radius": shape.radius}
    if isinstance(shape, (Mesh, MeshFile)):
        mesh = hull_of(shape, tolerance)
        return None if mesh is None else {"shape": mesh}
    return {"shape": replace(shape, surface=None)}


def hull_of(shape: Mesh | MeshFile, tolerance: float | None = None) -> Mesh | None:
    """The convex hull of a mesh with few points, as in `hulls`; None, with a warning, if its file cannot be read."""
    try:
        if isinstance(shape, MeshFile):
            kept = hull_of_file(shape, tolerance)
        else:
            kept = hull_points(np.array(shape.vertices, dtype=float), tolerance)
    except (ModelError, MissingExtraError) as error:
        warnings.warn(f"{error} This mesh touches nothing.", GroundWarning, stacklevel=users_level())
        return None
    corners = tuple((x, y, z) for x, y, z in kept.tolist())
    return Mesh(corners, (), shape.source, shape.placement, shape.color)


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _known(robot: Robot, bodies: Iterable[str] | None) -> set[str]:
    """The names of bodies that are asked for. Raises ModelError for a name that the robot does not have."""
    if bodies is None:
        return set()
    named = [bodies] if isinstance(bodies, str) else list(bodies)
    for name in named:
        if name not in robot.body_names:
            hint = did_you_mean(name, robot.body_names)
            raise ModelError(f"contacts: '{name}' is no body of '{robot.name}'.{hint} Name bodies that it has.")
    return set(named)


def _tell(robot: Robot, stopped: Sequence[str]) -> None:
    """Warns about bodies that are left out because something stops them at the ground already."""
    warnings.warn(
        f"contacts: {counted(len(stopped), 'body', 'bodies')} of '{robot.name}' ({quoted(stopped, 4)}) have contacts "
        "already and get no others. Remove these elements to make contacts from their collision shapes.",
        GroundWarning,
        stacklevel=users_level(),
    )
