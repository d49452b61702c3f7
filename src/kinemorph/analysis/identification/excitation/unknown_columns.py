"""Which parameters the motions of some joints show: columns of the regressor that are independent of each other.

`base_parameters` gives the combinations that any motion of the whole robot shows. Where only some joints move, or only
some forces are measured, fewer columns are independent: a base that is held shows no inertia. Columns that are
combinations of earlier ones at random states of the joints that move are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.base_parameters import NOTHING, OVER, BaseParameters, _independent
from kinemorph.analysis.identification.excitation.motion_limits import MotionLimits
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.regressors import OF_BODY


@dataclass(frozen=True)
class Columns:
    """The unknown parameters: columns of the regressor, and what is measured.

    `rows`          the velocities whose forces are measured, indices of v
    `deviations`    the standard deviations of these forces [N m or N], shape (rows,)
    `inertial`      columns of `Dynamics.regressor` of bodies
    `frictional`    (row, part) of columns of joints; part is "armature", "viscous", "coulomb" or "offset"
    `names`         the names of the unknowns, inertial ones first; those of bodies stand for combinations that begin
                    with them, see `base_parameters`
    """

    rows: tuple[int, ...]
    deviations: Array
    inertial: tuple[int, ...]
    frictional: tuple[tuple[int, str], ...]
    names: tuple[str, ...]


def unknown_columns(
    dynamics: Dynamics,
    base: BaseParameters,
    limits: MotionLimits,
    rows: Sequence[int],
    deviations: Array,
    parts: Sequence[str],
    held: Array,
    seed: int,
) -> tuple[Columns, tuple[str, ...]]:
    """The columns that motions of the joints in `limits` show in the forces `rows`, and the names of those left out.

    `parts` are the parameters of joints that are unknown, such as "viscous"; `held` (nq,) is the configuration of the
    joints that do not move.
    """
    robot, names = dynamics.robot, dynamics.regressor_columns
    moving = {robot.v_slice(joint).start for joint in limits.joints}
    frictional = [(row, part) for row, velocity in enumerate(rows) if velocity in moving for part in parts]
    chosen = [*base.independent, *(names.index(f"{robot.v_names[rows[row]]}.{part}") for row, part in frictional)]
    Y = _sampled(dynamics, limits, len(chosen), held, seed)[:, rows][:, :, chosen].reshape(-1, len(chosen))
    Y = Y / np.tile(deviations, len(Y) // len(rows))[:, None]
    sizes = np.linalg.norm(Y, axis=0)
    seen = [k for k in range(len(chosen)) if sizes[k] > NOTHING * sizes.max(initial=0.0)]
    if not seen:
        raise UnsupportedError(
            f"excite: the motions of {', '.join(limits.joints)} show no parameter of '{robot.name}' in the forces that "
            "are measured. Move or measure other joints."
        )
    kept = [seen[k] for k in _independent(Y[:, seen] / sizes[seen])[0]]
    own = len(OF_BODY) * sum(name.endswith(f".{OF_BODY[0]}") for name in names)  # columns of bodies
    inertial = tuple(chosen[k] for k in kept if chosen[k] < own)
    joints = tuple(frictional[k - len(base.independent)] for k in kept if chosen[k] >= own)
    left_out = tuple(names[chosen[k]] for k in range(len(chosen)) if k not in kept)
    return Columns(tuple(rows), deviations, inertial, joints, tuple(names[chosen[k]] for k in kept)), left_out


def _sampled(dynamics: Dynamics, limits: MotionLimits, count: int, held: Array, seed: int) -> Array:
    """The regressor at random states of the joints that move, shape (samples, nv, columns)."""
    robot, rng = dynamics.robot, np.random.default_rng(seed)
    samples = max(8, OVER * count)
    at_q = [robot.q_slice(name).start for name in limits.joints]
    at_v = [robot.v_slice(name).start for name in limits.joints]
    q, (v, a) = np.tile(held, (samples, 1)), np.zeros((2, samples, robot.nv))
    q[:, at_q] = rng.uniform(limits.lower, limits.upper, size=(samples, len(at_q)))
    v[:, at_v] = rng.uniform(-limits.velocity, limits.velocity, size=(samples, len(at_q)))
    a[:, at_v] = rng.uniform(-limits.acceleration, limits.acceleration, size=(samples, len(at_q)))
    Y: Array = dynamics.regressor(q, v, a)
    return Y
