"""Radau IIA: collocation at the Radau points, of order 5, for stiff problems at tight tolerances.

The stages Z_i = s_i - s solve  Z = h A f(s + Z). The matrix A^-1 has one real eigenvalue and a complex pair; in the
coordinates V = T^-1 Z that separate these, a Newton iteration with J at the start of the step solves (Hairer & Wanner,
Solving ODEs II, IV.8)

    (mu / h - J) dV_0 = (T^-1 f)_0 - mu / h V_0,        and the same in complex numbers for V_1 + i V_2.

The error is that of an embedded formula of order 3, through the same real factors; the dense output is the collocation
polynomial, which also predicts the stages of the next step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.complex_steps import ComplexStep
from kinemorph.simulation.integrators.linear_steps import LinearStep
from kinemorph.simulation.integrators.method import Shape, Site, usual_control
from kinemorph.simulation.integrators.simplified_newton import SimplifiedNewton

Matrix = npt.NDArray[np.float64]
STAGES = 3


@dataclass(frozen=True)
class Radau:
    """A Radau IIA method of three stages.

    `A` is its Runge-Kutta matrix; `error` are the weights, in the estimate of the local error, of the increments of the
    state at the stages, divided by the step size.
    """

    name: str
    order: int
    A: tuple[tuple[float, ...], ...]
    error: tuple[float, ...]

    adaptive = True
    degree = STAGES

    @cached_property
    def c(self) -> Matrix:
        """The times of the stages as fractions of the step, shape (3,): the sums of the rows of A."""
        return np.array([sum(row) for row in self.A])

    @cached_property
    def parted(self) -> tuple[float, complex, Matrix, Matrix]:
        """(real mu, complex mu, T, T^-1): eigenvalues of A^-1, and the matrices of the coordinates V = T^-1 Z.

        In these coordinates A^-1 is block diagonal: the real eigenvalue, and the pair of complex ones.
        """
        values, vectors = np.linalg.eig(np.linalg.inv(self.A))
        real, turning = int(np.argmin(np.abs(values.imag))), int(np.argmax(values.imag))
        w = vectors[:, turning] / vectors[-1, turning]
        # with the columns Re w and Im w, A^-1 multiplies V_1 + i V_2 by the conjugate of w's eigenvalue
        T = np.stack([(vectors[:, real] / vectors[-1, real]).real, w.real, w.imag], axis=1)
        return float(values[real].real), complex(np.conj(values[turning])), T, np.linalg.inv(T)

    @cached_property
    def monomials(self) -> Matrix:
        """The matrix from stages Z to coefficients C of the polynomial through 0 and Z: Z_i = sum_j C_j c_i^(j+1)."""
        return np.array(np.linalg.inv(self.c[:, None] ** np.arange(1, STAGES + 1)), dtype=float)

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: the rate at the start, stages of this and the last step, derivatives."""
        stages = (STAGES, plant.ns)
        return {
            "first": (plant.ns,),
            "Z": stages,
            "Z_old": stages,
            "known": (),
            **SimplifiedNewton.memory(),
            **LinearStep.memory(plant),
        }

    # ── a step ────────────────────────────────────────────────────────────────────────────────────────────────────

    def attempt(self, site: Site) -> None:
        """Writes the code of a step: derivatives if they are not known yet, two factorizations, Newton, the error."""
        loop, own = site.loop, site.own
        first, mark = own["first"], own["linearized"]
        system, pair = LinearStep(site), ComplexStep(site)
        with loop.if_(site.fresh):
            for name in ("linearized", "known"):
                loop.let(own[name], lambda: 0.0)
            loop.let(site.fresh, lambda: 0.0)
        unknown = loop.scratch("unknown")
        loop.let(unknown, lambda mark: 1.0 - mark, mark)
        with loop.if_(unknown):
            site.rate(first, site.t, site.s)
            system.linearize(first)
            loop.let(mark, lambda: 1.0)
        mu, turning, _, _ = self.parted
        sigma, a, b = (loop.scratch(f"stage_{name}") for name in ("sigma", "a", "b"))
        for out, value in ((sigma, mu), (a, turning.real), (b, turning.imag)):
            loop.let(out, lambda h, value=value: value / h, site.h)
        system.factor(sigma)
        pair.factor(a, b)
        self._predict(site)
        self._iterate(site, system, pair)
        with loop.repeat(site.plant.ns) as i:
            loop.let(site.new[i], lambda s, z: s + z, site.s[i], own["Z"][STAGES - 1, i])
        self._estimate(site, system)

    def _predict(self, site: Site) -> None:
        """Writes code for the first guess of the stages: the last step's polynomial, continued; zero in a first step.

        The stages of the local coordinates w follow from the velocities that the polynomial predicts.
        """
        loop, own, plant = site.loop, site.own, site.plant
        Z, before, C, c = own["Z"], own["Z_old"], self.monomials, self.c

        def ahead(h: Any, h_old: Any, *z: Any) -> list[Any]:
            coefficients = [sum((C[j, k] * z[k] for k in range(STAGES)), 0.0) for j in range(STAGES)]
            return [
                sum(
                    (k * ((1.0 + c_i * h / h_old) ** (j + 1) - 1.0) for j, k in enumerate(coefficients)),
                    0.0,
                )
                for c_i in c.tolist()
            ]

        guess = loop.scratch("stage_guess", (STAGES,))
        with loop.if_(own["known"]):
            with loop.repeat(plant.nv, plant.ns) as i:
                loop.let(guess, ahead, site.h, site.h_old, *(before[k, i] for k in range(STAGES)))
                for k in range(STAGES):
                    loop.copy(Z[k, i], guess[k])
            if plant.nv:
                with loop.repeat(plant.nv) as i:
                    for k in range(STAGES):
                        loop.let(
                            Z[k, i],
                            lambda h, v, *dv, k=k: (
                                h * (c[k] * v + sum((x * y for x, y in zip(self.A[k], dv, strict=True)), 0.0))
                            ),
                            *(site.h, site.s[plant.nv + i], *(Z[j, plant.nv + i] for j in range(STAGES))),
                        )
        with loop.otherwise():
            for k in range(STAGES):
                with loop.repeat(plant.ns) as i:
                    loop.let(Z[k, i], lambda: 0.0)

    def _iterate(self, site: Site, system: LinearStep, pair: ComplexStep) -> None:
        loop, own, n = site.loop, site.own, site.plant.ns
        _, _, T, back = self.parted
        Z = own["Z"]
        V, F, R, dV = (loop.scratch(f"newton_{name}", (STAGES, n)) for name in ("V", "F", "R", "dV"))
        stage, moment = loop.scratch("stage", (n,)), loop.scratch("stage_time")
        newton = SimplifiedNewton(site)
        with loop.repeat(n) as i:
            for k in range(STAGES):
                loop.let(V[k, i], _weighted(back[k]), *(Z[j, i] for j in range(STAGES)))
        newton.begin()
        with loop.while_(newton.going):
            for k in range(STAGES):
                with loop.repeat(n) as i:
                    loop.let(stage[i], lambda s, z: s + z, site.s[i], Z[k, i])
                loop.let(moment, lambda t, h, c=float(self.c[k]): t + c * h, site.t, site.h)
                site.rate(F[k], moment, stage)
            with loop.repeat(n) as i:
                for k in range(STAGES):
                    loop.let(R[k, i], _weighted(back[k]), *(F[j, i] for j in range(STAGES)))
                loop.let(R[0, i], lambda r, s, v: r - s * v, R[0, i], system.sigma, V[0, i])
                loop.let(R[1, i], lambda r, a, b, v, y: r - a * v + b * y, *(R[1, i], pair.a, pair.b, V[1, i], V[2, i]))
                loop.let(R[2, i], lambda r, a, b, v, y: r - a * y - b * v, *(R[2, i], pair.a, pair.b, V[1, i], V[2, i]))
            system.solve(dV[0], R[0])
            pair.solve(dV[1], dV[2], R[1], R[2])
            with loop.repeat(n) as i:
                for k in range(STAGES):
                    loop.let(V[k, i], lambda v, d: v + d, V[k, i], dV[k, i])
                for k in range(STAGES):
                    loop.let(Z[k, i], _weighted(T[k]), *(V[j, i] for j in range(STAGES)))
            newton.look([dV[k] for k in range(STAGES)])
        newton.finish()

    def _estimate(self, site: Site, system: LinearStep) -> None:
        """Writes code for the error (mu / h - J)^-1 (f + sum error_i Z_i / h), in the notation of this file's
        docstring.

        Where it is above 1, it is computed again, with the rate f at the state s + error.
        """
        loop, own, n = site.loop, site.own, site.plant.ns
        off, right, stage, rate = (loop.scratch(name, (n,)) for name in ("off", "stage_right", "stage", "stage_rate"))
        inverse, again = loop.scratch("stage_inverse"), loop.scratch("stage_again")
        loop.let(inverse, lambda h: 1.0 / h, site.h)
        stages = [own["Z"][k] for k in range(STAGES)]

        def measure(slope: View) -> None:
            site.combine(right, slope, inverse, stages, self.error)
            system.solve(off, right)
            site.measure(site.error, off)

        measure(own["first"])
        loop.let(again, lambda e: e > 1.0, site.error)
        with loop.if_(again):
            with loop.repeat(n) as i:
                loop.let(stage[i], lambda s, d: s + d, site.s[i], off[i])
            site.rate(rate, site.t, stage)
            measure(rate)

    def advance(self, site: Site) -> None:
        """Writes code that keeps the stages of this step, as the last step's, for the next one."""
        loop, own = site.loop, site.own
        loop.copy(own["Z_old"], own["Z"])
        loop.let(own["linearized"], lambda: 0.0)
        loop.let(own["known"], lambda: 1.0)

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the polynomial through the start of the step and all stages."""
        one = site.loop.scratch("stage_one")
        site.loop.let(one, lambda: 1.0)
        stages = [site.own["Z_old"][k] for k in range(STAGES)]
        for j in range(STAGES):
            site.combine(site.dense[j], None, one, stages, self.monomials[j].tolist())

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, 4, taken, out)
        SimplifiedNewton.hold_back(site, out)


def _weighted(weights: Any) -> Any:
    """A function that returns the sum of its arguments times the weights."""
    return lambda *values: sum((float(w) * x for w, x in zip(weights, values, strict=True)), 0.0)


_ROOT = math.sqrt(6.0)
FAMILY = (
    Radau(
        "radau",
        5,
        (
            ((88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225),
            ((296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225),
            ((16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9),
        ),
        ((-13 - 7 * _ROOT) / 3, (-13 + 7 * _ROOT) / 3, -1 / 3),
    ),
)
