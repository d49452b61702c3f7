"""How a run ended: its outcome, and the sentences for runs that events ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kinemorph.words import counted

Ending = Literal["finished", "stopped", "rest", "failed", "interrupted", "unfinished"]
ENDINGS = {  # what people read
    "unfinished": "unfinished",
    "finished": "finished",
    "stopped": "stopped",
    "rest": "came to rest",
    "failed": "failed",
    "interrupted": "interrupted",
}


@dataclass(frozen=True)
class Outcome:
    """How and when [s] a run ended. A failed run keeps its results, and the message explains the failure."""

    kind: Ending
    t: float
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run reached its end, a stopping event, or rest."""
        return self.kind in ("finished", "stopped", "rest")


def stopped_by(name: str, t: float) -> str:
    """The message of a run that an event ended at t [s]."""
    return f"Event '{name}' ended the run at t = {t:.9g} s."


def stopped_after(count: int, t: float) -> str:
    """The message of a run that ended at t [s] after the number of events that was asked for."""
    return f"The run ended at t = {t:.9g} s, after {counted(count, 'event')}."


def stays_at_zero(name: str, t: float) -> str:
    """The message of a run that ended at rest, because a guard stays at zero after its reset at t [s]."""
    return f"After event '{name}' at t = {t:.9g} s the motion is at rest: the guard stays at 0."


def comes_to_rest(name: str, end: float, last: float) -> str:
    """The message of a run whose events come ever faster, the last two `last` [s] apart, up to the time `end` [s]."""
    return (
        f"Events '{name}' came ever faster, the last two {last:.2g} s apart: they would not end before "
        f"t = {end:.9g} s, so the run ends there. For a motion that goes on, such as sliding after bounces, use a "
        "Rigid contact (docs/contact.md)."
    )
