"""Linearly implicit steps for contact: stiff forces are linearized and evaluated at the end of the step.

    v+ = v + h a(forces at the end of the step),      q+ = q moved by h v+

So the step size follows the motion, and not the stiffness of contacts, gains and damping. `Plant.implicit_step` is one
such step: forward dynamics in which stiff forces act as inertias too, at the cost of little more than one rate.
`passes` is the number of linearizations, each about the result of the one before. The method is of order 1, and damps
motions that are too fast for the step: a foot that hits the ground stays there, where an explicit step would chatter.

Each step starts with the accelerations of the step before, which makes one pass nearly as good as two. The exceptions
are steps in which bodies meet that were about to part, or the reverse: the force of a contact has a kink there, and its
line, which is chosen before the solution is known, may be that of the wrong side. Bodies then sink into each other
without a force, and the contact returns energy that nothing has supplied. No choice of the line prevents this: one that
is 0 wherever bodies do not touch is 0 everywhere. So `Plant.implicit_step` tells where a contact lacks force,
and the step is repeated with a further pass, up to MOST_REPEATS times.

A centered step evaluates gains, and all forces that are not stiff, at its middle (see mechanics.steps.implicit_forces),
and contact alone at its end. Motion between contacts is then of order 2; with contact the order is still 1, with errors
several times smaller. The price is less damping: gains too stiff for the step oscillate from one step to the next until
they come to rest, and a foot that hits the ground first sinks in by its motion in half a step. Large steps through
impacts need 3 passes. At any number of passes, a hard contact makes energy in such a step: a mass m that comes in at v
is stopped by the work m v^2/2 of the contact, which then stores the energy of the depth h v/2, and that is more where
the stiffness is large enough.

An extrapolated step combines one whole step and two half steps to order 2; their difference is the error estimate for
the step size control (Deuflhard, Hairer & Zugck 1987; Hairer & Wanner, Solving ODEs II, IV.9). Where one of the three
needed a further pass, a contact began or ended, errors have no expansion in h, and the half steps are taken as they
are. The energy of 2 b - a may be larger than those of a and b, so that extrapolated steps may still make energy.
Where centered or extrapolated steps make more than a small share of what a run exchanges, `energy_check` says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import CHANGED, Shape, Site, usual_control

MOST_REPEATS = 4  # further passes of a step in which contacts make energy


@dataclass(frozen=True)
class LinearlyImplicit:
    """A linearly implicit method for contact, see the docstring of this file."""

    name: str
    passes: int
    extrapolated: bool = False
    centered: bool = False

    @property
    def order(self) -> int:
        """The order of the error at a fixed time, where forces are smooth."""
        return 2 if self.extrapolated else 1

    @property
    def adaptive(self) -> bool:
        """Whether the method estimates its error, by comparison with a second result."""
        return self.extrapolated

    @property
    def degree(self) -> int:
        """The degree of the dense output: 1, a straight line, as rates at the ends of a stiff step mean little."""
        return 1

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: accelerations guessed at the start of a step, and those found in it."""
        _ = plant.implicit_law  # refuses a plant without one
        return {"guess": (plant.nv,), "found": (plant.nv,)}

    def attempt(self, site: Site) -> None:
        """Writes the code of one step; for an extrapolated method, of one whole step and two half steps."""
        loop, nv = site.loop, site.plant.nv
        jumped = loop.scratch("jumped")
        loop.let(jumped, lambda fresh: fresh > CHANGED, site.fresh)  # new memory does not change the motion
        with loop.if_(jumped), loop.repeat(nv) as i:
            loop.let(site.own["guess"][i], lambda: 0.0)
        if self.extrapolated:
            self._extrapolated(site)
        else:
            self._step(site, site.new, site.own["found"], site.t, site.base, site.s, site.h, site.own["guess"])

    def _extrapolated(self, site: Site) -> None:
        """Writes code for new = 2 (result of two half steps) - (result of a whole step), about the base of the step.

        Where one of these steps had to be repeated because of a contact, `new` is the result of the half steps.
        """
        loop, plant = site.loop, site.plant
        nv, ns = plant.nv, plant.ns
        both, rates = loop.scratch("whole_and_half", (2, ns)), loop.scratch("whole_and_half_a", (2, nv))
        span, moment = loop.scratch("half_span"), loop.scratch("half_time")
        start, after = loop.scratch("half_start", (ns,)), loop.scratch("half_after", (ns,))
        middle = loop.scratch("half_base", (plant.nq,))
        whole, half = both[0], both[1]
        kinked = loop.scratch("kinked")
        loop.let(kinked, lambda: 0.0)
        self._step(site, both, rates, site.t, site.base, site.s, site.h, site.own["guess"], (1.0, 0.5))
        loop.let(span, lambda h: 0.5 * h, site.h)
        loop.let(moment, lambda t, h: t + h, site.t, span)
        loop.call(plant.place, [middle], [site.base, half])
        loop.copy(start, half)
        with loop.repeat(nv) as i:
            loop.let(start[i], lambda: 0.0)
        self._step(site, after, site.own["found"], moment, middle, start, span, rates[1])
        # the second half continues from the end of the first, steadily at its new velocity
        loop.copy(start.part(nv, ns - nv), after.part(nv, ns - nv))
        loop.copy(start.part(0, nv), half.part(0, nv))
        loop.call(plant.drift, [after.part(0, nv)], [start, span])
        with loop.repeat(ns) as i:
            loop.let(whole[i], lambda one, two: two - one, whole[i], after[i])
            loop.let(
                site.new[i],
                lambda two, off, kinked: two + (kinked > 0.0).where(0.0, off),
                *(after[i], whole[i], kinked),
            )
        if not site.fixed:
            site.measure(site.error, whole)

    def _step(
        self,
        site: Site,
        out: View,
        found: View,
        t: View,
        base: View,
        s: View,
        h: View,
        guess: View,
        shares: tuple[float, ...] = (1.0,),
    ) -> None:
        """Writes a call of `Plant.implicit_step` from the state s = [0, v, x] about `base` at the time t, over h [s].

        `shares` are fractions of h, each taken as a separate step from the same state: row k of `out` is the state
        after the time shares[k] h, row k of `found` are the accelerations of that step. `guess` are the accelerations
        with which the first one starts.
        """
        plant, n, loop = site.plant, len(shares), site.loop
        rows = [View(view.array, (n, size), view.offset) for view, size in ((out, plant.ns), (found, plant.nv))]
        program = plant.implicit_step(self.passes, shares, centered=self.centered)
        if not plant.laws.missing:
            loop.call(program, rows, [t, base, s, h, guess, site.m, site.u, site.p])
            return
        missing, better = loop.scratch(f"missing_{n}", (n,)), loop.scratch("better_guess", (plant.nv,))
        left, kinked = loop.scratch("repeats_left"), loop.scratch("kinked")
        loop.copy(better, guess)
        loop.let(left, lambda: 1.0 + MOST_REPEATS)
        with loop.while_(left):  # each time a further pass, as long as contacts make energy
            loop.call(program, [*rows, missing], [t, base, s, h, better, site.m, site.u, site.p])
            loop.copy(better, rows[1][0])
            for k in range(n):
                loop.let(missing[0], lambda most, one: most.maximum(one), missing[0], missing[k])
            loop.let(left, lambda most, left: (most > 0.0).where(left - 1.0, 0.0), missing[0], left)
            if self.extrapolated:
                loop.let(kinked, lambda most, old: (most > 0.0).where(1.0, old), missing[0], kinked)

    def advance(self, site: Site) -> None:
        """Writes code that sets the accelerations that the next step starts with."""
        site.loop.copy(site.own["guess"], site.own["found"])

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the straight line between both ends of the step."""
        with site.loop.repeat(site.plant.ns) as i:
            site.loop.let(site.dense[0, i], lambda new, old: new - old, site.new[i], site.s_old[i])

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.order, taken, out)


FAMILY = (
    LinearlyImplicit("implicit_contact", 1),
    LinearlyImplicit("implicit_contact_2", 2),
    LinearlyImplicit("implicit_contact_3", 3),
    LinearlyImplicit("centered_contact", 1, centered=True),
    LinearlyImplicit("centered_contact_2", 2, centered=True),
    LinearlyImplicit("centered_contact_3", 3, centered=True),
    LinearlyImplicit("extrapolated_contact", 1, extrapolated=True),
)
