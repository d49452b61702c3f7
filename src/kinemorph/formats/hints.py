"""Hints at probable errors: numbers in a model that are legal, but look like a common oversight.

    a missing decimal point          one moment of inertia, or a mass, is wrong by a power of ten
    millimeters, grams, kg mm^2      lengths, masses or inertias are a thousand or a million times too large
    inertia about the joint          the inertia is not about the center of mass
    degrees                          a hinge has limits of many turns
    a missing sign                   gravity points up; a run starts outside the limits of a joint
    a missing contact                a body with shapes touches nothing, while others stand on a ground
    a missing edge                   a phase of an automaton is never left

Hints are sentences with a question, never errors. A moment of inertia is compared with the size of its body: mass m
within a box [lower, upper] has, about its center of mass c, a second moment of at most m (upper - c)(c - lower) along
each axis (Bhatia & Davis 2000). The box is that of the body's shapes; for a body without shapes, it is the box around
its joints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import inertia_problems, triangle_doubts
from kinemorph.model.body import Body
from kinemorph.model.building.part_checks import degree_remarks
from kinemorph.model.elements.contact.unstopped import unstopped_bodies
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfEllipsoid,
    Line,
    Mesh,
    Shape,
    Sphere,
    Triangle,
)
from kinemorph.model.system import System
from kinemorph.words import listed

TURN = 2.0 * math.pi * (1.0 + 1e-3)  # [rad]
SLACK = 1e-6  # [rad or m]; an initial coordinate may exceed a limit by this much, because of rounding
FAR = 50.0  # [m]; no robot has this distance between two joints
DENSEST = 200_000.0  # [kg/m^3]; osmium has 22,590, and bodies are often drawn thinner than they are
ROOM = 1.02  # times the greatest possible second moment: rounded numbers may exceed it by this factor
NEGLIGIBLE = 1e-3  # times the robot's mass: lighter bodies, such as those of sensors, are not checked
NAMED = 4  # bodies without a contact that a hint names besides the first
TOO_WIDE = 30.0  # times the greatest possible second moment: beyond this, a wrong unit is probable


class Hint(NamedTuple):
    """A hint about one part of a robot."""

    kind: str  # "body", "joint", "phase"
    name: str
    sentence: str


def hints(
    robot: Robot, surface: Callable[[Any], Mesh | None] = lambda shape: None, *, start: Sequence[float] = ()
) -> list[Hint]:
    """Hints at all numbers of a robot that look wrong.

    `surface` returns the mesh of a shape whose mesh is in a file, or None if it is not known. `start` is the initial
    configuration of a run, shape (nq,), or empty if the file gives none.
    """
    lengths = length_hints(robot, surface)
    found = [*lengths, *angle_hints(robot), *start_hints(robot, start), *gravity_hints(robot)]
    if lengths:
        return found  # if lengths have the wrong unit, masses cannot be compared with sizes
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


def contact_hints(system: System) -> list[Hint]:
    """At most one hint, for all bodies with shapes that would fall through the ground that other bodies touch.

    For docked modules contacts are chosen automatically, so there is no hint.
    """
    names = () if system.assembly is not None else unstopped_bodies(system.robot, system.elements)
    if not names:
        return []
    others = f" (the same holds for {listed(names[1:], NAMED)})" if len(names) > 1 else ""
    sentence = f"it has shapes, but no contact stops it at the ground that other bodies touch{others}; is one missing?"
    return [Hint("body", names[0], sentence)]


def phase_hints(system: System) -> list[Hint]:
    """Hints at phases that edges enter and none leaves: the last phase of a motion, or a missing edge."""
    automaton = system.automaton
    if automaton is None or not automaton.edges:
        return []
    left = {edge.source for edge in automaton.edges}
    entered = {edge.target for edge in automaton.edges if not edge.stop}
    sentence = "no edge leaves it, so that a run stays in it to its end; is an edge missing, or one with stop=True?"
    return [Hint("phase", phase.name, sentence) for phase in automaton.phases if phase.name in entered - left]


# ── lengths ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def length_hints(robot: Robot, surface: Callable[[Any], Mesh | None] = lambda shape: None) -> list[Hint]:
    """Hints at lengths that may be millimeters: at most one for joints, one for centers of mass, one for shapes.

    `surface` as for `hints`.
    """
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
            remedy = (
                "Divide lengths by 1000, or give a mesh the scale 0.001"
                if "shape" in what
                else "Divide lengths by 1000"
            )
            sentence = f"{what.format(far[0][1])}{others}; were millimeters meant? {remedy}."
            found.append(Hint(kind, far[0][0], sentence))
    return found


def _length(vector: Iterable[Any]) -> float:
    """The length of a vector whose entries may be parameters."""
    return float(np.linalg.norm(np.array([evaluate(x) for x in vector])))


# ── angles, starts, gravity ───────────────────────────────────────────────────────────────────────────────────────────


def angle_hints(robot: Robot) -> list[Hint]:
    """A hint at limits of hinges that may be in degrees: at most one, for all hinges together."""
    return [
        Hint(remark.kind, remark.name, f"{remark.what}. {remark.remedy}") for remark in degree_remarks(robot.joints)
    ]


def maybe_degrees(angles: Iterable[float]) -> tuple[str, str] | None:
    """(problem, remedy) if one of the finite angles [rad] is more than a full turn, so that degrees may be meant;
    None otherwise.
    """
    if max(angles) <= TURN and min(angles) >= -TURN:  # the usual case
        return None
    angle = next(angle for angle in angles if abs(angle) > TURN)
    return (
        f"the angle {angle:g} rad is more than a full turn; it is used as written, but degrees may be meant",
        f"Write {math.radians(angle):.9g} if {angle:g} degrees are meant.",
    )


def start_hints(robot: Robot, start: Sequence[float]) -> list[Hint]:
    """Hints at initial coordinates, of the configuration `start` with shape (nq,), outside the limits of joints."""
    if not len(start):
        return []
    found = []
    for joint in robot.joints:
        values = start[robot.q_slice(joint.name)]
        for name, value, low, high in zip(joint.q_names, values, joint.lower, joint.upper, strict=True):
            if not low - SLACK <= value <= high + SLACK:
                sentence = (
                    f"the initial {name} is {value:g}, outside its limits {low:g} .. {high:g}; is this intended? "
                    "If not, correct q in the settings, or the limits."
                )
                found.append(Hint("joint", joint.name, sentence))
    return found


def gravity_hints(robot: Robot) -> list[Hint]:
    """A hint if gravity points up."""
    up = evaluate(robot.gravity[2])
    if up <= 0.0:
        return []
    sentence = (
        f"gravity is {up:g} m/s^2 along z, which is up; is a minus sign missing? Give the acceleration of free fall."
    )
    return [Hint("robot", robot.name, sentence)]


# ── masses ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def decimal_point(moment: Array) -> str:
    """The hint if the largest principal moment of inertia is too large, perhaps by a lost decimal point; else empty.

    No principal moment of a body exceeds the sum of the other two. The hint is given if the largest one does, but
    would not if it were divided by 10, 100, ... or 10^6. `moment` [kg m^2] is the inertia about the center of mass,
    shape (3, 3).
    """
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
                f"the moment of inertia {values[2]:g} kg m^2 about {axis} is too large for the other two, but "
                f"{trial[2]:g} kg m^2 would fit; is a decimal point missing? Compare it with its source."
            )
    return ""


def misfit(mass: float, com: Array, moment: Array, room: tuple[Array, Array]) -> str:
    """The hint if a mass [kg] inside a box cannot have this inertia; else empty.

    `com` [m], shape (3,); `moment` [kg m^2] about it, shape (3, 3); `room` is the box (lower, upper) [m] of the body.
    """
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
            "the inertia is too large for a body of this mass and size, but would fit if it were about the joint; is "
            "it given about the joint? Give it about the center of mass."
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
    """The hint if a mass [kg] inside the box (lower, upper) [m] would be denser than any metal; else empty."""
    volume = float(np.prod(room[1] - room[0]))
    if volume <= 0.0 or mass <= DENSEST * volume:
        return ""
    size = " x ".join(f"{edge:.3g}" for edge in room[1] - room[0])
    return (
        f"{mass:g} kg in a box of {size} m are {mass / volume:.3g} kg/m^3, denser than any metal; were grams meant, or "
        "is a decimal point missing? Compare the mass with its source."
    )


def _spread(moment: Array) -> Array:
    """Second moments of mass [kg m^2] along x, y and z, shape (3,), of an inertia matrix, shape (3, 3)."""
    spread: Array = 0.5 * np.trace(moment) - np.diag(moment)
    return spread


def _greatest(mass: float, com: Array, room: tuple[Array, Array]) -> Array:
    """Upper bounds [kg m^2] of the second moments about `com` of a mass inside a box (lower, upper) [m], shape (3,)."""
    lower, upper = np.minimum(room[0], com), np.maximum(room[1], com)
    greatest: Array = mass * (upper - com) * (com - lower)
    return greatest


# ── boxes around bodies ───────────────────────────────────────────────────────────────────────────────────────────────


def _rooms(robot: Robot, surface: Callable[[Any], Mesh | None]) -> dict[str, tuple[Array, Array]]:
    """The boxes (lower, upper) [m] around bodies, in the axes of each body, by name; without bodies of unknown size."""
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
    """The boxes (lower, upper) [m] of a body's shapes; None if the size of a shape is not known."""
    boxes = []
    for shape in (*body.shapes, *body.collisions):
        box = _box(shape, surface)
        if box is None:
            return None
        boxes.append(box)
    return boxes


def _box(shape: Shape, surface: Callable[[Any], Mesh | None]) -> tuple[Array, Array] | None:
    """The box (lower, upper) [m] of a shape in the axes of its body; None if its size is not known."""
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
    """Half the edges [m] of the box around a solid in its own axes, shape (3,); None for shapes made of points."""
    if isinstance(shape, Box):
        return 0.5 * np.array([evaluate(edge) for edge in shape.size])
    if isinstance(shape, (Ellipsoid, HalfEllipsoid)):
        return np.array([evaluate(radius) for radius in shape.radii])
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
    """The points [m] of a mesh, line or triangle in its own axes, shape (n, 3); None for solids."""
    mesh = shape if isinstance(shape, Mesh) else surface(shape)
    if mesh is not None:
        return np.array(mesh.vertices, dtype=float).reshape(-1, 3)
    if isinstance(shape, Line):
        return np.array(evaluate_all((shape.start, shape.end)), dtype=float)
    if isinstance(shape, Triangle):
        return np.array(evaluate_all((shape.a, shape.b, shape.c)), dtype=float)
    return None
