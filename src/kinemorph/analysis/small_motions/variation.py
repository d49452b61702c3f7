"""A plant and the quantities by which its motion is differentiated: where derivatives are kept, and dual numbers.

`variational_plant` adds the derivatives to the plant's state and memory, in the order that `Variation` defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.scalar import plus, times
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.loop_methods import names_independent
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column


@dataclass(frozen=True, eq=False)
class Variation:
    """A plant and the quantities by which its motion is differentiated; where their derivatives are in s and m.

    s       the plant's own state (ns,), then its derivative (ns,) by each quantity
    m       for each quantity the derivatives of the memory `sloped`, and if there are edges that of the time of the
            last edge; if there are edges, `ended` (see `saltation`); then the plant's own memory (nm,)
    """

    plant: Plant
    names: tuple[str, ...]  # of parameters and inputs
    initial: int  # the number of initial values

    @property
    def count(self) -> int:
        """The number of quantities."""
        return len(self.names) + self.initial

    @property
    def labels(self) -> list[str]:
        """The names of the quantities, as the columns of the larger plant have them."""
        return [*self.names, *(f"initial {k}" for k in range(self.initial))]

    @property
    def hybrid(self) -> bool:
        """Whether the plant has edges or rigid contacts, at whose events the derivatives jump."""
        edges = self.plant.automaton is not None and bool(self.plant.automaton.edges)
        return edges or bool(self.plant.contact_guards)

    @property
    def remembers(self) -> bool:
        """Whether memory changes during a run, or depends on the initial state."""
        jumps = self.plant.laws.jumps
        return bool(self.plant.ticks) or self.hybrid or (jumps is not None and jumps.enter is not None)

    @cached_property
    def sloped(self) -> tuple[int, ...]:
        """The indices of the memory that has derivatives: no phase, no modes, no choice of dependent velocities."""
        plant = self.plant
        if not self.remembers:
            return ()
        chooses = plant.laws.dependence is not None and names_independent(plant.loops) is None
        own = len(plant.m) - (plant.nv if chooses else 0)
        whole = {k for k in range(own) if plant.automaton and plant.m[k].name == "phase"} | {*plant.contact_modes}
        return tuple(k for k in range(own) if k not in whole)

    @property
    def per_quantity(self) -> int:
        """The number of further memory entries for each quantity."""
        return len(self.sloped) + self.hybrid

    @property
    def state_columns(self) -> tuple[Column, ...]:
        """The names of the derivatives of the state."""
        plant = self.plant
        entries = [*(f"q.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]
        return tuple(Column(f"d {entry} / d {label}") for label in self.labels for entry in entries)

    @property
    def memory_columns(self) -> tuple[Column, ...]:
        """The names of the further memory."""
        names = [*(self.plant.m[k].name for k in self.sloped), *(["time of the last edge"] if self.hybrid else [])]
        found = [Column(slope_name(name, label)) for label in self.labels for name in names]
        return (*found, *([Column("slopes have ended")] if self.hybrid else []))

    def by_quantity(self, m: Array) -> Array:
        """The derivatives in the larger plant's memory m (..., n), shape (..., k, per_quantity)."""
        found: Array = m[..., : self.count * self.per_quantity]
        return found.reshape((*m.shape[:-1], self.count, self.per_quantity))

    # ── instants ──────────────────────────────────────────────────────────────────────────────────────────────────

    def motion(self, at: LocalInstant) -> LocalInstant:
        """The instant `at` of the larger plant as an instant of the plant itself: s and m without the derivatives."""
        return at._replace(s=at.s[: self.plant.ns], m=at.m[len(at.m) - len(self.plant.m) :])

    def centered(self, at: LocalInstant) -> LocalInstant:
        """The motion at an instant, in local coordinates about its own configuration, where w is 0."""
        own = self.motion(at)
        base = self.plant.laws.place(own.base, own.s, finished=False)
        return own._replace(base=base, s=[*[0.0] * self.plant.nv, *own.s[self.plant.nv :]])

    def slopes(self, at: LocalInstant, k: int) -> Any:
        """The derivative of the state by quantity k, shape (ns,)."""
        return at.s[(k + 1) * self.plant.ns : (k + 2) * self.plant.ns]

    def memory_slopes(self, at: LocalInstant, k: int) -> list[Any]:
        """The derivative of the memory by quantity k, shape (nm,)."""
        found = [0.0] * len(self.plant.m)
        for place, index in enumerate(self.sloped):
            found[index] = at.m[k * self.per_quantity + place]
        return found

    def displaced(
        self, along: Direction, at: LocalInstant, k: int, later: Any = 0.0, f: Sequence[Any] | None = None
    ) -> LocalInstant:
        """The instant of the plant, on dual numbers that move it along the derivative by quantity k.

        The time moves by `later`, and the state also by `f` (ns,) times `later`.
        """
        own = self.centered(at)
        S = self.slopes(at, k)
        if f is not None:
            S = [plus(one, times(rate, later)) for one, rate in zip(S, f, strict=True)]
        return own._replace(
            t=along.moved(own.t, later),
            s=along.all_moved(own.s, S),
            m=along.all_moved(own.m, self.memory_slopes(at, k)),
            u=along.all_moved(own.u, self._direction(k, "u", len(own.u))),
            p=along.all_moved(own.p, self._direction(k, "p", len(own.p))),
        )

    def _direction(self, k: int, group: str, size: int) -> list[float]:
        """The derivative of the inputs ("u") or the parameters ("p") with respect to quantity k."""
        unit = [0.0] * size
        if k < len(self.names):
            known = {f"u.{c.name}" if group == "u" else c.name: j for j, c in enumerate(getattr(self.plant, group))}
            if self.names[k] in known:
                unit[known[self.names[k]]] = 1.0
        return unit


def slope_name(entry: str, label: str) -> str:
    """The name of the derivative of a memory entry by a quantity."""
    return f"d {entry} / d {label}"
