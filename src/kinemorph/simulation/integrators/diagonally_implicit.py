"""Diagonally implicit Runge-Kutta methods: the first stage is explicit, the last one is the end of the step.

Stage i > 0 solves for its change Z_i of the state, with the slopes K_j of the stages before it,

    Z_i = h sum_j<i a_ij K_j + d h f(t + c_i h, s + Z_i),       K_i = (Z_i - h sum_j<i a_ij K_j) / (d h)

by a Newton iteration with J at the start of the step; d is the same for all stages, and so is the matrix 1 / (d h) - J.
The slope of the last stage is the first one of the next step. The error, h sum error_j K_j, is multiplied by the
inverse of this matrix, which filters out its stiff part (Hosea & Shampine 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.linear_steps import LinearStep
from kinemorph.simulation.integrators.method import Shape, Site, usual_control
from kinemorph.simulation.integrators.simplified_newton import SimplifiedNewton
from kinemorph.simulation.integrators.tableau import Row


@dataclass(frozen=True)
class DiagonallyImplicit:
    """A diagonally implicit method, in the notation of this file's docstring; rows of `a` exclude the diagonal."""

    name: str
    order: int
    d: float
    a: tuple[Row, ...]
    c: Row
    error: Row
    error_order: int  # the order that the step size control assumes

    adaptive = True
    degree = 3

    @property
    def stages(self) -> int:
        """The number of stages, including the explicit first one."""
        return len(self.c)

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: the slope at the start, all slopes of the last step, and derivatives."""
        return {
            "first": (plant.ns,),
            "slopes": (self.stages, plant.ns),
            **SimplifiedNewton.memory(),
            **LinearStep.memory(plant),
        }

    def attempt(self, site: Site) -> None:
        """Writes the code of a step: derivatives if not known yet, one factorization, all stages, and the error."""
        loop, n = site.loop, site.plant.ns
        first, mark = site.own["first"], site.own["linearized"]
        slopes = [site.own["slopes"][k] for k in range(self.stages)]
        system = LinearStep(site)
        with loop.if_(site.fresh):
            site.rate(first, site.t, site.s)
            loop.let(mark, lambda: 0.0)
            loop.let(site.fresh, lambda: 0.0)
        unknown, sigma = loop.scratch("unknown"), loop.scratch("stage_sigma")
        loop.let(unknown, lambda mark: 1.0 - mark, mark)
        with loop.if_(unknown):
            system.linearize(first)
            loop.let(mark, lambda: 1.0)
        loop.let(sigma, lambda h: 1.0 / (h * self.d), site.h)
        system.factor(sigma)
        loop.copy(slopes[0], first)
        Z = loop.scratch("stage_Z", (n,))
        for j in range(1, self.stages):
            self._stage(site, system, slopes, Z, j)
        with loop.repeat(n) as i:
            loop.let(site.new[i], lambda s, z: s + z, site.s[i], Z[i])
        off, right, scaled = loop.scratch("off", (n,)), loop.scratch("stage_right", (n,)), loop.scratch("stage_scaled")
        loop.let(scaled, lambda: 1.0 / self.d)
        site.combine(right, None, scaled, slopes, self.error)
        system.solve(off, right)
        site.measure(site.error, off)

    def _stage(self, site: Site, system: LinearStep, slopes: list[View], Z: View, i: int) -> None:
        """Writes code that finds the change Z (ns,) of the state at stage i by Newton's iteration, and then the slope
        there.
        """
        loop, n = site.loop, site.plant.ns
        known, stage, rate, right, change = (
            loop.scratch(f"stage_{name}", (n,)) for name in ("known", "place", "rate", "right", "change")
        )
        moment, reach, newton = loop.scratch("stage_time"), loop.scratch("stage_reach"), SimplifiedNewton(site)
        loop.let(moment, lambda t, h: t + self.c[i] * h, site.t, site.h)
        loop.let(reach, lambda h: self.d * h, site.h)
        site.combine(known, None, site.h, slopes, self.a[i])
        site.combine(Z, known, reach, [slopes[i - 1]], [1.0])
        newton.begin()
        with loop.while_(newton.going):
            with loop.repeat(n) as k:
                loop.let(stage[k], lambda s, z: s + z, site.s[k], Z[k])
            site.rate(rate, moment, stage)
            with loop.repeat(n) as k:
                loop.let(
                    right[k], lambda f, z, given, sigma: f - sigma * (z - given), rate[k], Z[k], known[k], system.sigma
                )
            system.solve(change, right)
            with loop.repeat(n) as k:
                loop.let(Z[k], lambda z, d: z + d, Z[k], change[k])
            newton.look([change])
        newton.finish()
        with loop.repeat(n) as k:
            loop.let(slopes[i][k], lambda z, given, sigma: sigma * (z - given), Z[k], known[k], system.sigma)

    def advance(self, site: Site) -> None:
        """Writes code that sets the first slope ds/dt of the next step: the last slope of this one.

        In the state s = [w, v, x], w are local coordinates about the configuration at the start of a step. The next
        step has new ones, with w = 0 and dw/dt = v at its start.
        """
        loop, nv, first = site.loop, site.plant.nv, site.own["first"]
        loop.let(site.own["linearized"], lambda: 0.0)
        loop.copy(first, site.own["slopes"][self.stages - 1])
        if nv:
            loop.copy(first.part(0, nv), site.s.part(nv, nv))

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the cubic through both ends of the step with the slopes there."""
        site.hermite(site.own["slopes"][0], site.own["slopes"][self.stages - 1])

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.error_order, taken, out)
        SimplifiedNewton.hold_back(site, out)


def _tr_bdf2() -> DiagonallyImplicit:
    """TR-BDF2: the trapezoidal rule to 2 - sqrt(2) of the step, then the BDF formula of order 2; MATLAB's ode23tb."""
    w, d = math.sqrt(2.0) / 4.0, 1.0 - math.sqrt(2.0) / 2.0
    third = ((1.0 - w) / 3.0, (3.0 * w + 1.0) / 3.0, d / 3.0)  # weights of order 3
    error = tuple(b - other for b, other in zip((w, w, d), third, strict=True))
    return DiagonallyImplicit("tr_bdf2", 2, d, ((), (d,), (w, w)), (0.0, 2.0 * d, 1.0), error, 3)


FAMILY = (_tr_bdf2(),)
