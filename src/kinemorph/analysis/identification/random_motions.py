"""Random states and accelerations that a robot can have, and the motions that its loops and coupled joints leave.

An open tree has any. A closed chain is led along its motions, by random steps from the closed configuration next to
neutral, so that it stays in the same assembly mode and within the limits of its joints; its velocities and
accelerations keep the loops closed:

    J v = 0,   J a = gamma,     v = N x,   a = N y + J^+ gamma,     J N = 0
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.close_loops import Closer
from kinemorph.analysis.loops.constraint_rows import FLAT
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.model.configuration import neutral, random_configuration

FAST, HARD = 2.0, 5.0  # [rad/s or m/s], [rad/s^2 or m/s^2], the deviations of velocities and accelerations
LENGTH = 0.15  # [rad], steps from one closed configuration to the next
NEAR = 0.05  # of the first: where the smallest singular value of J is below, the configuration counts as singular
TURNING = 0.3  # how much the direction of a step differs from that of the step before
EXACT = 1e-13  # [m or rad], the largest error of a closed loop
TRIES = 20  # steps that are tried for each configuration


class Motions(NamedTuple):
    """States q (n, nq) and v (n, nv), accelerations a (n, nv), a basis N (n, nv, k) of the possible velocities.

    `before` and `after` are the inputs of functions of the robot before q and after the state: the time, parameters.
    """

    q: Array
    v: Array
    a: Array
    N: Array
    before: list[Array]
    after: list[Array]


def random_motions(dynamics: Dynamics, rows: int, rng: np.random.Generator) -> Motions:
    """So many random states that N has at least `rows` columns in all."""
    robot = dynamics.robot
    after = [dynamics.nominal_parameters] if dynamics.parameters else []
    if robot.is_open:
        count = max(4, -(-rows // max(1, robot.nv)))
        q = np.array([random_configuration(robot, rng) for _ in range(count)])
        N = np.broadcast_to(np.eye(robot.nv), (count, robot.nv, robot.nv))
    else:
        q, N = _led(dynamics, rows, rng)
        count = len(q)
    before = [rng.uniform(0.0, 10.0, size=count)] if robot.is_timed else []
    v, a = rng.normal(size=(2, count, robot.nv)) * [[[FAST]], [[HARD]]]
    if not robot.is_open:
        v, a = (np.einsum("snk,smk,sm->sn", N, N, x) for x in (v, a))
        J, gamma = dynamics.constraint_jacobian(*before, q, *after), dynamics.constraint_bias(*before, q, v, *after)
        a += np.einsum("snc,sc->sn", np.linalg.pinv(J, FLAT), gamma)
    return Motions(q, v, a, N, before, after)


def _led(dynamics: Dynamics, rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Closed configurations along a random path, and bases of the velocities there; see `Motions`."""
    robot, closer = dynamics.robot, Closer(dynamics, tolerance=EXACT)
    start = closer.close(neutral(robot))
    if not start:
        raise UnsupportedError(
            f"base_parameters: the loops of robot '{robot.name}' do not close near the neutral configuration: "
            f"{start.message} Correct its lengths, or choose coordinates in which neutral is nearly closed."
        )
    at, (N, least) = start.q, _motions(closer, start.q)
    way, shape, smallest = rng.normal(size=robot.nv), N.shape, NEAR * least
    found: list[tuple[Array, Array]] = []
    while N.size and len(found) * shape[1] < rows:
        for _ in range(TRIES):
            way = N @ (N.T @ way / np.linalg.norm(way) + TURNING * rng.normal(size=shape[1]))
            there = closer.near(closer.ranges.moved(at, way * (LENGTH / np.abs(way).max())))
            basis, least = _motions(closer, there.q)
            if there and basis.shape == shape and least > smallest:
                at, N = there.q, basis
                break
            way = rng.normal(size=robot.nv)  # the robot is at a limit or near a singular configuration
        found.append((at, N))
    if not found:
        return np.zeros((0, robot.nq)), np.zeros((0, robot.nv, 0))
    return np.array([q for q, _ in found]), np.array([N for _, N in found])


def _motions(closer: Closer, q: Array) -> tuple[Array, float]:
    """A basis (nv, k) of the velocities that keep loops closed at q, and the smallest singular value that is not 0."""
    J = closer.rows.slopes(q)
    scaled = closer.rows.scaled(J, closer.rows.lever(J))
    _, sizes, V = np.linalg.svd(scaled)
    rank = int((sizes > FLAT).sum())
    basis = (np.where(closer.rows.slides, closer.rows.lever(J), 1.0) * V[rank:]).T
    return np.linalg.qr(basis)[0], float(sizes[rank - 1]) if rank else 1.0
