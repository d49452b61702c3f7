"""Linearly implicit steps for contact: stiff forces are linearized and evaluated at the end of the step.

    v+ = v + h a(forces at the end of the step),      q+ = q moved by h v+

in axes that do not turn during the step; the velocities of free bodies, which are in axes that do, come from there by
free flight (mechanics.steps.free_flight). So the step size follows the motion, and not the stiffness of contacts, gains
and damping. `Plant.implicit_step` is one such step: forward dynamics in which stiff forces act as inertias too, at the
cost of little more than one rate. `passes` is the number of linearizations, each about the result of the one before.
The method is of order 1, and damps motions that are too fast for the step: a foot that hits the ground stays there,
where an explicit step would chatter.

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
are. The energy of 2 b - a may be larger than those of a and b: kinetic energy T is quadratic in the velocities, and
T(2 b - a) = 2 T(b) - T(a) + 2 T(b - a), of which the last term comes from nothing. So while contacts press, and the
plant has an account of its energy, new = b + share (b - a) with the largest share in [0, 1] found for which

    E(new) <= max(E(start), E(b)),        E = kinetic + potential + stored energy - energy supplied by drives and inputs

As contacts never make energy in b, they do not in `new`. In smooth motion 1 - share is of the order of h, as E(b) is
below E(start) by the damping of order h^2 of implicit steps and E(new) exceeds E(start) by a truncation error of order
h^3 at most; so the order remains 2. E is computed only where it has to be: not where forces of contacts and losses are
nearly the same in all three steps, as the last term above is then far below these losses.

Where centered steps make more than a small share of what a run exchanges, `energy_check` says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import View
from kinemorph.mechanics.elements.forces.joint_forces import moved_inertias
from kinemorph.model.elements import Contact, HeightMap
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD
from kinemorph.plants.contacts.levers import levers
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import CHANGED, Shape, Site, usual_control

MOST_REPEATS = 4  # further passes of a step in which contacts make energy
MOST_CHORDS = 4.0  # attempts to find the share of the extrapolation that makes no energy; then it is 0
BELOW = 1.0 - 1e-9  # factor on such a share, so that rounding does not matter
STEADY = 1.05  # largest ratio of the contact forces of steps that count as alike
SHORT = 2e-3  # [s]: in longer steps
FARTHEST = 0.05  # [rad or m]: no coordinate moves farther, so that a body which turns does not pass the ground
PLACE = 0.1  # [rad or m]: while contacts press, errors of places count relative to at least this
SPEED = 0.3  # [rad/s or m/s]: the same for speeds
PRESSED = 1.0  # [rad/s or m/s]: the same for speeds of limbs of a free robot
CALM = 0.3  # times these numbers, at most SPEED, where no contact presses
USUAL_SIZE = 0.1  # [m], a radius of gyration: displacements of smaller robots count in proportion
ALIKE = 0.125  # of the energy lost in a step: the largest difference between whole and half steps that count as alike


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
        """The degree of the dense output: 1, a straight line, as rates at the ends of a stiff step mean little.

        That of an extrapolated step is 2: positions follow velocities that change evenly between both ends.
        """
        return 2 if self.extrapolated else 1

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

        Where one of these steps had to be repeated because of a contact, `new` is the result of the half steps. Where
        `new` would have energy that nothing supplied, it is between both; see the docstring of this file.
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
        loop.call(_robots(plant.chained), [after.part(0, nv)], [half, after.part(0, nv)])
        for result in (whole, after):  # results are combined in the axes of the base
            loop.call(_robots(plant.aligned), [result.part(nv, nv)], [result])
        share = loop.scratch("share")
        loop.let(share, lambda kinked: (kinked > 0.0).where(0.0, 1.0), kinked)
        with loop.repeat(ns) as i:
            loop.let(whole[i], lambda one, two: two - one, whole[i], after[i])
        _extrapolate(site, after, whole, share)
        if plant.laws.tells:
            _limit_energy(site, after, whole, share)
        if not site.fixed:
            site.measure(site.error, whole, _least_sizes(site))
            _limit_motion(site)

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
        alone = plant.implicit_step(self.passes, centered=self.centered)
        if not plant.laws.tells:
            program = plant.implicit_step(self.passes, shares, centered=self.centered)
            loop.call(program, rows, [t, base, s, h, guess, site.m, site.u, site.p])
            return
        missing, pressing = (loop.scratch(f"{what}_{n}", (n,)) for what in ("missing", "pressing"))
        better, left, span = loop.scratch("better_guess", (plant.nv,)), *map(loop.scratch, ("repeats_left", "span"))

        def take(k: int, first: View) -> None:
            """Writes a call of the step k alone, from first accelerations."""
            outs = [
                View(row.array, (1, size), row.offset) for row, size in ((rows[0][k], plant.ns), (rows[1][k], plant.nv))
            ]
            loop.let(span, lambda h: shares[k] * h, h)
            outs += [missing.part(k, 1), pressing.part(k, 1)]
            loop.call(alone, outs, [t, base, s, span, first, site.m, site.u, site.p])

        if alone.sums_rows:  # a long step, of which little is common to both: it is compiled once
            for k in range(n):
                take(k, guess if k == 0 else rows[1][k - 1])
        else:
            program = plant.implicit_step(self.passes, shares, centered=self.centered)
            loop.call(program, [*rows, missing, pressing], [t, base, s, h, guess, site.m, site.u, site.p])
        if self.extrapolated:
            kinked = loop.scratch("kinked")
            for k in range(n):
                loop.let(kinked, lambda lacks, old: (lacks > 0.0).where(1.0, old), missing[k], kinked)
        for k in range(n):
            loop.let(left, lambda lacks: (lacks > 0.0).where(1.0 * MOST_REPEATS, 0.0), missing[k])
            with loop.while_(left):  # each time a further pass, as long as contacts make energy
                loop.copy(better, rows[1][k])
                take(k, better)
                loop.let(left, lambda lacks, left: (lacks > 0.0).where(left - 1.0, 0.0), missing[k], left)

    def advance(self, site: Site) -> None:
        """Writes code that sets the accelerations that the next step starts with."""
        site.loop.copy(site.own["guess"], site.own["found"])

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the straight line between both ends of the step.

        The positions of an extrapolated step are bent by h (v_new - v_old) / 2 theta (theta - 1), which is exact for
        constant accelerations; these velocities are in the axes of the base.
        """
        loop, nv = site.loop, site.plant.nv
        with loop.repeat(site.plant.ns) as i:
            loop.let(site.dense[0, i], lambda new, old: new - old, site.new[i], site.s_old[i])
            if self.extrapolated:
                loop.let(site.dense[1, i], lambda: 0.0)
        if not self.extrapolated:
            return
        last = loop.scratch("velocity_aligned", (nv,))
        loop.call(_robots(site.plant.aligned), [last], [site.new])
        with loop.repeat(nv) as i:
            ends = (site.h_old, last[i], site.s_old[i + nv])
            loop.let(site.dense[1, i], lambda h, new, old: 0.5 * h * (new - old), *ends)
            loop.let(site.dense[0, i], lambda whole, bent: whole - bent, site.dense[0, i], site.dense[1, i])

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.order, taken, out)


