"""`base_parameters`: the combinations of masses, moments and inertias that the forces of a robot depend on.

tau = Y(q, v, a) theta holds for more than one theta: mass on the axis of a hinge belongs to either side, and a base
that only turns shows none of its mass. Directions of the first kind are given exactly by `shifted_masses`. What the
ground hides besides depends on gravity and on all joints, and is found from Y at random states. Columns that are zero
are left out first, because their rounding errors, scaled to unit columns, would count; then an orthogonal factorization
finds the columns that are combinations of others.

Loops and coupled joints leave fewer motions. Only the forces along them are known, N^T tau = N^T Y theta, where the
columns of N (nv, k) are a basis of the velocities that keep loops closed: the forces of the constraints have no part in
them. So a closed chain shows fewer combinations than its tree with all loops cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.random_motions import random_motions
from kinemorph.analysis.identification.shifted_masses import SIZE, echelon, shifted_masses
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.model.configuration import neutral
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.sheet import Facts, Field, Note, Sheet, Table, fields, hidden, said
from kinemorph.shown import Shown

NOTHING = 1e-10  # a column smaller than this, relative to the largest, is zero
DEPENDENT = 1e-8  # a unit column is a combination of others if what they leave of it is smaller
EASY = 1e-9  # coefficients that are smaller are rounding errors
OVER = 3  # samples per unknown
FACTS = (Field("", "base parameters"), Field("", "inertial parameters"))
# which parameter of a body is given up first, where its mass can be moved to another body
GIVEN_UP = (0, 3, 9, 1, 2, 4, 7, 5, 6, 8)


@dataclass(frozen=True)
class BaseParameters(Shown):
    """The result of `base_parameters`. Y theta = Y[:, independent] (combinations @ theta) for all motions.

    `robot`          the name of the robot
    `columns`        the names of all n inertial parameters
    `independent`    the indices of those that the k base parameters begin with
    `combinations`   (k, n): the base parameters are combinations @ theta
    `unseen`         the names of parameters that no force depends on, not even in a combination
    """

    robot: str
    columns: tuple[str, ...]
    independent: tuple[int, ...]
    combinations: Array
    unseen: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.independent)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The base parameters as sums of parameters, such as "upper.Izz + 0.25 fore.m"."""
        return tuple(self._sum(k, row) for k, row in zip(self.independent, self.combinations, strict=True))

    def _sum(self, first: int, row: Array) -> str:
        text = self.columns[first]
        for k in np.flatnonzero(row):
            if k != first:
                size = abs(row[k])
                factor = "" if abs(size - 1.0) < EASY else f"{size:.6g} "
                text += f" {'-' if row[k] < 0.0 else '+'} {factor}{self.columns[k]}"
        return text

    def sheet(self) -> Sheet:
        """The combinations, and the parameters that no force shows."""
        unseen = said("Unseen by all forces: {names}.", names=", ".join(self.unseen))
        parts = (
            Facts(tuple(zip(FACTS, (len(self), len(self.columns)), strict=True))),
            Table("base_parameters", fields("combination"), [(name,) for name in self.names]),
            Note(unseen if self.unseen else ""),
            hidden(unseen=self.unseen),
        )
        return Sheet("Base parameters of", self.robot, parts, "robot")


def base_parameters(model: Robot | System | Dynamics, *, seed: int = 0) -> BaseParameters:
    """The base parameters of a robot: the combinations of inertial parameters that motions and forces determine.

    The parameters are those of `Dynamics.regressor_columns` that belong to bodies. Rotors of motors are not counted.
    With closed chains the forces are those along the motions that the loops leave, at configurations that the robot
    reaches from the closed one next to neutral. `seed` is that of the random states at which directions are found that
    no rule names.
    """
    dynamics = model if isinstance(model, Dynamics) else derive(model)
    robot = dynamics.robot
    names = dynamics.regressor_columns
    bodies = [name[: -len(".m")] for name in names if name.endswith(".m")]
    n = SIZE * len(bodies)
    columns = names[:n]
    tree = dynamics._maker.tree
    every = np.array(tree.all_joints(neutral(robot).tolist()).q, dtype=float)
    moved, given = echelon(shifted_masses(tree, every, bodies), _order(dynamics, bodies))
    left = [k for k in range(n) if k not in given]
    Y = sampled_regressor(dynamics, n, seed)[:, left]
    sizes = np.linalg.norm(Y, axis=0)
    seen = [k for k in range(len(left)) if sizes[k] > NOTHING * sizes.max(initial=0.0)]
    kept, shares = independent_columns(Y[:, seen] / sizes[seen])
    independent = [left[seen[k]] for k in kept]
    scaled = shares * (sizes[seen] / sizes[[seen[k] for k in kept]][:, None])
    whole = np.zeros((len(independent), n))
    whole[:, [left[k] for k in seen]] = np.where(np.abs(scaled) > EASY, scaled, 0.0)
    whole[:, given] = -whole[:, left] @ moved[: len(given)][:, left].T
    whole[np.abs(whole) < EASY] = 0.0
    unseen = tuple(columns[k] for k in np.flatnonzero(~np.abs(whole).any(axis=0)))
    return BaseParameters(robot.name, columns, tuple(independent), whole, unseen)


def _order(dynamics: Dynamics, bodies: list[str]) -> list[int]:
    """The indices of the parameters in the order in which they are given up, far from the world first."""
    tree = dynamics._maker.tree
    far = sorted(range(len(bodies)), key=lambda place: -tree.attachments[bodies[place]].link)
    return [SIZE * place + part for place in far for part in GIVEN_UP]


def sampled_regressor(dynamics: Dynamics, unknowns: int, seed: int) -> Array:
    """N^T Y at random states, one row below the other, shape (rows, columns): OVER rows for each unknown."""
    q, v, a, N, before, after = random_motions(dynamics, OVER * unknowns, np.random.default_rng(seed))
    Y: Array = np.swapaxes(N, 1, 2) @ dynamics.regressor(*before, q, v, a, *after)
    return Y.reshape(-1, Y.shape[2])


def independent_columns(Y: Array) -> tuple[list[int], Array]:
    """The first columns of Y that are independent, and the shares (k, columns) of them that give all columns."""
    R = scipy.linalg.qr(Y, mode="r")[0][: Y.shape[1]]
    kept: list[int] = []
    rest = R.copy()
    basis = np.zeros((R.shape[0], 0))
    for k in range(Y.shape[1]):
        left = rest[:, k] - basis @ (basis.T @ rest[:, k])
        left -= basis @ (basis.T @ left)
        size = np.linalg.norm(left)
        if size > DEPENDENT:
            kept.append(k)
            basis = np.column_stack([basis, left / size])
    shares = np.linalg.lstsq(R[:, kept], R, rcond=None)[0]
    return kept, shares
