"""`feasible_parameters`: the parameters of real bodies and joints that fit measured forces best.

    minimize    1/2 |R theta - z|^2  +  weight * (divergence from the CAD values)
    such that   every body has a mass distribution, its pseudo-inertia [[Sigma, h], [h^T, m]] being positive definite;
                armatures and friction are not negative; known values, mirrored limbs and shapes as given

The divergence is stated in `statement`: it is 0 at the CAD values, grows without bound where a mass distribution
becomes impossible, and decides what the data leave open. The problem is convex and has one solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.feasible.conditions import NORMALS, Plane
from kinemorph.analysis.identification.feasible.gauss_newton import solve_by_factors
from kinemorph.analysis.identification.feasible.problem import Solution, residual
from kinemorph.analysis.identification.feasible.statement import NOT_NEGATIVE, Statement, Wishes, stated
from kinemorph.analysis.identification.information import triangle
from kinemorph.analysis.identification.shares import data_shares
from kinemorph.deriving.parameter_functions import column_names, parameter_values
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.system import System, as_robot
from kinemorph.words import counted, listed

ACCURATE = 1e-5  # the residual up to which a solution counts as found


@dataclass(frozen=True, eq=False)
class Feasible:
    """The result of `feasible_parameters`.

    `columns`       the names of the n parameters
    `values`        their values, shape (n,) [kg, kg m, kg m^2, N m s/rad, N m, or those of translations]
    `data_share`    the share of the data in each value, shape (n,), from 0 to 1; the rest is that of the prior.
                    It is nan after a failure
    `misfit`        |R theta - z|^2
    `divergence`    of the values from the prior, without its weight
    `residual`      how far the conditions of a minimum are from being satisfied: about the error of the values,
                    relative to those of the prior
    `iterations`    the number of steps of Newton's method
    `failure`       empty, or a sentence that says why the values are no solution
    """

    columns: tuple[str, ...]
    values: Array
    data_share: Array
    misfit: float
    divergence: float
    residual: float
    iterations: int
    failure: str = ""

    @cached_property
    def by_name(self) -> dict[str, float]:
        """The values by the names of the parameters, as `with_parameters` takes them."""
        return dict(zip(self.columns, self.values.tolist(), strict=True))

    def __repr__(self) -> str:
        state = self.failure or f"residual {self.residual:.1e} after {counted(self.iterations, 'step')}"
        return f"<Feasible: {counted(len(self.columns), 'parameter')}, {state}>"


def feasible_parameters(
    R: Array,
    z: Array,
    columns: Sequence[str],
    model: Robot | System | None = None,
    *,
    weight: float = 1.0,
    prior: Mapping[str, float] | None = None,
    known: Mapping[str, float] | None = None,
    mirrored: Mapping[str, str] | None = None,
    plane: Plane = "xz",
    shapes: Mapping[str, Shape] | None = None,
) -> Feasible:
    """The possible parameters that minimize |R theta - z|^2, and that are near the CAD values where data say nothing.

    `R`, `z`       (m, n) and (m,), such as those of `Information.weighted`: residuals divided by their deviations
    `columns`      the names of the n parameters. The ten parameters of a body stand together ("forearm.m", ...);
                   armatures, viscous and Coulomb friction are not negative; all others may have any value
    `model`        whose values are the prior
    `weight`       of the prior: with 1, a CAD value counts as much as one measurement of it with an error of 100 %
    `prior`        values that replace those of the model, or complete them, by name
    `known`        values that are known exactly, such as weighed masses, by name
    `mirrored`     bodies that are mirror images of others at the neutral configuration, or velocities of joints that
                   have the same armature and friction as others: {"left_thigh": "right_thigh"}
    `plane`        the plane of the mirror, in axes of the world
    `shapes`       for bodies, a Box, Sphere, Cylinder or Ellipsoid that contains the center of mass

    Raises ModelError for conditions that cannot be met together, ShapeError for arrays that do not fit. Where no
    solution is found, `Feasible.failure` says so.
    """
    R, z, names = _checked(R, z, columns)
    if plane not in NORMALS:
        raise ModelError(f"plane is {plane!r}, expected one of {listed(NORMALS)}.")
    if not (0.0 < weight < np.inf):
        raise ModelError(
            f"weight is {weight!r}, expected a number above 0. A small one, such as 1e-3, leaves to the data all that "
            "they determine."
        )
    robot = None if model is None else as_robot(model)
    values = {} if robot is None else dict(zip(column_names(robot), parameter_values(robot).tolist(), strict=True))
    wishes = Wishes(
        {**values, **_numbers("prior", prior)},
        float(weight),
        _numbers("known", known),
        dict(mirrored or {}),
        plane,
        dict(shapes or {}),
    )
    short = triangle(np.column_stack([R, z])) if len(z) > len(names) + 1 else np.column_stack([R, z])
    statement = stated(short[:, :-1], short[:, -1], names, robot, wishes)
    found = solve_by_factors(statement.problem, statement.start)
    return _result(statement, found, R, z, names, wishes)


def _result(
    statement: Statement, found: Solution, R: Array, z: Array, names: tuple[str, ...], wishes: Wishes
) -> Feasible:
    problem, weight = statement.problem, wishes.weight
    theta = statement.constants + statement.spread @ found.x
    for k, name in enumerate(names):  # interior points leave numbers at a bound at about -1e-12
        if name.rpartition(".")[2] in NOT_NEGATIVE and name not in wishes.known:
            theta[k] = max(theta[k], 0.0)
    off = residual(problem, found)
    failure = ""
    if not off <= ACCURATE:
        why = found.note or "the conditions of a minimum are not satisfied"
        failure = (
            f"no solution is found: {why}; the residual is {off:.1e}, expected at most {ACCURATE:g}. Check that the "
            "known values and shapes are possible together, or give the prior more weight."
        )
    left = R @ theta - z
    misfit = float(left @ left)
    divergence = np.nan if failure else divergence_of(statement, found.x, weight)
    shares = np.full(len(names), np.nan)
    if not failure:
        curvature = prior_curvature(statement, found.x)
        shares = data_shares(problem.R[: statement.data], curvature, statement.spread, problem.A)
    return Feasible(names, theta, shares, misfit, divergence, off, found.iterations, failure)


def divergence_of(statement: Statement, x: Array, weight: float) -> float:
    """The divergence of unknowns x from the prior: what its weight multiplies."""
    problem = statement.problem
    left = problem.R[statement.data :] @ x - problem.z[statement.data :]
    total = 0.5 * float(left @ left) / weight
    for block in problem.pulled:
        B = block.value(x)
        total += float(np.trace(B) - np.linalg.slogdet(B)[1]) - block.size
    return total


def prior_curvature(statement: Statement, x: Array) -> Array:
    """The second derivative of the prior by the unknowns at x, shape (n, n)."""
    problem = statement.problem
    rows = [problem.R[statement.data :], *(np.sqrt(one.weight) * one.log_rows(x) for one in problem.pulled)]
    found: Array = sum(row.T @ row for row in rows)
    return found


def _checked(R: Array, z: Array, columns: Sequence[str]) -> tuple[Array, Array, tuple[str, ...]]:
    names = tuple(columns)
    R, z = np.array(R, dtype=float), np.array(z, dtype=float)
    if len(set(names)) < len(names):
        raise ShapeError("columns: a name occurs twice, expected each parameter once. Remove the second one.")
    if R.ndim != 2 or R.shape[1] != len(names) or z.shape != R.shape[:1]:
        raise ShapeError(
            f"R has shape {R.shape} and z {z.shape}; expected (m, {len(names)}) and (m,) for "
            f"{counted(len(names), 'column')}. Use Information.weighted."
        )
    if not (np.all(np.isfinite(R)) and np.all(np.isfinite(z))):
        raise ShapeError("R or z has entries that are not finite numbers. Remove the samples that they come from.")
    return R, z, names


def _numbers(what: str, given: Mapping[str, float] | None) -> dict[str, float]:
    """The given values as floats. Raises ModelError for one that is no finite number."""
    found = {}
    for name, value in (given or {}).items():
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            found[name] = np.nan
        if not np.isfinite(found[name]):
            raise ModelError(f"{what}: '{name}' is {value!r:.60}, expected a finite number in SI units.")
    return found