def _extrapolate(site: Site, half: View, off: View, share: View) -> None:
    """Writes code for new = half + share off, with `off` the difference (ns,) between half steps and a whole step.

    The linear velocities of `half` and `off` are in the axes of the base.
    """
    nv = site.plant.nv
    with site.loop.repeat(site.plant.ns) as i:
        site.loop.let(site.new[i], lambda two, off, share: two + share * off, half[i], off[i], share)
    site.loop.call(_robots(site.plant.turned), [site.new.part(nv, nv)], [site.new])


def _robots(program: Program | None) -> Program:
    """A program that every robot has."""
    assert program is not None
    return program


def _least_sizes(site: Site) -> View:
    """Writes code for the displacements [rad or m] and speeds (2 nv,) to which errors of an extrapolated step count
    relative at least. They are coarser while contacts press; steps that do not tell whether they do count as pressed.
    """
    loop, plant, nv = site.loop, site.plant, site.plant.nv
    least, pressed = loop.scratch("least_sizes", (2 * nv,)), loop.scratch("pressed")
    tells = bool(plant.laws.tells)
    loop.let(pressed, lambda: 1.0 if plant.touches and not tells else 0.0)
    for force in _pressing(site) if tells else ():
        loop.let(pressed, lambda old, force: old.maximum(force), pressed, force)
    tables = zip(("pressed", "calm"), _sizes(plant), strict=True)
    coarse, fine = (loop.constant(f"least_{name}", values) for name, values in tables)
    with loop.repeat(2 * nv) as i:
        loop.let(least[i], lambda force, one, two: (force > 0.0).where(one, two), pressed, coarse[i], fine[i])
    return least


