"""Explicit Runge-Kutta methods: a tableau, an error estimate, a dense output.

Stage j is at time t + c[j] h and state s + h sum_k a[j][k] K[k]; the step ends at s + h sum_k b[k] K[k]. After the
stages of the step come further ones that only the dense output needs; their slopes are computed when a state within the
step is needed. The dense output is a matrix P:  s(theta) = s + h sum_k K[k] sum_j P[k][j] theta^(j+1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators import dop853
from kinemorph.simulation.integrators.method import Shape, Site, usual_control
from kinemorph.simulation.integrators.tableau import BOGACKI_SHAMPINE, DORMAND_PRINCE, EULER, HEUN, RK4, Row, Tableau


@dataclass(frozen=True)
class ExplicitRungeKutta:
    """An explicit Runge-Kutta method. `more` are the rows (c, a) of further stages for the dense output `dense`, P."""

    name: str
    tableau: Tableau
    dense: tuple[Row, ...]
    more: tuple[tuple[float, Row], ...] = ()
    error_low: Row = ()  # a second error estimate of lower order, which corrects the first (Hairer's for 8(5,3))
    error_order: int = 0  # the order that the step size control assumes; 0 means that of the method

    @property
    def order(self) -> int:
        """The order of the error at a fixed time."""
        return self.tableau.order

    @property
    def adaptive(self) -> bool:
        """Whether the tableau has error weights, so that steps can be adaptive."""
        return bool(self.tableau.error)

    @property
    def degree(self) -> int:
        """The degree of the dense output."""
        return len(self.dense[0])

    @property
    def stages(self) -> int:
        """The number of slopes of a step, including those for the dense output."""
        return len(self.tableau.b) + len(self.more)

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: the first slope of the next step, and all slopes of the last step."""
        return {"first": (plant.ns,), "slopes": (self.stages, plant.ns)}

    def attempt(self, site: Site) -> None:
        """Writes code that computes all stages, the new state and its error."""
        loop, tableau = site.loop, self.tableau
        slopes = [site.own["slopes"][k] for k in range(self.stages)]
        with loop.if_(site.fresh):
            site.rate(site.own["first"], site.t, site.s)
            loop.let(site.fresh, lambda: 0.0)
        loop.copy(slopes[0], site.own["first"])
        for j in range(1, len(tableau.b)):
            self._stage(site, site.s, site.t, site.h, site.base, slopes, j, tableau.c[j], tableau.a[j])
        site.combine(site.new, site.s, site.h, slopes, tableau.b)
        if self.adaptive and not site.fixed:
            self._estimate(site, slopes)

    def _stage(
        self, site: Site, s: View, t: View, h: View, base: View, slopes: list[View], j: int, c: float, a: Row
    ) -> None:
        stage, moment = site.loop.scratch("stage", (site.plant.ns,)), site.loop.scratch("stage_time")
        site.combine(stage, s, h, slopes, a)
        site.loop.let(moment, lambda t, h: t + c * h, t, h)
        site.rate(slopes[j], moment, stage, base)

    def _estimate(self, site: Site, slopes: list[View]) -> None:
        loop = site.loop
        off = loop.scratch("off", (site.plant.ns,))
        site.combine(off, None, site.h, slopes, self.tableau.error)
        site.measure(site.error, off)
        if self.error_low:
            crude = loop.scratch("crude")
            site.combine(off, None, site.h, slopes, self.error_low)
            site.measure(crude, off)
            loop.let(
                site.error,
                lambda e, low: (e > 0.0).where(e * e / (e * e + 0.01 * low * low).sqrt(), 0.0 * e),
                *(site.error, crude),
            )

    def advance(self, site: Site) -> None:
        """Writes code that sets the first slope of the next step, if the last slope of this step is the same.

        The rate of the local coordinates in it becomes v, because each step has new ones, which are 0 at its start.
        """
        loop, nv = site.loop, site.plant.nv
        first = site.own["first"]
        if not self.tableau.first_same_as_last:
            loop.let(site.fresh, lambda: 1.0)
            return
        last = site.own["slopes"][len(self.tableau.b) - 1]
        loop.copy(first, last)
        if nv:
            loop.copy(first.part(0, nv), site.s.part(nv, nv))

    def prepare(self, site: Site) -> None:
        """Writes code that computes the further stages, then the coefficients of the dense output."""
        slopes = [site.own["slopes"][k] for k in range(self.stages)]
        for j, (c, a) in enumerate(self.more, start=len(self.tableau.b)):
            self._stage(site, site.s_old, site.t_old, site.h_old, site.base_old, slopes, j, c, a)
        for j in range(self.degree):
            site.combine(site.dense[j], None, site.h_old, slopes, [row[j] for row in self.dense])

    def control(self, site: Site, taken: View, out: View) -> None:
        usual_control(site, self.error_order or self.order, taken, out)


def with_cubic(name: str, tableau: Tableau) -> ExplicitRungeKutta:
    """A method whose dense output is the cubic through both ends of the step with the slopes there."""
    last = len(tableau.b) - 1
    more: tuple[tuple[float, Row], ...] = ()
    weights = list(tableau.b)
    if not tableau.first_same_as_last:
        last, more = last + 1, ((1.0, tableau.b),)
        weights.append(0.0)
    P = np.outer(weights, [0.0, 3.0, -2.0])
    P[0] += [1.0, -2.0, 1.0]
    P[last] += [0.0, -1.0, 1.0]
    return ExplicitRungeKutta(name, tableau, tuple(map(tuple, P.tolist())), more)


def _nested(stages: int, weights: Row, D: tuple[Row, ...]) -> tuple[Row, ...]:
    """The matrix P of Hairer's nested form: F0 theta + F1 theta (1 - theta) + F2 theta^2 (1 - theta) + ...

    F0 is the change over the step, F1 and F2 fit the slopes at its ends, the others are h times the rows of D.
    `weights` are those of the step.
    """
    change = np.array([*weights, *[0.0] * (stages - len(weights))])
    first, last = np.eye(stages)[0], np.eye(stages)[len(weights) - 1]
    factors = [change, first - change, 2.0 * change - last - first, *np.array(D)]
    P = np.zeros((stages, len(factors)))
    basis = np.poly1d([1.0, 0.0])
    for k, factor in enumerate(factors):
        coefficients = basis.coeffs[::-1][1:]  # of theta, theta^2, ...
        P[:, : len(coefficients)] += np.outer(factor, coefficients)
        basis = basis * np.poly1d([-1.0, 1.0] if k % 2 == 0 else [1.0, 0.0])
    return tuple(map(tuple, P.tolist()))


DORMAND_PRINCE_DENSE = (  # Shampine (1986), order 4
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)

FAMILY = (
    with_cubic("euler", EULER),
    with_cubic("heun", HEUN),
    with_cubic("rk4", RK4),
    with_cubic("bogacki_shampine", BOGACKI_SHAMPINE),
    ExplicitRungeKutta("dormand_prince", DORMAND_PRINCE, DORMAND_PRINCE_DENSE),
    ExplicitRungeKutta(
        "dop853",
        Tableau(dop853.A, dop853.B, dop853.C, 8, dop853.E5),
        _nested(16, dop853.B, dop853.D),
        dop853.MORE,
        dop853.E3,
    ),
)
