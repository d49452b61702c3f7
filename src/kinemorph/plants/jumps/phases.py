"""Phases of a hybrid motion: when an edge of the automaton is taken, and how the state jumps there.

edge_values     the guards of all edges: an edge is taken where its guard falls through zero,
awake_edges     if it leaves the present phase and its condition holds
taken_edge      names are exchanged, values are reset, the new phase begins, velocities jump by the impact, in
                which the constraints of the new phase take part, or those of the phase `during` of the edge

At a plastic impact, impulses act along all constraints, so that the new velocities satisfy them:

    M (v+ - v-) = J^T impulses,     J v+ = 0

With a law of `mechanics.impacts`, the points that the `Hold`s of a phase hold are contacts: each has a normal and one
or two tangents, pushes along its normal or opens, and has friction in Coulomb's cone. All other constraints hold on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import is_zero, less, minus, times
from kinemorph.algebra.vectors import dot
from kinemorph.errors import ModelError
from kinemorph.mechanics.constraints.constrained import with_locked_rows
from kinemorph.mechanics.elements.constraints.constraint_texts import text_value
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.elements.phases.automaton import colliding
from kinemorph.mechanics.elements.phases.relabeling import relabeled, relabeling, reset_target
from kinemorph.mechanics.impacts.contact_space import ContactRows
from kinemorph.mechanics.impacts.impact import impact_of
from kinemorph.mechanics.trees import charts
from kinemorph.model.elements.contact.impact_laws import ImpactLaw, Plastic
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Quantity
from kinemorph.model.parameter import evaluate
from kinemorph.plants.constrained_motion import conditions_at, seen
from kinemorph.plants.constraints import Conditions
from kinemorph.plants.contacts.rigid_rows import metric_of, rows_without
from kinemorph.plants.forces import summed
from kinemorph.plants.instant import Instant
from kinemorph.plants.jumps.contact_jumps import EdgeContacts, contacts_at_edge
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.user_laws import checked_length, of_groups, one_number

GROUPS = ("q", "v", "x", "m")  # the groups of the state that an edge may change


def edge_values(loaded: LoadedRobot, now: SystemInstant, at: Instant) -> list[Any]:
    """The values of the guards of all edges."""
    automaton = _automaton(loaded)
    return [_value(loaded, now, at, edge.guard, f"'{edge.name}', guard") for edge in automaton.edges]


def awake_edges(loaded: LoadedRobot, now: SystemInstant, at: Instant) -> list[Any]:
    """1 for each edge that leaves the present phase and whose condition holds, else 0."""
    member = loaded.elements.automaton
    if member is None:
        return []
    automaton: Automaton = member.element
    found = []
    for edge in automaton.edges:
        awake = now.in_phases((automaton.number(edge.source),))
        if edge.when is not None:
            awake = times(awake, less(0.0, _value(loaded, now, at, edge.when, f"'{edge.name}', when")))
        found.append(awake)
    return found


def taken_edge(loaded: LoadedRobot, number: int, at: Instant) -> dict[str, Any]:
    """The state (q, v, x, m) after the edge with this number, the energy lost [J], and the impulses (nc,)."""
    member = loaded.elements.automaton
    assert member is not None
    edge = member.element.edges[number]
    before = _reset(loaded, edge, _renamed(loaded, edge, at))
    during = _begun(loaded, edge, before, edge.during or edge.target)
    after = _begun(loaded, edge, before, edge.target)
    hit: _EdgeImpact | EdgeContacts
    if loaded.rigid:
        hit = contacts_at_edge(loaded, during, after, impact=edge.impact != "none")
        after = after._replace(m=hit.m)
    else:
        hit = _edge_impact(loaded, edge, during)
    after = after._replace(v=hit.v)
    if loaded.account:
        after = after._replace(x=[*after.x[:-1], after.x[-1] + hit.lost])
    return {**_groups(after), "lost": hit.lost, "impulses": list(hit.impulses)}


def _automaton(loaded: LoadedRobot) -> Automaton:
    member = loaded.elements.automaton
    assert member is not None
    found: Automaton = member.element
    return found


def _in_phase(loaded: LoadedRobot, at: Instant, phase: str) -> Instant:
    """The instant with this phase as the present one."""
    member = loaded.elements.automaton
    assert member is not None
    memory = list(at.m)
    memory[member.m] = float(member.element.number(phase))
    return at._replace(m=memory)


def _groups(at: Instant) -> dict[str, Any]:
    return {group: list(getattr(at, group)) for group in GROUPS}


def _value(loaded: LoadedRobot, now: SystemInstant, at: Instant, quantity: Quantity, what: str) -> Any:
    """The value of a guard or a condition, which is a text or a user function."""
    if callable(quantity):
        return one_number(of_groups(quantity, loaded.user_groups(at), what), what)
    member = loaded.elements.automaton
    assert member is not None
    view = now.views[loaded.elements.members.index(member)]
    return text_value(member.element, quantity, view, any_signal=True)


def _renamed(loaded: LoadedRobot, edge: Edge, at: Instant) -> Instant:
    """The instant after names are exchanged; states of the user and the account of energy stay the same."""
    names, own = relabeling(edge, loaded.elements), loaded.added.states
    return at._replace(
        q=relabeled(at.q, names.q),
        v=relabeled(at.v, names.v),
        x=[*at.x[:own], *relabeled(at.x[own:], names.x)],
        m=relabeled(at.m, names.m),
    )


def _reset(loaded: LoadedRobot, edge: Edge, at: Instant) -> Instant:
    """The instant with the new values that the reset of an edge gives."""
    if callable(edge.reset):
        return _own_reset(loaded, edge, at)
    if not edge.reset:
        return at
    now = seen(loaded, loaded.tree(at.p, at.t), at)
    member = loaded.elements.automaton
    assert member is not None
    view = now.views[loaded.elements.members.index(member)]
    new = _groups(at)
    for name, text in edge.reset:
        group, index = reset_target(name, loaded.elements)
        index += loaded.added.states if group == "x" else 0
        new[group][index] = text_value(member.element, text, view, any_signal=True)
    return at._replace(**new)._replace(q=charts.finished(loaded.bare, new["q"]))


def _own_reset(loaded: LoadedRobot, edge: Edge, at: Instant) -> Instant:
    what = f"'{edge.name}', reset"
    changed = of_groups(edge.reset, loaded.user_groups(at), what)  # type: ignore[arg-type]  # it is callable
    if not isinstance(changed, Mapping) or not set(changed) <= set(GROUPS):
        raise ModelError(
            f"law {what} returns {changed!r}; expected a dict of new values for q, v, x or m, as {{'v': [0.0, 1.0]}}."
        )
    new = {}
    for group, values in changed.items():
        old: Sequence[Any] = getattr(at, group)
        own = loaded.added.states if group == "x" else len(old)
        new[group] = [*checked_length(values, own, f"law {what}, {group},"), *old[own:]]
    at = at._replace(**new)
    return at._replace(q=charts.finished(loaded.bare, at.q))


def _begun(loaded: LoadedRobot, edge: Edge, at: Instant, phase: str) -> Instant:
    """The instant in the phase that begins, with the memory of elements that begin to act: points are held where they
    are now.

    An element that acted in the source phase too keeps its memory. It gets new memory where names were exchanged, since
    its memory is that of another part then, and where a phase follows itself, as for a wheel that rolls on spokes.
    """
    automaton = _automaton(loaded)
    source, begins = automaton.number(edge.source), automaton.number(phase)
    at = _in_phase(loaded, at, phase)
    now, memory = seen(loaded, loaded.tree(at.p, at.t), at), list(at.m)
    for index, (element, law, _, start) in enumerate(loaded.elements.members):
        phases = loaded.elements.acts_in[index]
        if phases is None or begins not in phases or (source in phases and source != begins and not edge.relabel):
            continue
        new = law.entered(element, now.views[index])
        memory[start : start + len(new or ())] = new or ()
    return at._replace(m=memory)


# ── impacts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _EdgeImpact(NamedTuple):
    """Velocities (nv,) after an impact, the energy lost [J], and the impulses (nc,) of all constraints."""

    v: Sequence[Any]
    lost: Any
    impulses: Sequence[Any]


def _edge_impact(loaded: LoadedRobot, edge: Edge, at: Instant) -> _EdgeImpact:
    """The impact of an edge at an instant in the phase whose constraints take part in it."""
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    if edge.impact == "none" or not loaded.constrained:
        return _EdgeImpact(at.v, 0.0, [0.0] * len(loaded.constraint_names))
    found = conditions_at(loaded, tree, at, bias=False)
    if edge.law is not None:
        return _by_law(loaded, edge, edge.law, at, found)
    rows = with_locked_rows(found.rows([-rate for rate in found.rate]), loaded.locked, loaded.nv)
    change, impulses, *_ = loaded.dynamics.laws.under(tree, at.q, [0.0] * loaded.nv, rows)
    impulses = impulses[: len(found.rate)]
    lost: Any = 0.0
    for impulse, rate in zip(impulses, found.rate, strict=True):  # the rates after the impact are 0
        lost = lost - 0.5 * times(impulse, rate)
    return _EdgeImpact(summed(at.v, change), lost, impulses)


def _by_law(loaded: LoadedRobot, edge: Edge, law: ImpactLaw, at: Instant, found: Conditions) -> _EdgeImpact:
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
    return _EdgeImpact(hit.v, minus(hit.loss, hit.gain), impulses)


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
