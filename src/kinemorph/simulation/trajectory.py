"""What a run gives: segments of samples, joined by events, with how it ended.

A plain run has one segment. Columns are addressed by name across segments: "q.elbow", "v.elbow", "u.elbow", a further
state by its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kinemorph.plants import Plant

Array = npt.NDArray[np.float64]
EventKind = Literal["crossing", "reset", "stop", "rest"]
Ending = Literal["finished", "stopped", "rest", "failed", "interrupted"]


@dataclass(frozen=True)
class Event:
    """A guard that changed its sign, or the end of a series of them; the state before and after."""

    t: float
    name: str
    kind: EventKind
    before: Mapping[str, Array]  # q, v, x, m
    after: Mapping[str, Array]


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and when. A run that failed keeps what was computed; the message says what is wrong."""

    kind: Ending
    t: float
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run did what was asked: reached its end, a stopping event, or rest."""
        return self.kind in ("finished", "stopped", "rest")


@dataclass(frozen=True)
class Statistics:
    """What a run cost."""

    method: str
    accepted: int = 0  # steps
    rejected: int = 0
    calls: int = 0  # of compiled code
    seconds: float = 0.0  # of wall-clock time, compilation not counted
    compile_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Segment:
    """Samples between two changes of the system.

    t (n,), q (n, nq), v (n, nv), x (n, nx), m (n, nm), u (n, nu), p (np,); u is what acts from that time on.
    """

    plant: Plant
    t: Array
    q: Array
    v: Array
    x: Array
    m: Array
    u: Array
    p: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A run. `settings` are the options it was made with, in words and numbers."""

    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    outcome: Outcome
    statistics: Statistics
    settings: Mapping[str, Any] = field(default_factory=dict)
