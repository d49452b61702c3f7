"""Keeping constraints, as part of the march: which velocities depend on the others, and corrections after a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kinemorph.codegen.loops.loop_program import View
from kinemorph.codegen.loops.pivoting import chosen_columns
from kinemorph.plants.loop_methods import DEGRADED, LOST, names_independent
from kinemorph.simulation.integrators.method import Site
from kinemorph.simulation.march.layout import HUGE, Status

KEPT, WELL_KEPT = 10.0, 0.01  # errors over tolerance: constraints are met; are met up to rounding
LOOKS = 8  # points along one step that are checked for singular configurations
DRIFT = 10.0  # times rtol: how far steps of other libraries may drift from constraints before they are corrected
MOST_CORRECTIONS, FEW_CORRECTIONS = 8.0, 3.0  # of a state, to meet constraints; to meet them up to rounding


class Constraints:
    """Writes code into the march that keeps a plant's constraints; none for a plant without constraints.

    `at` are views of the arrays in the march's memory, `status` is the view of its status.
    """

    def __init__(self, site: Site, at: Mapping[str, View], status: View) -> None:
        self.site, self.at, self.status = site, at, status
        self.loop, self.plant = site.loop, site.plant

    def choose_dependent(self, remember: Callable[[View], None]) -> None:
        """Writes code that chooses the dependent velocities, if the constraint method needs such a choice.

        They are chosen again where the present choice has become badly conditioned. Where the user has named the
        independent velocities, the march stops instead. `remember(m)` writes the code that stores new memory m; its
        last nv entries are the choice.
        """
        loop, at, plant = self.loop, self.at, self.plant
        if plant.dependence is None:
            return
        nc, nv = len(plant.constraint_names), plant.nv
        J, margin = loop.buffer("row_slopes", (nc, nv)), loop.buffer("margin")
        chosen, new = loop.buffer("chosen", (nv,)), loop.buffer("new_choice", (len(plant.m),))
        loop.call(plant.dependence, [J, margin], self.site.inputs(m=at["m_next"]))
        if names_independent(plant.loops) is not None:
            loop.let(
                self.status,
                lambda status, margin: (margin < LOST).where(float(Status.LOST), status),
                *(self.status, margin),
            )
            return
        loop.let(margin, lambda margin: margin < DEGRADED, margin)
        with loop.if_(margin):
            loop.call(chosen_columns(nc, nv), [chosen], [J])
            loop.copy(new, at["m_next"])
            loop.copy(new.part(len(plant.m) - nv, nv), chosen)
            remember(new)

    def correct_new(self) -> None:
        """Writes code that moves the end of a step onto the constraints; if that is not possible, the step fails."""
        loop, site = self.loop, self.site
        if self.plant.holding is None:
            return
        worth, moment = loop.buffer("worth"), loop.buffer("moment_new")
        loop.let(
            worth,
            lambda e, failed: (1.0 if site.fixed else e <= 1.0) * (failed <= 0.0),
            *(site.error, site.failed),
        )
        loop.let(moment, lambda t, h: t + h, site.t, site.h)
        with loop.if_(worth):
            left = self.correct(moment, site.base, site.new)
            loop.let(site.failed, lambda failed, left: (left <= KEPT).where(failed, 1.0), site.failed, left)

    def correct(self, moment: View, base: View, s: View, m: View | None = None) -> View:
        """Writes code that moves a state onto the constraints: s = [w, v, x], with w about `base`, at time `moment`.

        `m` is the memory, by default that of the step. Returns a view of the largest constraint error before the last
        correction, divided by its tolerance.
        """
        loop, plant = self.loop, self.plant
        assert plant.holding is not None
        left, count, on = (loop.scratch(name) for name in ("off_before", "corrections", "hold_on"))
        better = loop.scratch("better", (plant.ns,))
        loop.let(left, lambda: HUGE)
        loop.let(count, lambda: 0.0)
        loop.let(on, lambda: 1.0)
        with loop.while_(on):
            loop.call(plant.holding, [better, left], self.site.inputs(t=moment, base=base, s=s, m=m or self.site.m))
            loop.copy(s, better)
            loop.let(count, lambda n: n + 1.0, count)
            loop.let(
                on,
                lambda left, n: (left > WELL_KEPT) * (n < (left > KEPT).where(MOST_CORRECTIONS, FEW_CORRECTIONS)),
                *(left, count),
            )
        return left

    def find_flat(self, between: View) -> None:
        """Writes code that searches a step for singular configurations, at which the march stops with Status.LOST.

        It is needed where a fast motion closes the loops (singular perturbation). It checks points on the straight line
        between both ends of the step, since the ends alone would miss a singular configuration between them.
        """
        loop, site, plant = self.loop, self.site, self.plant
        if plant.flatness is None:
            return
        flat, part = loop.buffer("flat"), loop.buffer("part")
        for k in range(1, LOOKS + 1):
            loop.let(part, partial(float, k / LOOKS))
            with loop.repeat(plant.ns) as i:
                loop.let(between[i], lambda a, b, c: a + c * (b - a), site.s_old[i], site.new[i], part)
            loop.call(plant.flatness, [flat], site.inputs(base=site.base_old, s=between))
            loop.let(
                self.status,
                lambda status, flat: ((status <= 0.0) * (flat > 0.0)).where(float(Status.LOST), status),
                *(self.status, flat),
            )
