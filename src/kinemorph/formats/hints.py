"""Hints at probable mistakes: numbers that are legal, but look like a common slip.

    a decimal point is missing       one moment of inertia, or a mass, is a power of ten off
    millimeters, grams, kg mm^2      lengths, masses or inertias are a thousand or a million times too large
    about the joint                  the inertia includes the offset of the center of mass
    degrees                          a hinge has limits of many turns
    a sign                           gravity points up; a run starts outside the limits

Hints are sentences with a question, never errors. A moment of inertia is compared with the room that its body takes:
mass within a box [lower, upper] has, about its center c, a second moment of at most m (upper - c)(c - lower) along
each axis (Bhatia & Davis 2000). The box is that of the body's shapes; where it has none, that of the points where other
bodies are jointed to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import inertia_problems, triangle_doubts
from kinemorph.model.body import Body
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Capsule, Cylinder, Frustum, Line, Mesh, Shape, Sphere, Triangle

TURN = 2.0 * math.pi * (1.0 + 1e-3)  # [rad]
WIDE = 30.0  # [rad]; nearly five turns
ENDLESS = 1e4  # [rad]; stands for no limit
SLACK = 1e-6  # [rad or m] that a start may be off by rounding
FAR = 50.0  # [m]; no robot is this long between two joints
DENSEST = 200_000.0  # [kg/m^3]; osmium has 22,590, and bodies are often drawn thinner than they are
ROOM = 1.02  # share of the greatest possible second moment that rounded numbers may have
NEGLIGIBLE = 1e-3  # share of the robot's mass below which a body only holds a place, such as that of a sensor
TOO_WIDE = 30.0  # a second moment this many times the greatest possible one speaks of a wrong unit


class Hint(NamedTuple):
    """A hint about one part of a robot."""

    kind: str  # "body", "joint"
    name: str
    sentence: str


def hints(
    robot: Robot, surface: Callable[[Any], Mesh | None] = lambda shape: None, *, start: Sequence[float] = ()
) -> list[Hint]:
    """Everything that looks like a slip. `surface` gives the mesh of a shape that lies in a file, or None.

    `start` is the configuration in which a run begins, shape (nq,), where the file gives one.
    """
    lengths = length_hints(robot, surface)
    found = [*lengths, *angle_hints(robot), *start_hints(robot, start), *gravity_hints(robot)]
    if lengths:
        return found  # with lengths in the wrong unit, sizes say nothing about masses
    rooms = _rooms(robot, surface)
    for body in robot.bodies:
        mass, com = evaluate(body.mass), np.array(evaluate_all(body.com))
        moment = np.array(evaluate_all(body.inertia))
        sentences = [decimal_point(moment)]
        if body.name in rooms and mass > NEGLIGIBLE * robot.total_mass:
            sentences.append("" if sentences[0] else misfit(mass, com, moment, rooms[body.name]))
            sentences.append(density(mass, rooms[body.name]) if body.shapes or body.collisions else "")
        found += [Hint("body", body.name, sentence) for sentence in sentences if sentence]
    return found


# ── lengths ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def length_hints(robot: Robot, surface: Callable[[Any], Mesh | None] = lambda shape: None) -> list[Hint]:
    """Lengths that would be usual in millimeters: one hint for joints, one for centers of mass, one for shapes."""
    joints = [(joint.name, _length(joint.placement.p)) for joint in (*robot.joints, *robot.loops)]
    centers = [(body.name, _length(body.com)) for body in robot.bodies]
    shapes = []
    for body in robot.bodies:
        boxes = [box for shape in (*body.shapes, *body.collisions) if (box := _box(shape, surface)) is not None]
        shapes.append((body.name, max((float(np.max(upper - lower)) for lower, upper in boxes), default=0.0)))
    found = []
    for kind, lengths, what in (
        ("joint", joints, "its origin lies {:g} m from its parent"),
        ("body", centers, "its center of mass lies {:g} m from its origin"),
        ("body", shapes, "its shape is {:g} m large"),
    ):
        far = [(name, length) for name, length in lengths if length > FAR]
        if far:
            others = f", and {len(far) - 1} more like it" if len(far) > 1 else ""
            remedy = "Divide lengths by 1000, or give a mesh the scale 0.001" if "shape" in what else "Divide by 1000"
            sentence = f"{what.format(far[0][1])}{others}; were millimeters meant? {remedy}."
            found.append(Hint(kind, far[0][0], sentence))
    return found


def _length(vector: Iterable[Any]) -> float:
    return float(np.linalg.norm(np.array([evaluate(x) for x in vector])))


# ── angles, starts, gravity ───────────────────────────────────────────────────────────────────────────────────────────


def angle_hints(robot: Robot) -> list[Hint]:
    """Limits of hinges that would be usual in degrees: one hint for all of them."""
    wide = []
    for joint in robot.joints:
        if joint.kind == "revolute":
            limit = max((abs(x) for x in (*joint.lower, *joint.upper) if abs(x) < ENDLESS), default=0.0)
            wide += [(joint.name, limit)] if limit > WIDE else []
    if not wide:
        return []
    others = f", and {len(wide) - 1} more like it" if len(wide) > 1 else ""
    sentence = f"its limit is {wide[0][1]:g} rad{others}; were degrees meant? Write {np.radians(wide[0][1]):.6g}."
    return [Hint("joint", wide[0][0], sentence)]


def maybe_degrees(angles: Iterable[float]) -> tuple[str, str] | None:
    """(problem, remedy) where one of finite angles [rad] is more than a turn, as degrees would be; None otherwise."""
    if max(angles) <= TURN and min(angles) >= -TURN:  # the usual case
        return None
    angle = next(angle for angle in angles if abs(angle) > TURN)
    return (
        f"{angle:g} rad is more than a turn, expected radians: it is taken as it is",
        f"Write {math.radians(angle):.9g} if {angle:g} degrees are meant.",
    )


def start_hints(robot: Robot, start: Sequence[float]) -> list[Hint]:
    """Hints at initial coordinates outside the limits of joints."""
    if not len(start):
        return []
    found = []
    for joint in robot.joints:
        values = start[robot.q_slice(joint.name)]
        for name, value, low, high in zip(joint.q_names, values, joint.lower, joint.upper, strict=True):
            if not low - SLACK <= value <= high + SLACK:
                sentence = f"a run starts at {name} = {value:g}, outside its limits {low:g} .. {high:g}; is that meant?"
                found.append(Hint("joint", joint.name, f"{sentence} Compare q in the settings with them."))
    return found


def gravity_hints(robot: Robot) -> list[Hint]:
    """A hint at gravity that points up."""
    up = evaluate(robot.gravity[2])
    if up <= 0.0:
        return []
    sentence = f"gravity is {up:g} m/s^2 along z, which is up; is a sign missing? It is the acceleration of free fall."
    return [Hint("robot", robot.name, sentence)]


# ── masses ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def decimal_point(moment: Array) -> str:
    """A sentence where the largest principal moment [kg m^2] fits the other two only if it is 10, 100, ... smaller."""
    if not triangle_doubts(moment.tolist()):
        return ""
    values, axes = np.linalg.eigh(moment)
    for power in (1, 2, 3, 4, 5, 6):
        trial = values.copy()
        trial[2] /= 10.0**power
        if trial[2] < abs(values[1] - values[0]):
            break
        if not triangle_doubts(np.diag(trial).tolist()):
            axis = "xyz"[int(np.argmax(np.abs(axes[:, 2])))]
            return (
                f"the moment of inertia {values[2]:g} kg m^2 about {axis} would fit the other two as {trial[2]:g}; "
                "is a decimal point missing? Compare it with its source."
            )
    return ""


def misfit(mass: float, com: Array, moment: Array, room: tuple[Array, Array]) -> str:
    """A sentence where mass within a box [m] cannot have this moment [kg m^2] about its center, and what would fit."""
    bound = _greatest(mass, com, room)
    spread = _spread(moment)
    if np.all(spread <= ROOM * bound):
        return ""
    shift = mass * (com @ com * np.eye(3) - np.outer(com, com))
    central = moment - shift
    if (
        np.trace(shift) > 0.3 * np.trace(moment)
        and not inertia_problems(mass, com.tolist(), central.tolist())
        and not triangle_doubts(central.tolist())
        and np.all(_spread(central) <= ROOM * bound)
    ):
        return (
            "the inertia is larger than this mass can have in the room that the body takes, but would fit if it were "
            "about the joint; was it taken there? Give it about the center of mass."
        )
    worst = float(np.max(spread) / np.max(bound)) if np.max(bound) > 0.0 else 0.0
    if worst > TOO_WIDE:
        radius, size = np.sqrt(np.max(spread) / mass), np.max(room[1] - room[0])
        unit = "were kg mm^2 meant, or " if worst > 1e4 else "were kg cm^2 meant, or " if worst > 1e3 else ""
        return (
            f"the inertia is that of {mass:g} kg spread over {2.0 * radius:.3g} m, but the body is {size:.3g} m large; "
            f"{unit}is a decimal point missing? Compare mass and inertia with their source."
        )
    return ""


def density(mass: float, room: tuple[Array, Array]) -> str:
    """A sentence where a mass [kg] in a box [m] would be denser than any metal."""
    volume = float(np.prod(room[1] - room[0]))
    if volume <= 0.0 or mass <= DENSEST * volume:
        return ""
    size = " x ".join(f"{edge:.3g}" for edge in room[1] - room[0])
    return (
        f"{mass:g} kg in a box of {size} m are {mass / volume:.3g} kg/m^3, denser than any metal; were grams meant, or "
        "is a decimal point missing? Compare the mass with its source."
    )


def _spread(moment: Array) -> Array:
    """Second moments [kg m^2] along the axes, shape (3,), of a moment of inertia, shape (3, 3)."""
    spread: Array = 0.5 * np.trace(moment) - np.diag(moment)
    return spread


def _greatest(mass: float, com: Array, room: tuple[Array, Array]) -> Array:
    """The greatest second moments [kg m^2] about a center that mass in a box can have, shape (3,)."""
    lower, upper = np.minimum(room[0], com), np.maximum(room[1], com)
    greatest: Array = mass * (upper - com) * (com - lower)
    return greatest


# ── rooms ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rooms(robot: Robot, surface: Callable[[Any], Mesh | None]) -> dict[str, tuple[Array, Array]]:
    """The boxes (lower, upper) [m] that bodies take in their own axes; bodies of unknown size are left out."""
    ends: dict[str, list[Array]] = {body.name: [np.zeros(3)] for body in robot.bodies}
    for joint in (*robot.joints, *robot.loops):
        for end, pose in ((joint.parent, joint.placement), (joint.child, joint.child_placement)):
            if end in ends:
                ends[end].append(np.array([evaluate(x) for x in pose.p]))
    rooms = {}
    for body in robot.bodies:
        boxes = _boxes(body, surface)
        if boxes is None:
            continue
        corners = [corner for box in boxes for corner in box] if boxes else ends[body.name]
        lower, upper = np.min(corners, axis=0), np.max(corners, axis=0)
        if np.any(upper > lower):
            rooms[body.name] = (lower, upper)
    return rooms


def _boxes(body: Body, surface: Callable[[Any], Mesh | None]) -> list[tuple[Array, Array]] | None:
    """The boxes of a body's shapes; None where one of them is not known."""
    boxes = []
    for shape in (*body.shapes, *body.collisions):
        box = _box(shape, surface)
        if box is None:
            return None
        boxes.append(box)
    return boxes


