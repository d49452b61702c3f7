"""Which parameters the motions of some joints show: columns of the regressor that are independent of each other.

`base_parameters` gives the combinations that any motion of the whole robot shows. Where only some joints move, or only
some forces are measured, fewer columns are independent: a base that is held shows no inertia. Columns that are
combinations of earlier ones at random states of the joints that move are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.base_parameters import NOTHING, OVER, base_parameters, independent_columns
from kinemorph.analysis.identification.excitation.motion_limits import MotionLimits
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.parameter_functions import Chosen
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.configuration import random_configuration

MANY = 8  # random states, at least


class Motion(NamedTuple):
    """Samples of a motion: t (N,) [s], q (N, nq), v and a (N, nv)."""

    t: Array
    q: Array
    v: Array
    a: Array


@dataclass(frozen=True)
class Columns:
    """The unknown parameters: columns of the regressor, and what is measured.

    `rows`          the velocities whose forces are measured, indices of v
    `joints`        the joints through which the whole wrench [force; moment] is measured, six rows for each
    `deviations`    the standard deviations of all these forces [N m or N], shape (rows,)
    `inertial`      columns of `Dynamics.regressor` of bodies
    `frictional`    (row, part) of columns of joints; part is "armature", "viscous", "coulomb" or "offset"
    `names`         the names of the unknowns, inertial ones first; those of bodies stand for combinations that begin
                    with them, see `base_parameters`
    """

    rows: tuple[int, ...]
    joints: tuple[str, ...]
    deviations: Array
    inertial: tuple[int, ...]
    frictional: tuple[tuple[int, str], ...]
    names: tuple[str, ...]

    @property
    def chosen(self) -> Chosen:
        """The part of the regressor that has the columns of bodies."""
        return Chosen(self.rows, self.joints, self.inertial)


def unknown_columns(
    dynamics: Dynamics,
    limits: MotionLimits,
    rows: Sequence[int],
    joints: Sequence[str],
    deviations: Array,
    parts: Sequence[str],
    states: Motion,
) -> tuple[Columns, tuple[str, ...]]:
    """The columns that motions of the joints in `limits` show, and the names of those of joints that are left out.

    `parts` are the parameters of joints that are unknown, such as "viscous"; `states` are random ones that the joints
    can have. The first columns of bodies are those of `base_parameters`.
    """
    robot, names = dynamics.robot, dynamics.regressor_columns
    moving = {robot.v_slice(joint).start for joint in limits.joints}
    first = base_parameters(dynamics).independent
    own = len(OF_BODY) * sum(name.endswith(f".{OF_BODY[0]}") for name in names)  # columns of bodies
    bodies = [*first, *(k for k in range(own) if k not in first)]
    frictional = [(row, part) for row, velocity in enumerate(rows) if velocity in moving for part in parts]
    at = [names.index(f"{robot.v_names[rows[row]]}.{part}") for row, part in frictional]
    Y = dynamics.regressor(*states[1:])[:, rows]
    if joints:
        through = dynamics.wrench_regressor(tuple(joints))(*states[1:])
        Y = np.concatenate([Y, through.reshape(len(Y), -1, len(names))], axis=1)
    Y = (Y / deviations[:, None])[:, :, [*bodies, *at]].reshape(-1, len(bodies) + len(at))
    sizes = np.linalg.norm(Y, axis=0)
    seen = [k for k in range(Y.shape[1]) if sizes[k] > NOTHING * sizes.max(initial=0.0)]
    if not seen:
        raise UnsupportedError(
            f"excite: the motions of {', '.join(limits.joints)} show no parameter of '{robot.name}' in the forces that "
            "are measured. Move or measure other joints."
        )
    kept = [seen[k] for k in independent_columns(Y[:, seen] / sizes[seen])[0]]
    inertial = tuple(bodies[k] for k in kept if k < own)
    shown = tuple(frictional[k - own] for k in kept if k >= own)
    found = Columns(tuple(rows), tuple(joints), deviations, inertial, shown,
                    tuple(names[[*bodies, *at][k]] for k in kept))  # fmt: skip
    return found, tuple(names[k] for k in at if names[k] not in found.names)


def random_states(dynamics: Dynamics, limits: MotionLimits, hanging: Sequence[str], held: Array, seed: int) -> Motion:
    """Random states of the joints that move, within their limits, and of those that hang; the others are held.

    `held` (nq,) is the configuration of the joints that are held.
    """
    robot, rng = dynamics.robot, np.random.default_rng(seed)
    samples = max(MANY, OVER * len(dynamics.regressor_columns))
    at_q = [robot.q_slice(name).start for name in limits.joints]
    at_v = [robot.v_slice(name).start for name in limits.joints]
    q, (v, a) = np.tile(held, (samples, 1)), np.zeros((2, samples, robot.nv))
    q[:, at_q] = rng.uniform(limits.lower, limits.upper, size=(samples, len(at_q)))
    v[:, at_v] = rng.uniform(-limits.velocity, limits.velocity, size=(samples, len(at_q)))
    a[:, at_v] = rng.uniform(-limits.acceleration, limits.acceleration, size=(samples, len(at_q)))
    for name in hanging:
        at, own = robot.q_slice(name), robot.v_slice(name)
        q[:, at] = np.array([random_configuration(robot, rng) for _ in range(samples)])[:, at]
        v[:, own], a[:, own] = rng.normal(size=(2, samples, own.stop - own.start))
    return Motion(np.zeros(samples), q, v, a)
