"""What is unknown in an identification: its columns, their base parameters, and how far the model's values are trusted.

Data leave directions open: masses that no force shows, and parameters that the motion hardly moves. There the values of
the model decide. Their trust is a quadratic form that does not depend on units or on the choice of frames: of a body
with pseudo-inertia P in the place of P0 of the model it is

    |P0^(-1/2) (P - P0) P0^(-1/2)|^2,

twice the second-order term of the log-det divergence  tr(P0^-1 P) - log det(P0^-1 P) - 4  of P from P0. It is 1 where
one principal moment of the body is wrong by as much as itself. Friction is trusted to be within the size of the
measured forces.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import pseudo_inertia
from kinemorph.analysis.identification.base_parameters import (
    EASY,
    NOTHING,
    OVER,
    BaseParameters,
    base_parameters,
    independent_columns,
    sampled_regressor,
)
from kinemorph.analysis.identification.feasible.statement import NOT_NEGATIVE, prior_pseudo_inertia
from kinemorph.analysis.identification.information import Information
from kinemorph.analysis.identification.rows import Rows, sampled_rows
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.regressors import OF_BODY, OF_VELOCITY
from kinemorph.words import did_you_mean, listed

SIZE = len(OF_BODY)
TINY = 1e-6  # [SI] the least friction whose inverse is a trust


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknown columns of a robot.

    `columns`    their names, in the order of `Dynamics.regressor_columns`
    `nominal`    the values of the model, shape (n,)
    `known`      the values of all other columns, by name
    `fixed`      those of the columns that have known values all the same: parameters of bodies that are known in part
    `measured`   (value, standard deviation) of columns that are known approximately, such as masses of a data sheet
    `base`       the combinations of the unknowns that forces depend on
    """

    columns: tuple[str, ...]
    nominal: Array
    known: Mapping[str, float]
    fixed: Mapping[str, float]
    measured: Mapping[str, tuple[float, float]]
    base: BaseParameters

    @property
    def free(self) -> list[int]:
        """The indices of the columns that are not fixed."""
        return [k for k, name in enumerate(self.columns) if name not in self.fixed]

    def measurements(self) -> tuple[Array, Array]:
        """(E, e) of shapes (k, n) and (k,): what is known approximately, as rows  E theta = e  of deviation 1."""
        E, e = np.zeros((len(self.measured), len(self.columns))), np.zeros(len(self.measured))
        for row, (name, (value, deviation)) in enumerate(self.measured.items()):
            E[row, self.columns.index(name)], e[row] = 1.0 / deviation, value / deviation
        return E, e

    def trust(self, information: Information, values: Array | None = None) -> Array:
        """D, shape (rows, n): the model's values are trusted as by |D (theta - nominal)|^2, the form in this file.

        With `values` of theta, shape (n,), D^T D is the curvature of the divergence there instead of at nominal.
        """
        values = self.nominal if values is None else values
        blocks: list[Array] = []
        n = len(self.columns)
        place = {name: k for k, name in enumerate(self.columns)}
        for name in self.columns:
            body, _, part = name.rpartition(".")
            if part == OF_BODY[0]:
                at = [place[f"{body}.{one}"] for one in OF_BODY]
                block = np.zeros((SIZE, n))
                block[:, at] = _trust_of_body(body, values[at])
                blocks.append(block)
        for k, name in enumerate(self.columns):
            if name.rpartition(".")[2] in OF_VELOCITY:
                row = np.zeros((1, n))
                positive = name.rpartition(".")[2] in NOT_NEGATIVE and self.nominal[k] > 0.0
                row[0, k] = 1.0 / max(float(values[k]), TINY) if positive else _effect(information, k)
                blocks.append(row)
        return np.concatenate(blocks) if blocks else np.zeros((0, n))


def _trust_of_body(body: str, parameters: Array) -> Array:
    """F, shape (10, 10), with  |F (theta - parameters)|^2 = |P0^(-1/2) (P - P0) P0^(-1/2)|^2."""
    if not parameters.any():  # a body without mass stays so
        return np.eye(SIZE) / TINY
    root = np.linalg.inv(np.linalg.cholesky(prior_pseudo_inertia(body, parameters))).T
    columns = [(root.T @ np.array(pseudo_inertia(unit)) @ root).ravel() for unit in np.eye(SIZE).tolist()]
    found: Array = np.linalg.qr(np.array(columns).T)[1]
    return found


def _effect(information: Information, column: int) -> float:
    """How large the forces of a column's unit are, relative to the measured forces: a root of the prior's weight."""
    forces = squares = 0.0
    for channel in information.channels:
        if column in channel.columns:
            at = channel.columns.index(column)
            forces += float(np.sum(channel.R[:, at] ** 2))
            squares += float(np.sum(channel.R[:, -1] ** 2))
    return float(np.sqrt(forces / squares)) if forces > 0.0 and squares > 0.0 else 1.0


Known = Mapping[str, float | tuple[float, float]]  # values by column, or values with their standard deviations