def _sizes(plant: Plant) -> tuple[list[float], list[float]]:
    """The sizes of `_least_sizes`, (2 nv,) each: while contacts press, and while none does."""
    places, speeds = [PLACE] * plant.nv, [SPEED] * plant.nv
    robot = plant.robot
    if robot is not None:
        if robot.is_free:
            for joint in robot.joints:
                if joint.parent != WORLD:
                    speeds[robot.v_slice(joint.name)] = [PRESSED] * joint.nv
        small = min(1.0, _size(robot) / USUAL_SIZE)
        for k, unit in enumerate(robot.v_units):
            if unit == "m/s":
                places[k] *= small
                speeds[k] *= math.sqrt(small)
    return [*places, *speeds], [CALM * x for x in (*places, *[min(x, SPEED) for x in speeds])]


def _size(robot: Robot) -> float:
    """The largest radius of gyration [m] of what a joint turns; USUAL_SIZE where none turns."""
    turned = [x for x, unit in zip(moved_inertias(robot), robot.v_units, strict=True) if unit == "rad/s"]
    return math.sqrt(max(turned) / robot.total_mass) if turned and robot.total_mass > 0.0 else USUAL_SIZE


def _limit_motion(site: Site) -> None:
    """Writes code that rejects a step which is longer than SHORT and moves a coordinate farther than FARTHEST, or a
    touching point farther than half the distance of the points of a map that is touched, so that it passes no hill.
    """
    loop, plant, nv = site.loop, site.plant, site.plant.nv

    def bounded(error: Any, moved: Any, h: Any, *, farthest: float) -> Any:
        return error.maximum((abs(moved) * (1.0 / farthest)).minimum(h * (1.0 / SHORT)) ** 3)

    with loop.repeat(nv) as i:
        loop.let(site.error, partial(bounded, farthest=FARTHEST), site.error, site.new[i], site.h)
    grounds = [one.ground for one in plant.elements if isinstance(one, Contact)]
    spacings = [x for one in grounds if isinstance(one, HeightMap) for x in one.spacing]
    if plant.robot is None or not spacings:
        return
    arms = levers(plant.robot, plant.elements)
    rows, way = loop.constant("levers", arms.ravel().tolist(), arms.shape), loop.scratch("way")
    with loop.repeat(len(arms)) as k:
        loop.let(way, lambda: 0.0)
        with loop.repeat(nv) as i:
            loop.let(way, lambda way, arm, moved: way + arm * abs(moved), way, rows[k, i], site.new[i])
        loop.let(site.error, partial(bounded, farthest=0.5 * min(spacings)), site.error, way, site.h)


