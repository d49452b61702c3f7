"""The motion of a robot while contacts are closed: accelerations, forces of the contacts, and the power of friction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import minus, plus, times
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.impacts.closed_contacts import closed_forces, grips
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.plants.contacts.rigid_rows import inverse_masses, metric_of, modes_now, other_rows, rigid_rows
from kinemorph.plants.instant import Instant
from kinemorph.plants.loaded_robot import LoadedRobot


class ClosedMotion(NamedTuple):
    """Accelerations (nv,), the multipliers of all rows, the power lost by friction [W], and the grips (n,) of points.

    `grips` are those of `mechanics.impacts.closed_contacts`: a point whose grip falls to 0 jams.
    """

    a: Sequence[Any]
    multipliers: list[Any]
    lost: Any
    grips: list[Any]


def closed_motion(
    loaded: LoadedRobot, tree: Tree, at: Instant, rest: Sequence[Any], rows: ConstraintRows
) -> ClosedMotion:
    """The motion under the forces `rest` = tau - h (nv,), with all constraint `rows` as equations of accelerations.

    The rows of contacts are zero where they are open; a contact that slides has friction besides its normal row.
    """
    points = rigid_rows(loaded, tree, at, bias=False)
    modes, width = modes_now(points), 1 + len(points.tangents)
    holds, places = other_rows(loaded, rows)
    _, metric = metric_of(loaded, tree, at)
    W = inverse_masses(metric, points, holds)
    free = loaded.dynamics.laws.under(tree, at.q, rest, holds).a
    b: list[Any] = []
    for place, J in zip(loaded.rigid, points.J, strict=True):
        wanted = [rows.wanted[k] for k in (place.rows[0], *points.along(place.rows[1:]))]
        b += [minus(dot(row, free), goal) for row, goal in zip(J, wanted, strict=True)]
    p = closed_forces(W, b, points.mu, modes)
    forces = list(rest)
    multipliers: list[Any] = [0.0] * len(rows.J)
    lost: Any = 0.0
    for i, (place, J, point) in enumerate(zip(loaded.rigid, points.J, points.points, strict=True)):
        own = p[i * width : (i + 1) * width]
        for row, force in zip(J, own, strict=True):
            forces = [plus(one, times(x, force)) for one, x in zip(forces, row, strict=True)]
        for k, force in zip(place.rows, (own[0], *points.both(own[1:])), strict=True):
            multipliers[k] = force
        lost = minus(lost, times(point.slides, dot(own[1:], points.u[i][1:])))
    found = loaded.dynamics.laws.under(tree, at.q, forces, holds)
    for k, force in zip(places, found.multipliers, strict=True):
        multipliers[k] = force
    return ClosedMotion(found.a, multipliers, lost, grips(W, points.mu, modes))
