"""Joints that nothing drives: a base that hangs from a hook or floats, and swings as the other joints move.

Their motion follows from that of the joints that are moved: the rows of the equations of motion of the hanging joints h
give their accelerations,

    M_hh a_h = - ID_h(q, v, a with a_h = 0) - d_h v_h,

with the viscous damping d_h of the model. They are integrated by the classical method of Runge and Kutta from rest in
equilibrium. Slopes by the unknowns of the series are those of the integrated motion, to the last bit: every stage is
differentiated together with its slopes. Coordinates of q are taken as plain numbers, also those of quaternions, whose
length has no meaning; slopes are given along unit velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.linear import solve_definite
from kinemorph.analysis.identification.excitation.series_basis import SeriesBasis
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import integrate
from kinemorph.model.parameter import evaluate_all

STEP = 0.025  # [s], the longest step of the integration
FLAT = 1e-9  # directions in which gravity is flatter than this, relatively, are left where they are
BALANCED = 1e-9  # [1] of the largest gravity force: the rest that is left in equilibrium
TIMES = 60  # Newton's steps towards it
LONGEST = 0.5  # [rad or m] of one of them


class Swing(NamedTuple):
    """The motion of hanging joints at some times: q (N, coordinates), v and a (N, velocities).

    `by_q`, `by_v`, `by_a` are slopes by the unknowns, (N, velocities, size), those of q along unit velocities; `spread`
    (N, coordinates, velocities) is dq/dt for unit velocities. They are empty where no slopes are wanted.
    """

    q: Array
    v: Array
    a: Array
    by_q: Array
    by_v: Array
    by_a: Array
    spread: Array


class Hanging:
    """The joints of a robot that nothing drives, and how they swing as others are moved.

    `names`     the joints that hang, `moved` those of one axis that are moved
    `held`      the configuration (nq,) of all others, near which hanging joints find their equilibrium
    """

    def __init__(
        self,
        dynamics: Dynamics,
        names: Sequence[str],
        moved: Sequence[str],
        basis: SeriesBasis,
        held: Array,
    ) -> None:
        robot = dynamics.robot
        self.dynamics, self.names, self.basis, self.held = dynamics, tuple(names), basis, held
        self.moved_q, self.moved_v = ([at(name).start for name in moved] for at in (robot.q_slice, robot.v_slice))
        self.at_q = [k for name in names for k in range(robot.nq)[robot.q_slice(name)]]
        self.at_v = [k for name in names for k in range(robot.nv)[robot.v_slice(name)]]
        self.damping = np.array([float(x) for name in names for x in evaluate_all(robot.joint(name).damping)])
        maker = dynamics._maker

        def law(tree: Tree, q: Any, v: Any, a: Any) -> dict[str, Any]:
            rest = [0.0 if k in self.at_v else a[k] for k in range(robot.nv)]
            tau = maker.recursion.inverse_dynamics(tree, q, v, rest)
            M = maker.recursion.mass_matrix(tree, q)
            push = [-tau[i] - d * v[i] for i, d in zip(self.at_v, self.damping.tolist(), strict=True)]
            rates = configuration_rate(maker.tree, q, v)
            own = solve_definite([[M[i][j] for j in self.at_v] for i in self.at_v], push)
            return {"rate": [rates[k] for k in self.at_q], "acceleration": own}

        shapes = {"rate": (len(self.at_q),), "acceleration": (len(self.at_v),)}
        program = maker.program("hanging", ("q", "v", "a"), law, shapes)
        self._rates = maker.built(program)
        self._slopes = maker.built(jacobian(program, ("rate", "acceleration"), ("q", "v", "a"), values=True))

    def check(self, q: Array) -> None:
        """Raises UnsupportedError if hanging joints do not come to rest near q, such as a free base that falls."""
        if self.equilibrium(q) is None:
            raise UnsupportedError(
                f"excite: {', '.join(self.names)} of '{self.dynamics.robot.name}' find no equilibrium near q, where "
                "the motion could begin; a free base under gravity falls. Hold it, hang it from a joint, or give "
                "another q."
            )

    def equilibrium(self, q: Array) -> Array | None:
        """q (nq,) with the hanging joints in equilibrium, found from q; None where Newton's method finds none."""
        robot, still = self.dynamics.robot, np.zeros(self.dynamics.robot.nv)
        for _ in range(TIMES):
            forces = self.dynamics.inverse_dynamics(q, still, still)
            left = forces[self.at_v]
            if np.abs(left).max() <= BALANCED * max(1.0, float(np.abs(forces).max())):
                return q
            K = self.dynamics.inverse_dynamics_derivatives(q, still, still)[0][np.ix_(self.at_v, self.at_v)]
            step = still.copy()
            step[self.at_v] = -np.linalg.pinv(K, FLAT) @ left
            q = integrate(robot, q, step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300)))
        return None

    def swing(self, x: Array, t: Array, *, slopes: bool = False) -> Swing:
        """The motion for unknowns x (joints, basis.size), at increasing times t (N,) from 0 on.

        All numbers are NaN where there is no equilibrium to begin with.
        """
        counts = [max(1, int(np.ceil(dt / STEP - 1e-9))) for dt in np.diff(t)]
        halves = [t[0], *(a + (b - a) * k / (2 * n) for a, b, n in zip(t[:-1], t[1:], counts, strict=True)
                          for k in range(1, 2 * n + 1))]  # fmt: skip
        functions = self.basis.functions(np.array(halves))
        moved = functions @ x.T
        if self.basis.anchored:
            moved[0] += self.held[self.moved_q]
        q = self.held.copy()
        q[self.moved_q] = moved[0, 0]
        begin = self.equilibrium(q)
        nq, nv, size = len(self.at_q), len(self.at_v), x.size if slopes else 0
        if begin is None:
            lost = np.full((len(t), max(nq, nv)), np.nan)
            none = np.zeros((len(t), nv, size))
            return Swing(lost[:, :nq], lost[:, :nv], lost[:, :nv], none, none, none, np.zeros((len(t), nq, nv)))
        state = np.concatenate([begin[self.at_q], np.zeros(nv)])
        tangents = np.zeros((nq + nv, size))
        if slopes:
            tangents[:nq] = self._begins(begin, functions[0, 0])
        stages = _Stages(self, moved, functions, slopes)
        found, half = [], 0
        for k in range(len(t)):
            rate, change, spread = stages.rates(half, state, tangents)
            found.append((state, rate[nq:], tangents, change[nq:], spread))
            if k < len(counts):
                h = (t[k + 1] - t[k]) / counts[k]
                for step in range(counts[k]):
                    first = (rate, change) if step == 0 else stages.rates(half, state, tangents)[:2]
                    state, tangents = _stepped(stages, half, state, tangents, h, first)
                    half += 2
        states, a, S, by_a, spread = (np.array(column) for column in zip(*found, strict=True))
        by_q = np.linalg.pinv(spread) @ S[:, :nq] if slopes else np.zeros((len(t), nv, 0))
        return Swing(states[:, :nq], states[:, nq:], a, by_q, S[:, nq:], by_a, spread)

    def _begins(self, q: Array, functions: Array) -> Array:
        """The slopes (coordinates, size) of the equilibrium q, where moved joints have slopes `functions`."""
        still = np.zeros(self.dynamics.robot.nv)
        K = self.dynamics.inverse_dynamics_derivatives(q, still, still)[0]
        follow = -np.linalg.pinv(K[np.ix_(self.at_v, self.at_v)], FLAT) @ K[np.ix_(self.at_v, self.moved_v)]
        spread = self._slopes(q, still, still)[3][:, self.at_v]
        found: Array = spread @ _outer(follow, functions)
        return found


