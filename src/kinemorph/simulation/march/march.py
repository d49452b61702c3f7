"""The march: the loop program that carries a plant from sample to sample, written once for all methods.

    for each sample time:
        while it is not reached:
            take a step of the method; accept it or try a smaller one
            move the local coordinates to where it ended
            bring it back onto the constraints, where there are some
            look whether a guard has changed its sign; then find where, and stop there
            let memory change: after the step, and at the ticks of clocks, beyond which no step goes
        read the sample off the last step's dense output

All of it is compiled; Python is back when the samples are done, an event has happened, or something is wrong. What has
to live on between calls is one array, the memory; `layout` says what stands where.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.codegen.loops.pivoting import chosen_columns
from kinemorph.plants.instants import FAR
from kinemorph.plants.loop_methods import DEGRADED, LOST, names_independent
from kinemorph.plants.plant import Plant
from kinemorph.simulation.integrators.method import CHANGED, Method, Site, snap_reach
from kinemorph.simulation.march.crossings import Watching
from kinemorph.simulation.march.layout import Guards, Layout, Status, layout

HUGE = 1e300  # a number beyond it counts as infinite
HELD, WELL_HELD = 10.0, 0.01  # times their tolerance: constraints are kept; so well that the last change was rounding
LOOKS = 8  # at one step, for singular configurations
MOST_CORRECTIONS, FEW_CORRECTIONS = 8.0, 3.0  # of one state; of one that is held, to hold it well


def march(
    plant: Plant, method: Method, *, samples: int = 256, guards: Guards | None = None, fixed: bool = False
) -> LoopProgram:
    """The loop program of a march.

    Inputs      memory; times (samples,), ascending, of which the first `count` () are wanted; `stop` (), a time that no
                step goes beyond; `limits` (5,): rtol, atol, smallest step, largest step, most steps to try; u, p
    Outputs     memory_end; rows (samples, nq + nv + nx + nm): [q, v, x, m] at each time; done (), how many were
                reached; status (), a Status; fired (guards,), 1 for each guard that has changed its sign

    `fixed`: all steps have the size in the memory, but for those that end at `stop`.
    """
    plan = layout(plant, method, guards)
    n_row = plant.nq + plant.nv + plant.nx + len(plant.m)
    loop = LoopBuilder(
        f"march of {plant.name} by {method.name}",
        {
            "memory": (plan.size,),
            "times": (samples,),
            "count": (),
            "stop": (),
            "limits": (5,),
            **{name: plant.ports[name] for name in ("u", "p")},
        },
        {
            "memory_end": (plan.size,),
            "rows": (samples, n_row),
            "done": (),
            "status": (),
            **({"fired": (guards.count,)} if guards else {}),
        },
    )
    _March(loop, plan, plant, method, guards, fixed).write()
    return loop.program()


@cache
def finiteness(n: int) -> Program:
    """1 where n numbers are all finite, as their sum of magnitudes then is; else 0. Added up as halves of halves: in a
    row, each would wait for the one before.
    """

    def total(xs: Sequence[Any]) -> Any:
        half = len(xs) // 2
        return total(xs[:half]) + total(xs[half:]) if half else abs(xs[0])

    return trace(
        lambda s: {"out": total(list(s)) <= HUGE if n else 1.0}, {"s": (n,)}, name=f"finite_{n}", outputs={"out": ()}
    )


MOST_GUARDED = 4  # marches with guards of one plant that are kept
_BUILT: WeakKeyDictionary[Plant, dict[tuple[Any, ...], tuple[CompiledFunction, Any]]] = WeakKeyDictionary()


def compiled_march(
    plant: Plant, method: Method, *, samples: int, guards: Guards | None = None, fixed: bool = False
) -> CompiledFunction:
    """The march as machine code. It is made once for each plant, so that further runs begin at once; of those with
    guards the last few are kept.
    """
    built = _BUILT.setdefault(plant, {})
    key = (id(method), samples, fixed) if guards is None else (id(method), samples, fixed, id(guards.program))
    if key not in built:
        made = build(march(plant, method, samples=samples, guards=guards, fixed=fixed))
        built[key] = made, (method, guards)  # kept, so that their ids stay
        guarded = [known for known in built if len(known) == 4]
        for old in guarded[:-MOST_GUARDED]:
            del built[old]
    return built[key][0]


class _March:
    """Writes the march, part by part."""

    def __init__(
        self, loop: LoopBuilder, plan: Layout, plant: Plant, method: Method, guards: Guards | None, fixed: bool
    ) -> None:
        self.loop, self.plan, self.plant = loop, plan, plant
        self.method, self.guards, self.fixed = method, guards, fixed
        limits = loop["limits"]
        self.rtol, self.atol, self.smallest, self.largest, self.most = (limits[k] for k in range(5))
        self.at = {name: plan.view(loop["memory_end"], name) for name in plan.shapes}
        self.status, self.tries = loop["status"], loop.buffer("tries")
        self.going, self.step, self.good, self.cut = (loop.buffer(name) for name in ("going", "step", "good", "cut"))
        self.next = loop.buffer("next")
        self.to_samples = plant.flatness is not None and not fixed  # whether steps end at samples
        self.bound = loop.buffer("bound") if plant.ticks or self.to_samples else loop["stop"]
        if plant.ticks:
            self.ticking = loop.buffer("ticking", (len(plant.ticks),))  # when each clock ticks next
            grids = zip(*(tick.instants for tick in plant.ticks), strict=True)
            self.rows_of_ticks = [loop.constant(f"tick_{k}", numbers) for k, numbers in enumerate(grids)]
        located = guards is not None and bool(plant.guards)
        self.settling = plant.settling(located=located)
        self.theta, self.between = loop.buffer("theta"), loop.buffer("between", (plant.ns,))
        at = self.at
        self.site = Site(
            loop,
            plant,
            at["t"],
            self.step,
            at["base"],
            at["s"],
            at["t_old"],
            at["h_old"],
            at["base_old"],
            at["s_old"],
            at["new"],
            loop.buffer("error"),
            loop.buffer("failed"),
            at["again"],
            at["error_old"],
            at["fresh"],
            at["dense"],
            at["m"],
            loop["u"],
            loop["p"],
            self.rtol,
            self.atol,
            {name: at[f"own_{name}"] for name in method.memory(plant)},
            fixed,
        )

    def write(self) -> None:
        """The table of contents."""
        loop, at = self.loop, self.at
        loop.copy(loop["memory_end"], loop["memory"])
        for name in ("done", "status"):
            loop.let(loop[name], lambda: 0.0)
        loop.let(self.tries, lambda: 0.0)
        with loop.repeat(loop["rows"].shape[0]) as k, loop.repeat(loop["rows"].shape[1]) as i:
            loop.let(loop["rows"][k, i], lambda: 0.0)
        if self.guards:
            with loop.repeat(self.guards.count) as i:
                loop.let(loop["fired"][i], lambda: 0.0)
        with loop.repeat(loop["count"]) as k:
            target = loop["times"][k]
            self.look(target)
            with loop.while_(self.going):
                self.take_step(target)
                self.look(target)
            reached = loop.buffer("reached")
            # what is sampled at the very time of a tick is to be seen after it
            loop.let(
                reached,
                lambda t, target, status: (t >= target) * (1.0 - (t <= target) * status.equals(float(Status.TICK))),
                *(at["t"], target, self.status),
            )
            with loop.if_(reached):
                self.sample(target, loop["rows"][k])
                loop.let(loop["done"], lambda n: n + 1.0, loop["done"])

    def look(self, target: View) -> None:
        """Whether another step is to be tried."""
        self.loop.let(
            self.going,
            lambda t, target, status: (t < target) * (1.0 - (status > 0.0)),
            self.at["t"],
            target,
            self.status,
        )

    # ── one step ──────────────────────────────────────────────────────────────────────────────────────────────────

    def take_step(self, target: View) -> None:
        """One try toward a sample time: choose h, attempt, accept or reject."""
        loop, at, site = self.loop, self.at, self.site
        stop = self._find_bound(target)
        self._choose_dependent()
        loop.copy(at["m"], at["m_next"])
        # a step that would end near `stop` ends there
        reach = 1.0 + 1e-9 if self.fixed else snap_reach(self.method)
        loop.let(
            self.cut,
            lambda t, h, largest, stop: t + h.minimum(largest) * reach >= stop,
            *(at["t"], at["h"], self.largest, stop),
        )
        loop.let(
            self.step,
            lambda cut, t, h, largest, stop: cut.where(stop - t, h.minimum(largest)),
            *(self.cut, at["t"], at["h"], self.largest, stop),
        )
        loop.let(site.failed, lambda: 0.0)
        loop.let(site.error, lambda: 0.0)
        self.method.attempt(site)
        self._hold_new()
        loop.let(self.tries, lambda n: n + 1.0, self.tries)
        self._judge()
        with loop.if_(self.good):
            self._accept()
            self._find_flat()
            if self.guards:
                Watching(loop, at, self.guards, self._interpolate, self.between).write(self._happen)
            self._change_memory()
        with loop.otherwise():
            loop.let(at["rejected"], lambda n: n + 1.0, at["rejected"])
        loop.let(
            self.status,
            lambda status, tries, most: (status > 0.0).where(status, (tries < most).where(0.0, float(Status.BUDGET))),
            *(self.status, self.tries, self.most),
        )

    def _choose_dependent(self) -> None:
        """Where some velocities are to follow from the others: which; anew where those of the last step hardly do.

        Where the user has named them the march stops.
        """
        loop, at, plant = self.loop, self.at, self.plant
        if plant.dependence is None:
            return
        nc, nv = len(plant.constraint_names), plant.nv
        J, margin = loop.buffer("row_slopes", (nc, nv)), loop.buffer("margin")
        chosen, new = loop.buffer("chosen", (nv,)), loop.buffer("new_choice", (len(plant.m),))
        loop.call(plant.dependence, [J, margin], [at["t"], at["base"], at["s"], at["m_next"], loop["u"], loop["p"]])
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
            self._remember(new)

    def _hold_new(self) -> None:
        """Brings the end of a step onto the constraints; one that cannot be brought there is no result."""
        loop, site = self.loop, self.site
        if self.plant.holding is None:
            return
        worth, moment = loop.buffer("worth"), loop.buffer("moment_new")
        loop.let(
            worth,
            lambda e, failed: (1.0 if self.fixed else e <= 1.0) * (failed <= 0.0),
            *(site.error, site.failed),
        )
        loop.let(moment, lambda t, h: t + h, self.at["t"], self.step)
        with loop.if_(worth):
            left = self._hold(moment, self.at["base"], site.new)
            loop.let(site.failed, lambda failed, left: (left <= HELD).where(failed, 1.0), site.failed, left)

    def _hold(self, moment: View, base: View, s: View) -> View:
        """Brings s, about a base, onto the constraints; gives the error before the last correction."""
        loop, at, plant = self.loop, self.at, self.plant
        assert plant.holding is not None
        left, count, on = (loop.scratch(name) for name in ("off_before", "corrections", "hold_on"))
        better = loop.scratch("better", (plant.ns,))
        loop.let(left, lambda: HUGE)
        loop.let(count, lambda: 0.0)
        loop.let(on, lambda: 1.0)
        with loop.while_(on):
            loop.call(plant.holding, [better, left], [moment, base, s, at["m"], loop["u"], loop["p"]])
            loop.copy(s, better)
            loop.let(count, lambda n: n + 1.0, count)
            loop.let(
                on,
                lambda left, n: (left > WELL_HELD) * (n < (left > HELD).where(MOST_CORRECTIONS, FEW_CORRECTIONS)),
                *(left, count),
            )
        return left

    def _judge(self) -> None:
        """Whether the step is good; the size of the next one; what is wrong where there can be none."""
        loop, at, site = self.loop, self.at, self.site
        finite = loop.buffer("finite")
        loop.call(finiteness(self.plant.ns), [finite], [site.new])
        loop.let(
            self.good,
            lambda e, failed, finite: (1.0 if self.fixed else e <= 1.0) * (failed <= 0.0) * finite,
            *(site.error, site.failed, finite),
        )
        if self.fixed:
            loop.let(
                self.status,
                lambda status, good, failed: good.where(
                    status, (failed > 0.0).where(float(Status.UNSOLVED), float(Status.INFINITE))
                ),
                *(self.status, self.good, site.failed),
            )
            return
        self.method.control(site, self.step, self.next)
        loop.let(at["again"], lambda good: 1.0 - good, self.good)
        loop.let(  # a step cut short has less error than the size asks for, and tells nothing
            at["error_old"],
            lambda good, cut, e, old: (good * (1.0 - cut)).where(e, old),
            *(self.good, self.cut, site.error, at["error_old"]),
        )
        # a step cut short says nothing against the one that was planned; where there is no result, a quarter
        loop.let(
            at["h"],
            lambda good, cut, planned, next, finite, failed, step: (finite * (failed <= 0.0)).where(
                (good * cut).where(planned.maximum(next), next), 0.25 * step
            ),
            *(self.good, self.cut, at["h"], self.next, finite, site.failed, self.step),
        )
        loop.let(
            self.status,
            lambda status, good, failed, finite, t, h, smallest: good.where(
                status,
                ((h > smallest) * (t + 0.01 * h > t)).where(
                    0.0,
                    (failed > 0.0).where(
                        float(Status.UNSOLVED), finite.where(float(Status.STUCK), float(Status.INFINITE))
                    ),
                ),
            ),
            *(self.status, self.good, site.failed, finite, at["t"], at["h"], self.smallest),
        )

    def _accept(self) -> None:
        """Stand where the step has ended, with new local coordinates."""
        loop, at, site = self.loop, self.at, self.site
        for now, before in (("t", "t_old"), ("base", "base_old"), ("s", "s_old")):
            loop.copy(at[before], at[now])
        loop.copy(at["h_old"], self.step)
        loop.let(at["prepared"], lambda: 0.0)
        self._move_time()
        self._stand_at(site.new)
        loop.let(at["fresh"], lambda: 0.0)
        self.method.advance(site)
        loop.let(at["accepted"], lambda n: n + 1.0, at["accepted"])

    def _find_flat(self) -> None:
        """Where a fast motion closes loops: whether the step has come by a singular configuration, where the march
        stops. Looks at points of the chord, which is near enough; at both ends no step might see it.
        """
        loop, at, plant = self.loop, self.at, self.plant
        if plant.flatness is None:
            return
        flat, part = loop.buffer("flat"), loop.buffer("part")
        for k in range(1, LOOKS + 1):
            loop.let(part, partial(float, k / LOOKS))
            with loop.repeat(plant.ns) as i:
                loop.let(self.between[i], lambda a, b, c: a + c * (b - a), at["s_old"][i], self.site.new[i], part)
            loop.call(plant.flatness, [flat], [at["t"], at["base_old"], self.between, at["m"], loop["u"], loop["p"]])
            loop.let(
                self.status,
                lambda status, flat: ((status <= 0.0) * (flat > 0.0)).where(float(Status.LOST), status),
                *(self.status, flat),
            )

    def _move_time(self) -> None:
        """t + h without losing what is rounded off, or `stop` itself."""
        loop, at = self.loop, self.at
        low, wanted = at["t_low"], loop.buffer("wanted")
        loop.let(wanted, lambda h, low: h - low, self.step, low)
        loop.let(at["t"], lambda cut, stop, t, h: cut.where(stop, t + h), *(self.cut, self.bound, at["t_old"], wanted))
        loop.let(
            low, lambda cut, new, old, h: cut.where(0.0, (new - old) - h), *(self.cut, at["t"], at["t_old"], wanted)
        )

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _find_bound(self, target: View) -> View:
        """The time that no step goes beyond: `stop`, or the next tick of a clock.

        Or the next sample, where loops are closed by a fast motion: at the end of a step it is as exact as tolerances
        ask, but steps are as long as its stability allows, and interpolants in between are far off.
        """
        loop, plant = self.loop, self.plant
        if self.to_samples:
            loop.let(self.bound, lambda stop, t: stop.minimum(t), loop["stop"], target)
        elif plant.ticks:
            loop.copy(self.bound, loop["stop"])
        if plant.ticks:
            with loop.repeat(len(plant.ticks)) as i:
                # as plants.instants writes it; parts is an array, so that a division stays one
                loop.let(
                    self.ticking[i],
                    lambda k, first, step, parts: (first + (k * step).minimum(FAR)) / parts,
                    *(self.at["clock"][i], *(row[i] for row in self.rows_of_ticks)),
                )
                loop.let(self.bound, lambda b, t: b.minimum(t), self.bound, self.ticking[i])
        return self.bound

    def _change_memory(self) -> None:
        """What elements remember of the step just taken, and what they sample at the time it has led to."""
        loop, at, plant = self.loop, self.at, self.plant
        due, whole = loop.buffer("due"), loop.buffer("whole")
        nv, nx = plant.nv, plant.nx
        ins = [at["t"], at["base"], at["s"], at["m_next"], loop["u"], loop["p"]]
        new, x = loop.buffer("new_memory", (len(plant.m),)), loop.buffer("new_extra", (nx,))
        if self.settling:
            loop.let(due, lambda status: status <= 0.0, self.status)
            with loop.if_(due):
                loop.call(self.settling, [new, x], ins)
                self._remember(new)
                if nx:
                    loop.copy(at["s"].part(2 * nv, nx), x)
        for i, tick in enumerate(plant.ticks):
            loop.let(
                due,
                lambda t, at, status: (t >= at) * (status <= 0.0),
                *(at["t"], self.ticking[i], self.status),
            )
            with loop.if_(due):
                if tick.compiled:
                    loop.call(plant.sampling(tick.stages[0].samplers), [new], ins)
                    loop.let(whole, lambda: 1.0)
                    with loop.repeat(len(plant.m)) as j:
                        loop.let(whole, lambda whole, x: whole * (abs(x) <= HUGE), whole, new[j])
                    with loop.if_(whole):
                        self._remember(new)
                        loop.let(at["clock"][i], lambda k: k + 1.0, at["clock"][i])
                    with loop.otherwise():  # Python says what is wrong
                        loop.let(self.status, lambda: float(Status.TICK))
                else:
                    loop.let(self.status, lambda: float(Status.TICK))

    def _remember(self, new: View) -> None:
        """New memory; where it differs, no rate carried over from the last step is used."""
        loop, at = self.loop, self.at
        with loop.repeat(len(self.plant.m)) as i:
            loop.let(
                at["fresh"],
                lambda fresh, old, new: (old.equals(new)).where(fresh, fresh.maximum(CHANGED)),
                *(at["fresh"], at["m_next"][i], new[i]),
            )
        loop.copy(at["m_next"], new)

    def _stand_at(self, s: View) -> None:
        """Moves `base` to the configuration that s, about the old base, means."""
        loop, at, nv, ns = self.loop, self.at, self.plant.nv, self.plant.ns
        loop.call(self.plant.place, [at["base"]], [at["base_old"], s])
        if nv:
            with loop.repeat(nv) as i:
                loop.let(at["s"][i], lambda: 0.0)
        with loop.repeat(nv, ns) as i:
            loop.let(at["s"][i], lambda x: x, s[i])

    # ── between the ends of a step ────────────────────────────────────────────────────────────────────────────────

    def _interpolate(self, moment: View) -> None:
        """Writes `between`: s at a time within the last step, about the old base."""
        loop, at = self.loop, self.at
        unready = loop.scratch("unready")
        loop.let(unready, lambda ready: 1.0 - ready, at["prepared"])
        with loop.if_(unready):
            self.method.prepare(self.site)
            loop.let(at["prepared"], lambda: 1.0)
        loop.let(self.theta, lambda t, t0, h: (t - t0) / h, moment, at["t_old"], at["h_old"])
        degree = self.method.degree

        def horner(theta: Any, start: Any, *coefficients: Any) -> Any:
            total = coefficients[-1]
            for c in reversed(coefficients[:-1]):
                total = total * theta + c
            return start + total * theta

        with loop.repeat(self.plant.ns) as i:
            loop.let(self.between[i], horner, self.theta, at["s_old"][i], *(at["dense"][j][i] for j in range(degree)))

    def sample(self, target: View, row: View) -> None:
        """Writes [q, v, x, m] at the target, which the last step has reached or passed."""
        loop, at, plant = self.loop, self.at, self.plant
        here = loop.buffer("here")
        loop.let(here, lambda t, target: t.equals(target), at["t"], target)
        nq, nv, ns = plant.nq, plant.nv, plant.ns
        with loop.if_(here):
            loop.copy(row.part(0, nq), at["base"])
            loop.copy(row.part(nq, ns - nv), at["s"].part(nv, ns - nv))
            loop.copy(row.part(nq + ns - nv, len(plant.m)), at["m_next"])
        with loop.otherwise():
            self._interpolate(target)
            if plant.holding is not None:
                self._hold(target, at["base_old"], self.between)
            loop.call(plant.place, [row.part(0, nq)], [at["base_old"], self.between])
            loop.copy(row.part(nq, ns - nv), self.between.part(nv, ns - nv))
            loop.copy(row.part(nq + ns - nv, len(plant.m)), at["m"])

    def _happen(self, moment: View) -> None:
        """Goes back to an event within the step, where s is `between`, and stops there."""
        loop, at = self.loop, self.at
        loop.copy(at["t"], moment)
        loop.let(at["t_low"], lambda: 0.0)
        loop.let(at["fresh"], lambda: 1.0)
        loop.let(self.status, lambda: float(Status.EVENT))
        if self.plant.holding is not None:
            self._hold(moment, at["base_old"], self.between)
        self._stand_at(self.between)
