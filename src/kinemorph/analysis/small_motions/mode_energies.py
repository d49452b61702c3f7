"""The kinetic energy of modes, shared among the bodies of a robot.

A mode psi, a velocity of the robot, has the kinetic energy  psi^H M psi / 2, which is the sum over all bodies of
(m |v|^2 + omega^H I omega) / 2, and of the rotors of drives, armature |psi_j|^2 / 2. The share of a body says how much
of the motion is its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.poles import Poles
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.model.parameter import evaluate, evaluate_all

ROTORS = "rotors"  # the name of the share that the rotors of all drives have together


class ModeEnergies(NamedTuple):
    """Shares of the kinetic energy: `shares` (modes, parts) between 0 and 1; `parts` are bodies, then the rotors.

    Every row has the sum 1; it is zero for a mode without kinetic energy. `totals` (modes,) are the modal masses
    psi^H M psi, summed up from the bodies.
    """

    parts: tuple[str, ...]
    shares: Array
    totals: Array


def mode_energies(poles: Poles) -> ModeEnergies:
    """How the kinetic energy of each mode is shared among the bodies of the robot.

    Raises UnsupportedError for a plant without a robot, and for one whose joints are moved by the time.
    """
    robot = poles.plant.robot
    if robot is None or robot.is_timed:
        why = "has no robot" if robot is None else "has joints that the time moves"
        raise UnsupportedError(f"'{poles.plant.name}' {why}, so the energy of its modes has no shares of bodies.")
    dynamics = derive(robot, backend="interpreter")
    d, theta = dynamics.partial_velocities(poles.q)
    poses = dynamics.forward_kinematics(poles.q)
    shapes = np.asarray(poles.shapes, dtype=complex)
    velocity = np.einsum("bjc,kj->kbc", np.asarray(d), shapes)
    spin = np.einsum("bjc,kj->kbc", np.asarray(theta), shapes)
    turned = np.einsum("brc,kbr->kbc", np.asarray(poses)[:, :3, :3], spin)  # in the axes of the bodies
    bodies = [robot.body(name) for name in robot.body_names]
    masses = np.array([float(evaluate(body.mass)) for body in bodies])
    inertias = np.array([evaluate_all(body.inertia) for body in bodies], dtype=float).reshape(-1, 3, 3)
    twice = masses * (np.abs(velocity) ** 2).sum(axis=2)
    twice = twice + np.einsum("kbi,bij,kbj->kb", turned.conj(), inertias, turned).real
    armature = np.array([float(evaluate(value)) for joint in robot.joints for value in joint.armature])
    parts: tuple[str, ...] = robot.body_names
    if armature.any():
        twice = np.concatenate([twice, (np.abs(shapes) ** 2 @ armature)[:, None]], axis=1)
        parts = (*parts, ROTORS)
    total = twice.sum(axis=1, keepdims=True)
    return ModeEnergies(parts, np.where(total > 0.0, twice / np.where(total > 0.0, total, 1.0), 0.0), total[:, 0])
