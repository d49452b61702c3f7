"""The laws of a robot's plant, over any scalar:

    M(q) a + h(q, v) = tau + J(q)^T lambda,     tau = u + forces(t, q, v, x, m, u, p) + elements - damping v

J are the constraints of loops, coupled joints and elements (`constraints`), kept in one of the ways of `loop_methods`:
what moves in place of the free motion, and what is done after a step, differ; the equations are the same.

`Motion` evaluates the elements of the system once for each instant (mechanics.elements.scene.World), and hands their
loads on links to the recursions as outside wrenches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import div, is_zero, less, less_equal, minimum, minus, plus, sqrt, times, where
from kinemorph.algebra.vectors import add, dot, sub
from kinemorph.codegen.program import Program
from kinemorph.deriving import Dynamics
from kinemorph.mechanics import charts, loops
from kinemorph.mechanics.branch_factor import branch_factor
from kinemorph.mechanics.constrained import Rows, constrained_dynamics, held_rows, masked, span_of
from kinemorph.mechanics.discrete_action import discrete_action
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.law import Change, Stiff
from kinemorph.mechanics.elements.places import Motions
from kinemorph.mechanics.elements.scene import Gathered, World, generalized
from kinemorph.mechanics.implicit_forces import Under, point_slopes
from kinemorph.mechanics.kinematics import tangent_of
from kinemorph.mechanics.newton_euler import Wrench
from kinemorph.mechanics.point_states import JointForce, PointForce
from kinemorph.mechanics.reactions import joint_wrenches, loosened, reaction_multipliers
from kinemorph.mechanics.resolving import resolve
from kinemorph.mechanics.tree import Tree
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import Parameter, evaluate
from kinemorph.plants.constraints import Conditions, conditions
from kinemorph.plants.implicit import Damping, StepForces, half_moved, implicit_step
from kinemorph.plants.laws import LEVEL, Law, checked_length, of_groups, split
from kinemorph.plants.loop_methods import (
    Baumgarte,
    LoopMethod,
    Multipliers,
    Partitioning,
    Projection,
    SingularPerturbation,
)
from kinemorph.plants.programs import Jumps, Laws
from kinemorph.plants.variational import DiscreteLaws

if TYPE_CHECKING:
    from kinemorph.plants.limbs import Folded

T = TypeVar("T")
PROJECTION = Projection()
FLAT = 0.01  # likewise, radians for a linkage in line: so near, the fast motion does not know where to go
NEAR = 2e-5  # of a row's length: so near to a singular configuration a row amplifies rounding more than it says


class Acting(NamedTuple):
    """What acts at one instant: generalized forces (nv,) from outside and of damping, and what elements do."""

    pushed: list[Any]
    elements: Gathered
    damped: list[Any]
    stiff: tuple[Stiff, ...] = ()

    @property
    def tau(self) -> list[Any]:
        """All generalized forces but those of loads."""
        return _sum(_sum(self.pushed, self.elements.torques), self.damped)

    @property
    def loads(self) -> tuple[Mapping[int, Wrench], ...]:
        """As recursions take them: none, or one mapping."""
        return (self.elements.loads,) if self.elements.loads else ()


class Corrections(NamedTuple):
    """A displacement and a change of velocity, (nv,) each, that bring a state onto constraints; these as they were
    found; and 1 for each row of them that can be met, else 0.
    """

    moved: list[Any]
    change: list[Any]
    found: Conditions
    counts: list[Any]


class Solved(NamedTuple):
    """Accelerations (nv,), multipliers (nc,) of all constraints, and the power [W] of those that go with time."""

    a: Sequence[Any]
    multipliers: Sequence[Any] = ()
    supplied: Any = 0.0


@dataclass(frozen=True, eq=False)
class Motion:
    """The laws of a robot's plant. Where x, u and p have several owners, they stand in this order:

    x       states of the user, states of elements, two for the account of energy
    u       inputs of the user (or one force per velocity), inputs of elements that nobody drives
    p       parameters of the robot, parameters of elements
    """

    dynamics: Dynamics
    elements: Ensemble
    parameters: tuple[Parameter, ...]
    forces: Law | None
    extra: int  # how many states the user has added
    state_rates: Law | None
    given: int  # how many inputs the user has named
    pushed: bool  # whether the first inputs are generalized forces
    still: tuple[int, ...]
    account: bool
    loops: LoopMethod = PROJECTION
    dependent: tuple[float, ...] | None = None  # 1 for velocities that follow from others; None where a run chooses

    @property
    def laws(self) -> Laws:
        """All of them."""
        discrete = DiscreteLaws(self.action, self.balance, self.momentum, self.velocity)
        jumps = Jumps(self.sampled, self.read, self.decided, self.settled, self.guard_values, self.switched)
        return Laws(
            *(self.rate, self.residual, self.place, self.drift, self.acting, discrete, jumps),
            stored=self.stored if self.elements.members else None,
            reactions=self.reactions,
            implicit=self.implicit,
            stiff=self.stiff if self.elements.members and not self.constrained else None,
            for_one=self.for_one,
            constraints=self.constraints if self.constrained else None,
            held=self.held if self.constrained and not isinstance(self.loops, Baumgarte | Multipliers) else None,
            dependence=self.dependence if self.partial else None,
            flat=self.flat if self.constrained and isinstance(self.loops, SingularPerturbation) else None,
            bound=self.bound if self.constrained else None,
        )

    @cached_property
    def constrained(self) -> bool:
        """Whether anything constrains the motion of the tree."""
        return not self.dynamics.robot.is_open or bool(self.elements.constraint_names)

    @property
    def on_stages(self) -> bool:
        """Whether every look at the motion is taken on the constraints, and not only the ends of steps."""
        return isinstance(self.loops, Partitioning) or (isinstance(self.loops, Projection) and self.loops.stages)

    @property
    def chooses(self) -> bool:
        """Whether runs choose which velocities depend on the others; memory ends with the choice, (nv,) numbers."""
        return self.partial and self.dependent is None

    @property
    def partial(self) -> bool:
        """Whether some velocities follow from the others."""
        return self.constrained and isinstance(self.loops, Partitioning | SingularPerturbation)

    @property
    def nv(self) -> int:
        return self.dynamics.robot.nv

    @cached_property
    def bare(self) -> Tree:
        """The links at nominal parameters, which say how configurations move."""
        return resolve(self.dynamics.robot)

    def tree(self, p: Any) -> Tree:
        """The links at parameters p."""
        return resolve(self.dynamics.robot, self._lookup(p))

    def prepared(self, tree: Tree) -> Tree:
        """The tree as recursions want it, tips of limbs turned to where forces act on them."""
        return self.dynamics.prepared(tree, self._tips)

    @cached_property
    def _tips(self) -> dict[int, Any]:
        """Points at which stiff forces act, by link of the nominal tree; of several on a link the last."""
        if not self.elements.members:
            return {}
        q, v = neutral(self.dynamics.robot).tolist(), [0.0] * self.nv
        lookup = {parameter.name: parameter.value for parameter in self.parameters}
        own = (self.elements.states, self.elements.memory, self.elements.open_inputs)
        x, m, u = ([0.0] * len(names) for names in own)
        world = World(self.elements, self.bare, 0.0, q, v, x, m, u, lookup)
        return {force.link: force.point for stiff in world.stiff().values() for force in stiff.points}

    def _lookup(self, p: Any) -> dict[str, Any]:
        return {parameter.name: value for parameter, value in zip(self.parameters, p, strict=True)}

    def _state(self, tree: Tree, base: Any, s: Any) -> tuple[Any, list[Any], Any]:
        """(q, v, x); quaternions of any length, locked velocities zero."""
        w, v, x = split(s, self.nv)
        v = [0.0 if k in self.still else rate for k, rate in enumerate(v)]
        return charts.place(tree, base, w, finished=False), v, x

    def _of_user(self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """What laws of the user may read; quaternions of length 1."""
        q = charts.finished(self.bare, q)
        return {"t": t, "q": q, "v": v, "x": x[: self.extra], "m": m, "u": u[: self.given], "p": p}

    # ── forces ────────────────────────────────────────────────────────────────────────────────────────────────────

    def world(self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> World:
        """The system as its elements see it, on a tree; sensors may ask for accelerations."""
        own = x[self.extra : self.extra + len(self.elements.states)]
        lookup = self._lookup(p)

        def accelerations() -> Sequence[Any]:
            ready = self.prepared(self.tree(p))
            acting = self._acting(ready, t, q, v, x, m, u, p)
            return self._solved(ready, t, q, v, x, m, u, p, acting).a

        def reactions() -> Mapping[str, Sequence[Any]]:
            wrenches = self._wrenches(t, q, v, accelerations(), x, m, u, p)
            robot = self.dynamics.robot
            return dict(zip((joint.name for joint in (*robot.joints, *robot.loops)), wrenches, strict=True))

        def multipliers() -> Mapping[str, Any]:
            ready = self.prepared(self.tree(p))
            acting = self._acting(ready, t, q, v, x, m, u, p)
            names = self.elements.constraint_names  # their rows come last
            forces = self._solved(ready, t, q, v, x, m, u, p, acting).multipliers
            return dict(zip(names, forces[len(forces) - len(names) :], strict=True))

        later = (accelerations, reactions, multipliers)
        return World(self.elements, tree, t, q, v, own, m, u[self.given :], lookup, *later)

    def _seen(self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> World:
        """The system as what acts in a step sees it."""
        own = x[self.extra : self.extra + len(self.elements.states)]
        return World(self.elements, tree, t, q, v, own, m, u[self.given :], self._lookup(p))

    def _acting(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, *, stiff: bool = False
    ) -> Acting:
        """What acts, with loads on the links of `tree`; `stiff`: forces that a step may take at its end apart."""
        pushed: list[Any] = list(u[: self.nv]) if self.pushed else [0.0] * self.nv
        lookup = self._lookup(p)
        if self.forces is not None:
            given = self._of_user(t, q, v, x, m, u, p)
            law = checked_length(of_groups(self.forces, given, "forces"), self.nv, "the law of forces")
            pushed = _sum(pushed, law)
        damping = [evaluate(d, lookup) for joint in self.dynamics.robot.joints for d in joint.damping]
        world = self._seen(tree, t, q, v, x, m, u, p)
        damped = [-d * rate for d, rate in zip(damping, v, strict=True)]
        apart = world.stiff() if stiff else {}
        return Acting(pushed, world.gathered(apart), damped, tuple(apart.values()))

    def _tau(self, tree: Tree, q: Any, v: Any, acting: Acting) -> list[Any]:
        """All generalized forces, those of loads included."""
        if not acting.elements.loads:
            return acting.tau
        return _sum(acting.tau, generalized(Motions(tree, q, v), acting.elements.loads))

    def acting(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, list[Any]]:
        """The generalized forces, by name."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        acting = self._acting(tree, t, q, v, x, m, u, p)
        return {"supplied": list(sub(self._tau(tree, q, v, acting), acting.damped)), "damping": acting.damped}

    def stored(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> Any:
        """Energy that elements hold [J]."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        return self._acting(tree, t, q, v, x, m, u, p).elements.stored

    def reactions(self, t: Any, base: Any, s: Any, a: Any, m: Any, u: Any, p: Any) -> list[list[Any]]:
        """The wrench through every joint, loops last, shape (joints + loops, 6), at accelerations a."""
        q, v, x = self._state(self.tree(p), base, s)
        return self._wrenches(t, q, v, a, x, m, u, p)

    def _wrenches(self, t: Any, q: Any, v: Any, a: Any, x: Any, m: Any, u: Any, p: Any) -> list[list[Any]]:
        robot = self.dynamics.robot
        tree = resolve(robot, self._lookup(p), merged=False)
        acting = self._acting(tree, t, q, v, x, m, u, p)
        loads = acting.elements.loads
        if not self.constrained:
            return joint_wrenches(robot, tree, q, v, a, loads)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        multipliers = reaction_multipliers(tree, q, v, a, acting.tau, found.rows([]), loads, self.still)
        own = len(loops.constraint_names(robot))
        carried = self._carried(tree, t, q, v, x, m, u, p, multipliers[own:])
        return joint_wrenches(robot, tree, q, v, a, loads, multipliers[:own], carried)

    def _carried(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, multipliers: Any
    ) -> dict[int, Wrench]:
        """What the constraints of elements do to each body and all that it carries, by link of the unmerged tree."""
        if not multipliers:
            return {}
        loose, links, at_rest = loosened(tree, self.dynamics.robot.body_names)
        standing = [0.0] * (loose.nv - self.nv)
        J = self._conditions(loose, t, [*q, *at_rest], [*v, *standing], x, m, u, p, bias=False).J
        found: dict[int, Wrench] = {}
        for n, link in enumerate(links):
            columns = range(self.nv + 6 * n, self.nv + 6 * n + 6)
            a, b, c, d, e, f = (dot([row[k] for row in J], multipliers) for k in columns)
            found[link] = ((a, b, c), (d, e, f))
        return found

    def _extra_rates(
        self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, acting: Acting, driven: Any = 0.0
    ) -> list[Any]:
        """Rates of all but positions and velocities; `driven` [W] is what constraints that go with time supply."""
        rates: list[Any] = []
        if self.state_rates is not None:
            given = self._of_user(t, q, v, x, m, u, p)
            law = of_groups(self.state_rates, given, "state_rates")
            rates = checked_length(law, self.extra, "the law of state rates")
        rates = [*rates, *acting.elements.rates]
        if self.account:
            rates += [
                plus(_power(acting.pushed, v) + acting.elements.supplied, driven),
                acting.elements.dissipated - _power(acting.damped, v),
            ]
        return rates

    # ── motion ────────────────────────────────────────────────────────────────────────────────────────────────────

    def rate(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """ds/dt, by forward dynamics."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        ready = self.prepared(tree)
        drifting: Sequence[Any] = v  # how coordinates move; only fast ones have a velocity that is not v
        if self.constrained and self.on_stages:
            better = self._corrections(ready, t, q, v, x, m, u, p)
            q, v = charts.place(tree, q, better.moved, finished=False), _sum(v, better.change)
            drifting = v
        elif self.constrained and isinstance(self.loops, SingularPerturbation):
            fast = self._corrections(ready, t, q, v, x, m, u, p, per_time=1.0 / self.loops.epsilon).change
            v, drifting = _sum(v, self._corrections(ready, t, q, v, x, m, u, p).change), _sum(v, fast)
        acting = self._acting(ready, t, q, v, x, m, u, p)
        solved = self._solved(ready, t, q, v, x, m, u, p, acting)
        rates = self._extra_rates(t, q, v, x, m, u, p, acting, solved.supplied)
        return [*charts.local_rate(tree, s[: self.nv], drifting), *solved.a, *rates]

    def for_one(self, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> Program:
        """The program of a law, with limbs that are alike side by side where it runs on one state; see `limbs`."""
        from kinemorph.plants.limbs import with_limbs_abreast

        return with_limbs_abreast(self._folded, program, law, outputs)

    @cached_property
    def _folded(self) -> Folded | None:
        """The same system with one limb of each kind."""
        from kinemorph.plants.limbs import folded

        return folded(self)

    def _solved(self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, acting: Acting) -> Solved:
        """FD under what acts and what constrains; a formulation without wrenches gets their generalized forces."""
        takes = self.dynamics.takes_wrenches
        forces = (acting.tau, *acting.loads) if takes else (self._tau(tree, q, v, acting),)
        if not self.constrained:
            return Solved(self.dynamics.accelerations(tree, q, v, *forces, locked=self.still))
        found = self._conditions(tree, t, q, v, x, m, u, p)
        rest = self.dynamics.rest(tree, q, v, *forces)
        rows = held_rows(found.rows(self._wanted(found)), self.still)
        a, multipliers, *_ = self.dynamics.under(tree, q, rest, rows)
        multipliers = multipliers[: len(found.rate)]
        power: Any = 0.0
        for force, rate in zip(multipliers, found.driven, strict=True):
            power = minus(power, times(force, rate))
        return Solved(a, multipliers, power)

    # ── constraints ───────────────────────────────────────────────────────────────────────────────────────────────

    def _conditions(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, *, bias: bool = True
    ) -> Conditions:
        """All constraints at an instant; see `conditions`."""

        def seen(t: Any, q: Any, v: Any) -> World:
            return self._seen(tree, t, q, v, x, m, u, p)

        return conditions(tree, t, q, v, seen if self.elements.constraint_names else None, bias=bias, near=NEAR)

    def _wanted(self, found: Conditions) -> list[Any]:
        """What J a is to be, shape (nc,)."""
        if not isinstance(self.loops, Baumgarte):
            return found.gamma
        pull, damp = self.loops.beta**2, 2.0 * self.loops.alpha
        return [g - damp * r - pull * e for g, r, e in zip(found.gamma, found.rate, found.filled(), strict=True)]

    def constraints(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """phi (nh,), the rates (nc,) of all rows, J (nc, nv), and the sizes of rows (nc,)."""
        tree = self.prepared(self.tree(p))
        q, v, x = self._state(tree, base, s)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        return {"phi": found.phi, "rate": found.rate, "J": found.J, "sizes": found.sizes}

    def _corrections(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, per_time: float = 0.0
    ) -> Corrections:
        """What brings q and v onto the constraints.

        `per_time` [1/s]: the velocity is to take so much of the error phi away in each unit of time.
        """
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        everything = found.rows([-(rate + per_time * e) for rate, e in zip(found.rate, found.filled(), strict=True)])
        placed = len(found.phi)
        positions = Rows(found.J[:placed], [-e for e in found.phi], found.weights[:placed], found.opening)
        nothing = [0.0] * self.nv
        if isinstance(self.loops, Partitioning | SingularPerturbation):
            metric = masked([times(mask, float(k not in self.still)) for k, mask in enumerate(self._dependent(m))])
            moved, changed = (constrained_dynamics(metric, nothing, rows) for rows in (positions, everything))
        else:
            moved, changed = (
                self.dynamics.under(tree, q, nothing, held_rows(rows, self.still)) for rows in (positions, everything)
            )
        return Corrections(moved.a, changed.a, found, changed.counts)

    def _dependent(self, m: Any) -> Sequence[Any]:
        """1 for each velocity that follows from the others, else 0, shape (nv,)."""
        return self.dependent if self.dependent is not None else m[len(m) - self.nv :]

    def held(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """s with constraints kept better, `out` (ns,), and the `error` that it had, good up to 1."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        ready = self.prepared(tree)
        if isinstance(self.loops, SingularPerturbation):
            change = self._corrections(ready, t, q, v, x, m, u, p, per_time=1.0 / self.loops.epsilon).change
            return {"out": [*s[: self.nv], *_sum(v, change), *x], "error": 0.0}
        assert isinstance(self.loops, Projection | Partitioning)
        better = self._corrections(ready, t, q, v, x, m, u, p)
        w = _sum(s[: self.nv], charts.local_rate(tree, s[: self.nv], better.moved))
        error = better.found.error(self.loops.tolerance, better.counts)
        return {"out": [*w, *_sum(v, better.change), *x], "error": error}

    def dependence(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """How well the dependent velocities follow from the others: `margin`, 1 at best and 0 where they do not; and J,
        (nc, nv), rows and columns of comparable size, to choose others by. Masses do not enter: a light body would
        outweigh all others, wherever it stands.

        The margin is the least share, of what a row says that earlier ones do not, that dependent velocities make up.
        """
        tree = self.prepared(self.tree(p))
        q, v, x = self._state(tree, base, s)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        rows = found.rows([0.0] * len(found.rate))
        free = self._unit_squares(tree, found)
        whole = span_of(masked(free), rows)
        some = span_of(masked([times(mask, one) for mask, one in zip(self._dependent(m), free, strict=True)]), rows)
        margin: Any = less_equal(whole.rank, some.rank)
        for all_of_it, size in zip(whole.sizes, some.sizes, strict=True):
            made_up = div(all_of_it, size) if not is_zero(size) else 1.0  # sizes are 1 / what is left
            margin = where(size, minimum(margin, made_up), margin)
        J = [
            [div(times(x, sqrt(one)), size) for x, one in zip(row, free, strict=True)]
            for row, size in zip(found.J, found.sizes, strict=True)
        ]
        return {"J": J, "margin": margin}

    def flat(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> Any:
        """1 so near to a singular configuration that no choice of dependent velocities decides them well, else 0."""
        tree = self.prepared(self.tree(p))
        q, v, x = self._state(tree, base, s)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        rows = found.rows([0.0] * len(found.rate))
        known = len(found.weights) - len(self.elements.constraint_names)  # rows of loops come first
        plain = loops.constraint_weights(tree, found.J[:known], found.sizes, found.opening, FLAT)
        metric = masked(self._unit_squares(tree, found))
        clear = span_of(metric, rows._replace(weights=[*plain, *found.weights[known:]]), FLAT)
        return less(clear.rank, span_of(metric, rows).rank)

    def _unit_squares(self, tree: Tree, found: Conditions) -> list[Any]:
        """The squares of comparable velocities, shape (nv,); 0 for locked ones."""
        reaches = loops.velocity_reaches(tree, found.sizes)
        return [0.0 if k in self.still else times(reach, reach) for k, reach in enumerate(reaches)]

    def residual(self, t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """What is left over at z = [a, dx/dt], by inverse dynamics; where loops close, against forward dynamics."""
        tree, nv = self.tree(p), self.nv
        ready = self.prepared(tree)
        q, v, x = self._state(tree, base, s)
        a = [0.0 if k in self.still else entry for k, entry in enumerate(z[:nv])]
        acting = self._acting(ready, t, q, v, x, m, u, p)
        driven: Any = 0.0
        if self.constrained:
            solved = self._solved(ready, t, q, v, x, m, u, p, acting)
            unmet, driven = sub(a, solved.a), solved.supplied
        elif self.dynamics.takes_wrenches:
            unmet = sub(self.dynamics.inverse(ready, q, v, a, *acting.loads), acting.tau)
        else:
            unmet = sub(self.dynamics.inverse(ready, q, v, a), self._tau(ready, q, v, acting))
        left = [z[k] if k in self.still else entry for k, entry in enumerate(unmet)]
        return [*left, *sub(z[nv:], self._extra_rates(t, q, v, x, m, u, p, acting, driven))]

    def bound(self, t: Any, base: Any, s: Any, z: Any, forces: Any, pushes: Any, m: Any, u: Any, p: Any) -> Any:
        """The stabilized form of index 2 (Gear, Gupta, Leimkuhler), with multipliers as unknowns: `forces` (nc,) in

            M a + h = tau + J^T forces,     dq/dt moves at  v + J^T pushes,     0 = phi,     0 = d phi/dt

        `pushes` (nh,) are zero but for errors of a method. Gives `moving` (nv,), how coordinates move; `left` (nv +
        nx,), what is left over at z = [a, dx/dt]; `phi` (nh,) and `rate` (nc,).
        """
        tree, nv = self.tree(p), self.nv
        ready = self.prepared(tree)
        q, v, x = self._state(tree, base, s)
        a = [0.0 if k in self.still else entry for k, entry in enumerate(z[:nv])]
        found = self._conditions(ready, t, q, v, x, m, u, p)
        acting = self._acting(ready, t, q, v, x, m, u, p)
        takes = self.dynamics.takes_wrenches
        tau = acting.tau if takes else self._tau(ready, q, v, acting)
        unmet = sub(self.dynamics.inverse(ready, q, v, a, *(acting.loads if takes else ())), tau)
        left, moving = [], []
        for k in range(nv):
            column = [row[k] for row in found.J]
            held = k in self.still
            left.append(z[k] if held else minus(unmet[k], dot(column, forces)))
            moving.append(0.0 if held else plus(v[k], dot(column[: len(found.phi)], pushes)))
        driven: Any = 0.0
        for force, rate in zip(forces, found.driven, strict=True):
            driven = minus(driven, times(force, rate))
        left += sub(z[nv:], self._extra_rates(t, q, v, x, m, u, p, acting, driven))
        return {"moving": moving, "left": left, "phi": found.phi, "rate": found.rate}

    def place(self, base: Any, s: Any, *, finished: bool = True) -> list[Any]:
        """The configuration that s means."""
        return charts.place(self.bare, base, s[: self.nv], finished=finished)

    def drift(self, s: Any, h: Any) -> list[Any]:
        """w after the time h at constant velocity."""
        w, v, _ = split(s, self.nv)
        return charts.chained(self.bare, w, charts.steady(self.bare, [h * rate for rate in v]))

    def implicit(
        self, t: Any, base: Any, s: Any, h: Any, guess: Any, m: Any, u: Any, p: Any, passes: int, centered: bool = False
    ) -> tuple[list[Any], list[Any]]:
        """s after a step, and its accelerations: stiff forces of elements and damping at its end, all others at its
        start, or all where it is `centered`; see `implicit`.
        """
        tree = self.tree(p)
        q, v, x = self._state(tree, base, [*[0.0] * self.nv, *s[self.nv :]])
        first = None
        if centered:
            first, q = half_moved(self.bare, base, v, h)
            base, t = q, t + 0.5 * h
        ready = self.prepared(tree)
        acting = self._acting(ready, t, q, v, x, m, u, p, stiff=True)
        numbers = [evaluate(d, self._lookup(p)) for joint in self.dynamics.robot.joints for d in joint.damping]
        damping = [JointForce(j, Damping(d)) for j, d in enumerate(numbers) if not is_zero(d)]
        during = StepForces(
            _sum(acting.pushed, acting.elements.torques),
            [force for stiff in acting.stiff for force in stiff.points],
            [*damping, *(force for stiff in acting.stiff for force in stiff.joints)],
            acting.elements.loads,
            self._extra_rates(t, q, v, x, m, u, p, acting),
        )
        under = None
        if self.constrained:
            found = self._conditions(ready, t, q, v, x, m, u, p)
            rows = held_rows(found.rows(self._wanted(found)), self.still)
            under = Under(
                self.dynamics.masses(ready, q),
                point_slopes(ready, ready.moves(q), during.points),
                lambda M, rest: constrained_dynamics(branch_factor(ready, M), rest, rows).a,
            )
        after, ends = implicit_step(ready, base, s, h, during, passes, guess, self.still, first, under)
        world = self._seen(ready, t, q, v, x, m, u, p)
        for index, (element, law, start, _) in enumerate(self.elements.members):
            late = law.late_rates(element, world.scenes[index], after[self.nv : 2 * self.nv], h)
            for k, rate in enumerate(late or (), self.extra + start):
                after[2 * self.nv + k] = x[k] + h * rate
        return after, ends.a

    def stiff(
        self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any
    ) -> tuple[Tree, dict[str, PointForce], dict[str, JointForce]]:
        """The tree, and the stiff forces of elements on it by name."""
        tree = self.tree(p)
        points: dict[str, PointForce] = {}
        joints: dict[str, JointForce] = {}
        for index, stiff in self.world(tree, t, q, v, x, m, u, p).stiff().items():
            name = self.elements.members[index].element.name
            points |= _numbered(name, stiff.points)
            joints |= _numbered(name, stiff.joints)
        return tree, points, joints

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _now(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> World:
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        return self.world(tree, t, charts.finished(self.bare, q), v, x, m, u, p)

    def sampled(
        self, samplers: Sequence[tuple[int, int]], t: Any, base: Any, s: Any, m: Any, u: Any, p: Any
    ) -> list[Any]:
        """Memory after some elements have sampled, one after the other; each by its index and number of its clock."""
        memory = list(m)
        for index, clock in samplers:
            element, law, _, start = self.elements.members[index]
            world = self._now(t, base, s, memory, u, p)
            new = law.sample(element, world.scenes[index], clock)
            what = f"element '{element.name}': what it gives when it samples"
            memory[start : start + len(law.memory(element))] = checked_length(new, len(law.memory(element)), what)
        return memory

    def read(self, sampler: tuple[int, int], t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """The signals that an element's Python function is given."""
        element, law = self.elements.members[sampler[0]][:2]
        world = self._now(t, base, s, m, u, p)
        return [world.signal(name) for name in law.reads(element)]

    def decided(self, sampler: tuple[int, int], t: float, values: Sequence[float], m: Sequence[float]) -> list[float]:
        """Memory after an element's Python function was called, in plain numbers."""
        element, law, _, start = self.elements.members[sampler[0]]
        end = start + len(law.memory(element))
        return [*m[:start], *law.decide(element, t, values, m[start:end], sampler[1]), *m[end:]]

    def settled(self, members: Sequence[int], t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """Memory and extra states after an accepted step."""
        world = self._now(t, base, s, m, u, p)
        changes = {}
        for index in members:
            element, law = self.elements.members[index][:2]
            changes[index] = law.settle(element, world.scenes[index])
        return self._changed(changes, s, m)

    def guard_values(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """All guards of elements."""
        world = self._now(t, base, s, m, u, p)
        return [
            value
            for index, member in enumerate(self.elements.members)
            for value in member.law.guard_values(member.element, world.scenes[index])
        ]

    def switched(self, guard: int, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """Memory and extra states where a guard has fallen through zero."""
        index, number, _ = self.elements.guards[guard]
        element, law = self.elements.members[index][:2]
        world = self._now(t, base, s, m, u, p)
        return self._changed({index: law.switch(element, world.scenes[index], number)}, s, m)

    def _changed(self, changes: Mapping[int, Change], s: Any, m: Any) -> dict[str, Any]:
        """Memory with new entries, and x with what was lost added to the account."""
        memory, x = list(m), list(split(s, self.nv)[2])
        for index, change in changes.items():
            element, law, _, start = self.elements.members[index]
            memory[start : start + len(law.memory(element))] = list(change.memory)
            if self.account:
                x[-1] = x[-1] + change.lost
        return {"m": memory, "x": x}

    # ── whole steps: see `variational` ────────────────────────────────────────────────────────────────────────────

    def action(self, base: Any, moved: Any, w: Any, h: Any, p: Any) -> Any:
        """The action of a step; `moved` are local coordinates of its start, for derivatives by it."""
        tree = self.tree(p)
        return discrete_action(tree, charts.place(tree, base, moved, finished=False), w, h)

    def balance(
        self, t: Any, base: Any, s: Any, z: Any, begun: Any, h: Any, m: Any, u: Any, p: Any, by_start: Any, by_end: Any
    ) -> dict[str, Any]:
        """The discrete Euler-Lagrange equations with forces half-way, and the momentum at the end."""
        tree, nv = self.tree(p), self.nv
        w, ends, x = z[:nv], z[nv:], s[2 * nv :]
        half, way = charts.halfway(tree, w)
        v = [0.0 if k in self.still else entry / h for k, entry in enumerate(way)]
        x_half = [0.5 * (one + other) for one, other in zip(x, ends, strict=True)]
        there = (t + 0.5 * h, charts.place(tree, base, half, finished=False), v, x_half, m, u, p)
        acting = self._acting(tree, *there)
        impulse = [h * force for force in self._tau(tree, there[1], v, acting)]

        def half_moved(rates: Any) -> Any:
            """The velocity half-way as w changes at these rates."""
            dual = [Dual(one, rate, level=LEVEL) for one, rate in zip(w, rates, strict=True)]
            return charts.velocity(tree, half, [tangent_of(entry, LEVEL) for entry in charts.halfway(tree, dual)[0]])

        # the work of the impulse over the ways that start and end make half-way adds to the slopes of the action
        by_end = add(by_end, charts.pulled_back(tree, half_moved, impulse))
        by_start = add(by_start, charts.pulled_back(tree, lambda rates: charts.carried(tree, half, rates), impulse))
        after = charts.pulled_back(tree, lambda rates: charts.local_rate(tree, w, rates), by_end)
        # the end stays where it is while the start moves: w makes up for it
        before = sub(charts.pulled_back(tree, lambda rates: charts.carried(tree, w, rates), after), by_start)
        left = [way[k] if k in self.still else one - begun[k] for k, one in enumerate(before)]
        rates = self._extra_rates(*there, acting)
        grown = [end - (one + h * rate) for end, one, rate in zip(ends, x, rates, strict=True)]
        return {"left": [*left, *grown], "after": after}

    def _weightless(self, p: Any) -> Tree:
        return self.prepared(replace(self.tree(p), gravity=(0.0, 0.0, 0.0)))

    def momentum(self, base: Any, s: Any, p: Any) -> Sequence[Any]:
        """M(q) v."""
        q, v, _ = self._state(self.tree(p), base, s)
        return self.dynamics.inverse(self._weightless(p), q, [0.0] * self.nv, v)

    def velocity(self, base: Any, s: Any, begun: Any, p: Any) -> Sequence[Any]:
        """v with M(q) v equal to a given momentum."""
        q, _, _ = self._state(self.tree(p), base, s)
        return self.dynamics.accelerations(self._weightless(p), q, [0.0] * self.nv, begun, locked=self.still)


def _numbered(name: str, parts: Sequence[T]) -> dict[str, T]:
    """Parts of an element by name: its own, or with a number where it has several."""
    return {f"{name}.{k}" if len(parts) > 1 else name: part for k, part in enumerate(parts, start=1)}


def _sum(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [one + other for one, other in zip(a, b, strict=True)]


def _power(forces: Sequence[Any], v: Sequence[Any]) -> Any:
    return sum((force * rate for force, rate in zip(forces, v, strict=True)), 0.0)
