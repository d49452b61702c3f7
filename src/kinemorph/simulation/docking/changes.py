"""Docking and undocking during a run, as data, and how far two ports are from each other.

    simulate(system, 5.0, events=[Undock("m1", 5, at=2.0), Dock("m3", 4, "m8", 5)])

Two ports may lock where one is within `distance` and `angle` of a legal pose on the other: face to face, turned by a
number of quarter turns. The remaining error becomes the offset of the docking, so that no body jumps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

from kinemorph.algebra.groups import Pose, compose, extent, inverse, move_twist_back
from kinemorph.algebra.scalar import S, less, maximum, where
from kinemorph.algebra.vectors import dot, matmul, matvec, sub, transpose
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.impacts.plastic_impact import relative_pose
from kinemorph.mechanics.steps.state_transfer import body_states
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.module_types import TURNED, Side
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.march.guards import Guard

DISTANCE, ANGLE = 0.01, 0.1  # [m], [rad] from the legal pose at which ports still lock
QUIET = 1e-6  # [1/s]: ports that separate more slowly count as being at rest


@dataclass(frozen=True)
class Dock:
    """Side `side_a` of module `a` locks onto side `side_b` of module `b`, with a plastic impact.

    `at`        the time of the docking [s]; without it, the ports lock as soon as they are within tolerance
    `turn`      quarter turns about the normal, 0 to 3; by default the nearest
    `distance`  [m] and `angle` [rad]: tolerances about the legal pose. A docking outside of them is refused, and the
                run continues
    `when`      in place of `at`, a user law that returns one number: the ports lock as soon as the number is above 0.
                The law reads the state by name, as in `lambda q: q["m3_hinge"] - 0.5`

    A docking happens once. Modules of one organism that dock close a ring.
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
        """The name of the docking that this event makes."""
        return f"{self.a}_{self.side_a}_{self.b}_{self.side_b}"

    @property
    def ends(self) -> tuple[tuple[str, Side], ...]:
        """The ports that take part, as (module, side)."""
        return (self.a, self.side_a), (self.b, self.side_b)


@dataclass(frozen=True)
class Undock:
    """The docking at a side of a module opens at the time `at` [s], or as soon as the law `when` is above 0.

    `when` is a user law that returns one number, as for `Dock`.
    """

    module: str
    side: Side
    at: float | None = None
    when: Law | None = None

    @property
    def name(self) -> str:
        """The name of the event: the module and the side."""
        return f"{self.module}_{self.side}"

    @property
    def ends(self) -> tuple[tuple[str, Side], ...]:
        """The ports that take part, as (module, side)."""
        return ((self.module, self.side),)


Change: TypeAlias = Dock | Undock


class Gap(NamedTuple):
    """How far a port is from a legal pose on another port: distance [m] and angle [rad].

    Also the quarter turns (0 to 3) of that legal pose, and the remaining error as a pose.
    """

    distance: float
    angle: float
    turn: int
    offset: Pose


def port_frame(module: str, side: Side) -> str:
    """The name of the robot's frame at the port on side `side` of a module."""
    return f"{module}_port{side}"


def gap_of(tree: Tree, q: Sequence[float], dock: Dock) -> Gap:
    """How far the ports of a docking are from its legal pose; without a turn, from the nearest of the four poses."""
    T_AB = relative_pose(tree, q, *(port_frame(*end) for end in dock.ends))
    gaps = []
    for turn in range(4) if dock.turn is None else (dock.turn,):
        offset = compose(inverse(TURNED[turn]), T_AB)
        gaps.append(Gap(*extent(offset), turn, offset))
    return min(gaps, key=lambda gap: gap.angle)


def nearness(tree: Tree, q: Sequence[S], dock: Dock) -> S:
    """A number, over any scalar type, that is above 0 where the ports of a docking are within its tolerances.

    It is 1 - max((distance / tolerance)^2, (sin(angle / 2) / sin(tolerance / 2))^2), which is smooth where ports meet.
    """
    T_AB = relative_pose(tree, q, *(port_frame(*end) for end in dock.ends))
    turned, _ = _turned_off(T_AB, (0.0, 0.0, 0.0), dock)
    return 1.0 - maximum(dot(T_AB.p, T_AB.p) / dock.distance**2, turned)


def approaching(tree: Tree, q: Sequence[S], v: Sequence[S], dock: Dock) -> S:
    """A rate [1/s] that is above 0 while the ports approach each other or are at rest, and below 0 while they separate.

    It is the rate of `nearness`, divided by 1 + the remaining error. Its change of sign is an event that the run finds
    even if the ports are within tolerance for less than one step: `nearness` is above 0 too briefly to be noticed then.
    """
    a, b = (port_frame(*end) for end in dock.ends)
    (T_WA, V_A), (T_WB, V_B) = body_states(tree, (a, b), q, v).values()
    T_AB = compose(inverse(T_WA), T_WB)
    V = sub(V_B, move_twist_back(T_AB, V_A))  # twist of b's port in a's frame, in b's axes
    apart, parting = (2.0 * dot(T_AB.p, x) / dock.distance**2 for x in (T_AB.p, matvec(T_AB.R, V[:3])))
    turned, turning = _turned_off(T_AB, V[3:], dock)
    apart = 0.5 * apart
    leaving = where(less(turned, apart), parting, turning)
    return QUIET - leaving / (1.0 + maximum(apart, turned))


