"""What happened in a run: events, with the state on both sides and what there is to tell of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kinemorph.algebra.arrays import Array

EventKind = Literal["crossing", "reset", "stop", "rest", "switch", "dock", "undock", "refused"]
TOLD = 3  # numbers that are told in a line
WORDS = ("rest", "dock", "undock", "refused")  # kinds that a name alone does not tell


class Quantity(NamedTuple):
    """A number that an event brings, as the energy that it takes: Quantity("energy_loss", 0.2, "J")."""

    name: str
    value: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name.replace('_', ' ')} {self.value:.4g} {self.unit}".rstrip()


@dataclass(frozen=True, repr=False)
class Event:
    """A guard that changed its sign, the end of a series of them, or a change of the system; the state on both sides.

    Where the system changes (kinds "dock", "undock"), `before` is a state of the old one and `after` one of the new. A
    docking that was "refused" has the same state on both sides, and a note that says why.
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
        """One of its numbers: event["energy_loss"]."""
        for number in self.numbers:
            if number.name == name:
                return number.value
        known = ", ".join(number.name for number in self.numbers) or "none"
        raise KeyError(f"event '{self.name}' has no number '{name}'. Known: {known}.")

    @property
    def label(self) -> str:
        """The name, and the kind where that tells more: "ground: rest"."""
        plain = self.kind not in WORDS or self.kind in self.name.lower().replace("_", " ").split()
        return self.name if plain else f"{self.name}: {self.kind}"

    @property
    def told(self) -> str:
        """The note and the first numbers in one line; empty where there is nothing to tell."""
        return "; ".join([part for part in (self.note.rstrip("."), *map(str, self.numbers[:TOLD])) if part])
