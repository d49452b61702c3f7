"""Whether sampled controllers are stable with the inertia that they feel, checked before a run.

A PD controller that samples every T seconds and holds its output moves a robot from one sample to the next by

    M a + d v = u,     u = -(kp q + kd v) of the last sample

with M of the initial state and the damping d of the joints. Where the largest eigenvalue of this map is above 1,
errors grow from sample to sample, however small the steps of the run are. For one joint without damping the bounds are
kd T / M < 2 and kp T < 2 kd.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import GainWarning, users_level
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.control.controllers import PD, PID
from kinemorph.model.parameter import evaluate_all
from kinemorph.plants.programs import Plant

GROWTH = 1.2  # per sample: slower growth may be damped by what else acts on the robot


def warn_of_gains(plant: Plant, q: Array | None) -> None:
    """Warns of each sampled PD or PID of a plant that is unstable at its sample time in the first of the initial
    configurations q (n, nq), if these are known.
    """
    sampled, robot = sampled_controllers(plant), plant.robot
    if not sampled or robot is None or q is None:
        return
    M = np.array(state_formulation(robot).mass_matrix(resolve(robot), [float(x) for x in q[0]]), dtype=float)
    own = (joint for joint in robot.joints if not joint.driven)
    damping = np.array([float(evaluate_all(d)) for joint in own for d in joint.damping])
    for element in sampled:
        found = unstable(element, robot.v_names, M, damping)
        if found is not None:
            warnings.warn(found, GainWarning, stacklevel=users_level())


def sampled_controllers(plant: Plant) -> list[PD | PID]:
    """The sampled PD and PID controllers that act on joints directly, of a plant whose motion has no constraints."""
    found = [one for one in plant.elements if isinstance(one, (PD, PID)) and one.every and not one.drives]
    return found if found and plant.constraints is None else []


def unstable(element: PD | PID, v_names: Sequence[str], M: Array, damping: Array) -> str | None:
    """A warning text if a sampled controller is unstable, else None.

    M (nv, nv) is the mass matrix in the initial state, `damping` (nv,) the viscous damping [N m s/rad or N s/m].
    """
    joints = [name for name in element.joints if name in v_names]
    if len(joints) < len(element.joints) or not joints:
        return None
    places = [v_names.index(name) for name in joints]
    T = float(element.every or 0.0)
    kp, kd = (np.broadcast_to(np.array(evaluate_all(gain), dtype=float), len(joints)) for gain in _gains(element))
    felt = np.linalg.pinv(M, hermitian=True)[np.ix_(places, places)]  # accelerations by efforts of these joints
    n = len(joints)
    zero, one = np.zeros((n, n)), np.eye(n)
    free = np.block([[zero, one, zero], [zero, -felt @ np.diag(damping[places]), felt], [zero, zero, zero]])
    moved = _exponential(T * free)  # of [q, v, u], with u constant
    step = moved[: 2 * n, : 2 * n] - moved[: 2 * n, 2 * n :] @ np.hstack([np.diag(kp), np.diag(kd)])
    values, vectors = np.linalg.eig(step)
    largest = int(np.argmax(np.abs(values)))
    growth = float(np.abs(values[largest]))
    if growth <= GROWTH:
        return None
    worst = int(np.argmax(np.abs(vectors[n:, largest])))
    inertia = 1.0 / felt[worst, worst]
    by_damping = kd[worst] * T / inertia
    bound = (
        f"kd T / M = {by_damping:.3g}, and has to stay below 2"
        if by_damping > 2.0
        else f"kp T = {kp[worst] * T:.3g}, and has to stay below 2 kd = {2.0 * kd[worst]:.3g}"
    )
    return (
        f"controller '{element.name}' on '{joints[worst]}' is unstable at its sample time of {T:g} s: it feels an "
        f"inertia of {inertia:.3g}, so that {bound}; errors grow by a factor of {growth:.3g} per sample. Sample more "
        f"often (every={min(T / growth, T / 2.0):.2g}), or lower its gains."
    )


def _gains(element: PD | PID) -> tuple[Any, Any]:
    return element.kp, element.kd


def _exponential(A: Array) -> Array:
    """The matrix exponential exp(A): A is halved until the series converges quickly; the result is squared as often."""
    halvings = max(0, int(np.ceil(np.log2(max(float(np.abs(A).sum(axis=1).max()), 1e-300)))) + 1)
    small = A / 2.0**halvings
    term = total = np.eye(len(A))
    for k in range(1, 14):
        term = term @ small / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total