def _box(shape: Shape, surface: Callable[[Any], Mesh | None]) -> tuple[Array, Array] | None:
    """The box of a shape in the axes of its body: (lower, upper) [m]; None where it is not known."""
    R = np.array(evaluate_all(shape.placement.R))
    p = np.array([evaluate(x) for x in shape.placement.p])
    points = _points(shape, surface)
    if points is not None:
        if not len(points):
            return None
        placed = points @ R.T + p
        return placed.min(axis=0), placed.max(axis=0)
    half = _half(shape)
    if half is None:
        return None
    reach = np.abs(R) @ half
    return p - reach, p + reach


def _half(shape: Shape) -> Array | None:
    """Half the edges of the box around a solid, in its own axes."""
    if isinstance(shape, Box):
        return 0.5 * np.array([evaluate(edge) for edge in shape.size])
    if isinstance(shape, Sphere):
        return np.full(3, float(evaluate(shape.radius)))
    if isinstance(shape, (Cylinder, Capsule)):
        radius, length = float(evaluate(shape.radius)), float(evaluate(shape.length))
        return np.array([radius, radius, 0.5 * length + (radius if isinstance(shape, Capsule) else 0.0)])
    if isinstance(shape, Frustum):
        radius = max(float(evaluate(shape.bottom)), float(evaluate(shape.top)))
        return np.array([radius, radius, 0.5 * float(evaluate(shape.length))])
    return None


def _points(shape: Shape, surface: Callable[[Any], Mesh | None]) -> Array | None:
    """The points of a shape that is made of points, shape (n, 3), in its own axes."""
    mesh = shape if isinstance(shape, Mesh) else surface(shape)
    if mesh is not None:
        return np.array(mesh.vertices, dtype=float).reshape(-1, 3)
    if isinstance(shape, Line):
        return np.array(evaluate_all((shape.start, shape.end)), dtype=float)
    if isinstance(shape, Triangle):
        return np.array(evaluate_all((shape.a, shape.b, shape.c)), dtype=float)
    return None
