"""A variational integrator: the discrete Euler-Lagrange equations of the midpoint rule, on the joint manifold.

Hamilton's principle is discretized, not the equations of motion: of all paths q_0, q_1, ... the method takes the one
whose sum of  L_d(q_k, q_(k+1)) = h L(half-way)  is stationary. In position-momentum form, with p = M(q) v,

    p_k = - D_1 L_d(q_k, q_(k+1)) - F^-        solved for q_(k+1): nv equations, by Newton with their exact Jacobian
    p_(k+1) = D_2 L_d(q_k, q_(k+1)) + F^+

where F^- and F^+ are the forces half-way, taken along displacements of either end (Lagrange-d'Alembert). The map is
symplectic and symmetric, so the energy error stays bounded for ever. L_d does not depend on the pose of a free tree in
the world, so linear and angular momentum are conserved up to rounding. Further states x are integrated by the midpoint
rule, in the same system of equations.

Marsden & West, Discrete mechanics and variational integrators, Acta Numerica (2001), 1.5 and 3.2. The programs are
`Plant.discrete`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.elimination import factored, substituted
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Shape, Site, usual_control

MOST_ROUNDS = 30.0  # the most Newton iterations
CLOSE = 1e-9  # the relative size of a Newton step after which the iteration stops: the error left is its square


@cache
def _slopes(balance: Program) -> Program:
    """The program of the residual `left` (nv + nx,) of the discrete equations, and its Jacobian with respect to z.

    z = [w, x] are the displacement (nv,) and the further states (nx,) at the end of a step.
    """
    return jacobian(balance, "left", "z", values=True)


@dataclass(frozen=True)
class Variational:
    """The variational integrator of the midpoint rule, the only method of its family."""

    name: str
    order: int = 2

    @property
    def adaptive(self) -> bool:
        """False: with a variable step size the method would not be symplectic."""
        return False

    @property
    def degree(self) -> int:
        """The degree of the dense output: 3."""
        return 3

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: the momentum at both ends of a step, which is copied without rounding."""
        _ = plant.discrete_laws  # refuses a plant without a Lagrangian
        return {"momentum": (plant.nv,), "after": (plant.nv,)}

    def attempt(self, site: Site) -> None:
        """Writes code for Newton's iteration to z = [w, x] at the step's end, and the velocity from the momentum."""
        loop, plant = site.loop, site.plant
        nv, n, discrete = plant.nv, plant.nv + plant.nx, plant.discrete
        begun, after = site.own["momentum"], site.own["after"]
        with loop.if_(site.fresh):
            loop.call(discrete.momentum, [begun], [site.base, site.s, site.p])
            loop.let(site.fresh, lambda: 0.0)
        z = loop.scratch("z", (n,))
        loop.call(plant.drift, [z.part(0, nv)], [site.s, site.h])
        if plant.nx:
            loop.copy(z.part(nv, plant.nx), site.s.part(2 * nv, plant.nx))
        self._solve(site, z, begun)
        loop.copy(site.new.part(0, nv), z.part(0, nv))
        left = loop.scratch("left", (n,))
        loop.call(discrete.balance, [left, after], self._inputs(site, z, begun))
        loop.call(discrete.velocity, [site.new.part(nv, nv)], [site.base, site.new, after, site.p])
        if plant.nx:
            loop.copy(site.new.part(2 * nv, plant.nx), z.part(nv, plant.nx))

    def _inputs(self, site: Site, z: View, begun: View) -> list[View]:
        return [site.t, site.base, site.s, z, begun, site.h, site.m, site.u, site.p]

    def _solve(self, site: Site, z: View, begun: View) -> None:
        loop, plant = site.loop, site.plant
        nv, n = plant.nv, plant.nv + plant.nx
        slope, order, regular = loop.scratch("slope", (n, n)), loop.scratch("order", (n,)), loop.scratch("regular")
        found = loop.scratch("found", (n,))
        left = loop.scratch("left", (n,))
        going, rounds, size, change = (loop.scratch(f"newton_{name}") for name in ("going", "rounds", "size", "change"))
        loop.let(going, lambda: 1.0)
        loop.let(rounds, lambda: 0.0)
        slopes = _slopes(plant.discrete.balance)
        with loop.while_(going):
            loop.call(slopes, [left, slope], self._inputs(site, z, begun))
            loop.call(factored(n), [slope, order, regular], [slope])
            loop.call(substituted(n), [found], [slope, order, left])
            loop.let(going, lambda: 0.0)
            for first, last in ((0, nv), (nv, n)):  # coordinates and further states differ in scale
                if first == last:
                    continue
                loop.let(size, lambda: 1e-15)
                loop.let(change, lambda: 0.0)
                with loop.repeat(first, last) as i:
                    loop.let(z[i], lambda z, d: z - d, z[i], found[i])
                    loop.let(size, lambda top, z: top.maximum(abs(z)), size, z[i])
                    loop.let(change, lambda top, d: top.maximum(abs(d)), change, found[i])
                loop.let(
                    going,
                    lambda going, change, size: going.maximum(1.0 - (change <= CLOSE * size) * (change < 1e300)),
                    *(going, change, size),
                )
            loop.let(rounds, lambda k: k + 1.0, rounds)
            loop.copy(site.failed, going)
            loop.let(going, lambda going, k: going * (k < MOST_ROUNDS), going, rounds)

    def advance(self, site: Site) -> None:
        """Writes code that sets the momentum at the start of the next step. Steps use it in place of the velocity."""
        site.loop.copy(site.own["momentum"], site.own["after"])

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the cubic through both ends of the step with the rates there."""
        site.cubic()

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.order, taken, out)


FAMILY = (Variational("variational"),)
