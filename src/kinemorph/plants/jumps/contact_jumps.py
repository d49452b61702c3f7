"""Jumps of rigid contacts: impacts, and the modes that contacts have from then on.

All points of all rigid contacts share one jump, whichever of their guards has fallen through zero:

    touches    the gap of an open point falls to 0
    lifts      the normal force of a closed point falls to 0
    slips      the friction of a point that sticks reaches its cone
    halts      a point that slides comes to rest, or its direction has turned by a right angle
    jams       the normal force of a point that slides no longer pushes it out (Painleve)
    nears      an open point begins to move away from its surface. Nothing happens there, but a point that dips below
               its surface and comes out again within a step is found by it

Where a point that touches approaches, velocities jump by the law of impacts, with all points that touch. Then points
that neither approach nor separate are closed or open, stick or slide, by complementarity of forces and accelerations.

A ball that bounces ever lower has infinitely many impacts in a finite time. Where the next flight would be shorter than
`Rigid.shortest`, the point is closed. The memory `rest` is the time at which the series of bounces would end, which is
exact for a body that nothing else touches: each flight is shorter than the last by the restitution e,

    rest = t + 2 u / ((1 - e) |b|),      u the velocity of separation, b the acceleration without contacts

A point that has no force and neither approaches nor separates is idle, until its surfaces overlap by NEAR: so its next
touch is seen even where it lifts by less than rounding errors. Where no forces are possible, the bodies then approach,
and an impact follows: the impact without collision of Painleve's paradox.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinemorph.algebra.scalar import absolute, div, is_zero, less, less_equal, maximum, minus, plus, sqrt, times, where
from kinemorph.algebra.vectors import dot, matvec
from kinemorph.mechanics.constraints.constrained import ConstraintRows, with_locked_rows
from kinemorph.mechanics.elements.contact.rigid_contacts import IDLE, OPEN, REST, SLIP, STICK
from kinemorph.mechanics.impacts.closed_contacts import SLIDING, decided_modes
from kinemorph.mechanics.impacts.impact import impact_of
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.elements.contact.impact_laws import ImpactLaw, Plastic
from kinemorph.plants.constrained_motion import acceleration_rows, conditions_at, solved
from kinemorph.plants.contacts.rigid_rows import RigidRows, inverse_masses, metric_of, other_rows, rigid_rows
from kinemorph.plants.forces import acting, all_forces, summed
from kinemorph.plants.instant import Instant
from kinemorph.plants.loaded_robot import LoadedRobot

NEAR = 1e-9  # [m]; surfaces that are nearer touch
HALTED = 1e-9  # [m/s] against the direction of sliding at which a point has halted: one that starts has 0
APPROACHING = 1e-10  # [m/s]; slower points do not approach
AT_BOUND = 1e-7  # relative to forces: an event is found on states that are not yet brought onto the constraints
LONGEST = 1e6  # [s] that a series of bounces may last at most


class _Settled(NamedTuple):
    """Velocities (nv,) and memory (nm,) after a decision of modes, and the impulses (nc,) that stop what is left."""

    v: list[Any]
    m: list[Any]
    impulses: list[Any]


def contact_guards(loaded: LoadedRobot, at: Instant) -> list[list[Any]]:
    """The values of all guards of each point; a guard that does not apply in the point's mode is 1."""
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    found = solved(loaded, tree, at, acting(loaded, tree, at))
    values = []
    rows = rigid_rows(loaded, tree, at, bias=False)
    for place, point, rate, grip in zip(loaded.rigid, rows.points, rows.u, found.grips, strict=True):
        normal, *friction = (found.multipliers[k] for k in place.rows)
        size = sqrt(maximum(dot(friction, friction), 1e-300))
        open_, idle = less(point.mode, 0.5), less(2.5, point.mode)
        rubs = type(point.mu) is not float or point.mu > 0.0
        values.append(
            [
                where(open_, point.gap, where(idle, plus(point.gap, NEAR), 1.0)),
                where(point.closed, normal, 1.0),
                where(point.sticks, minus(times(point.mu, normal), size), 1.0) if rubs else 1.0,
                where(point.slides, plus(dot(point.slip, point.direction), HALTED), 1.0) if rubs else 1.0,
                where(point.slides, grip, 1.0) if rubs else 1.0,
                where(point.closed, 1.0, -rate[0]),
            ]
        )
    return values


