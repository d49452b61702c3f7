"""The interface of an integration method: it writes the code of one step into a march, in local coordinates.

A step goes from (t, base, s) with s = [0, v, x] to `new`, in the same coordinates, over the time `h`. The march around
it (see `march`) chooses h, accepts or rejects steps, moves to their ends, samples and finds events. A method has four
functions, each of which writes code into the loop program of the march:

    attempt    writes `new`; if the method is adaptive, `error`, the error over the tolerances, which is accepted up to
               1; and `failed`, above 0 where there is no `new` (a Newton iteration that does not converge)
    advance    writes the data for the next step, after a step is accepted and the march stands at the new base
    prepare    writes `dense`: coefficients C_j, shape (degree, ns), with  s(theta) = s_old + sum_j C_j theta^(j+1)
    control    writes the size of the next step
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant

Shape = tuple[int, ...]

SAFETY, SHRINK, GROW = 0.9, 1.0 / 3.0, 6.0  # step size control: safety factor, smallest and largest change of size
INTEGRAL, PROPORTIONAL = 0.7, 0.4  # step size control: exponents times the order
CHANGED = 0.5  # the value of `fresh` where memory or inputs have changed, and the motion continues as it was
LEAST_ERROR = 1e-4  # a smaller error of the last step counts as this


@dataclass(frozen=True)
class Site:
    """What a method gets to write the code of its step: the loop program of the march, and views of its arrays.

    In `attempt`, (t, base, s, h) are the start of the step. In `advance` and `prepare` they are the state reached; the
    step just taken is then (t_old, base_old, s_old, h_old), and `new` is its end in the coordinates about `base_old`.
    """

    loop: LoopBuilder
    plant: Plant
    t: View
    h: View
    base: View
    s: View
    t_old: View
    h_old: View
    base_old: View
    s_old: View
    new: View
    error: View
    failed: View
    again: View  # above 0 where the try before this one was rejected
    error_old: View  # the error of the last accepted step, 0 at the start
    fresh: View  # above 0 where no rate of the last step may be used: 1 at the start and after an event, else CHANGED
    dense: View
    m: View
    m_next: View  # the memory from the end of the step on
    u: View
    p: View
    rtol: View
    atol: View
    own: Mapping[str, View]  # the arrays of the method's own `memory`, by name
    fixed: bool = False  # whether all steps have one size, and `error` is not used

    def inputs(self, **others: View) -> list[View]:
        """Views of the inputs (t, base, s, m, u, p) of `Plant.rate` at the state of the march; see
        `plants.LocalInstant`.

        `others` are views that replace some of them, by name.
        """
        return [*LocalInstant(self.t, self.base, self.s, self.m, self.u, self.p)._replace(**others)]

    def rate(self, out: View, t: View, s: View, base: View | None = None) -> None:
        """Writes code for out = ds/dt, shape (ns,), at the time t and the state s = [w, v, x] about `base`.

        By default `base` is the configuration at the start of the march's present step.
        """
        self.loop.call(self.plant.rate, [out], self.inputs(t=t, base=base or self.base, s=s))

    def combine(self, out: View, start: View | None, h: View, slopes: Sequence[View], weights: Sequence[float]) -> None:
        """Writes code for out = start + h sum_k weights[k] slopes[k], entry by entry; a start of None counts as 0."""
        if not out.size:
            return
        used = [(weight, slope) for weight, slope in zip(weights, slopes, strict=False) if weight]

        def total(h: Any, *values: Any) -> Any:
            ks = values if start is None else values[1:]
            change = h * sum((weight * k for (weight, _), k in zip(used, ks, strict=True)), 0.0)
            return change if start is None else values[0] + change

        with self.loop.repeat(out.size) as i:
            at = [] if start is None else [start[i]]
            self.loop.let(out[i], total, h, *at, *(slope[i] for _, slope in used))

    def measure(self, out: View, off: View, least: View | None = None) -> None:
        """Writes code for `out`, the size of an error `off` (ns,) relative to the tolerances: up to 1 it is accepted.

        The size is the root mean square of the entries, each divided by its tolerance. For v and x the tolerance is
        atol + rtol max(|old|, |new|). For w, the change of the configuration over the step, it is
        atol + rtol max(1, |w|), so that it does not matter where the zero of a coordinate is. `least` (2 nv,) are
        sizes of w and v that count in place of smaller ones: by default 1 [rad or m] and 0.
        """
        n, nv = self.plant.ns, self.plant.nv
        self.loop.let(out, lambda: 0.0)
        for first, last, usual in ((0, nv, 1.0), (nv, 2 * nv, 0.0), (2 * nv, n, 0.0)):
            if first == last:
                continue
            with self.loop.repeat(first, last) as i:
                self.loop.let(
                    out,
                    lambda e, d, old, new, rtol, atol, least=usual: (
                        e + (d / (atol + rtol * abs(old).maximum(abs(new)).maximum(least))) ** 2 / n
                    ),
                    *(out, off[i], self.s[i], self.new[i], self.rtol, self.atol),
                    *(() if least is None or first == 2 * nv else (least[i],)),
                )
        self.loop.let(out, lambda e: e.sqrt(), out)

    def hermite(self, first: View, last: View) -> None:
        """Writes code for `dense`, the cubic through both ends of the step with the slopes `first` and `last` there."""
        with self.loop.repeat(self.plant.ns) as i:
            self.loop.let(self.dense[0, i], lambda h, a: h * a, self.h_old, first[i])
            self.loop.let(
                self.dense[1, i],
                lambda h, a, b, y0, y1: 3.0 * (y1 - y0) - h * (2.0 * a + b),
                *(self.h_old, first[i], last[i], self.s_old[i], self.new[i]),
            )
            self.loop.let(
                self.dense[2, i],
                lambda h, a, b, y0, y1: h * (a + b) - 2.0 * (y1 - y0),
                *(self.h_old, first[i], last[i], self.s_old[i], self.new[i]),
            )

    def cubic(self) -> None:
        """Writes code that computes the rates at both ends of the step, and `dense` as the cubic through both ends."""
        slopes = [self.loop.scratch(f"slope_{name}", (self.plant.ns,)) for name in ("first", "last")]
        moment = self.loop.scratch("moment_end")
        self.loop.let(moment, lambda t, h: t + h, self.t_old, self.h_old)
        self.rate(slopes[0], self.t_old, self.s_old, self.base_old)
        self.rate(slopes[1], moment, self.new, self.base_old)
        self.hermite(*slopes)


class Method(Protocol):
    """An integration method, a member of a family. All of its numbers are data; see the docstring of this file."""

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int: ...

    @property
    def adaptive(self) -> bool:
        """Whether the method estimates its error, so that it can choose the step size."""
        ...

    @property
    def degree(self) -> int:
        """The degree of the dense output in theta."""
        ...

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The names and shapes of the arrays that the method keeps from step to step."""
        ...

    def attempt(self, site: Site) -> None: ...

    def advance(self, site: Site) -> None: ...

    def prepare(self, site: Site) -> None: ...

    def control(self, site: Site, taken: View, out: View) -> None:
        """Writes code for `out`, the size of the next step [s], after an accepted or rejected step of `taken` [s]."""
        ...


