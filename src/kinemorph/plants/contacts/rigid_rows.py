"""The rows of rigid contacts at one instant, of all points, whether or not they are closed.

The constraints of a plant contain the rows of a contact only while it is closed or sticks; they are zero otherwise.
Impacts and friction need the rows of contacts that slide, and of those that just touch.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import div, is_zero, less, maximum, sqrt, where
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor, branch_factor
from kinemorph.mechanics.elements.contact.rigid_contacts import RigidPoint, rigid_points
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.impacts.closed_contacts import Modes
from kinemorph.mechanics.impacts.contact_space import NONE, ContactRows, contact_space
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.plants.constraints import of_positions, of_velocities
from kinemorph.plants.instant import Instant
from kinemorph.plants.loaded_robot import LoadedRobot

SLOW = 1e-6  # [m/s]; a point that slides much faster has friction against its velocity


class RigidRows(NamedTuple):
    """The rows of n points of contact: J (n, 1 + t, nv), normal first, u = J v + driven, gamma the value of J a.

    `tangents` are the indices, of the two tangents of each point, along which some point can move: one or two. Where no
    point moves along a tangent, one is kept, so that each contact has a normal and a tangent.
    """

    points: list[RigidPoint]
    J: list[list[list[Any]]]
    u: list[list[Any]]
    gamma: list[list[Any]]
    tangents: tuple[int, ...]

    @property
    def mu(self) -> list[Any]:
        """The coefficients of friction (n,)."""
        return [point.mu for point in self.points]

    @property
    def slip(self) -> list[list[Any]]:
        """The velocities (n, t) along the tangents [m/s]."""
        return [row[1:] for row in self.u]

    def along(self, numbers: Any) -> list[Any]:
        """Of two numbers, one for each tangent, those of the tangents that count."""
        return [numbers[k] for k in self.tangents]

    def both(self, numbers: Any) -> list[Any]:
        """Numbers (t,) of the tangents that count as two numbers, one for each tangent; 0 for the other one."""
        known = dict(zip(self.tangents, numbers, strict=True))
        return [known.get(k, 0.0) for k in range(2)]

    def contacts(self, weights: Any = None) -> ContactRows:
        """The rows as those of an impact, for the points whose `weights` are 1."""
        return ContactRows(self.J, self.mu, weights, [point.restitution for point in self.points])


def rigid_rows(loaded: LoadedRobot, tree: Tree, at: Instant, *, bias: bool = True) -> RigidRows:
    """The rows of all points of rigid contacts; `gamma` is empty without `bias`."""

    def moved(t: Any, q: Any, v: Any) -> _Raw:
        return _Raw(loaded.seen(tree, at._replace(t=t, q=q, v=v)))

    space, now = tree.of_state, (at.t, at.q, at.v)
    normal = of_positions(space, *now, moved, bias)
    along = of_velocities(space, *now, moved, bias)
    points = moved(*now).points
    n = len(points)
    used = tuple(k for k in range(2) if not all(map(is_zero, (x for row in along.J[k::2] for x in row)))) or (0,)

    def joined(first: Any, second: Any) -> list[list[Any]]:
        return [[first[i], *(second[2 * i + k] for k in used)] for i in range(n)]

    gamma = joined(normal.gamma, along.gamma) if bias else []
    return RigidRows(points, joined(normal.J, along.J), joined(normal.rate, along.rate), gamma, used)


class _Raw:
    """The rows of all points at an instant, as the functions of `constraints` ask for them."""

    def __init__(self, instant: SystemInstant) -> None:
        self.points = rigid_points(instant)

    def position_rows(self) -> list[Any]:
        return [point.gap for point in self.points]

    def velocity_rows(self) -> list[Any]:
        return [speed for point in self.points for speed in point.slip]


class Divided(NamedTuple):
    """Constraint rows without those of contacts, and their indices among all rows."""

    rows: ConstraintRows
    places: list[int]


def other_rows(loaded: LoadedRobot, rows: ConstraintRows) -> Divided:
    """The rows that are not those of rigid contacts: loops, couplings, other elements, locked joints."""
    return rows_without(rows, {k for place in loaded.rigid for k in place.rows})


def rows_without(rows: ConstraintRows, left_out: Collection[int]) -> Divided:
    """The rows whose indices are not `left_out`."""
    places = [k for k in range(len(rows.J)) if k not in left_out]
    J, wanted, weights = ([part[k] for k in places] for part in (rows.J, rows.wanted, rows.weights))
    return Divided(ConstraintRows(J, wanted, weights, rows.opening), places)


def modes_now(rows: RigidRows) -> Modes:
    """The modes of all points by their memory, with the directions in which they slide now.

    Within a step the velocity may pass through zero, where the event is found later. The direction does not turn round
    there: it is that of the velocity or its opposite, whichever is nearer to the direction in memory.

    A point that begins to slide gently has hardly any velocity for a while, and its direction would turn so fast that
    explicit steps were as short as the velocity is small. So the direction in memory counts as a velocity of SLOW.
    """
    directions = []
    for point, slip in zip(rows.points, rows.slip, strict=True):
        known = rows.along(point.direction)
        if len(known) == 1:
            directions.append(known)
            continue
        same = where(less(dot(slip, known), 0.0), -1.0, 1.0)
        w = [x * same + SLOW * y for x, y in zip(slip, known, strict=True)]
        size = sqrt(maximum(dot(w, w), 1e-300))
        directions.append([div(x, size) for x in w])
    points = rows.points
    return Modes([point.closed for point in points], [point.sticks for point in points], directions)


def metric_of(loaded: LoadedRobot, tree: Tree, at: Instant) -> tuple[list[list[Any]], BranchFactor]:
    """(the mass matrix (nv, nv), its factors) at an instant."""
    M = [list(row) for row in loaded.dynamics.laws.masses(tree, at.q)]
    return M, branch_factor(tree, M)


def inverse_masses(metric: BranchFactor, rows: RigidRows, holds: ConstraintRows) -> list[list[Any]]:
    """W (m, m) [1/kg]: the accelerations of the contacts that their forces cause, while the rows `holds` hold."""
    still: list[Any] = [0.0] * len(rows.J[0][0])
    return contact_space(metric, still, rows.contacts(), holds if len(holds.J) else NONE).W
