"""Whether an equilibrium is stable, judged from its poles.

a pole right of the imaginary axis     not stable: a small disturbance grows
all poles left of the imaginary axis   stable: every disturbance decays
no pole right of it, some on it        stable where the equilibrium is a minimum of potential energy and nothing
                                       supplies energy (Lagrange and Dirichlet); else linear equations do not decide
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.analysis.small_motions.eigenproblems import SYMMETRIC
from kinemorph.analysis.small_motions.linearize import linearize
from kinemorph.analysis.small_motions.plant_derivatives import Point
from kinemorph.analysis.small_motions.poles import Poles, poles
from kinemorph.errors import KinemorphError
from kinemorph.plants.programs import Plant


class Stability(NamedTuple):
    """Whether an equilibrium is stable: True, False, or None where linear equations do not decide; and the reason."""

    stable: bool | None
    reason: str


def stability_of(plant: Plant, point: Point) -> tuple[Stability, Poles | None]:
    """The stability of an equilibrium, and its poles; None instead of the poles where they cannot be computed."""
    try:
        found = poles(plant, **vars(point))
    except KinemorphError as error:
        return Stability(None, f"its poles cannot be computed. {error}"), None
    if not len(found):
        return Stability(None, "nothing can move."), found
    limit = found.on_axis
    fastest, zero = int(np.argmax(found.alpha)), int(np.argmin(np.abs(found.values)))
    worst = float(found.alpha[fastest])
    if worst > limit:
        where = _mostly(found, fastest)
        return Stability(
            False, f"a disturbance, mostly of '{where}', grows by a factor e in {1.0 / worst:.3g} s."
        ), found
    if abs(found.values[zero]) <= limit:
        where = _mostly(found, zero)
        return Stability(None, f"no force opposes a displacement in one direction, mostly of '{where}'."), found
    if worst < -limit:
        return Stability(
            True, f"every disturbance dies away, the slowest by a factor e in {-1.0 / worst:.3g} s."
        ), found
    if _is_minimum(plant, point):
        return Stability(
            True, "it is a minimum of potential energy; small oscillations stay small but do not all die away."
        ), found
    return Stability(None, "some oscillations neither grow nor die away in linear equations."), found


def _mostly(found: Poles, k: int) -> str:
    """The name of the coordinate that moves most in the motion of pole k."""
    return found.names[int(np.argmax(np.abs(found.shapes[k])))]


def _is_minimum(plant: Plant, point: Point) -> bool:
    """Whether the equilibrium is a minimum of potential energy and damping does not supply energy.

    That is, along the directions that constraints allow, the stiffness K is symmetric and positive definite, and the
    symmetric part of the damping C has no negative eigenvalue.
    """
    try:
        linear = linearize(plant, **vars(point), outputs=())
    except KinemorphError:
        return False
    if linear.second_order is None:
        return False
    Z, V = linear.directions
    if Z.shape != V.shape:  # wheels: Z has directions that V does not have
        return False
    K, C = (Z.T @ matrix @ Z for matrix in (linear.second_order.K, linear.second_order.C))
    symmetric = np.abs(K - K.T).max(initial=0.0) <= 100.0 * SYMMETRIC * np.abs(K).max(initial=0.0)
    damped = np.linalg.eigvalsh(0.5 * (C + C.T)).min(initial=0.0) >= -1e-12 * np.abs(C).max(initial=0.0)
    return bool(symmetric and damped and np.linalg.eigvalsh(0.5 * (K + K.T)).min(initial=np.inf) > 0.0)