class _Stages:
    """The rates of the state (q, v) of hanging joints, and of its slopes, at the half steps of an integration."""

    def __init__(self, hanging: Hanging, moved: Array, functions: Array, slopes: bool) -> None:
        self.of, self.moved, self.functions, self.slopes = hanging, moved, functions, slopes
        self.q, (self.v, self.a) = hanging.held.copy(), np.zeros((2, hanging.dynamics.robot.nv))

    def rates(self, half: int, state: Array, tangents: Array) -> tuple[Array, Array, Array]:
        """Rates (n,) of the state, rates (n, size) of its slopes, and `Swing.spread`, at a half step."""
        of, nq = self.of, len(self.of.at_q)
        self.q[of.moved_q], self.v[of.moved_v], self.a[of.moved_v] = self.moved[:, half]
        self.q[of.at_q], self.v[of.at_v] = state[:nq], state[nq:]
        if not self.slopes:
            return np.concatenate(of._rates(self.q, self.v, self.a)), tangents, np.zeros((nq, len(of.at_v)))
        rate, acceleration, *parts = of._slopes(self.q, self.v, self.a)
        J_q, J_v, J_a = (np.concatenate(pair) for pair in zip(parts[:3], parts[3:], strict=True))
        F = self.functions[:, half]
        change = J_q[:, of.at_q] @ tangents[:nq] + J_v[:, of.at_v] @ tangents[nq:]
        change += _outer(J_q[:, of.moved_q], F[0]) + _outer(J_v[:, of.moved_v], F[1]) + _outer(J_a[:, of.moved_v], F[2])
        return np.concatenate([rate, acceleration]), change, parts[1][:, of.at_v]


def _outer(J: Array, functions: Array) -> Array:
    """Slopes (n, joints * size) of something with slopes J (n, joints) by joints that move as `functions` (size,)."""
    return (J[:, :, None] * functions).reshape(len(J), -1)


def _stepped(
    stages: _Stages, half: int, state: Array, tangents: Array, h: float, first: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The state and its slopes after a step of length h [s] of the classical method of Runge and Kutta."""
    k1, d1 = first
    k2, d2, _ = stages.rates(half + 1, state + 0.5 * h * k1, tangents + 0.5 * h * d1)
    k3, d3, _ = stages.rates(half + 1, state + 0.5 * h * k2, tangents + 0.5 * h * d2)
    k4, d4, _ = stages.rates(half + 2, state + h * k3, tangents + h * d3)
    return state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), tangents + h / 6.0 * (d1 + 2.0 * d2 + 2.0 * d3 + d4)
