"""Events of a run: the state before and after, a note, and numbers such as the energy lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kinemorph.algebra.arrays import Array

EventKind = Literal["crossing", "reset", "stop", "rest", "switch", "impact", "edge", "dock", "undock", "refused"]
TOLD = 3  # the count of numbers that one line shows
WORDS = ("rest", "impact", "dock", "undock", "refused")  # kinds that are shown after the name of an event


class Quantity(NamedTuple):
    """A number that belongs to an event, such as the energy lost: Quantity("energy_loss", 0.2, "J")."""

    name: str
    value: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name.replace('_', ' ')} {self.value:.4g} {self.unit}".rstrip()


@dataclass(frozen=True, repr=False)
class Event:
    """A change of sign of a guard, rest after a series of such events, a switch of an element, an edge of an automaton,
    a docking or undocking.

    `before` and `after` are the states just before and just after the event, by group (q, v, x, m).

    Where the system changes (kinds "dock" and "undock"), `before` is a state of the old system and `after` one of the
    new. A docking that was "refused" has the same state before and after, and a note that gives the reason.
    """

    t: float
    name: str
    kind: EventKind
    before: Mapping[str, Array]  # q, v, x, m
    after: Mapping[str, Array]
    note: str = ""  # a sentence
    numbers: tuple[Quantity, ...] = ()

    def __repr__(self) -> str:
        return f"<Event '{self.name}' at t = {self.t:.9g} s, {self.kind}>"

    def __getitem__(self, name: str) -> float:
        """A number of the event by its name: event["energy_loss"]."""
        for number in self.numbers:
            if number.name == name:
                return number.value
        known = ", ".join(number.name for number in self.numbers) or "none"
        raise KeyError(f"event '{self.name}' has no number '{name}'. Known: {known}.")

    @property
    def label(self) -> str:
        """The name of the event, followed by its kind where the name does not contain it: "ground: rest"."""
        plain = self.kind not in WORDS or self.kind in self.name.lower().replace("_", " ").split()
        return self.name if plain else f"{self.name}: {self.kind}"

    @property
    def told(self) -> str:
        """The note and the first numbers of the event in one line; empty where it has neither."""
        return "; ".join([part for part in (self.note.rstrip("."), *map(str, self.numbers[:TOLD])) if part])
