"""What tests of regressors share: relative errors, parameters without friction, the columns of Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.deriving.dynamics import Dynamics
from support.peers.pinocchio_peer import PinocchioPeer


def off(found: Any, reference: Any) -> float:
    """The largest difference, relative to the largest entry of the reference."""
    return float(np.abs(found - reference).max() / np.abs(reference).max())


def without_friction(dynamics: Dynamics) -> Any:
    """The parameters of a robot with which Y theta is inverse dynamics: those of friction are 0."""
    columns = zip(dynamics.regressor_columns, dynamics.regressor_parameters, strict=True)
    return np.array([0.0 if name.endswith((".viscous", ".coulomb")) else x for name, x in columns])


def from_pinocchio(peer: PinocchioPeer, dynamics: Dynamics, theirs: Any) -> Any:
    """The rows of Pinocchio's regressor (n, 10 joints) with our columns of bodies, shape (n, 10 bodies)."""
    bodies = [name.removesuffix(".m") for name in dynamics.regressor_columns if name.endswith(".m")]
    return peer.twin.body_columns(theirs, bodies)
