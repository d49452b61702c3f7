"""Conditions on the ten parameters of bodies: mirrored limbs, and centers of mass inside shapes.

All are linear in the parameters. A reflection S = R_right^T (1 - 2 n n^T) R_left takes the frame of a body to that of
its mirror image, and its pseudo-inertia to diag(S, 1) P diag(S, 1)^T. The center of mass c = h / m is inside an
ellipsoid with center p, axes R and radii r where

    [[m 1, u], [u^T, m]]  is positive semidefinite,      u = diag(r)^-1 R^T (h - m p)

and inside a box where m r_i + e_i . (h - m p) and m r_i - e_i . (h - m p) are not negative (Wensing, Kim and Slotine,
IEEE Robotics and Automation Letters 3 (2018) 60-67).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import from_pseudo_inertia, pseudo_inertia
from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Cylinder, Ellipsoid, Shape, Sphere

Plane = Literal["xy", "xz", "yz"]
NORMALS: dict[str, int] = {"xy": 2, "xz": 1, "yz": 0}  # plane -> the axis across it
SAME = 1e-6  # [m] places that differ by less are the same
TEN = 10


# ── mirrored limbs ────────────────────────────────────────────────────────────────────────────────────────────────────


def mirrored_bodies(robot: Robot, pairs: Mapping[str, str], plane: Plane) -> dict[tuple[str, str], Array]:
    """For each pair of bodies the matrix (10, 10) from the parameters of the first to those of its mirror image.

    The plane is one of the world, at the neutral configuration, where mirrored bodies have to be opposite each other.
    """
    if not pairs:
        return {}
    names = [name for pair in pairs.items() for name in pair]
    poses = dict(zip(names, forward_kinematics(resolve(robot), neutral(robot).tolist(), names), strict=True))
    across = np.eye(3)[NORMALS[plane]]
    found, problems = {}, []
    for left, right in pairs.items():
        one, other = poses[left], poses[right]
        between = np.array(other.p, dtype=float) - np.array(one.p, dtype=float)
        aside = between - across * (across @ between)
        if float(np.abs(aside).max()) > SAME:
            what = (
                f"its place and that of '{right}' differ by {float(np.linalg.norm(aside)):.3g} m along the plane "
                f"'{plane}' at the neutral configuration, expected mirror images"
            )
            problems.append(Problem("body", left, what, "Name another plane, or the bodies that are opposite."))
        S = np.eye(4)
        reflection = np.eye(3) - 2.0 * np.outer(across, across)
        S[:3, :3] = np.array(other.R, dtype=float).T @ reflection @ np.array(one.R, dtype=float)
        found[left, right] = np.array(
            [from_pseudo_inertia((S @ np.array(pseudo_inertia(unit)) @ S.T).tolist()) for unit in np.eye(TEN).tolist()]
        ).T
    if problems:
        raise ModelError(problems)
    return found


# ── centers of mass inside shapes ─────────────────────────────────────────────────────────────────────────────────────


def center_of(shape: Shape) -> Array:
    """The center of a shape in the frame of its body [m], shape (3,)."""
    return np.array(evaluate_all(shape.placement).p, dtype=float)


def inside(body: str, shape: Shape) -> list[Array]:
    """Matrices (4, s, s), one for each of m, hx, hy, hz, whose sums are positive where c is inside the shape."""
    if not isinstance(shape, (Box, Sphere, Cylinder, Ellipsoid)):
        what = f"the shape for its center of mass is a {type(shape).__name__}"
        remedy = "Give a Box, a Sphere, a Cylinder or an Ellipsoid that contains it."
        raise ModelError(Problem("body", body, f"{what}, which is no simple convex solid", remedy))
    placement = evaluate_all(shape.placement)
    axes, p = np.array(placement.R, dtype=float), np.array(placement.p, dtype=float)
    along = np.column_stack([-axes.T @ p, axes.T])  # (3, 4): R^T (h - m p) from (m, h)
    mass = np.array([1.0, 0.0, 0.0, 0.0])
    if isinstance(shape, Box):
        half = 0.5 * np.array(evaluate_all(shape.size), dtype=float)
        return [_between(mass, row / size) for row, size in zip(along, _positive(body, half), strict=True)]
    if isinstance(shape, Cylinder):
        radius, half = _positive(body, np.array(evaluate_all((shape.radius, 0.5 * shape.length)), dtype=float))
        return [_arrow(mass, along[:2] / radius), _between(mass, along[2] / half)]
    radii = (shape.radius,) * 3 if isinstance(shape, Sphere) else shape.radii
    return [_arrow(mass, along / _positive(body, np.array(evaluate_all(radii), dtype=float))[:, None])]


def _between(mass: Array, row: Array) -> Array:
    """diag(m + u, m - u), positive semidefinite where |u| <= m, for u = row . (m, h)."""
    found = np.zeros((4, 2, 2))
    found[:, 0, 0], found[:, 1, 1] = mass + row, mass - row
    return found


def _arrow(mass: Array, rows: Array) -> Array:
    """[[m 1, u], [u^T, m]], positive semidefinite where |u| <= m, for u = rows @ (m, h)."""
    size = len(rows)
    found: Array = mass[:, None, None] * np.eye(size + 1)
    found[:, :size, size] = found[:, size, :size] = rows.T
    return found


def _positive(body: str, sizes: Array) -> Array:
    if not (np.all(sizes > 0.0) and np.all(np.isfinite(sizes))):
        what = f"the shape for its center of mass has the sizes {sizes.tolist()} m, expected numbers above 0"
        raise ModelError(Problem("body", body, what, "Give sizes in meters."))
    return sizes
