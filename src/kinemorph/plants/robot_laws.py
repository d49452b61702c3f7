"""The laws of a robot's plant, over any scalar:

    M(q) a + h(q, v) = tau + J(q)^T lambda,     tau = u + forces(t, q, v, x, m, u, p) + elements - damping v

Each law is a function of a loaded robot (`loaded_robot`) and of an instant. `forces` computes the forces that act, and
`constrained_motion` the motion that satisfies constraints; laws of memory are in `memory_laws`, laws of whole steps in
`variational`. `robot_laws` combines all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count, islice
from typing import Any, TypeVar

from kinemorph.algebra.scalar import is_zero, minus, plus, times
from kinemorph.algebra.vectors import add, dot, sub
from kinemorph.codegen.graphs.program import Program
from kinemorph.mechanics.constraints.constrained import ConstraintRows, constrained_dynamics, softened, with_locked_rows
from kinemorph.mechanics.derivatives.branch_factor import branch_factor
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.steps.free_flight import flight, flight_accelerations, half_flown
from kinemorph.mechanics.steps.frozen_stiffness import StiffByName
from kinemorph.mechanics.steps.implicit_forces import Ends, Under
from kinemorph.mechanics.steps.pair_forces import PairForce, couples, spans
from kinemorph.mechanics.steps.point_states import JointForce, PointForce
from kinemorph.mechanics.steps.step_accounts import Account, PointAccount
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.tree import Tree, over_limbs
from kinemorph.plants import constrained_motion, forces, variational
from kinemorph.plants.contacts.joined_contacts import joined
from kinemorph.plants.forces import Acting, acting, bodies, damping, efforts, energy, extra_rates, power, stored, summed
from kinemorph.plants.implicit_step import Damping, StepForces, StepStart, implicit_step
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.jumps import memory_laws
from kinemorph.plants.jumps.time_step import time_step
from kinemorph.plants.laws import Laws
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.loop_methods import Baumgarte, Multipliers, SingularPerturbation
from kinemorph.plants.user_laws import Law, split

T = TypeVar("T")


def robot_laws(loaded: LoadedRobot) -> Laws:
    """The functions from which the programs of a robot's plant are traced: rates, residual, forces, energies, steps.

    Each is a function over any scalar type. `Laws` lists them; those that this robot does not need, such as the
    constraints of an open tree, are None.
    """
    constrained, acted_on, loops = loaded.constrained, bool(loaded.elements.members), loaded.loops
    tells = loaded.account and any(member.law.contact for member in loaded.elements.members)
    table: dict[Callable[..., Any], bool] = {  # each law, and whether this robot has it
        **dict.fromkeys((rate, residual, place, drift, efforts, bodies, implicit, for_one), True),
        **dict.fromkeys((forces.mechanical, forces.places), True),
        **dict.fromkeys((chained, aligned, turned, flying, flown), True),
        stored: acted_on,
        energy: tells,
        stiff: acted_on and not constrained,
        powers: acted_on,
        time_step: bool(loaded.rigid),
        constrained_motion.reactions: True,
        constrained_motion.constraints: constrained,
        constrained_motion.holding: constrained and not isinstance(loops, Baumgarte | Multipliers),
        constrained_motion.dependence: loaded.partial,
        constrained_motion.flatness: constrained and isinstance(loops, SingularPerturbation),
        constrained_motion.stabilized: constrained,
    }
    moving = {rate, residual, implicit, stored, energy}  # laws that a march evaluates at every step
    owners = {law: joined(loaded) if law in moving else loaded for law in table}
    laws: dict[str, Any] = {law.__name__: partial(law, owners[law]) for law, exists in table.items() if exists}
    return Laws(discrete=variational.discrete_laws(loaded), jumps=memory_laws.jumps(loaded), tells=tells, **laws)


def rate(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The rate ds/dt, shape (ns,), of the state s = [w, v, x] by forward dynamics; `LocalInstant` lists the letters."""
    tree = loaded.tree(at.p, at.t)
    now = loaded.instant(at)
    ready = loaded.prepared(tree)
    drifting: Sequence[Any] = now.v  # the velocity of the coordinates, which differs from v where loops are corrected
    if loaded.constrained and loaded.on_stages:
        better = constrained_motion.corrections(loaded, ready, now)
        q = charts.place(loaded.bare, now.q, better.moved, finished=False)
        drifting = summed(now.v, better.change)
        now = now._replace(q=q, v=drifting)
    elif loaded.constrained and isinstance(loaded.loops, SingularPerturbation):
        fast = constrained_motion.corrections(loaded, ready, now, per_time=1.0 / loaded.loops.epsilon).change
        slow = constrained_motion.corrections(loaded, ready, now).change
        now, drifting = now._replace(v=summed(now.v, slow)), summed(now.v, fast)
    found = acting(loaded, ready, now, tables=True)
    solved = constrained_motion.solved(loaded, ready, now, found)
    rates = extra_rates(loaded, ready, now, found, solved.supplied, solved.lost)
    return [*charts.local_rate(loaded.bare, at.s[: loaded.nv], drifting), *solved.a, *rates]


