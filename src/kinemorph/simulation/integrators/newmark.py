"""Newmark's methods for the residual r(t, s, z) = 0: they solve for z = [a, dx/dt] at the end of a step.

    eta = h v + h^2 ((1/2 - beta) b + beta b_new)       w = eta + W(eta) eta / 2
    v_new = v + h ((1 - gamma) b + gamma b_new)         x_new by the same formula from dx/dt
    (1 - alpha_m) b_new + alpha_m b = (1 - alpha_f) z_new + alpha_f z

b is z itself for Newmark's own methods (both alphas 0), and the auxiliary acceleration of Chung & Hulbert (1993) for
generalized alpha, on manifolds as in Bruls & Cardona (2010): w are local coordinates about the configuration at the
start, and the term in W (see `linear_steps`) carries velocities given in moving axes to second order.

Newton's matrix is exact:  R_z + gamma h R_vx + beta h^2 R_w dw/deta,  with gamma and beta times
(1 - alpha_f) / (1 - alpha_m). The rules of convergence, error and step size are those of EasyDyn (Verlinden et al.):
accelerations are accepted when they change by less than sqrt(atol rtol) / 100, the matrix is renewed when the step
changes and every 4th iteration, the error is h^2 / 12 times the change of accelerations over the step, steps are halved
and doubled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kinemorph.codegen.loops.elimination import substituted
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.linear_steps import (
    bending,
    bending_slope,
    call_residual_derivatives,
    chart_rate,
    factor_or_fail,
)
from kinemorph.simulation.integrators.method import Shape, Site
from kinemorph.simulation.integrators.newton_start import (
    ITERATIONS,
    correct,
    norm,
    residual_inputs,
    solve_start,
    tolerance,
)

RENEWAL = 4  # Newton iterations after which the matrix is computed again


@dataclass(frozen=True)
class Newmark:
    """A Newmark or generalized-alpha method, in the notation of this file's docstring."""

    name: str
    beta: float
    gamma: float
    alpha_m: float = 0.0
    alpha_f: float = 0.0

    order = 2
    adaptive = True
    degree = 3
    reach = 1.4  # a step that would end within 0.4 h of the end of an interval goes there

    @property
    def share(self) -> float:
        """The derivative (1 - alpha_f) / (1 - alpha_m) of b_new with respect to z_new; see this file's docstring."""
        return (1.0 - self.alpha_f) / (1.0 - self.alpha_m)

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: Newton's matrix, changes of dx/dt, and z and b at both ends of a step.

        z = [a, dx/dt] are the rates, b the auxiliary accelerations of generalized alpha; see this file's docstring.
        """
        n = plant.nv + plant.nx
        vectors = {name: (n,) for name in ("z", "b", "z_new", "b_new", "z_begun", "order")}
        return {**vectors, "LU": (n, n), "h_LU": (), "curve": (plant.nx,), "curved": ()}

    # ── a step ────────────────────────────────────────────────────────────────────────────────────────────────────

    def attempt(self, site: Site) -> None:
        """Writes code for Newton's iteration to the accelerations at the step's end, and for the error estimate."""
        loop, own = site.loop, site.own
        with loop.if_(site.fresh):
            self._begin(site)
        loop.copy(own["z_new"], own["z"])
        self._iterate(site)
        self._place(site)
        self._estimate(site)

    def _begin(self, site: Site) -> None:
        """Writes code that computes the accelerations at the start of a run, from the equations of motion."""
        loop, own, plant = site.loop, site.own, site.plant
        nv, n = plant.nv, plant.nv + plant.nx
        if plant.dynamics is None and nv:
            solve_start(site, own["z"])
        else:
            rate = loop.scratch("begin_rate", (plant.ns,))
            site.rate(rate, site.t, site.s)
            loop.copy(own["z"], rate.part(nv, n))
        loop.copy(own["b"], own["z"])
        for name in ("h_LU", "curved"):
            loop.let(own[name], lambda: 0.0)
        loop.let(site.fresh, lambda: 0.0)

    def _iterate(self, site: Site) -> None:
        loop, own, plant = site.loop, site.own, site.plant
        n = plant.nv + plant.nx
        going, passes, size, before, done, renew, moment = (
            loop.scratch(f"newton_{name}") for name in ("going", "passes", "size", "before", "done", "renew", "moment")
        )
        left, change = loop.scratch("newton_left", (n,)), loop.scratch("newton_change", (n,))
        loop.let(moment, lambda t, h: t + h, site.t, site.h)
        loop.let(going, lambda: 1.0)
        loop.let(passes, lambda: 0.0)
        loop.let(before, lambda: 1e300)
        loop.let(renew, lambda h, h_LU: 1.0 - h.equals(h_LU), site.h, own["h_LU"])
        with loop.while_(going):
            self._place(site)
            ins = residual_inputs(site, moment, site.new, own["z_new"])
            with loop.if_(renew):
                self._renew(site, left, ins)
            with loop.otherwise():
                loop.call(plant.residual, [left], ins)
            loop.call(substituted(n), [change], [own["LU"], own["order"], left])
            correct(loop, own["z_new"], change, size)
            loop.let(passes, lambda k: k + 1.0, passes)
            loop.let(renew, lambda k: (k / RENEWAL).floor().equals(k / RENEWAL), passes)
            # also where rounding prevents further progress: the velocities are then right to the tolerance
            loop.let(
                done,
                lambda size, before, rtol, atol, h, z: (size <= tolerance(rtol, atol)).where(
                    1.0, (size > 0.5 * before) * (h * size * (1.0 + norm(z)) <= atol)
                ),
                *(size, before, site.rtol, site.atol, site.h, own["z_new"]),
            )
            loop.copy(before, size)
            loop.let(
                going,
                lambda done, size, k, failed: (1.0 - done) * (size < 1e300) * (k < ITERATIONS) * (failed <= 0.0),
                *(done, size, passes, site.failed),
            )
        loop.let(site.failed, lambda failed, done: failed.maximum(1.0 - done), site.failed, done)
        with loop.if_(site.failed):
            loop.let(own["h_LU"], lambda: 0.0)

    def _place(self, site: Site) -> None:
        """Writes code for b_new and the state `new` = [w, v, x] at the step's end, from rates z_new = [a, dx/dt]."""
        loop, own, plant = site.loop, site.own, site.plant
        nv, nx = plant.nv, plant.nx
        b, b_new, s, new = own["b"], own["b_new"], site.s, site.new
        m, f, beta, gamma = self.alpha_m, self.alpha_f, self.beta, self.gamma
        with loop.repeat(nv + nx) as i:
            loop.let(
                b_new[i],
                lambda z, z_new, b: ((1.0 - f) * z_new + f * z - m * b) / (1.0 - m),
                *(own["z"][i], own["z_new"][i], b[i]),
            )
            loop.let(
                new[nv + i],
                lambda v, h, b, b_new: v + h * ((1.0 - gamma) * b + gamma * b_new),
                *(s[nv + i], site.h, b[i], b_new[i]),
            )
        with loop.repeat(nv) as i:
            loop.let(
                new[i],
                lambda v, h, b, b_new: h * v + h * h * ((0.5 - beta) * b + beta * b_new),
                *(s[nv + i], site.h, b[i], b_new[i]),
            )
        if bending_slope(plant).rows:
            eta, bend = loop.scratch("eta", (nv,)), loop.scratch("bend", (nv,))
            loop.copy(eta, new.part(0, nv))
            loop.call(bending(plant), [bend], [eta])
            with loop.repeat(nv) as i:
                loop.let(new[i], lambda a, b: a + b, eta[i], bend[i])

    def _renew(self, site: Site, left: View, ins: list[View]) -> None:
        """Writes code for the residual `left` and the factored Newton matrix at the state `new`."""
        loop, own, plant = site.loop, site.own, site.plant
        nv, n = plant.nv, plant.nv + plant.nx
        J, Rs, Rt = (
            loop.scratch(f"newton_{name}", shape)
            for name, shape in (("J", (n, n)), ("Rs", (n, plant.ns)), ("Rt", (n,)))
        )
        gamma, beta = self.gamma * self.share, self.beta * self.share
        call_residual_derivatives(loop, plant, [left, J, Rs, Rt], ins)
        with loop.repeat(n) as i, loop.repeat(n) as c:
            loop.let(J[i, c], lambda a, h, b: a + gamma * h * b, J[i, c], site.h, Rs[i, nv + c])
        if beta:
            with loop.repeat(n) as i, loop.repeat(nv) as c:
                loop.let(J[i, c], lambda a, h, b: a + beta * h * h * b, J[i, c], site.h, Rs[i, c])
            slope = bending_slope(plant)
            if slope.rows:
                values = loop.scratch("bend_slope", (len(slope.rows),))
                loop.call(slope.program, [values], [loop["eta"]])
                for row, column, e in slope.places:
                    with loop.repeat(n) as i:
                        loop.let(
                            J[i, column],
                            lambda a, h, b, d: a + beta * h * h * b * d,
                            *(J[i, column], site.h, Rs[i, row], values[e]),
                        )
        factor_or_fail(loop, J, own["LU"], own["order"], site.failed)
        loop.copy(own["h_LU"], site.h)

    # ── the error, the next step ──────────────────────────────────────────────────────────────────────────────────

    def _estimate(self, site: Site) -> None:
        """Writes code for the error: the root mean square of the errors of all coordinates over their tolerances.

        With the step size h, a coordinate has the error h^2 |a_new - a| / 12 and the tolerance max(atol, rtol max(|q|,
        h |v|, h^2 |a|)). The error of a state x is h^3 / 12 times its third derivative, from changes of dx/dt; its
        tolerance is max(atol, rtol |x|).
        """
        loop, own, plant = site.loop, site.own, site.plant
        nv, nx, n, error = plant.nv, plant.nx, plant.nv + plant.nx, site.error
        z, z_new, new = own["z"], own["z_new"], site.new
        q = loop.scratch("estimate_q", (plant.nq,))
        loop.let(error, lambda: 0.0)
        if nv:
            loop.call(plant.place, [q], [site.base, new])
            one = loop.scratch("estimate_one")
            loop.let(one, lambda: 1.0)
        for k, place in enumerate(coordinate_places(plant)):
            loop.let(
                error,
                lambda e, h, old, a, v, q, rtol, atol: (
                    e + (h * h * abs(a - old) / 12.0 / atol.maximum(rtol * _largest(q, h * v, h * h * a))) ** 2 / n
                ),
                *(error, site.h, z[k], z_new[k], new[nv + k], q[place] if place >= 0 else one, site.rtol, site.atol),
            )
        if nx:
            with loop.repeat(nx) as i:
                loop.let(
                    error,
                    lambda e, h, h_old, old, new, before, curved, x, rtol, atol: (
                        e + (_turn(h, h_old, old, new, before, curved) / atol.maximum(rtol * abs(x))) ** 2 / n
                    ),
                    *(error, site.h, site.h_old, z[nv + i], z_new[nv + i], own["curve"][i], own["curved"]),
                    *(new[2 * nv + i], site.rtol, site.atol),
                )
        loop.let(error, lambda e: e.sqrt(), error)

    def advance(self, site: Site) -> None:
        """Writes code that sets the accelerations at the start of the next step: those at the end of this one.

        They do not depend on the local coordinates, which change from step to step.
        """
        loop, own, plant = site.loop, site.own, site.plant
        nv = plant.nv
        for i in range(plant.nx):
            loop.let(
                own["curve"][i],
                lambda a, b, h: (b - a) / h,
                *(own["z"][nv + i], own["z_new"][nv + i], site.h_old),
            )
        loop.let(own["curved"], lambda: 1.0)
        loop.copy(own["z_begun"], own["z"])
        loop.copy(own["z"], own["z_new"])
        loop.copy(own["b"], own["b_new"])

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the cubic through both ends of the step with the rates there."""
        loop, own, plant = site.loop, site.own, site.plant
        nv, n = plant.nv, plant.nv + plant.nx
        first, last = loop.scratch("dense_first", (plant.ns,)), loop.scratch("dense_last", (plant.ns,))
        if nv:
            loop.copy(first.part(0, nv), site.s_old.part(nv, nv))
            ins = [site.t, site.base_old, site.new, site.m, site.u, site.p]
            loop.call(chart_rate(plant), [last.part(0, nv)], ins)
        loop.copy(first.part(nv, n), own["z_begun"])
        loop.copy(last.part(nv, n), own["z"])
        site.hermite(first, last)

    def control(self, site: Site, taken: View, out: View) -> None:
        """Writes code for the next step size `out`: `taken` halved for errors > 1, doubled for errors < 1/4.

        It is halved or doubled up to 20 times for larger or smaller errors.
        """
        site.loop.let(out, lambda h, e: h * 2.0 ** _doublings(e), taken, site.error)


def coordinate_places(plant: Plant) -> list[int]:
    """For each velocity, the index in q of the coordinate whose time derivative it is; -1 if there is none.

    Angular velocities of spherical and free joints are not derivatives of coordinates.
    """
    if plant.robot is None:
        return list(range(plant.nv))
    places: list[int] = []
    for joint in (joint for joint in plant.robot.joints if not joint.driven):
        q, v = plant.robot.q_slice(joint.name), plant.robot.v_slice(joint.name)
        count = v.stop - v.start
        flat = q.stop - q.start == count
        places += [q.start + k if flat or (count == 6 and k < 3) else -1 for k in range(count)]
    return places


def _largest(*values: Any) -> Any:
    found = abs(values[0])
    for value in values[1:]:
        found = found.maximum(abs(value))
    return found


def _turn(h: Any, h_old: Any, old: Any, new: Any, before: Any, curved: Any) -> Any:
    """h^3 / 12 times the third derivative of x, from changes of dx/dt over two steps; at the start, over one step.

    `old` and `new` are dx/dt at both ends of the step, `before` is the change of dx/dt per second over the step before
    it; `curved` is 0 where there is no such step.
    """
    return (curved > 0.0).where(h**3 / 6.0 * abs((new - old) / h - before) / (h + h_old), h * abs(new - old) / 12.0)


def _doublings(error: Any) -> Any:
    """The number of times to double the step size, or to halve it where the number is negative; at most 20."""
    half = error.maximum(1e-12).minimum(1e12).log() * (0.5 / math.log(2.0))  # log2 sqrt(error)
    return (error > 1.0).where((-half).floor(), (error < 0.25).where((-half).floor(), 0.0 * half))


def generalized_alpha(spectral_radius: float = 0.9) -> Newmark:
    """The generalized-alpha method of Chung & Hulbert (1993), of order 2.

    Each step multiplies the amplitude of motions that are too fast for the step by `spectral_radius`.
    """
    rho = spectral_radius
    m, f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + f - m
    return Newmark("generalized_alpha", 0.25 * (gamma + 0.5) ** 2, gamma, m, f)


FAMILY = (
    Newmark("newmark", 1 / 4, 1 / 2),
    Newmark("linear_acceleration", 1 / 6, 1 / 2),
    Newmark("central_difference", 0.0, 1 / 2),
    generalized_alpha(),
)