def contact_jump(loaded: LoadedRobot, at: Instant) -> dict[str, Any]:
    """The state (q, v, x, m) after an event of rigid contacts, the energy lost [J], and the impulses (nc,)."""
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    rows = rigid_rows(loaded, tree, at, bias=False)
    near = [point.is_near(NEAR) for point in rows.points]
    found = conditions_at(loaded, tree, at, bias=False)
    hit, M = _struck(loaded, tree, at, rows, near, found.rows([dot(row, at.v) for row in found.J]))
    strikes: Any = 0.0
    for touches, u in zip(near, rows.u, strict=True):
        strikes = maximum(strikes, times(touches, less(u[0], -APPROACHING)))
    v = [where(strikes, new, old) for new, old in zip(hit.v, at.v, strict=True)]
    let_go, yields = _at_bounds(loaded, tree, at, rows)
    stays = [maximum(strikes, 1.0 - one) for one in let_go]
    yields = [(times(one, 1.0 - strikes), direction) for one, direction in yields]
    settled = _settled(loaded, tree, at._replace(v=v), near, stays, yields)
    impulses = [where(strikes, impulse, 0.0) for impulse in hit.impulses]
    impulses = summed(impulses, settled.impulses)
    lost = 0.5 * minus(dot(at.v, matvec(M, at.v)), dot(settled.v, matvec(M, settled.v)))
    x = list(at.x)
    if loaded.account:
        x[-1] = x[-1] + lost
    return {
        "q": _touching(loaded, tree, at, rows, near),
        "v": settled.v,
        "x": x,
        "m": settled.m,
        "lost": lost,
        "impulses": impulses,
    }


class _Hit(NamedTuple):
    """Velocities (nv,) after an impact of all points that touch, and the impulses (nc,) of all constraints."""

    v: list[Any]
    impulses: list[Any]


def _struck(
    loaded: LoadedRobot, tree: Tree, at: Instant, rows: RigidRows, near: list[Any], after: ConstraintRows
) -> tuple[_Hit, list[list[Any]]]:
    """(the impact of points that are `near` their surfaces, the mass matrix); other rows have the rates `after` it."""
    holds, places = other_rows(loaded, with_locked_rows(after, loaded.locked, loaded.nv))
    M, metric = metric_of(loaded, tree, at)
    hit = impact_of(metric, M, at.v, rows.contacts(near), _law(loaded, rows), holds)
    impulses: list[Any] = [0.0] * len(after.J)
    for k, impulse in zip(places, hit.held, strict=True):
        if k < len(impulses):  # rows of locked joints come after all others
            impulses[k] = impulse
    for place, own in zip(loaded.rigid, hit.impulses, strict=True):
        for k, impulse in zip(place.rows, (own[0], *rows.both(own[1:])), strict=True):
            impulses[k] = impulse
    return _Hit(hit.v, impulses), M


class EdgeContacts(NamedTuple):
    """Velocities (nv,) and memory (nm,) after an edge, the energy lost [J], and the impulses (nc,)."""

    v: list[Any]
    m: list[Any]
    lost: Any
    impulses: list[Any]


def contacts_at_edge(loaded: LoadedRobot, at: Instant, target: Instant, *, impact: bool) -> EdgeContacts:
    """What rigid contacts do at an edge of an automaton: they push or open in its impact, and get new modes.

    `at` is the instant in the phase whose constraints take part in the impact, after which their rates are 0; `target`
    is the instant at which the target phase begins. Without `impact` velocities do not change.
    """
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    rows = rigid_rows(loaded, tree, at, bias=False)
    found = conditions_at(loaded, tree, at, bias=False)
    stopped = [minus(dot(row, at.v), rate) for row, rate in zip(found.J, found.rate, strict=True)]
    hit, M = _struck(loaded, tree, at, rows, [point.is_near(NEAR) for point in rows.points], found.rows(stopped))
    v = hit.v if impact else list(at.v)
    after = target._replace(v=v)
    points = rigid_rows(loaded, tree, after, bias=False).points
    settled = _settled(loaded, tree, after, [point.is_near(NEAR) for point in points])
    if not impact:
        return EdgeContacts(v, settled.m, 0.0, [0.0] * len(found.rate))
    lost = 0.5 * minus(dot(at.v, matvec(M, at.v)), dot(settled.v, matvec(M, settled.v)))
    return EdgeContacts(settled.v, settled.m, lost, summed(hit.impulses, settled.impulses))


