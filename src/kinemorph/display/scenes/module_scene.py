"""The scene of docked modules in their initial configuration, from the poses of the modules alone.

Making the robot of an assembly takes a second for two hundred modules. A picture of them does not need it: it shows the
shapes of each module type, made once per type, at the pose of every module. The bodies have the names that they have in
the robot, such as m3_rear; they are fixed to the ground.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.looks.solids import Grain
from kinemorph.display.scenes.figures import COARSE, MANY, THICKNESS, shape_parts
from kinemorph.display.scenes.scene import Color, Figure, Part, Scene, Surface
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.modules.assembly import Assembly, Module
from kinemorph.model.modules.cube_shapes import TINTS, tinted
from kinemorph.model.modules.module_types import ModuleType, Side
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Color as ModelColor
from kinemorph.model.topology import WORLD

KEPT = 64  # module types whose looks are stored
MOST_PLACED = 2048  # modules that are stored as they were last shown


@dataclass(frozen=True, eq=False)
class Look:
    """What a module of one type looks like: its colored surfaces, and the box (2, 3) [m] around them in its frame.

    Each surface belongs to a body of the type, by index, and is in that body's frame. `R` (n, 3, 3) and `p` (n, 3) [m]
    are the poses of the n bodies in the module's frame.
    """

    kind: ModuleType
    parts: tuple[tuple[int, Surface, Color], ...]
    box: Array
    R: Array
    p: Array


class PlacedLook(NamedTuple):
    """A module at its place: its n bodies, the joints that fix them to the ground, and the box (2, 3) [m] around it.

    `p` (n, 3) [m] and `quaternions` (n, 4) wxyz are the poses of the bodies in the world.
    """

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    p: Array
    quaternions: Array
    box: Array


class PortMark(NamedTuple):
    """A port of a module in the world: its place [m], the normal that points out of the module, and whether it is free.

    `name` is that of its frame in the robot, such as m3_port5.
    """

    name: str
    module: str
    side: Side
    position: tuple[float, float, float]
    normal: tuple[float, float, float]
    free: bool


def module_scene(assembly: Assembly, poses: Mapping[str, Pose] | None = None, *, title: str | None = None) -> Scene:
    """The scene of an assembly with all joints at 0; `poses` are those of its modules, if they are known already."""
    poses = assembly.poses() if poses is None else poses
    figure, box = module_figure(assembly.name, assembly.modules, poses, assembly.tints)
    name = assembly.name.replace("_", " ") if title is None else title
    return Scene(name, np.zeros(1), (figure,), box, floor=float(box[0, 2]), loose=True)


def module_figure(
    name: str,
    modules: Iterable[Module],
    poses: Mapping[str, Pose],
    tints: Mapping[str, ModelColor] | None = None,
) -> tuple[Figure, Array]:
    """The figure of modules at these poses, with tints by name, and the box (2, 3) [m] around it."""
    listed = tuple(modules)
    coarse = sum(len(module.type.bodies) for module in listed) > MANY
    looks = {id(module.type): look_of(module.type, coarse=coarse) for module in listed}
    placed = [placed_look(module.name, looks[id(module.type)], poses[module.name]) for module in listed]
    bodies = tuple(body for one in placed for body in one.bodies)
    parts: list[Part] = []
    first = 0
    for module, one in zip(listed, placed, strict=True):
        for owner, surface, color in looks[id(module.type)].parts:
            r, g, b, a = tinted(color, (tints or {}).get(module.name, TINTS[0]))
            parts.append(Part(one.bodies[owner].name, first + owner, surface, (r, g, b, a)))
        first += len(one.bodies)
    p_all = np.concatenate([np.zeros((0, 3)), *(one.p for one in placed)])
    boxes = np.array([one.box for one in placed]) if placed else np.array([[[-0.5] * 3, [0.5] * 3]])
    box = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
    figure = Figure(
        name=name.replace("_", " "),
        robot=Robot(name, bodies, tuple(joint for one in placed for joint in one.joints)),
        q=np.zeros((1, 0)),
        positions=p_all[None],
        quaternions=np.concatenate([np.zeros((0, 4)), *(one.quaternions for one in placed)])[None],
        parts=tuple(parts),
        masses=np.zeros(len(bodies)),
        centers=np.zeros((len(bodies), 3)),
        size=float(np.ptp(box, axis=0).max()),
    )
    return figure, box


def port_marks(assembly: Assembly, poses: Mapping[str, Pose] | None = None) -> list[PortMark]:
    """The ports of all modules of an assembly, module by module."""
    poses = assembly.poses() if poses is None else poses
    taken = {end for docking in assembly.dockings for end in docking.ends}
    kinds = {id(module.type): module.type for module in assembly.modules}
    local = {key: _ports(kind) for key, kind in kinds.items()}
    found: list[PortMark] = []
    for module in assembly.modules:
        kind, pose = module.type, poses[module.name]
        if not kind.ports:
            continue
        R, p = np.array(pose.R, dtype=float), np.array(pose.p, dtype=float)
        places, normals = local[id(kind)]
        at, out = places @ R.T + p, normals @ R.T
        for side, (x, y, z), (a, b, c) in zip(kind.port_poses, at.tolist(), out.tolist(), strict=True):
            free = (module.name, side) not in taken
            found.append(PortMark(f"{module.name}_port{side}", module.name, side, (x, y, z), (a, b, c), free))
    return found


def _ports(kind: ModuleType) -> tuple[Array, Array]:
    """The places (n, 3) [m] and the outward normals (n, 3) of the ports of a module type, in its frame."""
    poses = kind.port_poses.values()
    places = np.array([P.p for P in poses], dtype=float).reshape(-1, 3)
    return places, np.array([[row[2] for row in P.R] for P in poses], dtype=float).reshape(-1, 3)


@lru_cache(maxsize=MOST_PLACED)
def placed_look(name: str, look: Look, pose: Pose) -> PlacedLook:
    """The bodies of a module of this name and look at this pose; stored, because an edit changes few modules."""
    R, p = np.array(pose.R, dtype=float), np.array(pose.p, dtype=float)
    axes, places = R @ look.R, look.p @ R.T + p
    bodies = tuple(Body.massless(f"{name}_{body.name}") for body in look.kind.bodies)
    joints = []
    for body, R_body, p_body in zip(bodies, axes.tolist(), places.tolist(), strict=True):
        placement = Pose(tuple(map(tuple, R_body)), tuple(p_body))
        joints.append(Joint(f"{body.name}_place", "fixed", WORLD, body.name, placement))
    middle, half = 0.5 * look.box.sum(axis=0), 0.5 * np.ptp(look.box, axis=0)
    center, reach = R @ middle + p, np.abs(R) @ half
    return PlacedLook(bodies, tuple(joints), places, quaternions_of(axes), np.stack([center - reach, center + reach]))


# ── the look of a module type ─────────────────────────────────────────────────────────────────────────────────────────

_LOOKS: OrderedDict[tuple[int, bool], Look] = OrderedDict()


def look_of(kind: ModuleType, *, coarse: bool = False) -> Look:
    """The look of a module type, stored for the next call; `coarse` gives round shapes fewer sides."""
    key = (id(kind), coarse)
    if key not in _LOOKS:  # the look holds its type, so that its id stays unique
        _LOOKS[key] = _look(kind, coarse)
        while len(_LOOKS) > KEPT:
            _LOOKS.popitem(last=False)
    return _LOOKS[key]


def _look(kind: ModuleType, coarse: bool) -> Look:
    alone = Assembly(kind.name, (Module("module", kind, IDENTITY),)).robot(root="fixed")
    size = float(max(kind.size))
    grain = Grain(THICKNESS * size, *(COARSE if coarse else ()))
    colored: dict[tuple[int, Color], list[Surface]] = {}
    for part in shape_parts(alone, size, grain):
        if part.owner >= 0:
            colored.setdefault((part.owner, part.color), []).append(part.surface)
    merged = tuple((owner, _merged(surfaces), color) for (owner, color), surfaces in colored.items())
    poses = [kind.part_poses[body.name] for body in kind.bodies]
    R, p = np.array([pose.R for pose in poses], dtype=float), np.array([pose.p for pose in poses], dtype=float)
    points = [surface.points @ R[owner].T + p[owner] for owner, surface, _ in merged if len(surface.points)]
    around = np.concatenate(points) if points else 0.5 * np.array([[-x for x in kind.size], kind.size], dtype=float)
    return Look(kind, merged, np.stack([around.min(axis=0), around.max(axis=0)]), R, p)


def _merged(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    starts = np.cumsum([0, *(len(surface.points) for surface in surfaces[:-1])])
    faces = [surface.faces + start for surface, start in zip(surfaces, starts, strict=True)]
    return Surface(
        np.concatenate([surface.points for surface in surfaces]),
        np.concatenate([surface.normals for surface in surfaces]),
        np.concatenate(faces).astype(np.int32),
    )
