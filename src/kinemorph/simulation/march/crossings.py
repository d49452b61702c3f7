"""Looking for events along a step, as part of the march: the first time at which a guard changes its sign.

Guards are evaluated on the dense output, at the ends of some pieces of the step. Where a guard has crossed zero in the
direction that counts, bisection narrows down the time of the crossing to neighboring floating-point numbers.

A state at an event is known up to the tolerance of the constraints. After it, a guard that is just below zero and rises
counts as above zero, until it falls below its floor, which is where it began: so an event is found even if the guard
rises and falls again within one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View
from kinemorph.simulation.integrators.method import Site
from kinemorph.simulation.march.layout import PIECES, Guards


class Watching:
    """Writes the code of the search for events into the loop program of the march.

    `interpolate(moment)` has to write code that computes `between`: the state s = [w, v, x] at a time within the step,
    with local coordinates w about `base_old`, the configuration at the start of the step.
    """

    def __init__(
        self,
        site: Site,
        at: Mapping[str, View],
        guards: Guards,
        interpolate: Callable[[View], None],
        between: View,
    ) -> None:
        self.site, self.at, self.guards = site, at, guards
        self.loop = loop = site.loop
        self.interpolate, self.between = interpolate, between
        self.values = loop.buffer("guard_values", (guards.count,))
        self.which = loop.constant("directions", [float(d) for d in guards.directions])
        self.hit = loop.buffer("guard_hit")

    def write(self, happen: Callable[[View], None], note: Callable[[View], None]) -> None:
        """Writes code that searches the step just taken for the first crossing; `happen(time)` writes what follows.

        `note(time)` writes what is done about events that are only recorded: the search goes on after them.
        """
        loop, at, hit = self.loop, self.at, self.hit
        low, high, end, piece, searching, found = (
            loop.buffer(f"guard_{name}") for name in ("low", "high", "end", "piece", "searching", "found")
        )
        loop.copy(end, at["t"])
        loop.copy(low, at["t_old"])
        loop.let(hit, lambda: 0.0)
        loop.let(piece, lambda: 1.0)
        loop.let(searching, lambda: 1.0)
        with loop.while_(searching):
            loop.let(
                high,
                lambda k, t0, t1: (k < PIECES - 0.5).where(t0 + (t1 - t0) * (k / PIECES), t1),
                *(piece, at["t_old"], end),
            )
            self._look_at(high)
            loop.copy(found, hit)
            with loop.if_(found):
                self._bisect(low, high)
                if not any(self.quiet):
                    loop.let(searching, lambda: 0.0)
                    happen(high)
                else:
                    self._happen_aloud(low, high, searching, happen, note)
            with loop.otherwise():
                self._note_sides()
                loop.copy(low, high)
                loop.let(piece, lambda k: k + 1.0, piece)
                loop.let(searching, lambda k: k < PIECES + 0.5, piece)

    @property
    def quiet(self) -> list[float]:
        """1 for each guard whose events are silent or only recorded, else 0; empty where there are none."""
        pairs = zip(self.guards.silent, self.guards.noted, strict=True)
        return [float(silent or noted) for silent, noted in pairs]

    def _happen_aloud(
        self,
        low: View,
        high: View,
        searching: View,
        happen: Callable[[View], None],
        note: Callable[[View], None],
    ) -> None:
        """Writes code for an event at `high`; where only quiet guards have fired, the search goes on from there.

        The last event of a run is not quiet, because the run ends there, nor is one for which the log has no row left.
        """
        loop, noted = self.loop, any(self.guards.noted)
        loud, quiet = loop.buffer("guard_loud"), loop.constant("quiet", self.quiet)
        recorded = loop.constant("noted", [float(one) for one in self.guards.noted])
        last = loop.buffer("guard_last")
        loop.let(last, lambda: 0.0)
        if noted:
            room = float(self.guards.log_length - sum(self.guards.noted))
            loop.let(
                last,
                lambda n, most, logged: (n + 1.5 > most).maximum(logged >= room),
                *(self.at["events"], loop["limits"][5], loop["logged"]),
            )
        loop.let(loud, lambda: 0.0)
        with loop.repeat(self.guards.count) as i:
            loop.let(
                loud,
                lambda loud, fired, one, noted, last: loud.maximum(fired * (1.0 - one).maximum(noted * last)),
                *(loud, loop["fired"][i], quiet[i], recorded[i], last),
            )
        with loop.if_(loud):
            loop.let(searching, lambda: 0.0)
            happen(high)
        with loop.otherwise():
            if noted:
                note(high)
            self._note_sides()
            loop.copy(low, high)
            with loop.repeat(self.guards.count) as i:
                loop.let(loop["fired"][i], lambda: 0.0)

    def _look_at(self, moment: View) -> None:
        """Writes code for `hit`: 1 if some guard has crossed zero by this time in the direction that counts, else 0."""
        loop, at, hit, awake = self.loop, self.at, self.hit, self.guards.awake
        self.interpolate(moment)
        ins = self.site.inputs(t=moment, base=self.site.base_old, s=self.between)
        loop.call(self.guards.program, [self.values], ins)
        loop.let(hit, lambda: 0.0)
        with loop.repeat(self.guards.count) as i:
            loop.let(loop["fired"][i], crossed, self.values[i], at["floors"][i], at["sides"][i], self.which[i])
            loop.let(hit, lambda hit, fired: hit.maximum(fired), hit, loop["fired"][i])
        if awake is None:
            return
        found, counts = loop.scratch("guard_crossed"), loop.scratch("guard_counts", (self.guards.count,))
        loop.copy(found, hit)
        with loop.if_(found):  # an edge counts in its own phase only
            loop.call(awake, [counts], ins)
            loop.let(hit, lambda: 0.0)
            with loop.repeat(self.guards.count) as i:
                loop.let(loop["fired"][i], lambda fired, one: fired * one, loop["fired"][i], counts[i])
                loop.let(hit, lambda hit, fired: hit.maximum(fired), hit, loop["fired"][i])

    def _note_sides(self) -> None:
        with self.loop.repeat(self.guards.count) as i:
            note_side(self.loop, self.at, self.values, i)

    def _bisect(self, low: View, high: View) -> None:
        """Writes code that bisects (low, high] around the first crossing; it ends with the guards evaluated at high."""
        loop, middle, apart = self.loop, self.loop.buffer("guard_middle"), self.loop.buffer("guard_apart")
        loop.let(apart, lambda: 1.0)
        with loop.while_(apart):
            loop.let(middle, lambda a, b: a + 0.5 * (b - a), low, high)
            self._look_at(middle)
            with loop.if_(self.hit):
                loop.copy(high, middle)
            with loop.otherwise():
                loop.copy(low, middle)
            loop.let(apart, lambda a, b: (a + 0.5 * (b - a) > a) * (a + 0.5 * (b - a) < b) * (b - a > 1e-14), low, high)
        self._look_at(high)


def crossed(g: Any, floor: Any, side: Any, direction: Any) -> Any:
    """1 if a guard with the value g has crossed its floor from its `side`, in the `direction` that counts, else 0."""
    return ((g - floor) * side <= 0.0) * (side * side > 0.0) * (direction * side <= 0.0)


def note_side(loop: LoopBuilder, at: Mapping[str, View], values: View, i: Affine) -> None:
    """Writes code for the side on which guard i is by its value; a guard that has passed zero has no floor any more."""
    side, floor = at["sides"][i], at["floors"][i]
    loop.let(side, lambda g, f, known: (g > f).where(1.0, (g < f).where(-1.0, known)), values[i], floor, side)
    loop.let(floor, lambda g, f: (g * f.sign() < 0.0).where(0.0, f), values[i], floor)


def kept_floor(g: Any, floor: Any, side: Any) -> Any:
    """The floor of a guard at zero that is on the given side: where it is not above its floor, one just beyond g."""
    beyond = g - side * (1e-3 * abs(g) + 1e-300)
    return (((g - floor) * side <= 0.0) * (side * side > 0.0)).where(beyond, floor)