def _touching(loaded: LoadedRobot, tree: Tree, at: Instant, rows: RigidRows, near: list[Any]) -> list[Any]:
    """The configuration (nq,) nearest to that of an instant in which points that touch have a gap of 0 exactly.

    Gaps of closed points have errors of the tolerance of the constraints. A point that lifts would otherwise start
    below its surface, and its next touch would not be seen.
    """
    gaps = [point.gap for point in rows.points]
    return charts.place(loaded.bare, at.q, _moved(loaded, tree, at, rows, near, gaps)[0])


def _moved(
    loaded: LoadedRobot, tree: Tree, at: Instant, rows: RigidRows, there: list[Any], off: list[Any]
) -> tuple[list[Any], list[Any]]:
    """(the smallest change (nv,) of velocities or positions that removes `off` (n,) along the normals of points, the
    impulses (nc,) of all constraints that cause it).

    It is removed at points for which `there` is 1, while all other constraints hold on.
    """
    found = conditions_at(loaded, tree, at, bias=False)
    kept = with_locked_rows(found.rows([0.0] * len(found.rate)), loaded.locked, loaded.nv)
    holds, places = other_rows(loaded, kept)
    J = [*(row[0] for row in rows.J), *holds.J]
    wanted = [*(-times(one, x) for one, x in zip(there, off, strict=True)), *holds.wanted]
    closing = ConstraintRows(J, wanted, [*there, *holds.weights], found.opening)
    change, multipliers, *_ = loaded.dynamics.laws.under(tree, at.q, [0.0] * loaded.nv, closing)
    impulses: list[Any] = [0.0] * (len(found.rate) + len(loaded.locked))
    for k, impulse in zip([*(place.rows[0] for place in loaded.rigid), *places], multipliers, strict=True):
        impulses[k] = impulse
    return list(change), impulses[: len(found.rate)]


def _law(loaded: LoadedRobot, rows: RigidRows) -> ImpactLaw:
    """The law of impacts of all contacts; without restitution the simplest one, which is equal to the others."""
    law = loaded.rigid[0].normal.impact
    return Plastic(law.in_sequence) if all(is_zero(point.restitution) for point in rows.points) else law


def contact_memory(loaded: LoadedRobot, at: Instant) -> list[Any]:
    """The memory (nm,) at the start of a run: points that touch get their modes."""
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    points = rigid_rows(loaded, tree, at, bias=False).points
    return _settled(loaded, tree, at, [times(point.active, less(point.gap, NEAR)) for point in points]).m


def _at_bounds(
    loaded: LoadedRobot, tree: Tree, at: Instant, rows: RigidRows
) -> tuple[list[Any], list[tuple[Any, list[Any]]]]:
    """(1 for each closed point whose normal force has fallen to 0; for each point whether its friction is at its cone
    while it sticks, and the direction in which it then slides).

    Accelerations are still 0 at such an event, and do not tell what happens next: a point has no force, or slides.
    """
    found = solved(loaded, tree, at, acting(loaded, tree, at))
    size: Any = 1e-300
    for place in loaded.rigid:
        size = maximum(size, absolute(found.multipliers[place.rows[0]]))
    lets_go, yields = [], []
    for place, point in zip(loaded.rigid, rows.points, strict=True):
        normal, *both = (found.multipliers[k] for k in place.rows)
        friction = rows.along(both)
        length = sqrt(maximum(dot(friction, friction), 1e-300))
        lets_go.append(times(point.closed, less_equal(normal, AT_BOUND * size)))
        bound = times(point.mu, normal)
        full = times(point.sticks, less_equal(bound - length, AT_BOUND * bound))
        yields.append((full, [-div(x, length) for x in friction]))
    return lets_go, yields


