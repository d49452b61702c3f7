"""Rosenbrock-Wanner methods: implicit steps without iteration, by linear systems with the exact Jacobian J.

In the form that needs no product with J (Hairer & Wanner, Solving ODEs II, IV.7), stage i solves

    (1 / (h gamma) - J) u_i = f(t + alpha_i h, s + sum_j a_ij u_j) + sum_j (c_ij / h) u_j + d_i h f_t

and the step is s + sum m_i u_i, its error sum error_i u_i. One factorization serves all stages. The dense output is a
matrix P:  s(theta) = s + sum_k u_k sum_j P[k][j] theta^(j+1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.linear_steps import LinearStep
from kinemorph.simulation.integrators.method import Shape, Site, usual_control
from kinemorph.simulation.integrators.tableau import Row


@dataclass(frozen=True)
class Rosenbrock:
    """A Rosenbrock-Wanner method, in the notation of this file's docstring.

    `last_rate`     the index of the stage whose rate is that at the end of the step, with which the next step starts;
                    -1 where no stage has it
    """

    name: str
    order: int
    gamma: float
    alpha: Row
    a: tuple[Row, ...]
    c: tuple[Row, ...]
    d: Row
    m: Row
    error: Row
    error_order: int  # the order that the step size control assumes
    dense: tuple[Row, ...] = ()  # empty: the cubic through both ends with the rates there
    last_rate: int = -1

    adaptive = True

    @property
    def degree(self) -> int:
        """The degree of the dense output."""
        return len(self.dense[0]) if self.dense else 3

    @property
    def stages(self) -> int:
        """The number of stages of a step, each of which solves a linear system."""
        return len(self.m)

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: rates at both ends of the step, its stages, derivatives at its start."""
        ends = {"first": (plant.ns,), "begun": (plant.ns,), "last": (plant.ns,)}
        return {**ends, "stages": (self.stages, plant.ns), **LinearStep.memory(plant)}

    def attempt(self, site: Site) -> None:
        """Writes the code of a step: derivatives if not known yet, one factorization, stages, new state and error."""
        loop, n = site.loop, site.plant.ns
        first, known = site.own["first"], site.own["linearized"]
        system = LinearStep(site)
        with loop.if_(site.fresh):
            site.rate(first, site.t, site.s)
            loop.let(known, lambda: 0.0)
            loop.let(site.fresh, lambda: 0.0)
        unknown, sigma = loop.scratch("unknown"), loop.scratch("stage_sigma")
        loop.let(unknown, lambda known: 1.0 - known, known)
        with loop.if_(unknown):
            system.linearize(first)
            loop.let(known, lambda: 1.0)
        loop.let(sigma, lambda h: 1.0 / (h * self.gamma), site.h)
        system.factor(sigma)
        us = [site.own["stages"][k] for k in range(self.stages)]
        right = loop.scratch("stage_right", (n,))
        for i in range(self.stages):
            rate = first if i == 0 else site.own["last"] if i == self.last_rate else loop.scratch("stage_rate", (n,))
            if i:
                self._rate(site, rate, i, us)
            inverse = loop.scratch("stage_inverse")
            loop.let(inverse, lambda h: 1.0 / h, site.h)
            site.combine(right, rate, inverse, us, self.c[i])
            time = loop.scratch("stage_weight")
            loop.let(time, lambda h, d=self.d[i]: d * h, site.h)
            system.solve(us[i], right, time if self.d[i] else None)
        one = loop.scratch("stage_one")
        loop.let(one, lambda: 1.0)
        site.combine(site.new, site.s, one, us, self.m)
        off = loop.scratch("off", (n,))
        site.combine(off, None, one, us, self.error)
        site.measure(site.error, off)

    def _rate(self, site: Site, out: View, i: int, us: list[View]) -> None:
        loop = site.loop
        stage, moment, one = (
            loop.scratch("stage", (site.plant.ns,)),
            loop.scratch("stage_time"),
            loop.scratch("stage_one"),
        )
        loop.let(one, lambda: 1.0)
        site.combine(stage, site.s, one, us, self.a[i])
        loop.let(moment, lambda t, h, alpha=self.alpha[i]: t + alpha * h, site.t, site.h)
        site.rate(out, moment, stage)

    def advance(self, site: Site) -> None:
        """Writes code that sets the rate ds/dt at the start of the next step, if a stage has it (see `last_rate`).

        In the state s = [w, v, x], w are local coordinates about the configuration at the start of a step. The next
        step has new ones, with w = 0 and dw/dt = v at its start.
        """
        loop, nv = site.loop, site.plant.nv
        first = site.own["first"]
        loop.let(site.own["linearized"], lambda: 0.0)
        if self.last_rate < 0:
            loop.let(site.fresh, lambda: 1.0)
            return
        loop.copy(site.own["begun"], first)
        loop.copy(first, site.own["last"])
        if nv:
            loop.copy(first.part(0, nv), site.s.part(nv, nv))

    def prepare(self, site: Site) -> None:
        """Writes code that computes the coefficients of the dense output."""
        if not self.dense:
            site.hermite(site.own["begun"], site.own["last"])
            return
        one = site.loop.scratch("stage_one")
        site.loop.let(one, lambda: 1.0)
        us = [site.own["stages"][k] for k in range(self.stages)]
        for j in range(self.degree):
            site.combine(site.dense[j], None, one, us, [row[j] for row in self.dense])

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.error_order, taken, out)


