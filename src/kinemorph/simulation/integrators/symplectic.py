"""Partitioned methods: kicks, which change velocities, alternate with drifts, which change positions.

A kick changes v and x by their rates at constant w; a drift moves w at the velocity v, on the joint manifold
(`Plant.drift`). Without implicit kicks nothing takes back what a kick does to velocities in moving axes: there a drift
is free flight, and a kick changes v by the accelerations beyond it (mechanics.steps.free_flight). A method is a list of
kicks and drifts, each over a fraction (share) of the step. The state after a kick is (v', x'), and there are two kinds
of kick:

    explicit    (v', x') = (v, x) + h rate(t, w, v, x)         with the rate before the kick
    implicit    (v', x') = (v, x) + h rate(t, w, v', x')       with the rate after it: the adjoint of the explicit kick

Forces of mechanics depend on velocities, if only by the Coriolis terms. Kick-drift-kick is of second order with them
where its first half kick is explicit and the second implicit, as it is then its own inverse. It is exactly
velocity Verlet, symplectic and explicit, where forces depend on positions only and the mass matrix is constant; else it
is symmetric: no drift of the energy in reversible motion. Implicit kicks are solved by fixed-point iteration, which
converges at any step size that suits an explicit method. The method `variational` is symplectic for any open tree.

The account of energy is the last two numbers of x. Forces before an explicit kick act at the mean of the velocities
before and after it. Where no implicit kick follows that has the opposite error, the account takes the mean of both
rates; at the velocity before the kick alone, it would be off by many times the error of the motion.

Stoermer (1907), Verlet (1967); Yoshida (1990) for the composition of order 4: kick-drift-kick three times, the second
time backwards in time. Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), I.1, II.4, VI.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.initial_values import SUPPLIED
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Shape, Site, usual_control

Kind = Literal["kick", "drift", "implicit"]
MOST_ROUNDS = 60.0  # the most fixed-point iterations of one kick
CLOSE = 1e-15  # the relative change at which the iteration stops
SETTLED = 1e-11  # the relative change that suffices where it no longer becomes smaller


@dataclass(frozen=True)
class Partitioned:
    """A partitioned method: `parts` lists its kicks and drifts in order, as (kind, share of the step)."""

    name: str
    order: int
    parts: tuple[tuple[Kind, float], ...]

    @property
    def adaptive(self) -> bool:
        """False: there is no error estimate, and a variable step size would destroy the symmetry of the method."""
        return False

    @property
    def symmetric(self) -> bool:
        """Whether implicit kicks match the explicit ones, so that the method is its own inverse."""
        return any(kind == "implicit" for kind, _ in self.parts)

    @property
    def degree(self) -> int:
        """The degree of the dense output: 3."""
        return 3

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: the first rate of the next step, and the last rate of this one."""
        return {"first": (plant.ns,), "last": (plant.ns,)}

    def attempt(self, site: Site) -> None:
        """Writes the code of all kicks and drifts, each from the result of the one before."""
        loop = site.loop
        first, last = site.own["first"], site.own["last"]
        with loop.if_(site.fresh):
            site.rate(first, site.t, site.s)
            loop.let(site.fresh, lambda: 0.0)
        loop.copy(last, first)
        loop.copy(site.new, site.s)
        moment, span = loop.scratch("moment_now"), loop.scratch("span")
        loop.copy(moment, site.t)
        for kind, share in self.parts:
            loop.let(span, lambda h, share=share: share * h, site.h)
            if kind == "drift":
                flown = None if self.symmetric else site.plant.flown
                if flown is not None:
                    loop.call(flown, [site.new], [moment, site.base, site.new, span, site.m, site.u, site.p])
                elif site.plant.nv:
                    loop.call(site.plant.drift, [site.new.part(0, site.plant.nv)], [site.new, span])
                loop.let(moment, lambda t, span: t + span, moment, span)
            elif kind == "kick":
                flying = None if self.symmetric else site.plant.flying
                if flying is not None:
                    loop.call(flying, [loop.scratch("flying", (site.plant.nv,))], site.inputs(t=moment, s=site.new))
                self._kick(site, site.new, last, span)
                if flying is not None:
                    self._leave_flight(site, span)
                if not self.symmetric:
                    self._account(site, moment, last, span)
            else:
                self._implicit(site, moment, last, span)

    def _kick(self, site: Site, start: View, rate: View, span: View) -> None:
        """Writes the code of a kick of `span` [s]: v and x of s = [w, v, x] change by span * rate, w stays the same."""
        nv, ns = site.plant.nv, site.plant.ns
        with site.loop.repeat(nv, ns) as i:
            site.loop.let(site.new[i], lambda y, h, k: y + h * k, start[i], span, rate[i])

    def _leave_flight(self, site: Site, span: View) -> None:
        """Writes code that takes the accelerations of free flight, in `flying` (nv,), out of a kick of `span` [s]."""
        nv, flying = site.plant.nv, site.loop.scratch("flying", (site.plant.nv,))
        with site.loop.repeat(nv) as i:
            site.loop.let(site.new[nv + i], lambda v, h, a: v - h * a, site.new[nv + i], span, flying[i])

    def _account(self, site: Site, t: View, rate: View, span: View) -> None:
        """Writes the account of energy after a kick over the time `span`, by the mean of the rates before and after."""
        loop, size = site.loop, len(account_rate(site.plant).refs)
        if not size:
            return
        after, first = loop.scratch("account_after", (size,)), site.plant.ns - size
        loop.call(account_rate(site.plant), [after], site.inputs(t=t, base=site.base, s=site.new))
        with loop.repeat(size) as i:
            kept = site.new[first + i]
            loop.let(kept, lambda y, h, old, new: y + 0.5 * h * (new - old), kept, span, rate[first + i], after[i])

    def _implicit(self, site: Site, t: View, rate: View, span: View) -> None:
        """Writes the code of an implicit kick over the time `span`; `rate` is the first guess of the rate at its end.

        The rate that the iteration finds is written to `rate`.
        """
        loop, nv, ns = site.loop, site.plant.nv, site.plant.ns
        start, before = loop.scratch("kick_start", (ns,)), loop.scratch("kick_before", (ns,))
        going, change, last_change, largest, rounds = (
            loop.scratch(f"kick_{name}") for name in ("going", "change", "last_change", "largest", "rounds")
        )
        loop.copy(start, site.new)
        self._kick(site, start, rate, span)
        for view, value in ((going, 1.0), (rounds, 0.0), (last_change, 1e300)):
            loop.let(view, lambda value=value: value)
        with loop.while_(going):
            loop.copy(before, site.new)
            site.rate(rate, t, site.new)
            self._kick(site, start, rate, span)
            # changes are relative to the largest velocity: one that should be zero has the rounding errors of others
            loop.let(largest, lambda: 0.0)
            loop.let(change, lambda: 0.0)
            with loop.repeat(nv, 2 * nv) as i:
                loop.let(
                    largest,
                    lambda most, a, y: most.maximum(abs(a) + abs(a - y)),
                    *(largest, site.new[i], start[i]),
                )
            with loop.repeat(nv, 2 * nv) as i:
                loop.let(
                    change,
                    lambda worst, a, b, most: worst.maximum(abs(a - b) / (most + 1e-12)),
                    *(change, site.new[i], before[i], largest),
                )
            with loop.repeat(2 * nv, ns) as i:
                loop.let(
                    change,
                    lambda worst, a, b, y: worst.maximum(abs(a - b) / (abs(a) + abs(a - y) + 1e-12)),
                    *(change, site.new[i], before[i], start[i]),
                )
            loop.let(rounds, lambda k: k + 1.0, rounds)
            loop.let(
                going,
                lambda d, old, k: (d > CLOSE) * (1.0 - (d <= SETTLED) * (d >= old)) * (k < MOST_ROUNDS),
                *(change, last_change, rounds),
            )
            loop.copy(last_change, change)
        loop.let(site.failed, lambda failed, d: failed.maximum(1.0 - (d <= SETTLED)), site.failed, change)

    def advance(self, site: Site) -> None:
        """Writes code that sets the first rate of the next step: that of the last kick, if no drift follows it."""
        loop, nv = site.loop, site.plant.nv
        if self.parts[-1][0] != "implicit":
            loop.let(site.fresh, lambda: 1.0)
            return
        loop.copy(site.own["first"], site.own["last"])
        if nv:
            loop.copy(site.own["first"].part(0, nv), site.s.part(nv, nv))

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the cubic through both ends of the step with the rates there."""
        site.cubic()

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.order, taken, out)


@lru_cache(maxsize=16)
def account_rate(plant: Plant) -> Program:
    """The program of the rates of a plant's account of energy, shape (2,), from the inputs of `plant.rate`.

    Shape (0,) for a plant without an account.
    """
    size = 2 if SUPPLIED in [column.name for column in plant.x] else 0
    rate, first = plant.rate, plant.ns - size
    return Program(f"{plant.name}.account", rate.inputs, (Port("out", (size,)),), rate.graph, rate.refs[first:])


def leaps(*shares: float) -> tuple[tuple[Kind, float], ...]:
    """The parts of a method that does kick-drift-kick once for each of the `shares`, fractions of the step."""
    return tuple(
        part for share in shares for part in (("kick", 0.5 * share), ("drift", share), ("implicit", 0.5 * share))
    )


OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))  # Yoshida's: 2 a + b = 1 and 2 a^3 + b^3 = 0

FAMILY = (
    Partitioned("semi_implicit_euler", 1, (("kick", 1.0), ("drift", 1.0))),
    Partitioned("leapfrog", 2, leaps(1.0)),
    Partitioned("yoshida4", 4, leaps(OUTER, 1.0 - 2.0 * OUTER, OUTER)),
)
