"""What docks and undocks during a run, as data, and how far two ports are from each other.

    simulate(system, 5.0, events=[Undock("m1", 5, at=2.0), Dock("m3", 4, "m8", 5)])

Two ports may lock where the one is within `distance` and `angle` of a legal pose on the other: face to face, turned by
a number of quarters. What is left between them stays as it is and becomes the offset of the docking, so no body jumps.
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
from kinemorph.mechanics.steps.impact import relative_pose
from kinemorph.mechanics.steps.state_transfer import body_states
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.module_types import TURNED, Side
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.march.guards import Guard

DISTANCE, ANGLE = 0.01, 0.1  # [m], [rad]: how far off ports may be that lock
QUIET = 1e-6  # [1/s]: ports that part more slowly are at rest, whatever rounding says


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
        gaps.append(Gap(*extent(offset), turn, offset))
    return min(gaps, key=lambda gap: gap.angle)


def nearness(tree: Tree, q: Sequence[S], dock: Dock) -> S:
    """Above 0 where the ports of a docking are within its tolerance, over any scalar.

    1 less the larger of (distance / tolerance)^2 and (sin(angle / 2) / sin(tolerance / 2))^2: smooth where ports meet.
    """
    T_AB = relative_pose(tree, q, *(port_frame(*end) for end in dock.ends))
    turned, _ = _turned_off(T_AB, (0.0, 0.0, 0.0), dock)
    return 1.0 - maximum(dot(T_AB.p, T_AB.p) / dock.distance**2, turned)


def approaching(tree: Tree, q: Sequence[S], v: Sequence[S], dock: Dock) -> S:
    """Above 0 as long as ports come nearer, or rest [1/s]: falls through 0 where they have been nearest.

    The rate of `nearness`, as a share of what is in the way. Who looks for ports that meet only now and then sees those
    pass which are within tolerance for less than a step; that they have come and go is a change of sign that lasts.
    """
    a, b = (port_frame(*end) for end in dock.ends)
    (T_WA, V_A), (T_WB, V_B) = body_states(tree, (a, b), q, v).values()
    T_AB = compose(inverse(T_WA), T_WB)
    V = sub(V_B, move_twist_back(T_AB, V_A))  # of b's port in a's frame, in b's axes
    apart, parting = (2.0 * dot(T_AB.p, x) / dock.distance**2 for x in (T_AB.p, matvec(T_AB.R, V[:3])))
    turned, turning = _turned_off(T_AB, V[3:], dock)
    apart = 0.5 * apart
    leaving = where(less(turned, apart), parting, turning)
    return QUIET - leaving / (1.0 + maximum(apart, turned))


def _turned_off(T_AB: Pose, w: Sequence[S], dock: Dock) -> tuple[S, S]:
    """(sin(angle / 2) / sin(tolerance / 2))^2 from the legal pose, the nearest one, and its rate [1/s] where b turns
    with w [rad/s] in its own axes: R' = R w~.
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
        if type(assembly.module(module).type.port(side).side) is not type(side):  # 3.0 is equal to 3, and no name
            return f"side is {side!r}, expected a whole number or a name."
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