def snap_reach(method: Method) -> float:
    """The factor by which a step may be stretched to end exactly at a bound, such as a sample time or a tick.

    A step of size h ends at a bound that is at most this factor times h ahead. It is the method's attribute `reach`, if
    it has one; else only rounding is allowed for.
    """
    return float(getattr(method, "reach", 1.0 + 1e-9))


def rough_power(base: Any, exponent: float) -> Any:
    """base^exponent by square roots alone; the exponent, between 0 and 1, is rounded to a multiple of 1/64.

    CPUs have a SIMD instruction for square roots and none for powers: the C library would compute these one by one,
    which would take as long as the rest of a step of a small system. The step size need not be exact.
    """
    count, root, product = max(1, round(64 * exponent)), base, 1.0
    for bit in (32, 16, 8, 4, 2, 1):
        root = root.sqrt()
        product = product * root if count & bit else product
    return product


def usual_control(site: Site, order: int, taken: View, out: View) -> None:
    """Writes code for the next step size from the last two errors: h error^(-0.7 / order) error_old^(0.4 / order).

    This is a proportional-integral controller (Gustafsson 1991; Hairer & Wanner, Solving ODEs II, IV.2), with a safety
    factor and limits. Compared with the plain h error^(-1 / order) it saves most of the rejections, and at equal error
    a sixth of the work with dop853, a tenth with dormand_prince. After a rejection the plain rule is used, and the next
    step does not grow.
    """

    def next_size(h: Any, e: Any, old: Any, again: Any) -> Any:
        now = e.maximum(1e-10)
        before = (old > 0.0).where(old.maximum(LEAST_ERROR), 1.0)
        smooth = rough_power(before, PROPORTIONAL / order) / rough_power(now, INTEGRAL / order)
        factor = SAFETY * (e <= 1.0).where(smooth, 1.0 / rough_power(now, 1.0 / order))
        largest = (again > 0.0).where(1.0, GROW)
        return h * (e <= 1e100).where(factor.minimum(largest).maximum(SHRINK), SHRINK)

    site.loop.let(out, next_size, taken, site.error, site.error_old, site.again)
