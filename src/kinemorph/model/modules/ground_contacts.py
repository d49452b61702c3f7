"""Contacts of modules with the ground.

    assembly = put_down(assembly)                          # on the plane z = 0
    assembly.system([*ground_contacts(assembly), ...])

A part touches with the corners of its boxes and with its balls and capsules; a part without a box and without a port
that has a cylinder is a wheel, and touches as a ball of the cylinder's radius. Plates and drums touch nothing.

Parts that are docked are one rigid body. Of its corners only those of its convex hull ever reach level ground: what
lies between two docked modules is left out, and so are corners on the upper side of a module in its initial
configuration, which no bend of less than 90 degrees brings down. Names hold part and corner, not the dockings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from numbers import Real
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.groups import Pose, act, compose
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.configuration import neutral
from kinemorph.model.elements.contact.contact_laws import Friction, HuntCrossley, Normal, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Ground, Plane
from kinemorph.model.modules.assembly import Assembly, Module, as_assembly
from kinemorph.model.modules.organisms import standing
from kinemorph.model.parameter import evaluate
from kinemorph.model.shapes import Box, Capsule, Cylinder, Shape, Sphere
from kinemorph.model.system import System

FLOOR = HuntCrossley(2e4, 20.0, 1.0)  # a corner under a quarter of a module gives way by 0.12 mm, and hardly bounces
RUBBER = Regularized(0.6, 5e-3)  # what is pushed by half of what holds it creeps at 2.5 mm/s


class _Foot(NamedTuple):
    """A point of a part [m], in the axes of the part; `radius` [m] of a ball about it, 0 for a corner."""

    name: str
    part: str
    point: tuple[float, float, float]
    radius: float


def ground_contacts(
    assembly: Assembly,
    normal: Normal = FLOOR,
    friction: Friction | None = RUBBER,
    *,
    ground: Ground | None = None,
    around: bool = False,
    docked: bool = False,
) -> list[Contact]:
    """Contacts of all modules of an assembly with the ground, for the robot of its halves.

    `normal`, `friction`    laws of every contact; friction None is smooth
    `ground`                the plane z = 0 where none is given
    `around`                with the corners above, for organisms that roll over or bend by more than 90 degrees
    `docked`                with the corners beside docked sides, for organisms that undock during a run
    """
    ground = Plane() if ground is None else ground
    assembly = as_assembly(assembly)
    poses = assembly.poses()
    feet = {module.name: list(_feet(module)) for module in assembly.modules}
    outer = None if docked else _hull_corners(assembly, poses, feet)
    found = []
    for module in assembly.modules:
        T, parts = poses[module.name], module.type.part_poses
        for foot in feet[module.name]:
            up = act(compose(T, parts[foot.part]), foot.point)[2] - T.p[2]
            if foot.radius == 0.0:
                if not around and float(up) > 0.0:
                    continue
                if outer is not None and foot.name not in outer:
                    continue
            body = f"{module.name}_{foot.part}"
            found.append(Contact(foot.name, body, normal, friction, ground, foot.point, foot.radius))
    return found


def put_down(assembly: Assembly, height: float = 0.0) -> Assembly:
    """The assembly with every organism lifted or lowered until its lowest corner or wheel is at `height` [m]."""
    if isinstance(assembly, System):
        raise ModelError(
            "a System was given to put_down; expected an Assembly. Put it down first, then make its system."
        )
    assembly = as_assembly(assembly)
    if not isinstance(height, Real) or not np.isfinite(height):
        raise ModelError(f"put_down: height is {height!r}; expected a finite number [m].")
    poses = assembly.poses()
    lowest: dict[str, float] = {}
    for module in assembly.modules:
        parts = module.type.part_poses
        lowest[module.name] = min(
            (
                float(act(compose(poses[module.name], parts[foot.part]), foot.point)[2]) - foot.radius
                for foot in _feet(module)
            ),
            default=np.inf,
        )
    lift: dict[str, float] = {}
    for organism in assembly.organisms:
        low = min(lowest[name] for name in organism)
        lift |= {name: height - low if np.isfinite(low) else 0.0 for name in organism}
    placed = []
    for module in assembly.modules:
        T = poses[module.name]
        placed.append(replace(module, at=Pose(T.R, (T.p[0], T.p[1], T.p[2] + lift[module.name]))))
    return replace(assembly, modules=tuple(placed))


def on_ground(system: System) -> System:
    """The system of an assembly with ground under it: contacts at all corners and wheels, and every organism put down.

    An initial state of the system that differs from the places of its assembly is kept.
    """
    assembly = system.assembly
    if assembly is None:
        raise ModelError(
            f"system '{system.name}' is not made of modules, so their corners cannot be put on the ground."
        )
    begins = list(system.settings.q) or list(neutral(system.robot))
    lowered = put_down(assembly)
    q = standing(lowered, system.robot) if begins == standing(assembly, system.robot) else begins
    elements = (*system.elements, *ground_contacts(assembly))
    return replace(system, elements=elements, settings=replace(system.settings, q=tuple(q)), assembly=lowered)


# ── the feet of a module ──────────────────────────────────────────────────────────────────────────────────────────────


def _feet(module: Module) -> Iterator[_Foot]:
    """Corners, balls and wheels of a module, whatever is docked to it."""
    carrying = {port.body for port in module.type.ports}
    for body in module.type.bodies:
        name = f"{module.name}_{body.name}"
        boxes = [shape for shape in body.shapes if isinstance(shape, Box)]
        for k, point in enumerate(corner for box in boxes for corner in _corners(box)):
            yield _Foot(f"{name}_corner{k}", body.name, point, 0.0)
        for k, (point, radius) in enumerate(ball for shape in body.shapes for ball in _balls(shape)):
            yield _Foot(f"{name}_ball{k}", body.name, point, radius)
        if not boxes and body.name not in carrying:
            yield from _wheel(name, body)


def _corners(box: Box) -> Iterator[tuple[float, float, float]]:
    half = [0.5 * float(evaluate(edge)) for edge in box.size]
    for signs in product((-1.0, 1.0), repeat=3):
        yield _placed(box, [sign * h for sign, h in zip(signs, half, strict=True)])


def _balls(shape: Shape) -> Iterator[tuple[tuple[float, float, float], float]]:
    if isinstance(shape, Sphere):
        yield _placed(shape, (0.0, 0.0, 0.0)), float(evaluate(shape.radius))
    if isinstance(shape, Capsule):
        for sign in (-0.5, 0.5):
            yield _placed(shape, (0.0, 0.0, sign * float(evaluate(shape.length)))), float(evaluate(shape.radius))


def _wheel(name: str, body: Body) -> Iterator[_Foot]:
    """The foot of a part that consists of cylinders: the widest of them, as a ball in its middle."""
    cylinders = [shape for shape in body.shapes if isinstance(shape, Cylinder)]
    if cylinders:
        widest = max(cylinders, key=lambda shape: float(evaluate(shape.radius)))
        yield _Foot(f"{name}_rim", body.name, _placed(widest, (0.0, 0.0, 0.0)), float(evaluate(widest.radius)))


def _placed(shape: Shape, point: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = act(shape.placement, tuple(point))
    return float(evaluate(x)), float(evaluate(y)), float(evaluate(z))


# ── what is docked ────────────────────────────────────────────────────────────────────────────────────────────────────


def _hull_corners(assembly: Assembly, poses: dict[str, Pose], feet: dict[str, list[_Foot]]) -> set[str]:
    """The names of the corners on the convex hulls of rigidly docked parts."""
    leader = {(module.name, body.name): (module.name, body.name)
              for module in assembly.modules for body in module.type.bodies}  # fmt: skip

    def first(part: tuple[str, str]) -> tuple[str, str]:
        while leader[part] != part:
            part = leader[part]
        return part

    for docking in assembly.dockings:
        if docking.joint is None:
            a, b = ((name, assembly.module(name).type.port(side).body) for name, side in docking.ends)
            leader[first(a)] = first(b)
    groups: dict[tuple[str, str], list[tuple[str, tuple[float, ...]]]] = {}
    for module in assembly.modules:
        parts = module.type.part_poses
        for foot in feet[module.name]:
            if foot.radius == 0.0:
                T = compose(poses[module.name], parts[foot.part])
                point = tuple(float(x) for x in act(T, foot.point))
                groups.setdefault(first((module.name, foot.part)), []).append((foot.name, point))
    return {name for corners in groups.values() for name in _extreme(corners)}


def _extreme(corners: list[tuple[str, tuple[float, ...]]]) -> Iterator[str]:
    """The names of the points that are corners of the convex hull of all of them."""
    from scipy.spatial import ConvexHull  # costs time to import, which assemblies without contact do not need

    yield from (corners[k][0] for k in ConvexHull(np.array([point for _, point in corners])).vertices)