def _settled(
    loaded: LoadedRobot,
    tree: Tree,
    at: Instant,
    near: list[Any],
    stays: list[Any] | None = None,
    yields: list[tuple[Any, list[Any]]] | None = None,
) -> _Settled:
    """New modes of points that are `near` their surfaces, and velocities at which closed points do not move.

    Points for which `stays` is 0 get no force; see `decided_modes` for `yields`.
    """
    rows = rigid_rows(loaded, tree, at)
    conditions = conditions_at(loaded, tree, at)
    holds = other_rows(loaded, acceleration_rows(loaded, conditions)).rows
    found = acting(loaded, tree, at)
    dynamics = loaded.dynamics
    forces = (found.tau, *found.loads) if dynamics.laws.takes_wrenches else (all_forces(tree, at, found),)
    free = dynamics.laws.under(tree, at.q, dynamics.laws.rest(tree, at.q, at.v, *forces), holds).a
    b = [
        minus(dot(row, free), goal)
        for J, goals in zip(rows.J, rows.gamma, strict=True)
        for row, goal in zip(J, goals, strict=True)
    ]
    W = inverse_masses(metric_of(loaded, tree, at)[1], rows, holds)
    width = 1 + len(rows.tangents)
    slow, series, approaching = [], [], []
    for i, point in enumerate(rows.points):
        u, pull = rows.u[i][0], maximum(-b[i * width], 0.0)
        limit = maximum(0.5 * point.shortest * pull, APPROACHING)
        slow.append(times(near[i], less_equal(absolute(u), limit)))
        approaching.append(times(near[i], less(u, -limit)))
        flight = div(2.0 * maximum(u, 0.0), maximum(pull, 1e-300))
        series.append(where(less(0.0, pull), div(flight, maximum(1.0 - point.restitution, 1e-12)), 0.0))
    pressed = slow if stays is None else [times(one, keep) for one, keep in zip(slow, stays, strict=True)]
    # what is left of a bounce is removed first: it may turn the direction of sliding
    change, pushed = _moved(loaded, tree, at, rows, slow, [row[0] for row in rows.u])
    slip = [
        [plus(u, dot(row, change)) for u, row in zip(own, J[1:], strict=True)]
        for own, J in zip(rows.slip, rows.J, strict=True)
    ]
    decided = decided_modes(W, b, slip, rows.mu, pressed, yields)
    memory, held = list(at.m), list(at.m)  # points that begin to slide have no velocity along their surfaces yet
    for i, (place, point) in enumerate(zip(loaded.rigid, rows.points, strict=True)):
        closed, sticks = decided.modes.closed[i], decided.modes.sticks[i]
        idle = maximum(approaching[i], times(slow[i], 1.0 - closed))
        direction = point.in_world(rows.both(decided.modes.directions[i]))
        first, old = place.memory, at.m[place.memory + REST]
        memory[first] = where(sticks, STICK, where(closed, SLIP, where(idle, IDLE, OPEN)))
        memory[first + 1 : first + 4] = [where(times(closed, 1.0 - sticks), x, 0.0) for x in direction]
        begins = at.t + where(less(series[i], LONGEST), series[i], 0.0)
        memory[first + REST] = where(closed, where(point.closed, old, begins), 0.0)
        begins_to_slide = times(closed, less_equal(dot(slip[i], slip[i]), SLIDING * SLIDING))
        held[first] = where(begins_to_slide, STICK, memory[first])
    after = at._replace(v=summed(at.v, change), m=held)
    still = conditions_at(loaded, tree, after, bias=False)
    stopped = with_locked_rows(still.rows([-rate for rate in still.rate]), loaded.locked, loaded.nv)
    last, stopping, *_ = dynamics.laws.under(tree, at.q, [0.0] * loaded.nv, stopped)
    return _Settled(summed(after.v, last), memory, summed(pushed, stopping[: len(pushed)]))
