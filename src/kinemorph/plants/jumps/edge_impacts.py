"""Impacts at the edges of an automaton: how the velocities jump, the impulses of all constraints, and the energy lost.

At a plastic impact, impulses act along all constraints, so that the new velocities satisfy them:

    M (v+ - v-) = J^T impulses,     J v+ = 0

With a law of `mechanics.impacts`, the points that the `Hold`s of a phase hold are contacts: each has a normal and one
or two tangents, pushes along its normal or opens, and has friction in Coulomb's cone. All other constraints hold on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import is_zero, minus, times
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.constraints.constrained import with_locked_rows
from kinemorph.mechanics.elements.phases.automaton import colliding
from kinemorph.mechanics.impacts.contact_space import ContactRows
from kinemorph.mechanics.impacts.impact import impact_of
from kinemorph.model.elements.contact.impact_laws import ImpactLaw, Plastic
from kinemorph.model.elements.phases.automaton import Edge
from kinemorph.model.parameter import evaluate
from kinemorph.plants.constrained_motion import conditions_at
from kinemorph.plants.constraints import Conditions
from kinemorph.plants.contacts.rigid_rows import metric_of, rows_without
from kinemorph.plants.forces import summed
from kinemorph.plants.instant import Instant
from kinemorph.plants.loaded_robot import LoadedRobot


class EdgeImpact(NamedTuple):
    """Velocities (nv,) after an impact, the energy lost [J], and the impulses (nc,) of all constraints."""

    v: Sequence[Any]
    lost: Any
    impulses: Sequence[Any]


def edge_impact(loaded: LoadedRobot, edge: Edge, at: Instant) -> EdgeImpact:
    """The impact of an edge at an instant in the phase whose constraints take part in it."""
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    if edge.impact == "none" or not loaded.constrained:
        return EdgeImpact(at.v, 0.0, [0.0] * len(loaded.constraint_names))
    found = conditions_at(loaded, tree, at, bias=False)
    if edge.law is not None:
        return _by_law(loaded, edge, edge.law, at, found)
    rows = with_locked_rows(found.rows([-rate for rate in found.rate]), loaded.locked, loaded.nv)
    change, impulses, *_ = loaded.dynamics.laws.under(tree, at.q, [0.0] * loaded.nv, rows)
    impulses = impulses[: len(found.rate)]
    lost: Any = 0.0
    for impulse, rate in zip(impulses, found.rate, strict=True):  # the rates after the impact are 0
        lost = lost - 0.5 * times(impulse, rate)
    return EdgeImpact(summed(at.v, change), lost, impulses)


def _by_law(loaded: LoadedRobot, edge: Edge, law: ImpactLaw, at: Instant, found: Conditions) -> EdgeImpact:
    """The impact of the points that collide at an edge, by its law and its friction, while other constraints hold."""
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    points = _points(loaded, edge, found.J)
    kept = [minus(dot(row, at.v), rate) for row, rate in zip(found.J, found.rate, strict=True)]  # the rates become 0
    rows = with_locked_rows(found.rows(kept), loaded.locked, loaded.nv)
    holds, places = rows_without(rows, {k for point in points for k, _ in point})
    known, width = loaded.lookup(at.p), max(2, *map(len, points))
    mu = evaluate(edge.friction.coefficient if edge.friction else 0.0, known)
    e = evaluate(law.restitution, known)
    still = [0.0] * loaded.nv
    J = [[[times(sign, x) for x in found.J[k]] for k, sign in point] for point in points]
    contacts = ContactRows(
        [[*own, *[still] * (width - len(own))] for own in J], [mu] * len(points), None, [e] * len(points)
    )
    M, metric = metric_of(loaded, tree, at)
    hit = impact_of(metric, M, at.v, contacts, Plastic(law.in_sequence) if is_zero(e) else law, holds)
    impulses: list[Any] = [0.0] * len(found.rate)
    for k, impulse in zip(places, hit.held, strict=True):
        if k < len(impulses):  # rows of locked joints come after all others
            impulses[k] = impulse
    for point, pushes in zip(points, hit.impulses, strict=True):
        for (k, sign), push in zip(point, pushes, strict=False):
            impulses[k] = times(sign, push)
    return EdgeImpact(hit.v, minus(hit.loss, hit.gain), impulses)


def _points(loaded: LoadedRobot, edge: Edge, J: Sequence[Sequence[Any]]) -> list[list[tuple[int, float]]]:
    """For each point that collides, its rows (index among all constraints, sign) of the Jacobian J, normal first.

    Tangents along which no velocity moves the point are left out, as those across the plane of a planar robot.
    """
    names = loaded.constraint_names
    found = []
    for hold in colliding(edge, loaded.elements):
        normal = hold.normal.removeprefix("-")
        rows = [names.index(f"{hold.name}.{axis}") for axis in hold.axes if axis != normal]
        sign = -1.0 if hold.normal.startswith("-") else 1.0
        first = (names.index(f"{hold.name}.{normal}"), sign)
        found.append([first, *((k, 1.0) for k in rows if not all(map(is_zero, J[k])))])
    return found