def _turned_off(T_AB: Pose, w: Sequence[S], dock: Dock) -> tuple[S, S]:
    """The angle error (sin(angle / 2) / sin(tolerance / 2))^2, with the angle to the nearest legal pose; its rate.

    The rate [1/s] is that for port b turning relative to port a at w [rad/s], in the axes of b: dR/dt = R w~.
    """
    square: S = math.inf
    rate: S = 0.0
    for turn in range(4) if dock.turn is None else (dock.turn,):
        X = matmul(transpose(TURNED[turn].R), T_AB.R)
        off = [x - float(i == j) for i, row in enumerate(X) for j, x in enumerate(row)]
        this = 0.125 * dot(off, off)  # (3 - trace) / 4, without the digits that a small angle loses there
        turning = 0.25 * dot(w, (X[2][1] - X[1][2], X[0][2] - X[2][0], X[1][0] - X[0][1]))
        nearer = less(this, square)
        square, rate = where(nearer, this, square), where(nearer, turning, rate)
    scale = 1.0 / math.sin(0.5 * dock.angle) ** 2
    return scale * square, scale * rate


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def sorted_events(events: Any) -> tuple[tuple[Change, ...], tuple[Guard, ...]]:
    """The events of a run as (dockings and undockings, guards); other objects are among the guards, see `Watch`."""
    several = (events,) if isinstance(events, (Guard, Dock, Undock)) else tuple(events)
    changes = tuple(event for event in several if isinstance(event, (Dock, Undock)))
    return changes, tuple(event for event in several if not isinstance(event, (Dock, Undock)))


def check_changes(assembly: Assembly, changes: Sequence[Change], start: float, until: float) -> None:
    """Raises a ModelError that lists all changes that cannot happen between `start` and `until` [s]."""
    problems = [problem for change in changes for problem in _problems(assembly, change, changes, start, until)]
    if problems:
        raise ModelError(problems)


def in_words(change: Change) -> str:
    """A change in words: "docking of 'm3' side 4 with 'm8' side 5"."""
    if isinstance(change, Undock):
        return f"undocking of '{change.module}' side {change.side}"
    return f"docking of '{change.a}' side {change.side_a} with '{change.b}' side {change.side_b}"


def _problems(assembly: Assembly, change: Change, others: Sequence[Change], start: float, until: float) -> list[str]:
    what = f"event {in_words(change)}"
    unknown = [problem for end in change.ends if (problem := _unknown_port(assembly, *end))]
    if unknown:
        return [f"{what}: {problem}" for problem in unknown]
    found = []
    if change.at is not None and change.when is not None:
        found.append(f"{what}: both at and when are given, expected one of them. Leave one out.")
    if isinstance(change, Undock) and change.at is None and change.when is None:
        found.append(f"{what}: neither at nor when is given, expected one of them. Give at=2.0 [s].")
    if change.at is not None and not (isinstance(change.at, Real) and start <= change.at <= until):
        found.append(f"{what}: at is {change.at!r}, expected a time within the run, {start:g} to {until:g} s.")
    if isinstance(change, Dock):
        if change.a == change.b:
            found.append(f"{what}: a module cannot dock on itself. Name two modules.")
        if change.turn not in (None, 0, 1, 2, 3):
            found.append(f"{what}: turn is {change.turn!r}, expected None, 0, 1, 2 or 3 quarter turns.")
        for name, value, most in (("distance", change.distance, math.inf), ("angle", change.angle, math.pi)):
            if not (isinstance(value, Real) and 0.0 < value <= most and math.isfinite(value)):
                limit = f" and at most {most:.4g}" if math.isfinite(most) else ""
                found.append(f"{what}: {name} is {value!r}, expected a finite number above 0{limit}.")
    if change.at is not None and not found:
        found += _never(assembly, change, others, what)
    return found


def _unknown_port(assembly: Assembly, module: str, side: Side) -> str:
    try:
        if type(assembly.module(module).type.port(side).side) is not type(side):  # 3.0 is equal to 3, but is not a name
            return f"side is {side!r}, expected an int, or a str that names a side."
    except ModelError as error:
        return str(error)
    return ""


def _never(assembly: Assembly, change: Change, others: Sequence[Change], what: str) -> list[str]:
    """Why a change can never happen: a port to dock is docked, or one to undock is free, during the whole run.

    Returns [] for a change that can happen.
    """
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
            found.append(f"{what}: nothing is docked to this side, and no other event docks there. Name a docked side.")
    return found