def residual(loaded: LoadedRobot, at: LocalInstant, z: Any) -> list[Any]:
    """The residual of the equations of motion at z = [a, dx/dt], shape (nv + nx,), zero at the right z.

    It is computed by inverse dynamics; where there are constraints, by forward dynamics.
    """
    tree, nv = loaded.tree(at.p, at.t), loaded.nv
    ready = loaded.prepared(tree)
    now = loaded.instant(at)
    a = [0.0 if k in loaded.locked else entry for k, entry in enumerate(z[:nv])]
    found = acting(loaded, ready, now, tables=True)
    driven: Any = 0.0
    lost: Any = 0.0
    unmet: Sequence[Any]
    if loaded.constrained:
        solved = constrained_motion.solved(loaded, ready, now, found)
        unmet, driven, lost = sub(a, solved.a), solved.supplied, solved.lost
    else:
        unmet = constrained_motion.unmet_forces(loaded, ready, now, a, found)
        driven = constrained_motion.drive_power(loaded, ready, a, found)
    left = [z[k] if k in loaded.locked else entry for k, entry in enumerate(unmet)]
    return [*left, *sub(z[nv:], extra_rates(loaded, ready, now, found, driven, lost))]


def place(loaded: LoadedRobot, base: Any, s: Any, *, finished: bool = True) -> list[Any]:
    """The configuration, shape (nq,), at the state s = [w, v, x], whose w are local coordinates about `base` (nq,)."""
    return charts.place(loaded.bare, base, s[: loaded.nv], finished=finished)


def drift(loaded: LoadedRobot, s: Any, h: Any) -> list[Any]:
    """The local coordinates w, shape (nv,), after the time h [s] at the constant velocity v, from s = [w, v, x] on."""
    w, v, _ = split(s, loaded.nv)
    return charts.chained(loaded.bare, w, charts.steady(loaded.bare, [h * rate for rate in v]))


