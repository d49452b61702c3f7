"""The motion of a robot with constraints, over any scalar type:

    M(q) a + h(q, v) = tau + J(q)^T lambda,     J a = gamma

J is the Jacobian of all constraints: of loops, coupled joints and elements (`constraints`). One of the methods of
`loop_methods` keeps them satisfied. The equations are the same for all methods; methods differ in how they correct
errors, during a step and after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import div, is_zero, less, less_equal, minimum, minus, plus, sqrt, times, where
from kinemorph.algebra.vectors import dot, sub
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.constrained import (
    ConstraintRows,
    constrained_dynamics,
    masked,
    span_of,
    with_locked_rows,
)
from kinemorph.mechanics.constraints.driven_constraints import multipliers_in, through_joints
from kinemorph.mechanics.constraints.reactions import loosened
from kinemorph.mechanics.constraints.wrench_views import IN_JOINT, WrenchView
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.recursions.newton_euler import Wrench, inverse_dynamics
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.plants.constraints import Conditions, conditions
from kinemorph.plants.contacts.closed_motion import closed_motion
from kinemorph.plants.contacts.rigid_rows import rigid_rows
from kinemorph.plants.forces import Acting, acting, all_forces, extra_rates, summed
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.loop_methods import Baumgarte, Partitioning, Projection, SingularPerturbation

NEAR = 2e-5  # relative to a row's length: a smaller independent part of a row is lost in rounding errors
FLAT = 0.01  # likewise [rad for a linkage in line]: below it, the direction of the fast motion is not determined


class Corrections(NamedTuple):
    """A displacement `moved` and a `change` of velocity, (nv,) each, that bring a state onto the constraints.

    `found` are the constraints at the uncorrected state; `counts` (nc,) is 1 for rows that can be satisfied, else 0.
    """

    moved: list[Any]
    change: list[Any]
    found: Conditions
    counts: list[Any]


class Solved(NamedTuple):
    """Accelerations (nv,), multipliers (nc,) of all constraints, and the power [W] that constraints supply.

    `lost` [W] is the power of the friction of rigid contacts, and `grips` (n,) are those of `closed_motion`.
    """

    a: Sequence[Any]
    multipliers: Sequence[Any] = ()
    supplied: Any = 0.0
    lost: Any = 0.0
    grips: Sequence[Any] = ()


# ── accelerations and corrections ─────────────────────────────────────────────────────────────────────────────────────


def solved(loaded: LoadedRobot, tree: Tree, at: Instant, found: Acting) -> Solved:
    """Forward dynamics with the forces `found` and all constraints.

    A formulation that takes no wrenches on links gets the generalized forces of these wrenches.
    """
    dynamics = loaded.dynamics
    forces = (found.tau, *found.loads) if dynamics.laws.takes_wrenches else (all_forces(tree, at, found),)
    if not loaded.constrained:
        a = dynamics.laws.accelerations(tree, at.q, at.v, *forces, locked=loaded.locked)
        return Solved(a, supplied=drive_power(loaded, tree, a, found))
    rows = conditions_at(loaded, tree, at)
    rest = dynamics.laws.rest(tree, at.q, at.v, *forces)
    wanted = acceleration_rows(loaded, rows)
    lost: Any = 0.0
    grips: Sequence[Any] = ()
    if loaded.rigid:
        a, multipliers, lost, grips = closed_motion(loaded, tree, at, rest, wanted)
    else:
        a, multipliers, *_ = dynamics.laws.under(tree, at.q, rest, wanted)
    multipliers = multipliers[: len(rows.rate)]
    supplied = plus(driven_power(multipliers, rows), drive_power(loaded, tree, a, found))
    return Solved(a, multipliers, supplied, lost, grips)


def response(loaded: LoadedRobot, at: Instant, signals: Mapping[str, Any]) -> Sequence[Any]:
    """The accelerations of all joints that would follow if these signals of elements, by full name, had these values.

    All other forces and all constraints are those of the instant.
    """
    ready = loaded.prepared(loaded.tree(at.p, at.t))
    return loaded.all_joints(ready, at).accelerations(
        solved(loaded, ready, at, acting(loaded, ready, at, given=signals)).a
    )


def drive_power(loaded: LoadedRobot, tree: Tree, a: Sequence[Any], found: Acting) -> Any:
    """The power [W] of the drives that move joints along formulas of the time, at accelerations `a` (nv,).

    It is the force that such a joint needs beyond the forces `found`, times the part of its velocity that comes from
    the time alone. Forces of constraints are part of `driven_power`.
    """
    every = found.every
    if not loaded.dynamics.robot.is_timed:
        return 0.0
    needed = inverse_dynamics(tree.of_joints, every.q, every.v, every.accelerations(a), *found.loads)
    applied = summed(found.explicit, found.damped)
    power: Any = 0.0
    for k, rate in every.time_rates().items():
        power = plus(power, times(minus(needed[k], applied[k]), rate))
    return power


def driven_power(multipliers: Sequence[Any], rows: Conditions) -> Any:
    """The power [W] supplied by constraints that depend explicitly on time, such as prescribed motions."""
    power: Any = 0.0
    for force, rate in zip(multipliers, rows.driven, strict=True):
        power = minus(power, times(force, rate))
    return power


def conditions_at(loaded: LoadedRobot, tree: Tree, at: Instant, *, bias: bool = True) -> Conditions:
    """All constraints of a loaded robot at an instant; see `conditions`."""

    def moved(t: Any, q: Any, v: Any) -> SystemInstant:
        return loaded.seen(tree, at._replace(t=t, q=q, v=v))

    return conditions(tree, at.t, at.q, at.v, moved if loaded.elements.constraint_names else None, bias=bias, near=NEAR)


def acceleration_rows(loaded: LoadedRobot, found: Conditions) -> ConstraintRows:
    """The constraints `found` as equations for the accelerations, with a row for each locked velocity."""
    wanted = found.gamma
    if isinstance(loaded.loops, Baumgarte):
        pull, damp = loaded.loops.beta**2, 2.0 * loaded.loops.alpha
        wanted = [g - damp * r - pull * e for g, r, e in zip(found.gamma, found.rate, found.filled(), strict=True)]
    return with_locked_rows(found.rows(wanted), loaded.locked, loaded.nv)


def corrections(loaded: LoadedRobot, tree: Tree, at: Instant, per_time: float = 0.0) -> Corrections:
    """The corrections that bring q and v onto the constraints.

    At the corrected velocity, d phi/dt = -per_time phi; `per_time` is in 1/s.
    """
    found = conditions_at(loaded, tree, at, bias=False)
    everything = found.rows([-(rate + per_time * e) for rate, e in zip(found.rate, found.filled(), strict=True)])
    placed = len(found.phi)
    positions = ConstraintRows(found.J[:placed], [-e for e in found.phi], found.weights[:placed], found.opening)
    nothing = [0.0] * loaded.nv
    if loaded.partial:
        free = enumerate(_dependent(loaded, at.m))
        metric = masked([times(mask, float(k not in loaded.locked)) for k, mask in free])
        moved, changed = (constrained_dynamics(metric, nothing, rows) for rows in (positions, everything))
    else:
        moved, changed = (
            loaded.dynamics.laws.under(tree, at.q, nothing, with_locked_rows(rows, loaded.locked, loaded.nv))
            for rows in (positions, everything)
        )
    return Corrections(moved.a, changed.a, found, changed.counts)


def _dependent(loaded: LoadedRobot, m: Any) -> Sequence[Any]:
    """1 for each dependent velocity, else 0, shape (nv,): as the user chose, or else as the run chose.

    The choice of the run is the last part of its memory m.
    """
    return loaded.dependent if loaded.dependent is not None else m[len(m) - loaded.nv :]


def seen(loaded: LoadedRobot, tree: Tree, at: Instant) -> SystemInstant:
    """The system as its elements see it; sensors may read accelerations, joint reactions and multipliers too."""
    robot = loaded.dynamics.robot

    def solution() -> Solved:
        ready = loaded.prepared(loaded.tree(at.p, at.t))
        return solved(loaded, ready, at, acting(loaded, ready, at))

    def accelerations() -> Sequence[Any]:
        return loaded.all_joints(tree, at).accelerations(solution().a)

    def reactions() -> Mapping[str, Sequence[Any]]:
        found = wrenches(loaded, at, solution().a)
        return dict(zip((joint.name for joint in (*robot.joints, *robot.loops)), found, strict=True))

    def multipliers() -> Mapping[str, Any]:
        names, forces = loaded.elements.constraint_names, solution().multipliers
        return dict(zip(names, forces[len(forces) - len(names) :], strict=True))  # rows of elements come last

    return loaded.seen(tree, at, accelerations, reactions, multipliers)


def wrenches(loaded: LoadedRobot, at: Instant, a: Any, view: WrenchView = IN_JOINT) -> list[list[Any]]:
    """The wrench [N, N m] through every joint at accelerations a (nv,), loops last, shape (joints + loops, 6).

    `view` says in which frame the wrenches are, and which part of them.
    """
    robot = loaded.dynamics.robot
    tree = resolve(robot, loaded.lookup(at.p), merged=False).at_time(at.t)
    found = acting(loaded, tree, at)
    loads = found.elements.loads
    if not loaded.constrained:
        return through_joints(robot, tree, at.q, at.v, a, loads, view=view)
    rows = conditions_at(loaded, tree, at, bias=False).rows([])
    if loaded.rigid:
        ready = loaded.prepared(loaded.tree(at.p, at.t))
        multipliers = list(solved(loaded, ready, at, acting(loaded, ready, at)).multipliers)
    else:
        multipliers = multipliers_in(tree, at.q, at.v, a, found.tau, rows, loads, loaded.locked)
    own = len(closures.constraint_names(robot))
    carried = _carried(loaded, tree, at, multipliers[own:])
    return through_joints(robot, tree, at.q, at.v, a, loads, multipliers[:own], carried, view=view)


def _carried(loaded: LoadedRobot, tree: Tree, at: Instant, multipliers: Any) -> dict[int, Wrench]:
    """The wrench of the constraints of elements on each body and all bodies that it carries, by link.

    `tree` has a link for every body; `multipliers` are those of the elements' constraints.
    """
    if not multipliers:
        return {}
    nv, every = tree.nv, loaded.all_joints(tree, at)
    loose, links, at_rest = loosened(tree, loaded.dynamics.robot.body_names)
    standing = [0.0] * (loose.nv - nv)
    moved = at._replace(q=[*every.q, *at_rest], v=[*every.v, *standing])
    J = conditions_at(loaded, loose, moved, bias=False).J
    if loaded.rigid:  # rows of contacts that slide are asleep, their friction is not
        J, points = list(J), rigid_rows(loaded, loose, moved, bias=False)
        for place, rows in zip(loaded.rigid, points.J, strict=True):
            for k, row in zip((place.rows[0], *points.along(place.rows[1:])), rows, strict=True):
                J[k - len(loaded.constraint_names) + len(J)] = row
    found: dict[int, Wrench] = {}
    for n, link in enumerate(links):
        columns = range(nv + 6 * n, nv + 6 * n + 6)
        a, b, c, d, e, f = (dot([row[k] for row in J], multipliers) for k in columns)
        found[link] = ((a, b, c), (d, e, f))
    return found


def _unit_squares(loaded: LoadedRobot, tree: Tree, found: Conditions) -> list[Any]:
    """The squared factors of `closures.velocity_reaches`, which make velocities comparable, (nv,); 0 if locked."""
    reaches = closures.velocity_reaches(tree.of_state, found.sizes)
    return [0.0 if k in loaded.locked else times(reach, reach) for k, reach in enumerate(reaches)]


# ── laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ready(loaded: LoadedRobot, at: LocalInstant) -> tuple[Tree, Instant, Conditions]:
    """The tree in the form that the recursions take, the instant with q and v, and the constraints.

    The right-hand side gamma of J a = gamma is not computed.
    """
    tree = loaded.prepared(loaded.tree(at.p, at.t))
    now = loaded.instant(at)
    return tree, now, conditions_at(loaded, tree, now, bias=False)


def constraints(loaded: LoadedRobot, at: LocalInstant) -> dict[str, Any]:
    """Errors phi (nh,), rates (nc,), Jacobian J (nc, nv) and sizes (nc,) of the constraints; see `Conditions`."""
    _, _, found = _ready(loaded, at)
    return {"phi": found.phi, "rate": found.rate, "J": found.J, "sizes": found.sizes}


def holding(loaded: LoadedRobot, at: LocalInstant) -> dict[str, Any]:
    """One correction of the constraint errors of a state s = [w, v, x] (see `LocalInstant`), by the constraint method.

    `out` (ns,) is s after the correction. `error` is the largest constraint error before it, divided by its tolerance:
    up to 1 is acceptable. For SingularPerturbation, which corrects velocities only, `error` is 0.
    """
    tree, nv = loaded.tree(at.p, at.t), loaded.nv
    now = loaded.instant(at)
    ready = loaded.prepared(tree)
    if isinstance(loaded.loops, SingularPerturbation):
        change = corrections(loaded, ready, now, per_time=1.0 / loaded.loops.epsilon).change
        return {"out": [*at.s[:nv], *summed(now.v, change), *now.x], "error": 0.0}
    assert isinstance(loaded.loops, Projection | Partitioning)
    better = corrections(loaded, ready, now)
    w = summed(at.s[:nv], charts.local_rate(loaded.bare, at.s[:nv], better.moved))
    error = better.found.error(loaded.loops.tolerance, better.counts)
    return {"out": [*w, *summed(now.v, better.change), *now.x], "error": error}


def dependence(loaded: LoadedRobot, at: LocalInstant) -> dict[str, Any]:
    """How well independent velocities determine the dependent ones (`margin`), and the scaled Jacobian `J` (nc, nv).

    The margin is 1 at best, and 0 where the dependent velocities are not determined. Take the part of each row of J
    that is independent of earlier rows: the margin is the smallest share of such a part that lies in the columns of
    dependent velocities. J is scaled so that its rows and columns have comparable sizes; with it a run can choose other
    dependent velocities. The scaling does not use masses, because a light body would outweigh all others.
    """
    tree, now, found = _ready(loaded, at)
    rows = found.rows([0.0] * len(found.rate))
    free = _unit_squares(loaded, tree, found)
    whole = span_of(masked(free), rows)
    some = span_of(masked([times(mask, one) for mask, one in zip(_dependent(loaded, now.m), free, strict=True)]), rows)
    margin: Any = less_equal(whole.rank, some.rank)
    for all_of_it, size in zip(whole.sizes, some.sizes, strict=True):
        made_up = div(all_of_it, size) if not is_zero(size) else 1.0  # sizes are 1 / the independent part
        margin = where(size, minimum(margin, made_up), margin)
    J = [
        [div(times(x, sqrt(one)), size) for x, one in zip(row, free, strict=True)]
        for row, size in zip(found.J, found.sizes, strict=True)
    ]
    return {"J": J, "margin": margin}


def flatness(loaded: LoadedRobot, at: LocalInstant) -> Any:
    """1 near a singular configuration, where no choice of dependent velocities is well determined, else 0."""
    tree, _, found = _ready(loaded, at)
    rows = found.rows([0.0] * len(found.rate))
    known = len(found.weights) - len(loaded.elements.constraint_names)  # rows of loops come first
    plain = closures.constraint_weights(tree, found.J[:known], found.sizes, found.opening, FLAT)
    metric = masked(_unit_squares(loaded, tree, found))
    clear = span_of(metric, rows._replace(weights=[*plain, *found.weights[known:]]), FLAT)
    return less(clear.rank, span_of(metric, rows).rank)


def stabilized(loaded: LoadedRobot, at: LocalInstant, z: Any, forces: Any, pushes: Any) -> dict[str, Any]:
    """The stabilized form of index 2 (Gear, Gupta, Leimkuhler), with multipliers as unknowns: `forces` (nc,) in

        M a + h = tau + J^T forces,     dq/dt moves at  v + J^T pushes,     0 = phi,     0 = d phi/dt

    `pushes` (nh,) are zero except for errors of the method. Returns `moving` (nv,), the velocity of the coordinates;
    `left` (nv + nx,), the residual at z = [a, dx/dt]; `phi` (nh,) and `rate` (nc,).
    """
    if loaded.rigid:
        raise UnsupportedError(
            f"'{loaded.dynamics.robot.name}' has rigid contacts, whose friction is no multiplier of a constraint. Use "
            "method='dop853', or another method that does not have multipliers as unknowns."
        )
    tree, nv = loaded.tree(at.p, at.t), loaded.nv
    ready = loaded.prepared(tree)
    now = loaded.instant(at)
    a = [0.0 if k in loaded.locked else entry for k, entry in enumerate(z[:nv])]
    rows = conditions_at(loaded, ready, now)
    found = acting(loaded, ready, now)
    unmet = unmet_forces(loaded, ready, now, a, found)
    left, moving = [], []
    for k in range(nv):
        column = [row[k] for row in rows.J]
        locked = k in loaded.locked
        left.append(z[k] if locked else minus(unmet[k], dot(column, forces)))
        moving.append(0.0 if locked else plus(now.v[k], dot(column[: len(rows.phi)], pushes)))
    left += sub(z[nv:], extra_rates(loaded, ready, now, found, driven_power(forces, rows)))
    return {"moving": moving, "left": left, "phi": rows.phi, "rate": rows.rate}


def unmet_forces(loaded: LoadedRobot, tree: Tree, at: Instant, a: Sequence[Any], found: Acting) -> Sequence[Any]:
    """The residual M a + h - tau, shape (nv,), by inverse dynamics."""
    if loaded.dynamics.laws.takes_wrenches:
        return sub(loaded.dynamics.laws.inverse(tree, at.q, at.v, a, *found.loads), found.tau)
    return sub(loaded.dynamics.laws.inverse(tree, at.q, at.v, a), all_forces(tree, at, found))


def reactions(loaded: LoadedRobot, at: LocalInstant, a: Any, view: WrenchView = IN_JOINT) -> list[list[Any]]:
    """The wrench [N, N m] through every joint at accelerations a (nv,), loops last, shape (joints + loops, 6)."""
    return wrenches(loaded, loaded.instant(at), a, view)
