"""Contacts of modules with the ground.

    assembly = put_down(assembly)                          # on the plane z = 0
    assembly.system([*ground_contacts(assembly), ...])

The corners of boxes, the balls and the ends of capsules of a part get contacts. A part with a cylinder but without
boxes and ports is a wheel: its contact is a ball of the cylinder's radius. Docking plates and drums get no contacts.

Docked parts are one rigid body, and only corners on its convex hull can reach flat ground. So corners between docked
modules get no contacts, and neither do corners on the upper half of a module in its initial configuration, because
bending by less than 90 degrees does not bring them down. The name of a contact consists of its part and corner, so that
it does not depend on the dockings.
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
from kinemorph.model.robot import not_a_model
from kinemorph.model.shapes import Box, Capsule, Cylinder, Shape, Sphere
from kinemorph.model.system import System

FLOOR = HuntCrossley(2e4, 20.0, 1.0)  # a corner that carries a quarter of a module sinks in by 0.12 mm, with no bounce
RUBBER = Regularized(0.6, 5e-3)  # a body pushed by half the maximum friction force creeps at 2.5 mm/s


class _Foot(NamedTuple):
    """A contact point [m] in the frame of a part; `radius` [m] is that of a ball around it, 0 for a corner."""

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
    """Contacts of all modules of an assembly with the ground, for the robot with dyads="halves".

    `normal`, `friction`    the laws of all contacts; None for no friction
    `ground`                the ground, by default the plane z = 0
    `around`                also for corners at the top, if organisms roll over or bend by more than 90 degrees
    `docked`                also for corners between docked modules, if organisms undock during a run
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
    """A new assembly with every organism moved up or down so that its lowest corner or wheel is at `height` [m]."""
    if isinstance(assembly, System):
        raise ModelError(
            "put_down: a System was given, expected an Assembly. Put the assembly down first, then make its system."
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
    """The system with the ground z = 0: it has contacts for corners and wheels, and every organism is put down on it.

    An initial configuration other than that of the assembly is not changed.
    """
    if not isinstance(system, System):
        raise not_a_model(system, "a System, such as `assembly.system()`")
    assembly = system.assembly
    if assembly is None:
        raise ModelError(
            f"on_ground: system '{system.name}' is not made of modules. Pass a system that `Assembly.system` returns."
        )
    begins = list(system.settings.q) or list(neutral(system.robot))
    lowered = put_down(assembly)
    q = standing(lowered, system.robot) if begins == standing(assembly, system.robot) else begins
    elements = (*system.elements, *ground_contacts(assembly))
    return replace(system, elements=elements, settings=replace(system.settings, q=tuple(q)), assembly=lowered)


# ── contact points of a module ────────────────────────────────────────────────────────────────────────────────────────


def _feet(module: Module) -> Iterator[_Foot]:
    """The contact points of all corners, balls and wheels of a module, whether sides are docked or not."""
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
    """The contact point of a part that consists of cylinders: a ball at the middle of the widest one."""
    cylinders = [shape for shape in body.shapes if isinstance(shape, Cylinder)]
    if cylinders:
        widest = max(cylinders, key=lambda shape: float(evaluate(shape.radius)))
        yield _Foot(f"{name}_rim", body.name, _placed(widest, (0.0, 0.0, 0.0)), float(evaluate(widest.radius)))


def _placed(shape: Shape, point: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = act(shape.placement, tuple(point))
    return float(evaluate(x)), float(evaluate(y)), float(evaluate(z))


# ── convex hulls of docked parts ──────────────────────────────────────────────────────────────────────────────────────


def _hull_corners(assembly: Assembly, poses: dict[str, Pose], feet: dict[str, list[_Foot]]) -> set[str]:
    """The names of the corners on the convex hull of each group of rigidly docked parts."""
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
    """The names of the given points that are corners of the convex hull of all of them."""
    from scipy.spatial import ConvexHull  # imported only here, because it takes long

    yield from (corners[k][0] for k in ConvexHull(np.array([point for _, point in corners])).vertices)
