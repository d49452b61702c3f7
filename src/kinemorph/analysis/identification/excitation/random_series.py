"""Random series within limits: where a search begins, and with which its result is compared.

A series has random coefficients, of equal size in all harmonics of the velocity. Each joint is scaled to the largest
amplitude at which its velocity, its acceleration and a random share (half to all) of its range allow it, with a random
offset in the room that is left; all joints are then drawn towards a posture that keeps all limits, until torques and
zones are kept too.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.excitation.excitation_problem import ExcitationProblem
from kinemorph.errors import UnsupportedError

INSIDE = 0.98  # [1] of the limits that a random series may use
NEARER = 0.9  # a series that breaks a limit is scaled by this factor
TIMES = 60  # at most
POSTURES = 500  # random ones that are tried


def resting_posture(problem: ExcitationProblem, rng: np.random.Generator) -> Array:
    """The unknowns (size,) of a posture at rest that keeps all limits: the middle of the ranges, or a random one."""
    limits = problem.limits
    x = np.zeros(problem.shape)
    if problem.basis.anchored:
        posture = problem.start
    else:
        posture = x[:, 0] = 0.5 * (limits.lower + limits.upper)
    for _ in range(POSTURES):
        if problem.keeps(problem.motion(x)):
            return x.ravel()
        if problem.basis.anchored:
            break
        x[:, 0] = rng.uniform(limits.lower, limits.upper)
    if not problem.basis.anchored:
        x[:, 0] = posture
    use = [one for one in problem.use(problem.motion(x)) if one.share >= 1.0]
    worst = max(use, key=lambda one: one.share)
    where = "at the given q" if problem.basis.anchored else f"in the middle of its ranges and in {POSTURES} postures"
    raise UnsupportedError(
        f"excite: '{problem.dynamics.robot.name}' does not keep its limits at rest {where}: {worst.quantity} of "
        f"'{worst.name}' is {worst.most:.4g}; expected {worst.lower:.4g} to {worst.upper:.4g}. Widen this limit, or "
        "give another q."
    )


def random_series(problem: ExcitationProblem, resting: Array, rng: np.random.Generator) -> Array:
    """The unknowns (size,) of a random series that keeps all limits; `resting` is a posture that does so."""
    limits, basis = problem.limits, problem.basis
    first = 0 if basis.anchored else 1  # the unknowns of amplitudes
    x, resting = np.zeros(problem.shape), resting.reshape(problem.shape)
    x[:, first:] = rng.normal(size=(problem.shape[0], basis.size - first))
    position, velocity, acceleration = problem.functions @ x.T
    if basis.anchored:
        room = np.minimum(
            (limits.upper - problem.start) / np.maximum(position.max(axis=0), 1e-12),
            (problem.start - limits.lower) / np.maximum(-position.min(axis=0), 1e-12),
        )
    else:
        room = (limits.upper - limits.lower) / np.ptp(position, axis=0)
    scale = INSIDE * np.minimum.reduce(
        [
            room * rng.uniform(0.5, 1.0, size=len(room)),
            limits.velocity / np.abs(velocity).max(axis=0),
            limits.acceleration / np.abs(acceleration).max(axis=0),
        ]
    )
    x *= scale[:, None]
    if not basis.anchored:
        position = position * scale
        low, high = limits.lower - position.min(axis=0), limits.upper - position.max(axis=0)
        x[:, 0] = low + (high - low) * rng.uniform(1.0 - INSIDE, INSIDE, size=len(low))
    return drawn_near(problem, x.ravel(), resting.ravel())


def drawn_near(problem: ExcitationProblem, x: Array, resting: Array, t: Array | None = None) -> Array:
    """The unknowns x, drawn towards a posture at rest until the motion keeps all limits.

    Limits are checked at the times t, by default those of the search.
    """
    for _ in range(TIMES):
        if problem.keeps(problem.motion(x, t)):
            return x
        x = resting + NEARER * (x - resting)
    return resting
