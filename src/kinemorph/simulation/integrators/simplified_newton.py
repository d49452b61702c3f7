"""The stopping rule of a Newton iteration with one matrix for a whole step (Hairer & Wanner II, IV.8).

Changes are measured like errors of steps. Where changes shrink by the ratio q, the remaining error is q / (1 - q) times
the last change; it has to be below `enough`, a small fraction of the tolerance. Where they do not shrink, the step
fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from kinemorph.codegen.loops.loop_program import View
from kinemorph.simulation.integrators.method import Shape, Site

ITERATIONS = 10  # the most iterations
CAPPED, LIFTED = 0.6, 1.05  # after a failed step: the largest size as a share of its size, and the growth of this limit


class SimplifiedNewton:
    """Writes the code that decides when an iteration stops.

    Call `begin`, then in a loop while `going` is positive write one pass of the iteration and call `look`; after the
    loop call `finish`.
    """

    def __init__(self, site: Site) -> None:
        self.site, self.loop = site, site.loop
        self.going, self.passes, self.size, self.before, self.done = (
            self.loop.scratch(f"newton_{name}") for name in ("going", "passes", "size", "before", "done")
        )

    def begin(self) -> None:
        """Writes code for the start of the iteration. Changes are measured relative to the state before the step."""
        self.loop.copy(self.site.new, self.site.s)
        for out, value in ((self.going, 1.0), (self.passes, 0.0), (self.done, 0.0), (self.before, 1e300)):
            self.loop.let(out, lambda value=value: value)

    def look(self, changes: Sequence[View]) -> None:
        """Writes code that decides whether to stop, after a pass that changed each stage by one of `changes` (ns,)."""
        loop = self.loop
        parts = loop.scratch("newton_parts", (len(changes),))
        for k, change in enumerate(changes):
            self.site.measure(parts[k], change)
        loop.let(self.size, _root_mean_square, parts)
        loop.let(self.passes, lambda k: k + 1.0, self.passes)

        def close(size: Any, before: Any, rtol: Any) -> Any:
            enough = (10.0 * sys.float_info.epsilon / rtol).maximum(rtol.sqrt().minimum(0.03))
            ratio = size / before
            shrinking = (ratio < 1.0) * (before < 1e300) * (ratio * size < (1.0 - ratio) * enough)
            return (size <= 0.01 * enough).where(1.0, shrinking)

        loop.let(self.done, close, self.size, self.before, self.site.rtol)
        loop.let(
            self.going,
            lambda done, size, before, k: (1.0 - done) * (size < before) * (k < ITERATIONS),
            *(self.done, self.size, self.before, self.passes),
        )
        loop.copy(self.before, self.size)

    def finish(self) -> None:
        """Writes code for the iteration's end: if it has not converged, `failed` is set and later steps are limited."""
        site, cap = self.site, self.site.own["cap"]
        self.loop.let(site.failed, lambda failed, done: failed.maximum(1.0 - done), site.failed, self.done)
        self.loop.let(cap, lambda cap, h, done: (done > 0.0).where(cap, CAPPED * h), cap, site.h, self.done)

    @staticmethod
    def memory() -> dict[str, Shape]:
        """The array kept from step to step: the limit of the step size [s], 0 where there is none."""
        return {"cap": ()}

    @staticmethod
    def hold_back(site: Site, out: View) -> None:
        """Writes code that limits the next step size `out` after a failed iteration; the limit grows with each step."""
        cap = site.own["cap"]
        site.loop.let(out, lambda h, cap: (cap > 0.0).where(h.minimum(cap), h), out, cap)
        site.loop.let(cap, lambda cap: LIFTED * cap, cap)


def _root_mean_square(values: Any) -> Any:
    total: Any = sum(value * value for value in values)
    return (total / len(values)).sqrt()