def for_one(loaded: LoadedRobot, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> Program:
    """The program of a law, in which similar limbs run side by side when it runs on one state; see `limb_folding`."""
    from kinemorph.plants.limb_folding import folded, with_limbs_abreast

    return with_limbs_abreast(folded(loaded), program, lambda small: partial(law, robot_laws(small)), outputs)


def chained(loaded: LoadedRobot, s: Any, moved: Any) -> list[Any]:
    """The local coordinates w, shape (nv,), after the displacement `moved` (nv,) from s = [w, v, x] on."""
    return charts.chained(loaded.bare, s[: loaded.nv], moved)


def aligned(loaded: LoadedRobot, s: Any) -> list[Any]:
    """The velocities v, shape (nv,), of s = [w, v, x], with linear ones in the axes of the base; see `charts`."""
    return charts.aligned(loaded.bare, *split(s, loaded.nv)[:2])


def turned(loaded: LoadedRobot, s: Any) -> list[Any]:
    """The velocities v, shape (nv,), of s = [w, v, x], whose linear ones are in the axes of the base; locked ones
    are 0.
    """
    found = charts.turned(loaded.bare, *split(s, loaded.nv)[:2])
    return [0.0 if k in loaded.locked else one for k, one in enumerate(found)]


def flying(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The accelerations, shape (nv,), of free flight; see mechanics.steps.free_flight."""
    return flight_accelerations(loaded.tree(at.p, at.t), loaded.instant(at).v, loaded.locked)


def flown(loaded: LoadedRobot, at: LocalInstant, h: Any) -> list[Any]:
    """The state s = [w, v, x], shape (ns,), after free flight over the time h [s]; x stays the same."""
    w, _, x = split(at.s, loaded.nv)
    moved, after = flight(loaded.tree(at.p, at.t), loaded.instant(at).v, h, loaded.locked)
    return [*charts.chained(loaded.bare, w, moved), *after, *x]


# ── stiff forces ──────────────────────────────────────────────────────────────────────────────────────────────────────


def implicit(
    loaded: LoadedRobot, at: LocalInstant, h: Any, guess: Any, passes: int, centered: bool = False
) -> tuple[list[Any], list[Any], Any, Any]:
    """The state s = [w, v, x] after a step of h [s], its accelerations, and two numbers about contacts.

    These are the force [N] that contacts lack and the sum of their normal forces [N], see `implicit_step`. A robot
    without an account of its energy does not compute them: they are 0.

    Stiff forces of elements and damping are evaluated at the end of the step, all others at its start, or at its middle
    if it is `centered`.
    """
    tree, nv = loaded.tree(at.p, at.t), loaded.nv
    now = loaded.instant(at._replace(s=[*[0.0] * nv, *at.s[nv:]]))
    first, base = None, at.base
    if centered:
        first, base, v = half_flown(tree, loaded.bare, base, now.v, h, loaded.locked)
        now = now._replace(q=base, v=v, t=at.t + 0.5 * h)
    ready = loaded.prepared(tree.at_time(now.t))
    found = acting(loaded, ready, now, stiff=True, tables=True)
    dampers = [JointForce(j, Damping(d)) for j, d in enumerate(damping(loaded, at.p)) if not is_zero(d)]
    stiff = list(found.stiff.values())
    during = StepForces(
        found.explicit,
        [force for one in stiff for force in one.points],
        [*dampers, *(force for one in stiff for force in one.joints)],
        [pair for one in stiff for pair in one.pairs],
        found.elements.loads,
        extra_rates(loaded, ready, now, found),
    )
    flying = flight_accelerations(ready, found.every.v, loaded.locked)
    under, solver = None, None
    coupled = any(map(couples, during.pairs)) or any(map(spans, during.joints))
    if loaded.constrained or tree.driving is not None or coupled:
        solver = _Solver(loaded, ready, now, found.every, flying)
        under = Under(solver.masses, solver)
    start = StepStart(base, now.v, now.x, first, found.every, flying)
    after, ends = implicit_step(ready, loaded.bare, start, h, during, passes, guess, loaded.locked, under)
    world = found.world
    late = [one + h * rate for one, rate in zip(world.v, ends.a, strict=True)]
    mean = [0.5 * (one + other) for one, other in zip(world.v, late, strict=True)]
    last = (mean, 0.5 * h) if centered else (late, h)
    for index, (element, law, first_state, _) in enumerate(loaded.elements.members):
        rates = law.late_rates(element, world.views[index], *last)
        for k, rate in enumerate(rates or (), loaded.added.states + first_state):
            after[2 * nv + k] = now.x[k] + h * rate
    if loaded.account:
        supplied, dissipated = _stiff_powers(ready, found, ends, world, [damper.velocity for damper in dampers])
        # forces of the start were accounted for at the velocities there; they act at the mean velocities
        supplied = plus(supplied, power(ready, during.tau, sub(mean, world.v)))
        if solver is not None:
            supplied = plus(supplied, solver.driven)
        if loaded.dynamics.robot.is_timed:  # with all forces at the start of the step
            everything = acting(loaded, ready, now)
            supplied = plus(
                supplied, constrained_motion.drive_power(loaded, ready, add(ends.a, flying)[:nv], everything)
            )
        after[-2], after[-1] = after[-2] + h * supplied, after[-1] + h * dissipated
    told = _told_of_contacts(found, ends, world) if loaded.account else (0.0, 0.0)
    return after, ends.a[:nv], *told


def _told_of_contacts(found: Acting, ends: Ends, world: SystemInstant) -> tuple[Any, Any]:
    """The force [N] that contacts lack, and the sum of their normal forces [N]; 0 and 0 where nothing touches.

    Where the first is above 0, contacts made energy, and the step needs a further pass.
    """
    points, pairs = iter(ends.accounts[0]), iter(ends.accounts[2])
    lacking, pressing = [], []
    for index, stiff in found.stiff.items():
        own: list[Account | PointAccount] = [*islice(points, len(stiff.points)), *islice(pairs, len(stiff.pairs))]
        total = world.sums.get(index)
        lacking.append((total, sum((account.missing for account in own), 0.0)))
        pressing.append((total, sum((account.normal for account in own), 0.0)))
    return over_limbs(lacking), over_limbs(pressing)


def _stiff_powers(
    tree: Tree, found: Acting, ends: Ends, world: SystemInstant, dampers: Sequence[int]
) -> tuple[Any, Any]:
    """The power (supplied, dissipated) [W] over a step of the forces that are evaluated at the end of the step.

    The first forces along joints are joint damping, along the velocities `dampers` (indices). If an element has no
    supply, its loss is the power that its forces take from the robot and that it does not store. If it has a supply,
    its loss is that at the start of the step, and the supply also covers the difference between the power of its forces
    over the step and at its start.
    """
    points, joints, pairs = iter(ends.accounts[0]), iter(ends.accounts[1]), iter(ends.accounts[2])
    numbers = count()
    damped = [account.power for account in islice(joints, len(dampers))]
    supplied: list[tuple[Any, Any]] = []  # terms of `over_limbs`
    dissipated: list[tuple[Any, Any]] = [(None, -tree.total(zip(dampers, damped, strict=True)))]
    passive: set[int] = set()  # the numbers of points of elements without a supply
    for index, stiff in found.stiff.items():
        at_points = list(islice(points, len(stiff.points)))
        mine = set(islice(numbers, len(stiff.points)))
        others = [*islice(joints, len(stiff.joints)), *islice(pairs, len(stiff.pairs))]
        effort, total = world.efforts[index], world.sums.get(index)
        own: list[Account | PointAccount] = [*at_points, *others]
        if is_zero(effort.supplied):
            passive |= mine
            lost = plus(sum((account.power for account in others), 0.0), sum((account.storing for account in own), 0.0))
            dissipated.append((total, minus(0.0, lost)))
        else:
            dissipated.append((total, effort.dissipated))
            # for most laws both terms of this difference are the same expression, and cost nothing
            extra = minus(effort.supplied, sum((account.at_start for account in own), 0.0))
            supplied.append((total, plus(sum((account.power for account in own), 0.0), extra)))
    return over_limbs(supplied), minus(over_limbs(dissipated), ends.power_at(passive))


class _Solver:
    """Accelerations of all joints beyond those in free flight, `flying`, that satisfy constraints, from a mass matrix,
    tau - h and soft rows.

    Soft rows j (nv,) add j^T j to the mass matrix: they are stiff forces that are linear in the acceleration. `driven`
    [W] is the power supplied by constraints that depend on time, with the multipliers of the last call.
    """

    def __init__(self, loaded: LoadedRobot, tree: Tree, now: Instant, every: AllJoints, flying: Sequence[Any]) -> None:
        self.tree, self.nv, self.driven, self.every = tree, loaded.nv, 0.0, every
        formulation = FORMULATIONS[loaded.dynamics.formulation]
        self.masses = formulation.mass_matrix(tree.of_joints, every.q)
        self.rows = with_locked_rows(ConstraintRows([], [], []), loaded.locked, loaded.nv)
        self.conditions = None
        if loaded.constrained:
            self.conditions = constrained_motion.conditions_at(loaded, tree, now)
            rows = constrained_motion.acceleration_rows(loaded, self.conditions)
            own = flying[: loaded.nv]
            left = [minus(rate, dot(row, own)) for row, rate in zip(rows.J, rows.wanted, strict=True)]
            self.rows = rows._replace(wanted=left)

    def __call__(self, M: Any, rest: Any, soft: Any) -> Sequence[Any]:
        """The accelerations of all joints."""
        every = self.every
        rest = every.forces(sub(rest, [self._of_row(i, row, every.g) for i, row in enumerate(M)]))
        M, soft = every.masses(M), every.columns(soft)
        found = constrained_dynamics(*softened(branch_factor(self.tree, M), rest, self.rows, soft))
        if self.conditions is not None:
            own = found.multipliers[len(soft) : len(soft) + len(self.conditions.rate)]
            self.driven = constrained_motion.driven_power(own, self.conditions)
        return every.accelerations(found.a[: self.nv])

    def _of_row(self, i: int, row: Sequence[Any], g: Sequence[Any]) -> Any:
        """Row i of M times g; what limbs add to the row of an axis that carries them is summed over all limbs."""
        if i in self.tree.velocity_sums:
            return dot(row, g)
        return self.tree.total(enumerate(times(x, y) for x, y in zip(row, g, strict=True)))


def stiff(loaded: LoadedRobot, at: Instant) -> tuple[Tree, StiffByName]:
    """The tree of all joints, and the stiff forces of elements on it by name."""
    tree = loaded.tree(at.p, at.t)
    points: dict[str, PointForce] = {}
    joints: dict[str, JointForce] = {}
    pairs: dict[str, PairForce] = {}
    for index, stiff in constrained_motion.seen(loaded, tree, at).stiff().items():
        name = loaded.elements.members[index].element.name
        points |= _numbered(name, stiff.points)
        joints |= _numbered(name, stiff.joints)
        pairs |= _numbered(name, stiff.pairs)
    return tree.of_joints, StiffByName(points, joints, pairs, loaded.all_joints(tree, at))


def powers(loaded: LoadedRobot, at: Instant) -> dict[str, float]:
    """The power |supplied| + |dissipated| [W] of each element, by name."""
    efforts = constrained_motion.seen(loaded, loaded.tree(at.p, at.t), at).efforts
    names = [member.element.name for member in loaded.elements.members]
    return {name: abs(effort.supplied) + abs(effort.dissipated) for name, effort in zip(names, efforts, strict=True)}


def _numbered(name: str, parts: Sequence[T]) -> dict[str, T]:
    """The parts of an element by name: the element's own name, with a number where it has several parts."""
    return {f"{name}.{k}" if len(parts) > 1 else name: part for k, part in enumerate(parts, start=1)}
