"""The law of state feedback, with its observer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.algebra.tables import Kind, lookup, through
from kinemorph.algebra.vectors import dot, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import count_problems
from kinemorph.mechanics.elements.control.controllers import ChannelLaw
from kinemorph.mechanics.elements.control.sample_hold import held_count, let_in, let_out, sampling_problems
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, Slot, register
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.model.elements.control.state_feedback import StateFeedback
from kinemorph.model.parameter import parameters_of
from kinemorph.model.robot import Robot
from kinemorph.words import counted, did_you_mean


class StateFeedbackLaw(ChannelLaw):
    """u = u0 - K s, with the state itself or with the estimate of an observer."""

    def is_steady(self, element: Any) -> bool:
        return not element.times

    # ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def problems(self, element: Any, robot: Robot) -> list[str]:
        if not element.drives:
            problem = "it drives nothing; expected names of joints, actuators or motors"
            return [wrong(element.name, problem, "Give `drives`.", "drives")]
        found = self._observer_problems(element) if element.observer else []
        n = len(element.observer.estimates) if element.observer else 2 * robot.nv + len(element.states)
        times, targets = max(1, len(element.times)), len(element.drives)
        sizes = {"gains": (times * targets, n), "inputs": (times, targets)}
        if not element.observer:
            sizes |= {"q": (times, robot.nq), "v": (times, robot.nv)}
            sizes |= {"x": (times, len(element.states))} if element.states else {}
        found += [one for name, size in sizes.items() for one in _size(element, element, name, *size)]
        varied = parameters_of((element.times, element.gains, element.q, element.v, element.x, element.inputs))
        if element.times and varied:
            problem = f"its rows over time contain the parameter '{varied[0].name}'; expected plain numbers"
            found.append(wrong(element.name, problem, "Write its value.", "times"))
        elif any(b <= a for a, b in zip(element.times, element.times[1:], strict=False)) or len(element.times) == 1:
            problem = f"times has {counted(len(element.times), 'time')} that do not increase; expected two or more"
            found.append(wrong(element.name, problem, "Sort the rows by time.", "times"))
        return found or count_problems(element, "lower", "upper") or sampling_problems(element)

    def _observer_problems(self, element: Any) -> list[str]:
        observer, found = element.observer, []
        assert observer is not None
        for name in ("q", "v", "states", "x", "times"):
            if getattr(element, name):
                problem = f"it has {name} and an observer; expected one of both, because the observer gives the state"
                found.append(wrong(element.name, problem, f"Leave {name} out.", name))
        if element.delay:
            problem = f"delay is {element.delay:g} s, of which its observer knows nothing; expected 0 s"
            found.append(
                wrong(element.name, problem, "Leave delay out, or put it into the model as an element.", "delay")
            )
        n, nu, ny = len(observer.estimates), len(element.drives), len(observer.reads)
        sizes = {"A": (n, n), "B": (n, nu), "L": (n, ny), "C": (ny, n), "D": (ny, nu)}
        found += [one for name, size in sizes.items() for one in _size(element, observer, name, *size)]
        if len(observer.measured) != ny:
            problem = f"measured has {counted(len(observer.measured), 'number')}; expected {ny}, one for each of reads"
            found.append(wrong(element.name, problem, "Give the value of each signal at the point.", "observer"))
        return found

    def problems_among(self, element: Any, ensemble: Ensemble) -> list[str]:
        known = [slot.name for slot in ensemble.states]
        return [
            wrong(
                element.name,
                f"states contains '{name}', and no element has such a state",
                f"{did_you_mean(name, known)} Known: {', '.join(known) or 'none'}.".strip(),
                "states",
            )
            for name in element.states
            if name not in known
        ]

    # ── the law ───────────────────────────────────────────────────────────────────────────────────────────────────

    def reads(self, element: Any) -> tuple[str, ...]:
        return tuple(element.observer.reads) if element.observer else ()

    def outputs(self, element: Any, view: ElementView) -> list[S]:
        count = len(element.drives)
        rows = [
            self._path(element, view, element.gains[k::count], "linear") if element.times else view.value(row)
            for k, row in enumerate(element.gains[:count])
        ]
        s, inputs = self._deviation(element, view), self._path(element, view, element.inputs, "monotone")
        return [u - dot(row, s) for u, row in zip(inputs, rows, strict=True)]

    def _deviation(self, element: Any, view: ElementView) -> Sequence[S]:
        """The deviation s of the state, or its estimate."""
        if element.observer:
            return view.m[held_count(element, len(element.drives)) :] if element.every else view.x
        instant, robot = view.instant, view.robot
        base, moving, others = (self._path(element, view, rows, "cubic") for rows in (element.q, element.v, element.x))
        w: list[S] = [0.0] * robot.nv
        for link in instant.motions.tree.links:
            row = ELEMENTARY[link.kind]
            if row.nv and link.v < robot.nv:
                part = slice(link.q, link.q + row.nq)
                w[link.v : link.v + row.nv] = CHARTS[link.kind].local(base[part], instant.q[part])
        names = [slot.name for slot in instant.ensemble.states]
        away = [instant.x[names.index(name)] - there for name, there in zip(element.states, others, strict=True)]
        return [*w, *sub(list(instant.v[: robot.nv]), moving), *away]

    def _path(self, element: Any, view: ElementView, rows: Sequence[Any], kind: Kind) -> list[S]:
        """One row of numbers, or the curves at this time through rows that change over time."""
        if not element.times or not rows:
            return list(view.value(rows[0])) if rows else []
        columns, times = zip(*rows, strict=True), element.times
        return [
            column[0] if len(set(column)) == 1 else lookup(through(times, column, kind=kind, outside="hold"), view.t)
            for column in columns
        ]

    # ── the observer ──────────────────────────────────────────────────────────────────────────────────────────────

    def _estimates(self, element: Any, *, sampled: bool) -> tuple[Slot, ...]:
        if element.observer is None or sampled != bool(element.every):
            return ()
        units = [f"q.{name[2:]}" if name.startswith("w.") else name for name in element.observer.estimates]
        return tuple(map(Slot, element.observer.estimates, units))

    def states(self, element: Any) -> tuple[Slot, ...]:
        return self._estimates(element, sampled=False)

    def memory(self, element: Any) -> tuple[Slot, ...]:
        return (*super().memory(element), *self._estimates(element, sampled=True))

    def effort(self, element: Any, view: ElementView) -> Effort:
        if element.observer is None or element.every:
            return Effort()
        u = self._converted(element, view)
        return Effort(rates=self._corrected(element, view, u, u))

    def sample(self, element: Any, view: ElementView, clock: int) -> Sequence[S]:
        held = held_count(element, len(element.drives))
        if clock == 1:
            return [*let_out(view.m[:held], len(element.drives)), *view.m[held:]]
        u = self._converted(element, view)
        acting = view.m[: len(element.drives)]  # made the outputs that are read now
        estimates = self._corrected(element, view, u, acting) if element.observer else []
        return [*let_in(view.m[:held], u), *estimates]

    def _corrected(self, element: Any, view: ElementView, u: Sequence[S], acting: Sequence[S]) -> list[S]:
        """The rate of the estimate, or that at the next sample; outputs are u from now on, `acting` until now."""
        observer, s = element.observer, self._deviation(element, view)
        assert observer is not None
        A, B, L, C, D = (view.value(getattr(observer, name)) for name in "ABLCD")
        du, now = (sub(one, view.value(element.inputs[0])) for one in (u, acting))
        y = [view.signal(name) - y0 for name, y0 in zip(observer.reads, view.value(observer.measured), strict=True)]
        wrong_by = [one - dot(c, s) - dot(d, now) for one, c, d in zip(y, C, D, strict=True)]
        return [dot(a, s) + dot(b, du) + dot(l, wrong_by) for a, b, l in zip(A, B, L, strict=True)]


def _size(element: Any, part: Any, name: str, rows: int, columns: int) -> list[str]:
    """A problem where a matrix of the element, or of its observer, has another size; else none."""
    given = getattr(part, name)
    if len(given) == rows and all(len(row) == columns for row in given):
        return []
    found = f"{counted(len(given), 'row')} of {'/'.join(map(str, sorted({len(row) for row in given}))) or 'no'} numbers"
    problem = f"{name} has {found}; expected {counted(rows, 'row')} of {counted(columns, 'number')}"
    return [wrong(element.name, problem, "Give all of them, as `Regulator.element` does.", name)]


register(StateFeedback, StateFeedbackLaw())
