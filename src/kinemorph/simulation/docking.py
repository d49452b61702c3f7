"""What docks and undocks during a run, as data, and how far two ports are from each other.

    simulate(system, 5.0, events=[Undock("m1", 5, at=2.0), Dock("m3", 4, "m8", 5)])

Two ports may lock where the one is within `distance` and `angle` of a legal pose on the other: face to face, turned by
a number of quarters. What is left between them stays as it is and becomes the offset of the docking, so no body jumps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from kinemorph.algebra.groups import Pose, compose, inverse, log_se3
from kinemorph.algebra.scalar import S, maximum, minimum
from kinemorph.algebra.vectors import dot, norm
from kinemorph.errors import ModelError
from kinemorph.mechanics.impact import relative_pose
from kinemorph.mechanics.tree import Tree
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.module_types import TURNED, Side
from kinemorph.plants.laws import Law
from kinemorph.records import dataclass
from kinemorph.simulation.events import Guard

DISTANCE, ANGLE = 0.01, 0.1  # [m], [rad]: how far off ports may be that lock


@dataclass(frozen=True)
class Dock:
    """Side `side_a` of module `a` locks onto side `side_b` of module `b`, with a plastic impact.

    `at`        when [s]; without it, as soon as the ports are within tolerance
    `turn`      quarter turns about the normal, 0 to 3; the nearest where none is given
    `distance`  [m] and `angle` [rad] from the legal pose: what is farther off is refused, and the run goes on
    `when`      a law of one number, in place of `at`: as soon as it is above 0. It reads by name,
                `lambda q: q["m3_hinge"] - 0.5`

    Each happens once. Modules of one organism that dock close a ring.
    """

    a: str
    side_a: Side
    b: str
    side_b: Side
    at: float | None = None
    turn: int | None = None
    distance: float = DISTANCE
    angle: float = ANGLE
    when: Law | None = None

    @property
    def name(self) -> str:
        """That of the docking it makes."""
        return f"{self.a}_{self.side_a}_{self.b}_{self.side_b}"

    @property
    def ends(self) -> tuple[tuple[str, Side], ...]:
        """(module, side) that it is about."""
        return (self.a, self.side_a), (self.b, self.side_b)


@dataclass(frozen=True)
class Undock:
    """What is docked to a side of a module lets go, at the time `at` [s], or `when` a law is above 0 (see `Dock`)."""

    module: str
    side: Side
    at: float | None = None
    when: Law | None = None

    @property
    def name(self) -> str:
        """Of what happens."""
        return f"{self.module}_{self.side}"

    @property
    def ends(self) -> tuple[tuple[str, Side], ...]:
        """(module, side) that it is about."""
        return ((self.module, self.side),)


Change: TypeAlias = Dock | Undock


class Gap(NamedTuple):
    """How far a port is from its legal pose: [m], [rad], the quarter turns, and the pose that is left over."""

    distance: float
    angle: float
    turn: int
    offset: Pose


def port_frame(module: str, side: Side) -> str:
    """The frame of a robot at a port."""
    return f"{module}_port{side}"


def gap_of(tree: Tree, q: Sequence[float], dock: Dock) -> Gap:
    """How far ports are from the legal pose of a docking, or from the nearest of the four where no turn is given."""
    T_AB = relative_pose(tree, q, *(port_frame(*end) for end in dock.ends))
    gaps = []
    for turn in range(4) if dock.turn is None else (dock.turn,):
        offset = compose(inverse(TURNED[turn]), T_AB)
        gaps.append(Gap(float(norm(offset.p)), float(norm(log_se3(offset)[3:])), turn, offset))
    return min(gaps, key=lambda gap: gap.angle)


def nearness(tree: Tree, q: Sequence[S], dock: Dock) -> S:
    """Above 0 where the ports of a docking are within its tolerance, over any scalar.

    1 less the larger of (distance / tolerance)^2 and (sin(angle / 2) / sin(tolerance / 2))^2: smooth where ports meet.
    """
    T_AB = relative_pose(tree, q, *(port_frame(*end) for end in dock.ends))
    squares: list[S] = []
    for turn in range(4) if dock.turn is None else (dock.turn,):
        R = TURNED[turn].R
        trace = dot(R[0], T_AB.R[0]) + dot(R[1], T_AB.R[1]) + dot(R[2], T_AB.R[2])
        squares.append(0.25 * (3.0 - trace))
    turned = squares[0]
    for square in squares[1:]:
        turned = minimum(turned, square)
    apart = dot(T_AB.p, T_AB.p) / dock.distance**2
    return 1.0 - maximum(apart, turned / math.sin(0.5 * dock.angle) ** 2)


# ── what may be wrong with them ───────────────────────────────────────────────────────────────────────────────────────


def sorted_events(events: Any) -> tuple[tuple[Change, ...], tuple[Guard, ...]]:
    """(what docks and undocks, guards) of what a run is given; what is neither is left to those who read guards."""
    several = (events,) if isinstance(events, (Guard, Dock, Undock)) else tuple(events)
    changes = tuple(event for event in several if isinstance(event, (Dock, Undock)))
    return changes, tuple(event for event in several if not isinstance(event, (Dock, Undock)))


def check_changes(assembly: Assembly, changes: Sequence[Change], start: float, until: float) -> None:
    """Refuses what cannot happen, whatever the run does; all of it in one ModelError."""
    problems = [problem for change in changes for problem in _problems(assembly, change, changes, start, until)]
    if problems:
        raise ModelError(problems)


def told(change: Change) -> str:
    """A change in words: "docking of 'm3' side 4 with 'm8' side 5"."""
    if isinstance(change, Undock):
        return f"undocking of '{change.module}' side {change.side}"
    return f"docking of '{change.a}' side {change.side_a} with '{change.b}' side {change.side_b}"


def _problems(assembly: Assembly, change: Change, others: Sequence[Change], start: float, until: float) -> list[str]:
    what = f"event {told(change)}"
    unknown = [problem for end in change.ends if (problem := _unknown_port(assembly, *end))]
    if unknown:
        return [f"{what}: {problem}" for problem in unknown]
    found = []
    if change.at is not None and change.when is not None:
        found.append(f"{what}: both at and when are given, expected one of them. Leave one out.")
    if isinstance(change, Undock) and change.at is None and change.when is None:
        found.append(f"{what}: neither at nor when is given, expected one of them. Give at=2.0 [s].")
    if change.at is not None and not (isinstance(change.at, (int, float)) and start <= change.at <= until):
        found.append(f"{what}: at is {change.at!r}, expected a time within the run, {start:g} to {until:g} s.")
    if isinstance(change, Dock):
        if change.a == change.b:
            found.append(f"{what}: a module cannot dock on itself. Name two modules.")
        if change.turn not in (None, 0, 1, 2, 3):
            found.append(f"{what}: turn is {change.turn!r}, expected None, 0, 1, 2 or 3 quarter turns.")
        for name, value, most in (("distance", change.distance, math.inf), ("angle", change.angle, math.pi)):
            if not (isinstance(value, (int, float)) and 0.0 < value <= most and math.isfinite(value)):
                limit = f" and at most {most:.4g}" if math.isfinite(most) else ""
                found.append(f"{what}: {name} is {value!r}, expected a finite number above 0{limit}.")
    if change.at is not None and not found:
        found += _never(assembly, change, others, what)
    return found


def _unknown_port(assembly: Assembly, module: str, side: Side) -> str:
    try:
        assembly.module(module).type.port(side)
    except ModelError as error:
        return str(error)
    return ""


def _never(assembly: Assembly, change: Change, others: Sequence[Change], what: str) -> list[str]:
    """Why a port can be in no state to do it: nothing else in the run changes it."""
    found = []
    for end in change.ends:
        docked = assembly.docking(*end)
        around = {end} if docked is None else {end, (docked.b, docked.side_b)}
        touched = any(around & {*other.ends} for other in others if other is not change)
        if isinstance(change, Dock) and docked is not None and not touched:
            found.append(
                f"{what}: side {end[1]} of module '{end[0]}' is docked to module '{docked.b}', and nothing undocks it. "
                "Undock it before, or choose another side."
            )
        if isinstance(change, Undock) and docked is None and not touched:
            found.append(f"{what}: nothing is docked to it, and nothing docks there before. Name a docked side.")
    return found