def _limit_energy(site: Site, half: View, off: View, share: View) -> None:
    """Writes code that reduces `share`, and `new` with it, until E(new) <= max(E(start), E(half)).

    `half` (ns,) is the result of the half steps, `off` (ns,) their difference to the whole step; E is explained in the
    docstring of this file. Along `off`, E is convex apart from errors of the step: kinetic energy is quadratic, and
    contacts resist more the deeper they are. So E is within the bound at the share that the chord from `half` to `new`
    gives. Where it is not, the next chord is taken, and in the end the half steps alone.
    """
    loop, plant = site.loop, site.plant
    supplied, lost = plant.ns - 2, plant.ns - 1
    names = ("bound", "low", "high", "whole", "left", "end", "none")
    bound, low, high, whole, left, end, none = (loop.scratch(f"energy_{name}") for name in names)

    def energy(out: View, t: View, s: View) -> None:
        loop.call(plant.energy, [out], site.inputs(t=t, s=s))
        loop.let(out, lambda e, more: e - more, out, s[supplied])

    def take(share: View) -> None:
        """Writes code for `new` with this share of `off`, and for its energy `high`."""
        _extrapolate(site, half, off, share)
        energy(high, end, site.new)

    loop.let(left, _doubtful, share, *_pressing(site), site.s[lost], half[lost], off[lost])
    with loop.if_(left):
        loop.let(end, lambda t, h: t + h, site.t, site.h)
        energy(bound, site.t, site.s)
        energy(high, end, site.new)
        loop.let(left, lambda high, bound: (high > bound).where(MOST_CHORDS, 0.0), high, bound)
        with loop.if_(left):
            loop.let(none, lambda: 0.0)
            loop.copy(whole, high)
            take(none)
            loop.copy(low, high)
            loop.copy(high, whole)
            loop.let(bound, lambda bound, low: bound.maximum(low), bound, low)
        with loop.while_(left):
            loop.let(left, lambda left, high, bound: (high > bound).where(left - 1.0, 0.0), left, high, bound)
            loop.let(share, _chord, share, left, low, high, bound)
            take(share)


def _pressing(site: Site) -> tuple[View, View, View]:
    """The sums of all normal forces [N] of an extrapolated step: in the whole step and in both half steps."""
    both, second = site.loop.scratch("pressing_2", (2,)), site.loop.scratch("pressing_1", (1,))
    return both[0], both[1], second[0]


def _doubtful(share: Any, whole: Any, first: Any, second: Any, before: Any, half: Any, off: Any) -> Any:
    """1 where an extrapolated step may make energy, else 0.

    `whole`, `first` and `second` are the sums of all normal forces [N] in the whole step and in both half steps;
    `before` and `half` are the lost energy [J] at the start and after the half steps, `off` is its difference to that
    of the whole step.
    """
    most, least = whole.maximum(first).maximum(second), whole.minimum(first).minimum(second)
    alike = (most <= STEADY * least) * (abs(off) < ALIKE * (half - before))
    return (share > 0.0) * (most.maximum(-least) > 0.0) * (1.0 - alike)


def _chord(share: Any, left: Any, low: Any, high: Any, bound: Any) -> Any:
    """The share at which the chord from the energy `low` at 0 to `high` at `share` meets the bound; 0 at the last try.

    The share stays where the energy is within the bound.
    """
    over = high > bound
    smaller = (left > 0.0).where(BELOW * share * (bound - low) / over.where(high - low, 1.0), 0.0)
    return over.where(smaller, share)


FAMILY = (
    LinearlyImplicit("implicit_contact", 1),
    LinearlyImplicit("implicit_contact_2", 2),
    LinearlyImplicit("implicit_contact_3", 3),
    LinearlyImplicit("centered_contact", 1, centered=True),
    LinearlyImplicit("centered_contact_2", 2, centered=True),
    LinearlyImplicit("centered_contact_3", 3, centered=True),
    LinearlyImplicit("extrapolated_contact", 1, extrapolated=True),
)
