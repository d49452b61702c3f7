"""Columns of regressors in our order of parameters and in Pinocchio's."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.inertia import from_pseudo_inertia, pseudo_inertia
from kinemorph.deriving.dynamics import Dynamics
from support.peers.pinocchio_peer import PinocchioPeer

ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # Pinocchio has Ixx Ixy Iyy Ixz Iyz Izz


def off(found: Any, reference: Any) -> float:
    """The largest difference, relative to the largest entry of the reference."""
    return float(np.abs(found - reference).max() / np.abs(reference).max())


def without_friction(dynamics: Dynamics) -> Any:
    """The parameters of a robot with which Y theta is inverse dynamics: those of friction are 0."""
    columns = zip(dynamics.regressor_columns, dynamics.regressor_parameters, strict=True)
    return np.array([0.0 if name.endswith((".viscous", ".coulomb")) else x for name, x in columns])


def seen_from_joint(pose: Any) -> Any:
    """The matrix (10, 10) from the parameters of a body, in our order, to those in the frame of Pinocchio's joint."""
    units = [np.array(pseudo_inertia(unit)) for unit in np.eye(10).tolist()]
    return np.array([from_pseudo_inertia(pose @ unit @ pose.T) for unit in units]).T[ORDER]


def from_pinocchio(peer: PinocchioPeer, dynamics: Dynamics, theirs: Any) -> Any:
    """The rows of Pinocchio's regressor (n, 10 joints) with our columns of bodies, shape (n, 10 bodies)."""
    bodies = [name.removesuffix(".m") for name in dynamics.regressor_columns if name.endswith(".m")]
    found = []
    for body in bodies:
        index, pose = peer.at[body]
        found.append(theirs[:, 10 * (index - 1) : 10 * index] @ seen_from_joint(pose))
    return np.concatenate(found, axis=1)
