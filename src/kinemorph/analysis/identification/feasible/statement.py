"""The convex problem of a robot: from measured forces, CAD values and conditions to `ConvexProblem`.

The unknowns are whitened, so that all of them are about 1, and no choice of units or frames counts:

    body        theta = ten parameters of P = L X L^T, where P_0 = L L^T is the pseudo-inertia of the prior; the
                unknowns are the entries of X, and its divergence,  tr X - log det X - 4,  is 0 at X = 1
    number      theta = x theta_0 for an armature or friction that the prior knows:  x - log x - 1;  without a prior
                value  theta = x s  with the square  x^2 / 2,  and x >= 0. Offsets and other numbers have squares too

s is the value at which this column alone would explain all forces, |z| / |R_k|, so that these squares are far too weak
to change what data determine. The divergence of a body is the log-det (Bregman) divergence of P from P_0, the same in
all frames and units (Lee, Wensing and Park, IEEE Transactions on Robotics 36 (2020) 182-197).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import from_pseudo_inertia, pseudo_inertia
from kinemorph.analysis.identification.feasible.conditions import (
    TEN,
    Plane,
    center_of,
    inside,
    mirrored_bodies,
)
from kinemorph.analysis.identification.feasible.problem import Block, ConvexProblem, entries_of, unit_matrices
from kinemorph.errors import ModelError, Problem, ShapeError
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Shape
from kinemorph.words import did_you_mean, quoted

NOT_NEGATIVE = ("armature", "viscous", "coulomb")
SHARED = ("armature", "viscous", "coulomb")  # numbers of joints that mirrored joints share; offsets are their own
THIN = 0.05  # a radius of gyration of the prior, relative to the largest one, that counts as too small
THINNEST = 1e-3  # [m]
NOTHING = 1e-9  # relative size at which equalities depend on each other


@dataclass(frozen=True, eq=False)
class Wishes:
    """What is wanted of the parameters besides a good fit, each by names of columns or bodies.

    `weight`      of the prior; `prior` has its values
    `known`       parameters with known values
    `mirrored`    bodies, or velocities of joints, and their mirror images; `plane` is that of the mirror
    `shapes`      for bodies, the shape that contains the center of mass
    """

    prior: Mapping[str, float]
    weight: float
    known: Mapping[str, float]
    mirrored: Mapping[str, str]
    plane: Plane
    shapes: Mapping[str, Shape]


@dataclass(frozen=True, eq=False)
class Statement:
    """The problem in whitened unknowns: theta = constants + spread @ x.

    `start` is where a solver may begin: all blocks are positive definite there. `data` is the number of the first rows
    of R that are data, not prior.
    """

    problem: ConvexProblem
    spread: Array
    constants: Array
    start: Array
    data: int


def stated(R: Array, z: Array, columns: Sequence[str], robot: Robot | None, wishes: Wishes) -> Statement:
    """The problem of these rows, |R theta - z|^2 with R (m, n) and z (m,), for parameters called `columns`."""
    builder = _Builder(R, z, tuple(columns), wishes)
    builder.bodies()
    builder.numbers()
    builder.centers()
    return builder.statement(_equalities(builder, robot))


class _Builder:
    """Collects the unknowns and blocks of a problem."""

    def __init__(self, R: Array, z: Array, columns: tuple[str, ...], wishes: Wishes) -> None:
        self.R, self.z, self.columns, self.wishes = R, z, columns, wishes
        self.place = {name: k for k, name in enumerate(columns)}
        self.blocks: list[Block] = []
        self.spread: list[Array] = []  # columns of the matrix `Statement.spread`
        self.constants = np.zeros(len(columns))
        self.start: list[float] = []
        self.squares: list[tuple[int, float]] = []  # unknowns with a square of the prior, and their prior values
        self.unknowns: dict[str, tuple[int, ...]] = {}  # of bodies
        self.fixed: set[str] = set()  # columns that are constants

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────────

    def names_of_bodies(self) -> list[str]:
        """The names of the bodies whose ten parameters are columns. Raises ShapeError where some are missing."""
        found = []
        for body in dict.fromkeys(name.rpartition(".")[0] for name in self.columns if name.endswith(_PARTS)):
            missing = [f"{body}.{part}" for part in OF_BODY if f"{body}.{part}" not in self.place]
            if missing:
                raise ShapeError(
                    f"columns: {quoted(missing)} of body '{body}' are missing; expected all ten parameters of a body. "
                    "Keep them as columns, and give values that you know as known=."
                )
            found.append(body)
        return found

    def bodies(self) -> None:
        """Adds the unknowns of all bodies with mass; massless bodies stay as they are."""
        for body in self.names_of_bodies():
            names = [f"{body}.{part}" for part in OF_BODY]
            values = np.array([self._prior(name) for name in names])
            if not values.any():
                self.fixed |= set(names)
                continue
            L = np.linalg.cholesky(prior_pseudo_inertia(body, values))
            first = len(self.start)
            for unit in unit_matrices(4):
                column = np.zeros(len(self.columns))
                column[[self.place[name] for name in names]] = from_pseudo_inertia(L @ unit @ L.T)
                self.spread.append(column)
            self.start += entries_of(np.eye(4)).tolist()
            places = tuple(range(first, first + TEN))
            self.unknowns[body] = places
            self.blocks.append(Block(f"body '{body}'", places, unit_matrices(4), True, self.wishes.weight))

    def centers(self) -> None:
        """Adds the blocks of centers of mass inside shapes, and moves the start into the shapes."""
        for body, shape in self.wishes.shapes.items():
            if body not in self.unknowns:
                known = list(self.unknowns)
                what = "it has a shape for its center of mass, but is no body with mass among the columns"
                remedy = did_you_mean(body, known).strip() or f"Bodies are {quoted(known)}."
                raise ModelError(Problem("body", body, what, remedy))
            places = list(self.unknowns[body])
            rows = [self.place[f"{body}.{part}"] for part in OF_BODY]
            own = np.array([self.spread[k] for k in places]).T[rows]  # (10, 10): theta of the body from its unknowns
            for matrices in inside(body, shape):
                turned = np.einsum("iu,ijk->ujk", own[:4], matrices)
                # a diagonal block is several conditions of one number each
                diagonal = not np.any(turned * (1.0 - np.eye(turned.shape[-1])))
                parts = [turned[:, k : k + 1, k : k + 1] for k in range(turned.shape[-1])] if diagonal else [turned]
                for part in parts:
                    name = f"the center of mass of body '{body}' in its shape"
                    self.blocks.append(Block(name, tuple(places), part))
            theta = own @ np.array([self.start[k] for k in places])
            if any(
                np.linalg.eigvalsh(np.einsum("i,ijk", theta[:4], matrices))[0] <= 0.0
                for matrices in inside(body, shape)
            ):
                moved = with_center(theta, center_of(shape))
                for k, value in zip(places, np.linalg.solve(own, moved).tolist(), strict=True):
                    self.start[k] = value

    # ── numbers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def numbers(self) -> None:
        """Adds the unknowns of armatures, friction, offsets and others; known ones are constants."""
        sizes = np.linalg.norm(self.R, axis=0)
        norm = float(np.linalg.norm(self.z))
        inertial = {f"{body}.{part}" for body in self.unknowns for part in OF_BODY} | self.fixed
        for k, name in enumerate(self.columns):
            if name in inertial:
                continue
            value, known = self._prior(name), self.wishes.known.get(name)
            positive = name.rpartition(".")[2] in NOT_NEGATIVE
            if known is not None or sizes[k] == 0.0:  # where no row depends on it, the prior remains
                self.constants[k] = value if known is None else known
                self.fixed.add(name)
                continue
            if positive and value < 0.0:
                what = f"its value in the prior is {value:.6g}, expected at least 0"
                raise ModelError(Problem("parameter", name, what, "Correct the model, or give another prior."))
            scale = norm / sizes[k] if norm > 0.0 else max(abs(value), 1.0)
            place = len(self.start)
            if positive and value > 0.0:
                scale = value
                self.blocks.append(Block(f"'{name}'", (place,), unit_matrices(1), True, self.wishes.weight))
            else:
                self.squares.append((place, value / scale))
                if positive:
                    self.blocks.append(Block(f"'{name}'", (place,), unit_matrices(1), True))
            column = np.zeros(len(self.columns))
            column[k] = scale
            self.spread.append(column)
            self.start.append(1.0 if positive and value > 0.0 else 0.1 if positive else value / scale)

    def _prior(self, name: str) -> float:
        return float(self.wishes.prior.get(name, 0.0))

    # ── the whole ─────────────────────────────────────────────────────────────────────────────────────────────────

    def statement(self, equalities: list[tuple[Array, float, str]]) -> Statement:
        """The statement with equalities (row on theta, right side, name)."""
        count = len(self.start)
        spread = np.array(self.spread).reshape(count, len(self.columns)).T
        root = float(np.sqrt(self.wishes.weight))
        prior = np.zeros((len(self.squares), count))
        for row, (place, _) in enumerate(self.squares):
            prior[row, place] = root
        R = np.concatenate([self.R @ spread, prior])
        z = np.concatenate([self.z - self.R @ self.constants, [root * value for _, value in self.squares]])
        A = np.array([row @ spread for row, _, _ in equalities]).reshape(-1, count)
        b = np.array([right - row @ self.constants for row, right, _ in equalities])
        A, b = _independent(A, b, [name for _, _, name in equalities])
        problem = ConvexProblem(R, z, A, b, tuple(self.blocks))
        return Statement(problem, spread, self.constants, np.array(self.start), len(self.z))


_PARTS = tuple(f".{part}" for part in OF_BODY)


def prior_pseudo_inertia(body: str, parameters: Array) -> Array:
    """The pseudo-inertia (4, 4) of a body in the prior, positive definite.

    Thin rods, plates and points are made a little thicker: radii of gyration are at least THIN of the largest one.
    """
    P: Array = np.array(pseudo_inertia(parameters.tolist()))
    m = float(P[3, 3])
    if not (m > 0.0 and np.all(np.isfinite(P))):
        what = f"its mass in the prior is {m:.6g} kg, expected more than 0"
        raise ModelError(Problem("body", body, what, "Give it a mass, or leave all of its numbers 0."))
    c = P[:3, 3] / m
    values, axes = np.linalg.eigh(P[:3, :3] - m * np.outer(c, c))
    least = m * max(THIN * THIN * float(values[-1]) / m, THINNEST * THINNEST)
    P[:3, :3] = axes * np.maximum(values, least) @ axes.T + m * np.outer(c, c)
    return P


def with_center(parameters: Array, center: Array) -> Array:
    """Ten parameters of the same body, moved so that its center of mass is at `center` [m]."""
    P: Array = np.array(pseudo_inertia(parameters.tolist()))
    m, c = P[3, 3], P[:3, 3] / P[3, 3]
    P[:3, :3] += m * (np.outer(center, center) - np.outer(c, c))
    P[:3, 3] = P[3, :3] = m * center
    return np.array(from_pseudo_inertia(P.tolist()))


# ── equalities ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _equalities(builder: _Builder, robot: Robot | None) -> list[tuple[Array, float, str]]:
    """Rows on theta with their right sides and names: known parameters of bodies, and mirrored parts."""
    wishes, place = builder.wishes, builder.place
    unit = np.eye(len(place))
    found = []
    for name, value in wishes.known.items():
        if name not in place:
            remedy = did_you_mean(name, place).strip() or "See Dynamics.regressor_columns."
            raise ModelError(Problem("parameter", name, "it is known, but is not among the columns", remedy))
        if name not in builder.fixed:
            found.append((unit[place[name]], float(value), f"'{name}'"))
    bodies, joints = {}, {}
    for left, right in wishes.mirrored.items():
        if left in builder.unknowns and right in builder.unknowns:
            bodies[left] = right
        elif all(f"{name}.{part}" in place for name in (left, right) for part in SHARED):
            joints[left] = right
        else:
            what = f"'{right}' is given as its mirror image, expected two bodies with mass, or two velocities of joints"
            raise ModelError(Problem("part", left, what, "Name parts whose parameters are columns."))
    if bodies and robot is None:
        raise ModelError(f"mirrored: {quoted(bodies)} needs the robot that the bodies belong to. Pass robot=.")
    for (left, right), M in (mirrored_bodies(robot, bodies, wishes.plane) if robot is not None else {}).items():
        for k, part in enumerate(OF_BODY):
            row = unit[place[f"{right}.{part}"]] - sum(
                M[k, i] * unit[place[f"{left}.{one}"]] for i, one in enumerate(OF_BODY)
            )
            found.append((row, 0.0, f"mirrored '{right}.{part}'"))
    for left, right in joints.items():
        for part in SHARED:
            row = unit[place[f"{right}.{part}"]] - unit[place[f"{left}.{part}"]]
            found.append((row, 0.0, f"mirrored '{right}.{part}'"))
    return found


def _independent(A: Array, b: Array, names: list[str]) -> tuple[Array, Array]:
    """The equalities with rows of length 1 that do not depend on each other. Raises ModelError if they contradict."""
    kept: list[Array] = []
    right: list[float] = []
    for row, value, name in zip(A, b, names, strict=True):
        size = float(np.linalg.norm(row))
        rest, left = row / max(size, 1e-300), float(value) / max(size, 1e-300)
        for _ in range(2):
            for one, at in zip(kept, right, strict=True):
                share = float(rest @ one)
                rest, left = rest - share * one, left - share * at
        size = float(np.linalg.norm(rest))
        if size > NOTHING:
            kept.append(rest / size)
            right.append(left / size)
        elif abs(left) > NOTHING * (1.0 + abs(float(value))):
            raise ModelError(f"{name} contradicts other known values or mirrored parts. Leave one of them out.")
    return np.array(kept).reshape(-1, A.shape[1]), np.array(right)
