"""Constrained motion as a system of differential and algebraic equations, by IDA of SUNDIALS.

Multipliers are unknowns like coordinates and velocities, and constraints are equations for both positions and
velocities: the stabilized form of index 2 (`Plant.unmet`). Backward differences then keep the constraints while they
solve for everything else. Without constraints it is an implicit method for M a = f.

    C. W. Gear, B. Leimkuhler, G. K. Gupta, Automatic integration of Euler-Lagrange equations with constraints, Journal
    of Computational and Applied Mathematics 12-13 (1985) 77-90

Redundant constraint rows, as in planar linkages of revolute joints in space, would make the matrices singular. So an
independent subset of the rows is chosen at the start, and again where that subset hardly determines the others. Errors
of multipliers are not controlled: they are larger than the errors of the motion, and do not affect it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.frozen import kept_with
from kinemorph.mechanics.constraints.constrained import MOST_REPEATED, PER_OPENING, REPEATED
from kinemorph.plants.programs import Plant
from kinemorph.simulation.foreign.engines import InitialValueProblem, Sundials

Mask = npt.NDArray[np.bool_]

WORSE = 0.05  # times the smallest singular value of the best subset: below it, another subset is chosen
UNWATCHED = 1e10  # the tolerance of multipliers, whose errors are not controlled


class _Functions(NamedTuple):
    """The compiled functions of a plant that IDA needs."""

    unmet: CompiledFunction  # the residual of all equations
    slopes: CompiledFunction  # derivatives of the residual by y and by dy/dt
    constraints: CompiledFunction | None


@kept_with
def _functions(plant: Plant) -> _Functions:
    slopes = jacobian(plant.unmet, "out", ("y", "dy"))
    return _Functions(build(plant.unmet), build(slopes), build(plant.constraints) if plant.constraints else None)


class IdaEngine(Sundials):
    """IDA of SUNDIALS, through scikit-sundae."""

    y: Array  # [q, v, x] now
    rows: Mask  # the chosen constraint rows, (nc,)
    sizes: Array  # sizes of all constraint rows, (nc,)

    def __init__(self, name: str, problem: InitialValueProblem) -> None:
        self.problem, self.equations, self.plant = problem, problem.equations, problem.equations.plant
        self.functions = _functions(self.plant)
        self.stop, self.size = problem.stop, len(problem.y)
        self.worse = False
        self._begin(problem.t, problem.y, problem.first_step)

    def step(self) -> tuple[float, Array]:
        if self.worse:  # not earlier: the run may interpolate within the last step
            self._begin(self.t, self.y, 0.0)
        t, self.y = super().step()
        self.worse = self._is_worse()
        return t, self.y

    def _begin(self, t: float, y: Array, first: float) -> None:
        """Starts at the state y = [q, v, x] (configuration, velocities, other states) with a first step of `first` [s].

        The multipliers and the rates dy/dt that IDA starts with satisfy the equations.
        """
        from sksundae.ida import IDA

        count = self.plant.position_rows
        self.t, self.y, self.worse = t, y, False
        J, own = self._slopes_of_rows()
        self.rows = independent_rows(J, count, own)
        self.hold = _smallest(J[self.rows])
        whole, rates = np.concatenate([y, np.zeros(len(J) + count)]), np.zeros(self.size + len(J) + count)
        rates[: self.size] = self.equations.rate(t, y)
        if len(J):
            sizes = self.sizes[self.rows]  # rows of J are divided by them
            unheld = self._unmet(t, whole, rates)[self.plant.nq : self.plant.nq + self.plant.nv]
            forces = np.linalg.lstsq(J[self.rows].T, unheld, rcond=None)[0] / sizes
            whole[self.size : self.size + len(J)][self.rows] = forces
        tolerances = np.full(len(whole), self.problem.options.atol)
        tolerances[self.size :] = UNWATCHED
        self.solver = IDA(
            self._residual,
            jacfn=self._matrix,
            rtol=max(self.problem.options.rtol, 1e-15),
            atol=tolerances,
            algebraic_idx=list(range(self.size, len(whole))) or None,
            max_step=self.problem.max_step,
            first_step=first,
            max_num_steps=100_000,
        )
        self.solver.init_step(t, whole, rates)

    # ── the equations ─────────────────────────────────────────────────────────────────────────────────────────────

    def _given(self, t: float, y: Array, dy: Array) -> tuple[Array, ...]:
        return np.array(float(t)), y.copy(), dy[: self.size].copy(), self.rows.astype(float), *self.equations.numbers

    def _unmet(self, t: float, y: Array, dy: Array) -> Array:
        out = np.zeros(len(y))
        self.functions.unmet.raw(out, *self._given(t, y, dy))
        self.equations.counted()
        return out

    def _residual(self, t: float, y: Array, dy: Array, out: Array) -> None:
        out[:] = self._unmet(t, y, dy)

    def _matrix(self, t: float, y: Array, dy: Array, _: Array, share: float, out: Array) -> None:
        by_y, by_dy = np.zeros((len(y), len(y))), np.zeros((len(y), self.size))
        self.functions.slopes.raw((by_y, by_dy), *self._given(t, y, dy))
        self.equations.counted()
        by_y[:, : self.size] += share * by_dy
        out[:] = by_y

    # ── independent constraints ───────────────────────────────────────────────────────────────────────────────────

    def _slopes_of_rows(self) -> tuple[Array, float]:
        """The Jacobian J (nc, nv) of all constraint rows at the present state, and the tolerance of `independent_rows`.

        Each row is divided by its size; columns of locked joints are zero. The tolerance grows with the error of loops,
        because redundant rows differ by as much where loops are slightly open.
        """
        if self.functions.constraints is None:
            return np.zeros((0, self.plant.nv)), REPEATED
        q, rest = self.y[: self.plant.nq], self.y[self.plant.nq :]
        phi, _, J, self.sizes = self.functions.constraints(
            self.t, q, np.concatenate([np.zeros(self.plant.nv), rest]), *self.equations.numbers
        )
        J = J / self.sizes[:, None]
        J[:, list(self.plant.locked)] = 0.0
        opening = float(np.abs(phi / self.sizes[: len(phi)]).max(initial=0.0))
        return J, min(REPEATED + PER_OPENING * opening, MOST_REPEATED)

    def _is_worse(self) -> bool:
        """Whether another subset of rows would be much better conditioned than the one that was chosen."""
        if self.rows.all():
            return False
        J, own = self._slopes_of_rows()
        mine = _smallest(J[self.rows])
        if mine > 0.3 * self.hold:  # not worth a search
            return False
        best = independent_rows(J, self.plant.position_rows, own)
        if (best == self.rows).all() or best.sum() < self.rows.sum():  # the rank is lost for an instant only
            return False
        return bool(best.sum() > self.rows.sum() or mine < WORSE * _smallest(J[best]))


def _smallest(J: Array) -> float:
    """The smallest singular value of J."""
    return float(np.linalg.svd(J, compute_uv=False).min(initial=np.inf))


def independent_rows(J: Array, positions: int, own: float = REPEATED) -> Mask:
    """Which rows of J (nc, nv) form an independent subset, as a mask (nc,): as many as the rank of J.

    The first `positions` rows, which constrain both positions and velocities, are chosen before the others. A row whose
    part independent of the chosen rows is shorter than `own` times the longest row counts as redundant.
    """
    chosen = np.zeros(len(J), dtype=bool)
    rest = J.copy()
    longest = float(np.linalg.norm(J, axis=1).max(initial=0.0))
    for part in (slice(0, positions), slice(positions, len(J))):
        for _ in range(part.stop - part.start):
            sizes = np.linalg.norm(rest[part], axis=1)
            best = part.start + int(np.argmax(sizes))
            if sizes.max() <= own * longest:
                break
            chosen[best] = True
            along = rest[best] / np.linalg.norm(rest[best])
            for _ in range(2):  # the second pass removes the rounding errors of the first
                rest = rest - np.outer(rest @ along, along)
            rest[best] = 0.0
    return chosen