def _rodas() -> Rosenbrock:
    """RODAS: order 4 with an error estimate of order 3, stiffly accurate, dense output of order 3.

    The coefficients are from Hairer & Wanner, Solving ODEs II (1996), IV.10.
    """
    fifth = (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950)
    m = np.array([*fifth, 1.0, 1.0])
    D = np.array(
        [
            [10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662, 0.0],
            [-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872, 0.0],
        ]
    )
    # s + theta (new - s) + theta (1 - theta) D[0] u + theta^2 (1 - theta) D[1] u
    P = np.stack([m + D[0], D[1] - D[0], -D[1]], axis=1)
    return Rosenbrock(
        name="rodas",
        order=4,
        gamma=0.25,
        alpha=(0.0, 0.386, 0.21, 0.63, 1.0, 1.0),
        a=(
            (),
            (1.544,),
            (0.9466785280815826, 0.2557011698983284),
            (3.314825187068521, 2.896124015972201, 0.9986419139977817),
            fifth,
            (*fifth, 1.0),
        ),
        c=(
            (),
            (-5.6688,),
            (-2.430093356833875, -0.2063599157091915),
            (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
            (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
            (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
        ),
        d=(0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0),
        m=tuple(m.tolist()),
        error=(0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        error_order=4,
        dense=tuple(map(tuple, P.tolist())),
    )


def _rosenbrock23() -> Rosenbrock:
    """The pair of MATLAB's ode23s: order 2 with an error estimate by order 3 (Shampine & Reichelt 1997)."""
    gamma, e = 1.0 / (2.0 + math.sqrt(2.0)), 6.0 + math.sqrt(2.0)
    g = 1.0 / gamma
    # k1 = g u1 / h, k2 = g (u1 + u2) / h in theta (1 - theta) / (1 - 2 gamma) k1 + theta (theta - 2 gamma) / ... k2
    one, two = np.array([1.0, -1.0]), np.array([-2.0 * gamma, 1.0])
    P = np.array([one + two, two, 0.0 * one]) * g / (1.0 - 2.0 * gamma)
    return Rosenbrock(
        name="rosenbrock23",
        order=2,
        gamma=gamma,
        alpha=(0.0, 0.5, 1.0),
        a=((), (0.5 * g,), (g, g)),
        c=((), (-g,), (-2.0 * g, -e * g)),
        d=(gamma, 0.0, -gamma),
        m=(g, g, 0.0),
        error=(g / 6.0, (e - 2.0) * g / 6.0, g / 6.0),
        error_order=3,
        dense=tuple(map(tuple, P.tolist())),
        last_rate=2,
    )


FAMILY = (
    _rodas(),
    _rosenbrock23(),
    Rosenbrock(
        name="linearly_implicit_euler",
        order=1,
        gamma=1.0,
        alpha=(0.0, 1.0),
        a=((), (1.0,)),
        c=((), ()),
        d=(1.0, 1.0),
        m=(1.0, 0.0),
        error=(-0.5, 0.5),  # h^2 / 2 d^2s/dt^2, by the rates at both ends, each through the inverse
        error_order=2,
        last_rate=1,
    ),
)
