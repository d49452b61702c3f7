"""A step of Moreau and Jean: contacts within a step are impulses, and no event is looked for.

    free flight for h/2,    M (v+ - v) = h (tau - h_bias - M a0) + J^T p + G^T lambda,    free flight for h/2

All terms are evaluated at the middle of the step, between the flights; a0 are the accelerations of free flight there
(mechanics.steps.free_flight). Contacts whose surfaces overlap there, or are no farther apart than the forces of the
step move a contact, have impulses p in Coulomb's cone, with Newton's restitution: u_n+ + e u_n- >= 0 complements p_n >=
0. Constraints that hold, with rows G, hold for v+. Any number of contacts may open and close in a step; the error is of
order 1.

Moreau, Nonsmooth Mechanics and Applications (1988) 1-82; Jean, Comput. Methods Appl. Mech. Eng. 177 (1999) 235-257.
"""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.scalar import absolute, div, less_equal, maximum, minimum, minus, plus, times, where
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.constraints.constrained import constrained_dynamics, with_locked_rows
from kinemorph.mechanics.elements.contact.rigid_contacts import OPEN, PUSH
from kinemorph.mechanics.impacts.contact_space import NONE, contact_space, settled
from kinemorph.mechanics.impacts.coulomb_cone import in_coulomb_cone
from kinemorph.mechanics.impacts.impact import of_present
from kinemorph.mechanics.steps.free_flight import flight, flight_accelerations, half_flown
from kinemorph.mechanics.trees import charts
from kinemorph.plants.constrained_motion import conditions_at
from kinemorph.plants.contacts.rigid_rows import metric_of, other_rows, rigid_rows
from kinemorph.plants.forces import acting, all_forces, extra_rates
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.loaded_robot import LoadedRobot


def time_step(loaded: LoadedRobot, at: LocalInstant, h: Any) -> dict[str, Any]:
    """The state s = [w, v, x] (ns,) after a step of h [s] from s = [0, v, x] about `base`, and the memory m (nm,).

    The memory has the mean force [N] of each contact over the step, its impulse divided by h.
    """
    nv, bare, dynamics = loaded.nv, loaded.bare, loaded.dynamics
    memory = list(at.m)
    for place in loaded.rigid:
        memory[place.memory] = OPEN  # no contact is a constraint
    now = loaded.instant(at._replace(s=[*[0.0] * nv, *at.s[nv:]], m=memory))
    first, q, v = half_flown(loaded.tree(at.p, at.t), bare, at.base, now.v, h, loaded.locked)
    now = now._replace(t=plus(at.t, 0.5 * h), q=q, v=v)
    tree = loaded.prepared(loaded.tree(at.p, now.t))
    rows = rigid_rows(loaded, tree, now, bias=False)
    found = acting(loaded, tree, now)
    forces = (found.tau, *found.loads) if dynamics.laws.takes_wrenches else (all_forces(tree, now, found),)
    rest = dynamics.laws.rest(tree, now.q, now.v, *forces)
    held = conditions_at(loaded, tree, now, bias=False)
    wanted = [minus(dot(row, now.v), rate) for row, rate in zip(held.J, held.rate, strict=True)]
    holds = other_rows(loaded, with_locked_rows(held.rows(wanted), loaded.locked, nv)).rows
    _, metric = metric_of(loaded, tree, now)
    pushed = constrained_dynamics(metric, [times(h, force) for force in rest], NONE).a
    free = sub(add(now.v, pushed), scale(h, flight_accelerations(tree, now.v, loaded.locked)))
    contacts = rows.contacts([1.0] * len(rows.points))
    width, space = contacts.width, contact_space(metric, free, contacts, holds)
    near: Any = 0.0  # [m] that the forces of the step move contacts: nearer ones count as closed, or rounding decides
    for before, after in zip(rows.u, space.u[::width], strict=True):
        near = maximum(near, times(0.5 * h, absolute(minus(after, before[0]))))
    closed = [less_equal(point.gap, near) for point in rows.points]
    contacts = rows.contacts(closed)
    space = of_present(space, contacts)
    goal = list(space.u)
    for i, point in enumerate(rows.points):
        bounce = times(point.restitution, minimum(rows.u[i][0], 0.0))
        goal[i * width] = plus(goal[i * width], where(contacts.weights[i], bounce, 0.0))  # type: ignore[index]
    p = in_coulomb_cone(space.W, goal, rows.mu).p
    v = settled(metric, free, p, contacts, holds).v
    mean = [0.5 * (a + b) for a, b in zip(now.v, v, strict=True)]
    work = dot(p, [dot(row, mean) for row in contacts.J])
    rates = extra_rates(loaded, tree, now._replace(v=mean), found, 0.0, -work / h)
    x = [plus(a, times(h, b)) for a, b in zip(now.x, rates, strict=True)]
    for i, (place, point) in enumerate(zip(loaded.rigid, rows.points, strict=True)):
        normal, *along = (where(contacts.weights[i], div(entry, h), 0.0) for entry in p[i * width : (i + 1) * width])  # type: ignore[index]
        push = add(scale(normal, point.normal), point.in_world(rows.both(along)))
        memory[place.memory + PUSH : place.memory + PUSH + 3] = push
    last, after = flight(tree, v, 0.5 * h, loaded.locked)
    return {"out": [*charts.chained(bare, first, last), *after, *x], "m": memory}
