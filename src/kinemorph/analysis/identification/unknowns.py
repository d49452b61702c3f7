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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import pseudo_inertia
from kinemorph.analysis.identification.base_parameters import (
    EASY,
    NOTHING,
    BaseParameters,
    base_parameters,
    independent_columns,
    sampled_regressor,
)
from kinemorph.analysis.identification.information import Information
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.regressors import OF_BODY, OF_VELOCITY
from kinemorph.words import did_you_mean, listed

SIZE = len(OF_BODY)
THIN = 1e-4  # the least principal moments of a body's pseudo-inertia, relative to the largest, that are trusted


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknown columns of a robot.

    `columns`    their names, in the order of `Dynamics.regressor_columns`
    `nominal`    the values of the model, shape (n,)
    `known`      the values of all other columns, by name
    `base`       the combinations of the unknowns that forces depend on
    """

    columns: tuple[str, ...]
    nominal: Array
    known: Mapping[str, float]
    base: BaseParameters

    def trust(self, information: Information) -> Array:
        """D, shape (rows, n): the model's values are trusted as by |D (theta - nominal)|^2, the form in this file."""
        blocks: list[Array] = []
        n = len(self.columns)
        place = {name: k for k, name in enumerate(self.columns)}
        for name in self.columns:
            body, _, part = name.rpartition(".")
            if part == OF_BODY[0]:
                at = [place.get(f"{body}.{one}") for one in OF_BODY]
                factor = _trust_of_body(np.array([self._value(f"{body}.{one}") for one in OF_BODY]))
                block = np.zeros((SIZE, n))
                for k, column in enumerate(at):
                    if column is not None:
                        block[:, column] = factor[:, k]
                blocks.append(block)
        for k, name in enumerate(self.columns):
            if name.rpartition(".")[2] in OF_VELOCITY:
                row = np.zeros((1, n))
                row[0, k] = _effect(information, k)
                blocks.append(row)
        return np.concatenate(blocks) if blocks else np.zeros((0, n))

    def _value(self, name: str) -> float:
        return float(self.nominal[self.columns.index(name)]) if name in self.columns else self.known[name]


def _trust_of_body(parameters: Array) -> Array:
    """F, shape (10, 10), with  |F (theta - parameters)|^2 = |P0^(-1/2) (P - P0) P0^(-1/2)|^2."""
    P: Array = np.array(pseudo_inertia(parameters.tolist()))
    values, axes = np.linalg.eigh(P)
    least = THIN * max(float(values.max()), 1e-9)
    root = axes / np.sqrt(np.maximum(values, least))
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


def unknowns(
    dynamics: Dynamics, friction: Sequence[str], armature: bool, known: Mapping[str, float], *, seed: int = 0
) -> Unknowns:
    """The unknowns: the inertial parameters of all bodies, and the parts of friction that are named.

    `friction` are some of "viscous", "coulomb" and "offset"; `armature` makes the armatures unknown, too. `known` are
    values of columns that are not identified; columns that are neither have the model's values.
    """
    names = dynamics.regressor_columns
    wrong = [name for name in known if name not in names]
    if wrong:
        raise ShapeError(
            f"known: robot '{dynamics.robot.name}' has no parameter '{wrong[0]}'.{did_you_mean(wrong[0], names)} See "
            "Dynamics.regressor_columns."
        )
    strange = [part for part in friction if part not in OF_VELOCITY[1:]]
    if strange:
        raise ShapeError(f"friction: '{strange[0]}' is unknown. Known: {listed(OF_VELOCITY[1:])}.")
    parts = {*OF_BODY, *friction, *(("armature",) if armature else ())}
    nominal = dict(zip(names, dynamics.regressor_parameters.tolist(), strict=True)) | dict(known)
    chosen = tuple(name for name in names if name.rpartition(".")[2] in parts and name not in known)
    values = np.array([nominal[name] for name in chosen])
    others = {name: nominal[name] for name in names if name not in chosen}
    return Unknowns(chosen, values, others, _base(dynamics, chosen, seed))


def _base(dynamics: Dynamics, chosen: tuple[str, ...], seed: int) -> BaseParameters:
    """The base parameters of chosen columns: friction, then those of bodies by `base_parameters`, then armatures.

    Columns that depend on earlier ones are found by factorization at random states.
    """
    robot, names = dynamics.robot, dynamics.regressor_columns
    place = {name: k for k, name in enumerate(chosen)}
    units = np.eye(len(chosen))
    parts = [name.rpartition(".")[2] for name in chosen]
    candidates = [
        (name, units[place[name]]) for name, part in zip(chosen, parts, strict=True) if part in OF_VELOCITY[1:]
    ]
    inertial = base_parameters(dynamics, seed=seed)
    if all(name in place for name in inertial.columns):
        at = [place[name] for name in inertial.columns]
        for head, row in zip(inertial.independent, inertial.combinations, strict=True):
            whole = np.zeros(len(chosen))
            whole[at] = row
            candidates.append((inertial.columns[head], whole))
    else:  # some are known, so that the combinations are others
        candidates += [(name, units[place[name]]) for name in inertial.columns if name in place]
    candidates += [
        (name, units[place[name]]) for name, part in zip(chosen, parts, strict=True) if part == OF_VELOCITY[0]
    ]
    Y = sampled_regressor(dynamics, len(chosen), seed)[:, [names.index(name) for name, _ in candidates]]
    sizes = np.linalg.norm(Y, axis=0)
    seen = [k for k in range(len(candidates)) if sizes[k] > NOTHING * sizes.max(initial=0.0)]
    kept, shares = independent_columns(Y[:, seen] / sizes[seen])
    shares = shares * (sizes[seen] / sizes[[seen[k] for k in kept]][:, None])
    combinations = np.where(np.abs(shares) > EASY, shares, 0.0) @ np.array([candidates[k][1] for k in seen])
    combinations[np.abs(combinations) < EASY] = 0.0
    heads = tuple(place[candidates[seen[k]][0]] for k in kept)
    unseen = tuple(chosen[k] for k in np.flatnonzero(~np.abs(combinations).any(axis=0)))
    return BaseParameters(robot.name, chosen, heads, combinations, unseen)