def unknowns(
    dynamics: Dynamics,
    model: Mapping[str, float],
    friction: Sequence[str],
    armature: bool,
    given: Known,
    mass_deviation: float | None = None,
    *,
    rows: Rows | None = None,
    seed: int = 0,
) -> Unknowns:
    """The unknowns: the inertial parameters of all bodies, and the parts of friction that are named.

    `model` are the values of the model, by column. `friction` are some of "viscous", "coulomb" and "offset"; `armature`
    makes the armatures unknown, too. `given` are known values of columns; columns that are neither have the model's
    values. `mass_deviation` is the standard deviation of the model's masses, relative to them; None where they are not
    trusted more than other values. `rows` are those of the torques or wrenches that are measured, if they are not all
    torques: they show other combinations.
    """
    known = {name: float(value) for name, value in given.items() if not isinstance(value, tuple)}
    approximate = {name: _checked_pair(name, value) for name, value in given.items() if isinstance(value, tuple)}
    names = dynamics.regressor_columns
    wrong = [name for name in given if name not in names]
    if wrong:
        raise ShapeError(
            f"known: robot '{dynamics.robot.name}' has no parameter '{wrong[0]}'.{did_you_mean(wrong[0], names)} See "
            "Dynamics.regressor_columns."
        )
    strange = [part for part in friction if part not in OF_VELOCITY[1:]]
    if strange:
        raise ShapeError(f"friction: '{strange[0]}' is unknown. Known: {listed(OF_VELOCITY[1:])}.")
    parts = {*OF_BODY, *friction, *(("armature",) if armature else ())}
    nominal = _weighed({name: model[name] for name in names}, known, approximate)
    bodies = {name.rpartition(".")[0] for name in names if name.rpartition(".")[2] in OF_BODY and name not in known}
    chosen = tuple(name for name in names if _is_chosen(name, parts, bodies, known))
    values = np.array([nominal[name] for name in chosen])
    others = {name: nominal[name] for name in names if name not in chosen}
    fixed = {name: known[name] for name in chosen if name in known}
    idle = [name for name in approximate if name not in chosen]
    if idle:
        raise ShapeError(f"known: '{idle[0]}' has a deviation, but is not identified. Give its value alone.")
    if mass_deviation is not None:
        masses = {name: nominal[name] for name in chosen if name.endswith(f".{OF_BODY[0]}") and name not in given}
        approximate |= {name: (mass, mass_deviation * mass) for name, mass in masses.items() if mass > 0.0}
    return Unknowns(chosen, values, others, fixed, approximate, _base(dynamics, chosen, rows, seed))


def _checked_pair(name: str, value: tuple[float, float]) -> tuple[float, float]:
    if len(value) != 2 or not np.all(np.isfinite(value)) or not value[1] > 0.0:
        raise ShapeError(f"known: '{name}' is {value}; expected a number, or (value, positive standard deviation).")
    return float(value[0]), float(value[1])


def _weighed(
    nominal: dict[str, float], known: Mapping[str, float], approximate: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """The model's values with known ones; moments of a body whose mass is known are those of the same shape."""
    masses = {**{name: pair[0] for name, pair in approximate.items()}, **known}
    found = dict(nominal)
    for name, mass in masses.items():
        body, _, part = name.rpartition(".")
        if part == OF_BODY[0] and nominal[name] > 0.0:
            found |= {f"{body}.{one}": nominal[f"{body}.{one}"] * mass / nominal[name] for one in OF_BODY}
    return found | dict(known)


def _is_chosen(name: str, parts: Collection[str], bodies: Collection[str], known: Mapping[str, float]) -> bool:
    """Whether a column is unknown. The ten parameters of a body stay together where some of them are known."""
    of, _, part = name.rpartition(".")
    return part in parts and (of in bodies if part in OF_BODY else name not in known)


def _base(dynamics: Dynamics, chosen: tuple[str, ...], rows: Rows | None, seed: int) -> BaseParameters:
    """The base parameters of chosen columns: friction, then those of bodies, then armatures.

    Where all torques are measured, those of bodies are by `base_parameters`. Columns that depend on earlier ones are
    found by factorization at random states.
    """
    robot, names = dynamics.robot, dynamics.regressor_columns
    place = {name: k for k, name in enumerate(chosen)}
    units = np.eye(len(chosen))
    parts = [name.rpartition(".")[2] for name in chosen]
    candidates = [
        (name, units[place[name]]) for name, part in zip(chosen, parts, strict=True) if part in OF_VELOCITY[1:]
    ]
    inertial = base_parameters(dynamics, seed=seed)
    if rows is None and all(name in place for name in inertial.columns):
        at = [place[name] for name in inertial.columns]
        for head, row in zip(inertial.independent, inertial.combinations, strict=True):
            whole = np.zeros(len(chosen))
            whole[at] = row
            candidates.append((inertial.columns[head], whole))
    else:  # some are known, or other forces are measured, so that the combinations are others
        candidates += [(name, units[place[name]]) for name in inertial.columns if name in place]
    candidates += [
        (name, units[place[name]]) for name, part in zip(chosen, parts, strict=True) if part == OF_VELOCITY[0]
    ]
    if rows is None:
        every = sampled_regressor(dynamics, len(chosen), seed)
    else:
        every = sampled_rows(rows, dynamics, OVER * len(chosen), seed)
    Y = every[:, [names.index(name) for name, _ in candidates]]
    sizes = np.linalg.norm(Y, axis=0)
    seen = [k for k in range(len(candidates)) if sizes[k] > NOTHING * sizes.max(initial=0.0)]
    kept, shares = independent_columns(Y[:, seen] / sizes[seen])
    shares = shares * (sizes[seen] / sizes[[seen[k] for k in kept]][:, None])
    combinations = np.where(np.abs(shares) > EASY, shares, 0.0) @ np.array([candidates[k][1] for k in seen])
    combinations[np.abs(combinations) < EASY] = 0.0
    heads = tuple(place[candidates[seen[k]][0]] for k in kept)
    unseen = tuple(chosen[k] for k in np.flatnonzero(~np.abs(combinations).any(axis=0)))
    return BaseParameters(robot.name, chosen, heads, combinations, unseen)
