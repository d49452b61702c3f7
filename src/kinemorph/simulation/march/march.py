"""The march: the loop program that carries a plant from sample to sample, written once for all methods.

    for each sample time:
        while it is not reached:
            take a step of the method; accept it or try a smaller one
            move the local coordinates to where it ended
            bring it back onto the constraints, where there are some
            look whether a guard has changed its sign; then find where, and let the state jump, or stop there
            let memory change: after the step, and at the ticks of clocks, beyond which no step goes
        read the sample off the last step's dense output

All of this is compiled; it returns to Python when the samples are done, an event has happened, or something is wrong.
One array, the memory, holds all data between calls; `layout` defines the place of each part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.asked_inputs import all_inputs, loop_builder
from kinemorph.simulation.integrators.method import Method, Site, snap_reach
from kinemorph.simulation.march.constraints import Constraints
from kinemorph.simulation.march.crossings import Watching
from kinemorph.simulation.march.jumps import Jumps
from kinemorph.simulation.march.layout import HUGE, LOG_LENGTH, Guards, Status, layout, log_width
from kinemorph.simulation.march.memory import Clocks, Memory

# the arrays of a march's memory that methods may read and write
REMEMBERED = (
    *("t", "base", "s", "t_old", "h_old", "base_old", "s_old", "new"),
    *("again", "error_old", "fresh", "dense", "m", "m_next"),
)


def march(
    plant: Plant,
    method: Method,
    *,
    samples: int = 256,
    guards: Guards | None = None,
    fixed: bool = False,
    calls_c: bool = False,
) -> LoopProgram:
    """The loop program that marches a plant by a method through up to `samples` sample times.

    Inputs      memory; times (samples,), ascending, of which the first `count` () are wanted; `stop` (), a time that no
                step goes beyond; `limits` (6,): rtol, atol, smallest step, largest step, most steps to try, most
                jumps; u, p
    Outputs     memory_end; rows (samples, nq + nv + nx + nm): [q, v, x, m] at each time; done (), how many were
                reached; status (), a Status; fired (guards,), 1 for each guard that has changed its sign; where jumps
                are compiled, log (`log_length`, `log_width`), a row for each, and logged (), how many there are

    With `fixed`, all steps have the size h in the memory, except for steps that end at `stop`. With `calls_c`, the
    march itself calls controllers that are functions in C, by foreign calls; else it returns where they sample.
    """
    plan = layout(plant, method, guards)
    n_row = plant.nq + plant.nv + plant.nx + len(plant.m)
    loop = loop_builder(
        plant,
        f"march of {plant.name} by {method.name}",
        {
            "memory": (plan.size,),
            "times": (samples,),
            "count": (),
            "stop": (),
            "limits": (6,),
            "u": (plant.given,),
            "p": plant.ports["p"],
        },
        {
            "memory_end": (plan.size,),
            "rows": (samples, n_row),
            "done": (),
            "status": (),
            **({"fired": (guards.count,)} if guards else {}),
            **({"log": (guards.log_length, log_width(plant)), "logged": ()} if guards and guards.compiled else {}),
        },
    )
    _March(loop, plant, method, guards, fixed=fixed, calls_c=calls_c).write()
    return loop.program()


@cache
def finiteness(n: int) -> Program:
    """A program that returns 1 where n numbers are all finite, else 0, by the sum of their magnitudes.

    The sums of both halves are added, each computed in the same manner, so that the CPU can do several additions at the
    same time.
    """

    def total(xs: Sequence[Any]) -> Any:
        half = len(xs) // 2
        return total(xs[:half]) + total(xs[half:]) if half else abs(xs[0])

    return trace(
        lambda s: {"out": total(list(s)) < HUGE if n else 1.0}, {"s": (n,)}, name=f"finite_{n}", outputs={"out": ()}
    )


def first_of(*cases: tuple[Any, Any], otherwise: Any) -> Any:
    """The value of the first pair (condition, value) in `cases` whose condition is not 0, or the value `otherwise`."""
    for condition, value in reversed(cases):
        otherwise = condition.where(value, otherwise)
    return otherwise


def site_of(
    loop: LoopBuilder, plant: Plant, method: Method, at: Mapping[str, View], step: View, *, fixed: bool = False
) -> Site:
    """The site of steps of the size `step` [s] in a loop program with the inputs `limits`, u and p.

    `at` are views of the arrays in the memory of a march, by name.
    """
    return Site(
        loop=loop,
        plant=plant,
        h=step,
        error=loop.buffer("error"),
        failed=loop.buffer("failed"),
        u=all_inputs(loop),
        p=loop["p"],
        rtol=loop["limits"][0],
        atol=loop["limits"][1],
        own={name: at[f"own_{name}"] for name in method.memory(plant)},
        fixed=fixed,
        **{name: at[name] for name in REMEMBERED},
    )


class _March:
    """Writes the code of the march into a loop program, part by part."""

    def __init__(
        self, loop: LoopBuilder, plant: Plant, method: Method, guards: Guards | None, *, fixed: bool, calls_c: bool
    ) -> None:
        self.loop, self.plant, self.method, self.guards, self.fixed = loop, plant, method, guards, fixed
        plan, limits = layout(plant, method, guards), loop["limits"]
        self.smallest, self.largest, self.most = (limits[k] for k in range(2, 5))  # jumps: see `Jumps`
        self.at = at = {name: plan.view(loop["memory_end"], name) for name in plan.shapes}
        self.status, self.tries = loop["status"], loop.buffer("tries")
        self.going, self.step, self.good, self.cut = (loop.buffer(name) for name in ("going", "step", "good", "cut"))
        self.next = loop.buffer("next")
        self.clocks = Clocks(loop, plant, at, to_samples=plant.flatness is not None and not fixed)
        self.theta, self.between = loop.buffer("theta"), loop.buffer("between", (plant.ns,))
        self.site = site = site_of(loop, plant, method, at, self.step, fixed=fixed)
        self.constraints = Constraints(site, at, self.status)
        settling = plant.settling(located=guards is not None and guards.located)
        self.memory = Memory(site, at, self.status, self.clocks, settling, calls_c=calls_c)
        self.watching = Watching(site, at, guards, self._interpolate, self.between) if guards else None
        self.jumps = None
        if guards and guards.compiled and self.watching:
            self.jumps = Jumps(site, at, guards, self.status, self.constraints, self.watching.values)

    def write(self) -> None:
        """Writes the code of the whole march: the steps up to each sample time, and the samples."""
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
        if self.jumps:
            loop.let(loop["logged"], lambda: 0.0)
            with loop.repeat(loop["log"].shape[0]) as k, loop.repeat(loop["log"].shape[1]) as i:
                loop.let(loop["log"][k, i], lambda: 0.0)
        with loop.repeat(loop["count"]) as k:
            target = loop["times"][k]
            self.look(target)
            with loop.while_(self.going):
                self.take_step()
                self.look(target)
            reached = loop.buffer("reached")
            # a sample at the very time of a tick shows the memory after it
            loop.let(
                reached,
                lambda t, target, status: (t >= target) * (1.0 - (t <= target) * status.equals(float(Status.TICK))),
                *(at["t"], target, self.status),
            )
            with loop.if_(reached):
                self.sample(target, loop["rows"][k])
                loop.let(loop["done"], lambda n: n + 1.0, loop["done"])

    def look(self, target: View) -> None:
        """Writes code for `going`: 1 if another step toward the time `target` has to be tried, else 0.

        Where the memory says so (`ending`), no step is tried that the end of the run would cut short.
        """
        loop, at = self.loop, self.at
        bound = self.clocks.find_bound(target)
        # a step that would end near its bound ends there
        reach = 1.0 + 1e-9 if self.fixed else snap_reach(self.method)
        loop.let(
            self.cut,
            lambda t, h, largest, bound: t + h.minimum(largest) * reach >= bound,
            *(at["t"], at["h"], self.largest, bound),
        )
        loop.let(
            self.going,
            lambda t, target, status: (t < target) * (1.0 - (status > 0.0)),
            *(at["t"], target, self.status),
        )
        early = loop.scratch("early")  # whether it is the end of the run that cuts a step, and not a tick, too
        loop.copy(early, at["ending"])
        if self.plant.ticks:
            with loop.repeat(len(self.plant.ticks)) as i:
                ticking = (early, self.clocks.next[i], loop["stop"])
                loop.let(early, lambda early, tick, stop: early * (tick > stop), *ticking)
        loop.let(
            self.status,
            lambda status, going, cut, ending, bound, stop: (going * cut * ending * (bound >= stop)).where(
                float(Status.CUT), status
            ),
            *(self.status, self.going, self.cut, early, bound, loop["stop"]),
        )
        loop.let(self.going, lambda going, status: going * (status <= 0.0), self.going, self.status)

    # ── one step ──────────────────────────────────────────────────────────────────────────────────────────────────

    def take_step(self) -> None:
        """Writes code that tries one step: choose the step size, attempt the step, accept or
        reject it.
        """
        loop, at, site = self.loop, self.at, self.site
        self.constraints.choose_dependent(self.memory.remember)
        loop.copy(at["m"], at["m_next"])
        loop.let(
            self.step,
            lambda cut, t, h, largest, stop: cut.where(stop - t, h.minimum(largest)),
            *(self.cut, at["t"], at["h"], self.largest, self.clocks.bound),
        )
        loop.let(site.failed, lambda: 0.0)
        loop.let(site.error, lambda: 0.0)
        self.method.attempt(site)
        self.constraints.correct_new()
        loop.let(self.tries, lambda n: n + 1.0, self.tries)
        self._judge()
        with loop.if_(self.good):
            self._accept()
            self.constraints.find_flat(self.between)
            if self.watching:
                self.watching.write(self._happen, self._note)
            self.memory.change()
        with loop.otherwise():
            loop.let(at["rejected"], lambda n: n + 1.0, at["rejected"])
        loop.let(
            self.status,
            lambda status, tries, most: first_of(
                (status > 0.0, status), (tries < most, 0.0), otherwise=float(Status.BUDGET)
            ),
            *(self.status, self.tries, self.most),
        )
        if self.jumps:
            loop.let(
                self.status,
                lambda status, n: ((status <= 0.0) * (n >= LOG_LENGTH)).where(float(Status.LOGGED), status),
                *(self.status, loop["logged"]),
            )

    def _judge(self) -> None:
        """Writes code that accepts or rejects the step, sets the next step size, and the status if no step succeeds."""
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
                lambda status, good, failed: first_of(
                    (good, status), (failed > 0.0, float(Status.UNSOLVED)), otherwise=float(Status.INFINITE)
                ),
                *(self.status, self.good, site.failed),
            )
            return
        self.method.control(site, self.step, self.next)
        loop.let(at["again"], lambda good: 1.0 - good, self.good)
        loop.let(  # the error of a step cut short says nothing about the planned size
            at["error_old"],
            lambda good, cut, e, old: (good * (1.0 - cut)).where(e, old),
            *(self.good, self.cut, site.error, at["error_old"]),
        )
        # a step that was cut short says nothing against the planned size; after a step without a result, a quarter
        loop.let(
            at["h"],
            lambda good, cut, planned, next, finite, failed, step: (finite * (failed <= 0.0)).where(
                (good * cut).where(planned.maximum(next), next), 0.25 * step
            ),
            *(self.good, self.cut, at["h"], self.next, finite, site.failed, self.step),
        )
        loop.let(
            self.status,
            lambda status, good, failed, finite, t, h, smallest: first_of(
                (good, status),
                ((h > smallest) * (t + 0.01 * h > t), 0.0),
                (failed > 0.0, float(Status.UNSOLVED)),
                (finite, float(Status.STUCK)),
                otherwise=float(Status.INFINITE),
            ),
            *(self.status, self.good, site.failed, finite, at["t"], at["h"], self.smallest),
        )

    def _accept(self) -> None:
        """Writes code that moves to the end of an accepted step, where new local coordinates start."""
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

    def _move_time(self) -> None:
        """Writes code for the new time: t + h by compensated summation, or the bound if the step ends there."""
        loop, at = self.loop, self.at
        low, wanted = at["t_low"], loop.buffer("wanted")
        loop.let(wanted, lambda h, low: h - low, self.step, low)
        loop.let(
            at["t"], lambda cut, stop, t, h: cut.where(stop, t + h), *(self.cut, self.clocks.bound, at["t_old"], wanted)
        )
        loop.let(
            low, lambda cut, new, old, h: cut.where(0.0, (new - old) - h), *(self.cut, at["t"], at["t_old"], wanted)
        )

    def _stand_at(self, s: View) -> None:
        """Writes code that makes s = [w, v, x], with w about `base_old`, the present state.

        `base` becomes its configuration, so that the present w is 0.
        """
        loop, at, nv, ns = self.loop, self.at, self.plant.nv, self.plant.ns
        loop.call(self.plant.place, [at["base"]], [at["base_old"], s])
        if nv:
            with loop.repeat(nv) as i:
                loop.let(at["s"][i], lambda: 0.0)
        with loop.repeat(nv, ns) as i:
            loop.let(at["s"][i], lambda x: x, s[i])

    # ── between the ends of a step ────────────────────────────────────────────────────────────────────────────────

    def _interpolate(self, moment: View) -> None:
        """Writes code for `between`: the state s = [w, v, x], with w about `base_old`, at a time in the last step."""
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
        """Writes code for `row`, the sample [q, v, x, m] at the time `target`, which is within the last step."""
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
                self.constraints.correct(target, at["base_old"], self.between)
            loop.call(plant.place, [row.part(0, nq)], [at["base_old"], self.between])
            loop.copy(row.part(nq, ns - nv), self.between.part(nv, ns - nv))
            loop.copy(row.part(nq + ns - nv, len(plant.m)), at["m"])

    def _note(self, moment: View) -> None:
        """Writes code that records the events at `moment` [s] within the step, of guards that change nothing."""
        assert self.jumps is not None
        if self.plant.holding is not None:
            self.constraints.correct(moment, self.at["base_old"], self.between)
        self.jumps.note(moment, self.between)

    def _happen(self, moment: View) -> None:
        """Writes code that returns to an event at `moment` [s] within the step; the state jumps, or the march stops.

        The state s = [w, v, x] at the event is in the array `between`.
        """
        loop, at = self.loop, self.at
        loop.copy(at["t"], moment)
        loop.let(at["t_low"], lambda: 0.0)
        loop.let(at["fresh"], lambda: 1.0)
        if self.plant.holding is not None:
            self.constraints.correct(moment, at["base_old"], self.between)
        self._stand_at(self.between)
        if self.jumps:
            self.jumps.write()
        else:
            loop.let(self.status, lambda: float(Status.EVENT))
