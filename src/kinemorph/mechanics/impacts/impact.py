"""Impacts of rigid bodies: velocities after, impulses and the energy lost, by the law of the model.

    M v+ = M v- + J^T p + G^T lambda,      G v+ = wanted

The contacts, with rows J, give impulses p by a law of `model.elements.contact.impact_laws`; constraints that hold on,
with rows G, give the impulses lambda. One contact is followed through its impact (`sliding_path`), and so is each one
of a sequence. Several contacts at once have phases, compression and restitution; in each, friction opposes the sliding
at the end of the phase (`coulomb_cone`):

    Plastic      compression only
    Newton       one phase, after which u_n+ >= -e u_n- complements the normal impulse
    Poisson      in restitution p_n is at least e times that of compression, and more where a contact would approach
    Energetic    as Poisson, with the impulses of restitution scaled so that their normal work is e^2 of that of
                 compression, and never so far that energy is gained or a contact approaches
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, less_equal, maximum, minimum, minus, sqrt, times, where
from kinemorph.algebra.vectors import add, dot, matvec, sub
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor, branch_factor
from kinemorph.mechanics.impacts.contact_space import NONE, ContactRows, ContactSpace, contact_space, settled
from kinemorph.mechanics.impacts.coulomb_cone import in_coulomb_cone
from kinemorph.mechanics.impacts.sliding_path import Path, path_of, reach, until_impulse, until_velocity, until_work
from kinemorph.mechanics.impacts.touch import Place, Touch
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.elements.contact.impact_laws import Energetic, ImpactLaw, Newton, Plastic, Poisson

MOST_SCALED = 10.0  # the most by which impulses of restitution are scaled: jammed contacts would take any impulse
SOLVED = 1e-9  # of the largest velocity of a contact: a larger violation of the law is no solution
ROUNDING = 1e-12  # of the largest velocity of a contact: smaller changes of velocities are rounding errors


class Impacted(NamedTuple):
    """What an impact does.

    `v` (nv,) are the velocities after it, `impulses` (n, 1 + t) [N s] those of the contacts, normal first, `held` (nc,)
    those of the rows that hold. `loss` [J] is the kinetic energy lost and `gain` [J] that gained, one of which is 0.
    `approach` [m/s] is the largest speed at which a contact still approaches, above 0 where a sequence ended too early.
    `error` [m/s] is the largest violation of the law's equations by contacts at once. It is NaN, as are
    the impulses, where no solution is found: Newton's law may contradict Coulomb's where contacts are redundant.
    """

    v: list[S]
    impulses: list[list[S]]
    held: list[S]
    loss: S
    gain: S
    approach: S
    error: S


def impact(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    contacts: ContactRows,
    law: ImpactLaw,
    holds: ConstraintRows = NONE,
    *,
    sweeps: int | None = None,
) -> Impacted:
    """The impact of a robot at (q, v); see `impact_of`. `holding` makes rows hold on at the rates that they have."""
    M = mass_matrix(tree, q)
    return impact_of(branch_factor(tree, M), M, v, contacts, law, holds, sweeps=sweeps)


def impact_of(
    metric: BranchFactor,
    M: Sequence[Sequence[S]],
    v: Sequence[S],
    contacts: ContactRows,
    law: ImpactLaw,
    holds: ConstraintRows = NONE,
    *,
    sweeps: int | None = None,
) -> Impacted:
    """The impact of contacts at the velocities v (nv,), with the mass matrix M (nv, nv) and its factors `metric`.

    `holds` are the rows that hold during the impact, with their rates after it. In a sequence the contacts are hit in
    their order, `sweeps` times all of them (as often as there are contacts by default); those that do not approach are
    left out.
    """
    space = contact_space(metric, v, contacts, holds)
    p, error = impulses_of(space, contacts, law, sweeps=sweeps)
    after = settled(metric, v, p, contacts, holds)
    change = sub(after.v, v)
    gained = dot(change, matvec(M, [x + 0.5 * dx for x, dx in zip(v, change, strict=True)]))
    width = contacts.width
    approach: S = 0.0
    for i, contact in enumerate(contacts.rows):
        weight = 1.0 if contacts.weights is None else contacts.weights[i]
        approach = maximum(approach, times(weight, -dot(contact[0], after.v)))
    return Impacted(
        after.v,
        [p[i : i + width] for i in range(0, len(p), width)],
        after.held,
        maximum(-gained, 0.0),
        maximum(gained, 0.0),
        approach,
        error,
    )


def impulses_of(
    space: ContactSpace, contacts: ContactRows, law: ImpactLaw, *, sweeps: int | None = None
) -> tuple[list[S], S]:
    """(impulses (m,) of contacts by an impact law, contact by contact, normal first; violation [m/s] of the law)."""
    n, width = len(contacts.rows), contacts.width
    given = contacts.restitution
    e: list[S] = [law.restitution] * n if given is None or isinstance(law, Plastic) else list(given)
    W, u, _ = of_present(space, contacts)
    if n == 1 or law.in_sequence:
        rounds = 1 if n == 1 else (n if sweeps is None else sweeps)
        return _in_sequence(W, u, contacts.friction, e, law, rounds, width), 0.0
    p, error = AT_ONCE[type(law)](W, u, contacts.friction, e, width)
    fast = _fastest(u)
    solved = less_equal(error, SOLVED * fast)
    unknown = div(
        where(solved, 0.0 * fast, fast - fast), where(solved, 1.0, 0.0)
    )  # 0, or NaN where no solution is found
    return [x + unknown for x in p], error + unknown


def _fastest(u: Sequence[S]) -> S:
    """The largest magnitude of the velocities u [m/s]."""
    fast: S = 0.0
    for x in u:
        fast = maximum(fast, absolute(x))
    return fast


def of_present(space: ContactSpace, contacts: ContactRows) -> ContactSpace:
    """W and u without contacts of weight 0: they feel nothing, and they seem to open.

    So do contacts that other constraints hold entirely: in W they are rounding errors, which must not be scaled up.
    """
    if contacts.weights is None and not space.moves:
        return space
    width, count = contacts.width, len(space.u)
    there: list[S] = [1.0 if contacts.weights is None else contacts.weights[k // width] for k in range(count)]
    if space.moves:
        there = [times(times(x, space.moves[k]), space.moves[k - k % width]) for k, x in enumerate(there)]
    W = [
        [where(times(there[i], there[j]), x, float(i == j)) for j, x in enumerate(row)] for i, row in enumerate(space.W)
    ]
    return ContactSpace(W, [where(there[k], x, float(k % width == 0)) for k, x in enumerate(space.u)])


# ── one contact, and several in sequence ──────────────────────────────────────────────────────────────────────────────


def _in_sequence(
    W: Sequence[Sequence[S]],
    u: Sequence[S],
    mu: Sequence[S],
    e: Sequence[S],
    law: ImpactLaw,
    rounds: int,
    width: int,
) -> list[S]:
    p: list[S] = [0.0] * len(u)
    for _ in range(rounds):
        for i in range(len(mu)):
            places = range(i * width, (i + 1) * width)
            local = Touch([[W[k][j] for j in places] for k in places], [u[k] for k in places], mu[i])
            hit = followed(local, law, e[i])
            for k, x in zip(places, hit, strict=True):
                p[k] = p[k] + x
            u = [velocity + dot([row[k] for k in places], hit) for velocity, row in zip(u, W, strict=True)]
    return p


def followed(touch: Touch, law: ImpactLaw, e: S) -> list[S]:
    """The impulse (1 + t,) of one contact, normal first, followed through its impact; 0 where it does not approach."""
    path = path_of(touch, e)
    start = Place(0.0, [0.0] * (len(touch.u) - 1), 0.0)
    end = FOLLOWED[type(law)](path, reach(path, until_velocity(0.0), start), e)
    hits = less(touch.u[0], 0.0)
    return [where(hits, x, 0.0) for x in (end.p, *end.friction)]


FOLLOWED: dict[type[ImpactLaw], Callable[[Path, Place, S], Place]] = {
    Plastic: lambda path, pressed, e: pressed,
    Newton: lambda path, pressed, e: reach(path, until_velocity(-e * path.touch.u[0]), pressed),
    Poisson: lambda path, pressed, e: reach(path, until_impulse((1.0 + e) * pressed.p), pressed),
    Energetic: lambda path, pressed, e: reach(path, until_work((1.0 - e * e) * pressed.work), pressed),
}


# ── several contacts at once ──────────────────────────────────────────────────────────────────────────────────────────


def _newton(W: Sequence[Sequence[S]], u: Sequence[S], mu: Sequence[S], e: Sequence[S], width: int) -> tuple[list[S], S]:
    goal = [x + e[k // width] * minimum(x, 0.0) if k % width == 0 else x for k, x in enumerate(u)]
    found = in_coulomb_cone(W, goal, mu)
    return list(found.p), found.error


def _plastic(
    W: Sequence[Sequence[S]], u: Sequence[S], mu: Sequence[S], e: Sequence[S], width: int
) -> tuple[list[S], S]:
    found = in_coulomb_cone(W, u, mu)
    return list(found.p), found.error


def _poisson(
    W: Sequence[Sequence[S]], u: Sequence[S], mu: Sequence[S], e: Sequence[S], width: int
) -> tuple[list[S], S]:
    pressed = in_coulomb_cone(W, u, mu)
    floor = [times(e[i], pressed.p[i * width]) for i in range(len(mu))]
    back = in_coulomb_cone(W, pressed.u, mu, floor)
    return list(add(pressed.p, back.p)), maximum(pressed.error, back.error)


def _energetic(
    W: Sequence[Sequence[S]], u: Sequence[S], mu: Sequence[S], e: Sequence[S], width: int
) -> tuple[list[S], S]:
    pressed = in_coulomb_cone(W, u, mu)
    normals = range(0, len(u), width)
    floor = [times(e[i], pressed.p[k]) for i, k in enumerate(normals)]
    back = in_coulomb_cone(W, pressed.u, mu, floor)
    change = [minus(after, before) for after, before in zip(back.u, pressed.u, strict=True)]
    taken: S = 0.0
    for i, k in enumerate(normals):
        taken = taken - 0.5 * e[i] * e[i] * pressed.p[k] * (u[k] + pressed.u[k])
    # share: the normal work  share (a + share b / 2)  of the impulses of restitution is what they may give back
    share = _positive_root(
        dot([back.p[k] for k in normals], [pressed.u[k] for k in normals]),
        dot([back.p[k] for k in normals], [change[k] for k in normals]),
        taken,
    )
    lost = -dot(pressed.p, [0.5 * (x + y) for x, y in zip(u, pressed.u, strict=True)])
    share = minimum(share, _positive_root(dot(back.p, pressed.u), dot(back.p, change), lost))
    rounding = ROUNDING * _fastest(u)
    for k in normals:  # restitution closes no contact; one whose velocity it changes by rounding errors does not count
        closes = less(change[k], -rounding)
        share = where(closes, minimum(share, maximum(div(pressed.u[k], where(closes, -change[k], 1.0)), 0.0)), share)
    p = [x + share * y for x, y in zip(pressed.p, back.p, strict=True)]
    return p, maximum(pressed.error, back.error)


def _positive_root(a: S, b: S, c: S) -> S:
    """The largest x from 0 to `MOST_SCALED` with  a x + b x^2 / 2 <= c,  for c >= 0."""
    c = maximum(c, 0.0)
    square = a * a + 2.0 * b * c
    below = a + sqrt(maximum(square, 0.0))
    ends = less(0.0, below) * less(0.0, square)
    root = where(ends, div(2.0 * c, where(ends, below, 1.0)), where(less(0.0, maximum(a, b)), 0.0, MOST_SCALED))
    return minimum(root, MOST_SCALED)


AT_ONCE: dict[type[ImpactLaw], Callable[..., tuple[list[S], S]]] = {
    Plastic: _plastic,
    Newton: _newton,
    Poisson: _poisson,
    Energetic: _energetic,
}
