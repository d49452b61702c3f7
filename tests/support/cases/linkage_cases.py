"""Planar linkages for tests of assembly modes, with their closed configurations found without the package.

A linkage is bars between named points; the robot of it hangs on the ground by a spanning tree. The reference solves the
same points by intersecting circles, and, where that does not suffice, by scanning one angle for zeros of the one
distance that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from kinemorph.algebra.groups import Pose, translation
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot

Point = complex


def turned(axis: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (float(value) / float(np.linalg.norm(axis)) for value in axis)
    return (x, y, z)


def frame_of(normal: Sequence[float]) -> np.ndarray:
    """A rotation whose third column is the normal."""
    n = np.array(normal) / np.linalg.norm(normal)
    x = np.cross(n, [0.3, -0.5, 0.8])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(n, x), n])


class Plane:
    """A plane askew in space: points of it as placements, and its normal as the axis of all hinges."""

    def __init__(self, normal: Sequence[float] = (0.0, 0.0, 1.0), origin: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        self.R = np.eye(3) if tuple(normal) == (0.0, 0.0, 1.0) else frame_of(normal)
        self.origin = np.array(origin)
        self.axis = turned(self.R[:, 2])

    def at(self, z: complex, base: bool = False) -> Pose:
        p = self.R @ np.array([z.real, z.imag, 0.0]) + (self.origin if base else 0.0)
        return translation(tuple(float(x) for x in p))


def linkage(
    name: str,
    hinges: Sequence[tuple[str, str, str, complex]],
    loops: Sequence[tuple[str, str, str, complex, complex]],
    plane: Plane | None = None,
    closure: str = "revolute",
) -> Robot:
    """Links joined by hinges (joint, parent, child, place on the parent) and loops (joint, a, b, place on a, on b).

    Every link's own frame is at its hinge, its axes those of the ground where q = 0.
    """
    plane = plane or Plane()
    builder = RobotBuilder(name)
    for _, _, child, _ in hinges:
        builder.add(Body.box(child, 1.0, (0.2, 0.1, 0.1)))
    for joint, parent, child, place in hinges:
        where = plane.at(place, parent == "world").p
        builder.joint(joint, "revolute", parent, child, translation=where, axis=plane.axis)
    for joint, a, b, on_a, on_b in loops:
        where = plane.at(on_a, a == "world").p
        builder.joint(
            joint, closure, a, b, translation=where, child_placement=plane.at(on_b, b == "world"), axis=plane.axis
        )
    return builder.build()


def links_of(robot: Robot, q: np.ndarray) -> dict[str, complex]:
    """The direction of every link, exp(i angle): the sum of the angles from the ground on, as all axes are one."""
    angles: dict[str, float] = {"world": 0.0}
    for joint in robot.joints:
        angles[joint.child] = angles[joint.parent] + float(q[robot.q_slice(joint.name)][0])
    return {link: complex(np.exp(1j * angle)) for link, angle in angles.items() if link != "world"}


# ── six-bars ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# ground A = 0 and D; crank A-B; coupler triangle B-C-E; rocker D-C. Watt: E on the rocker's side carries F-G.


def watt(plane: Plane | None = None) -> Robot:
    """Watt I six-bar: crank A-B, coupler B-C with E on it, rocker D-C with H on it, then E-F and H-F."""
    return linkage(
        "watt",
        [
            ("crank", "world", "a", 0.0),
            ("coupler", "a", "b", 0.4),
            ("rocker", "world", "c", 1.0),
            ("fourth", "b", "d", 0.5 + 0.4j),
            ("fifth", "c", "e", 0.3 + 0.5j),
        ],
        [("first", "b", "c", 0.9, 0.7), ("second", "d", "e", 0.6, 0.5)],
        plane,
    )


def watt_points(crank: float) -> list[dict[str, complex]]:
    """All configurations: link -> direction, exp(i angle)."""
    found = []
    B, D = 0.4 * np.exp(1j * crank), 1.0
    for C in circles(B, 0.9, D, 0.7):
        b, c = (C - B) / 0.9, (C - D) / 0.7
        E, H = B + (0.5 + 0.4j) * b, D + (0.3 + 0.5j) * c
        for F in circles(E, 0.6, H, 0.5):
            found.append({"a": np.exp(1j * crank), "b": b, "c": c, "d": (F - E) / 0.6, "e": (F - H) / 0.5})
    return found


STEPHENSON = dict(D=1.1 + 0.0j, G=0.35 - 0.55j, crank=0.42, BC=0.95, DC=0.8, E=0.45 + 0.55j, EF=0.75, GF=0.85)


def stephenson(plane: Plane | None = None, data: dict[str, complex] = STEPHENSON) -> Robot:
    """Stephenson III: a four-bar A B C D whose coupler point E drives the dyad E-F-G. Driven at G it is no dyads."""
    return linkage(
        "stephenson",
        [
            ("crank", "world", "a", 0.0),
            ("coupler", "a", "b", data["crank"]),
            ("rocker", "world", "c", data["D"]),
            ("link", "b", "d", data["E"]),
            ("driver", "world", "e", data["G"]),
        ],
        [("four_bar", "b", "c", data["BC"], data["DC"]), ("dyad", "d", "e", data["EF"], data["GF"])],
        plane,
    )


def stephenson_scan(
    driver: float, data: dict[str, complex] = STEPHENSON, count: int = 20001
) -> list[dict[str, complex]]:
    """All configurations for the angle of the driver G-F, by scanning the crank for |E - F| = EF on both branches."""
    F = data["G"] + data["GF"] * np.exp(1j * driver)

    def at(crank: float, side: int) -> tuple[float, dict[str, complex]] | None:
        B = data["crank"] * np.exp(1j * crank)
        meet = circles(B, abs(data["BC"]), data["D"], abs(data["DC"]))
        if len(meet) < 2:
            return None
        C = meet[side]
        b, c = (C - B) / data["BC"], (C - data["D"]) / data["DC"]
        E = B + data["E"] * b
        d, e = (F - E) / data["EF"], np.exp(1j * driver)
        return abs(E - F) - abs(data["EF"]), {"a": np.exp(1j * crank), "b": b, "c": c, "d": d, "e": e}

    found = []
    for side in (0, 1):
        found += _zeros(lambda x, side=side: at(x, side), np.linspace(-np.pi, np.pi, count))  # type: ignore[misc]
    return found


def _zeros(
    at: Callable[[float], tuple[float, dict[str, complex]] | None], grid: np.ndarray
) -> list[dict[str, complex]]:
    """Where a function that is not defined everywhere changes its sign, by bisection; up to the ends of where it is."""
    found = []
    points = [float(x) for x in grid]
    for left, right in list(pairwise(points)):
        if (at(left) is None) != (at(right) is None):
            inside, outside = (right, left) if at(left) is None else (left, right)
            for _ in range(60):
                middle = 0.5 * (inside + outside)
                inside, outside = (inside, middle) if at(middle) is None else (middle, outside)
            points.append(inside)
    points.sort()
    values = [at(x) for x in points]
    for left, right, one, two in zip(points, points[1:], values, values[1:], strict=False):
        if one is None or two is None or one[0] * two[0] > 0.0:
            continue
        low, high = left, right
        for _ in range(60):
            middle = 0.5 * (low + high)
            value = at(middle)
            assert value is not None
            low, high = (middle, high) if value[0] * one[0] > 0.0 else (low, middle)
        last = at(low)
        assert last is not None
        found.append(last[1])
    return found


def circles(a: complex, radius: float, b: complex, other: float) -> list[complex]:
    """Where two circles meet: two points, the one to the left of the way from a to b first, or none."""
    way = b - a
    distance = abs(way)
    along = (distance**2 + radius**2 - other**2) / (2.0 * distance)
    if abs(along) > radius:
        return []
    high = np.sqrt(radius**2 - along**2)
    return [a + way / distance * complex(along, high), a + way / distance * complex(along, -high)]
