"""A robot and everything that acts on it, as data, from which all laws of its plant are made.

The order of values in x, u and p is:

    x       states of the user, states of elements, two for the account of energy
    u       inputs of the user (or one force per velocity), inputs of elements that no signal drives
    p       parameters of the robot, parameters of elements
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from kinemorph.deriving.dynamics import Dynamics
from kinemorph.frozen import Fixed
from kinemorph.mechanics.constraints.closures import constraint_names
from kinemorph.mechanics.elements.contact.rigid_contacts import RigidPlace, rigid_places
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.elements.law import Stiff
from kinemorph.mechanics.steps.pair_forces import couples, spans
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.parameter import Parameter
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.loop_methods import LoopMethod, Partitioning, Projection, SingularPerturbation
from kinemorph.plants.user_laws import Law, split


@dataclass(frozen=True)
class Additions:
    """The laws that the user adds to a robot, and the numbers of their states and inputs."""

    forces: Law | None = None
    state_rates: Law | None = None
    states: int = 0
    inputs: int = 0
    pushed: bool = False  # whether the inputs are generalized forces, one per velocity


@dataclass(frozen=True, eq=False)
class LoadedRobot(Fixed):
    """A robot, its elements, the laws that the user adds, and the method that keeps its constraints."""

    dynamics: Dynamics
    elements: Ensemble
    parameters: tuple[Parameter, ...] = ()
    added: Additions = Additions()
    locked: tuple[int, ...] = ()  # velocity indices that do not move
    account: bool = False  # whether x ends with the energy supplied and the energy dissipated
    loops: LoopMethod = field(default_factory=Projection)
    dependent: tuple[float, ...] | None = None  # 1 for velocities that depend on others; None where a run chooses
    prepared_tree: Tree | None = None  # used for all parameters, in place of the robot's own; see `limb_folding`
    data: tuple[str, ...] = ()  # names of parameters whose nominal values no program depends on
    limb_of: Mapping[int, int] = field(default_factory=dict)  # element -> a link of its limb, which represents several
    # (loaded, at, values of signals) -> accelerations (nv,): the motion if elements published these values
    response: Callable[[LoadedRobot, Instant, Mapping[str, Any]], Any] | None = None

    @property
    def nq(self) -> int:
        """The length of q."""
        return self.dynamics.robot.nq

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return self.dynamics.robot.nv

    # ── the tree ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def bare(self) -> Tree:
        """The links at nominal parameters whose joints have coordinates in q: they suffice to move configurations."""
        tree = resolve(self.dynamics.robot) if self.prepared_tree is None else self.prepared_tree
        return tree.of_state

    def tree(self, p: Any, t: Any = 0.0) -> Tree:
        """The tree of links at parameters p and the time t, on which driven joints may depend."""
        if self.prepared_tree is not None:
            return self.prepared_tree
        return resolve(self.dynamics.robot, self.lookup(p)).at_time(t)

    def prepared(self, tree: Tree) -> Tree:
        """The tree with link frames that make the recursions cheap: at tips of limbs they point to where forces act."""
        return self.dynamics.laws.prepared(tree, self._tips) if self.prepared_tree is None else tree

    @cached_property
    def _stiff(self) -> tuple[Stiff, ...]:
        """The stiff forces of elements, at nominal parameters and the initial configuration."""
        if not self.elements.members:
            return ()
        sizes = (
            *(self.nv, self.added.states + len(self.elements.states), len(self.elements.memory)),
            self.added.inputs + len(self.elements.open_inputs),
        )
        v, x, m, u = ([0.0] * size for size in sizes)
        nominal = [parameter.value for parameter in self.parameters]
        q = initial_configuration(self.dynamics.robot).tolist()
        world = self.seen(self.tree(nominal), Instant(0.0, q, v, x, m, u, nominal))
        return tuple(world.stiff().values())

    @cached_property
    def _tips(self) -> dict[int, Any]:
        """By link index, the point in the link's frame [m] at which a stiff force acts; of several, the last."""
        return {force.link: force.point for stiff in self._stiff for force in stiff.points}

    @property
    def couples_links(self) -> bool:
        """Whether a stiff force acts between two links that both move, or along several joints together."""
        between = any(couples(pair) for stiff in self._stiff for pair in stiff.pairs)
        return between or any(spans(joint) for stiff in self._stiff for joint in stiff.joints)

    # ── one instant ───────────────────────────────────────────────────────────────────────────────────────────────

    def lookup(self, p: Any) -> dict[str, Any]:
        """The values `p` of the parameters as a dict by name."""
        return {parameter.name: value for parameter, value in zip(self.parameters, p, strict=True)}

    def instant(self, at: LocalInstant) -> Instant:
        """The instant `at`, which is in local coordinates s = [w, v, x], as an Instant with q, v and x.

        Quaternions of q are not normalized; locked velocities are 0.
        """
        w, v, x = split(at.s, self.nv)
        v = [0.0 if k in self.locked else rate for k, rate in enumerate(v)]
        return Instant(at.t, charts.place(self.bare, at.base, w, finished=False), v, x, at.m, at.u, at.p)

    def seen(
        self, tree: Tree, at: Instant, *later: Any, given: Mapping[str, Any] | None = None, tables: bool = False
    ) -> SystemInstant:
        """The system as its elements see it; `later` are functions for accelerations and forces, see SystemInstant.

        `given` are values of signals that are not to be computed. `tables` says that laws may compute many points at
        once; those of limbs that represent several do not, as these limbs are computed side by side already.
        """
        own = at.x[self.added.states : self.added.states + len(self.elements.states)]
        u = at.u[self.added.inputs :]
        every = self.all_joints(tree, at)
        known = (own, at.m, u, self.lookup(at.p), *later)
        respond = self.response and partial(self.response, self, at)
        sums = self.element_sums(tree)
        return SystemInstant(
            *(self.elements, tree.of_joints, at.t, every.q, every.v, *known),
            sums=sums,
            response=respond,
            given=given,
            tables=tables and not self.limb_of,
        )

    def element_sums(self, tree: Tree) -> dict[int, Callable[[Any], Any]]:
        """For each element of a limb that represents several limbs: the function that sums a scalar over all of them.

        The keys are indices of members.
        """
        return {index: tree.link_sums[link] for index, link in self.limb_of.items()}

    def all_joints(self, tree: Tree, at: Instant) -> AllJoints:
        """The coordinates and velocities of all joints at an instant."""
        return tree.at_time(at.t).all_joints(at.q, at.v)

    def user_groups(self, at: Instant) -> dict[str, Any]:
        """The values that user laws may read, by name, with normalized quaternions."""
        q = charts.finished(self.bare, at.q)
        return at._replace(q=q, x=at.x[: self.added.states], u=at.u[: self.added.inputs])._asdict()

    # ── constraints ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def constrained(self) -> bool:
        """Whether the robot has closed chains, coupled joints or elements with constraints."""
        return not self.dynamics.robot.is_open or bool(self.elements.constraint_names)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The names of all constraint rows: those of loops and coupled joints, then those of elements."""
        return (*constraint_names(self.dynamics.robot), *self.elements.constraint_names)

    @cached_property
    def rigid(self) -> tuple[RigidPlace, ...]:
        """The points of rigid contacts; empty where there are none."""
        return rigid_places(self.elements, self.constraint_names)

    @property
    def on_stages(self) -> bool:
        """Whether states are brought onto the constraints at every evaluation of the rate, not only after steps."""
        return isinstance(self.loops, Partitioning) or (isinstance(self.loops, Projection) and self.loops.stages)

    @property
    def partial(self) -> bool:
        """Whether the constraint method divides velocities into independent and dependent ones."""
        return self.constrained and isinstance(self.loops, Partitioning | SingularPerturbation)

    @property
    def chooses(self) -> bool:
        """Whether runs choose the dependent velocities; the last nv numbers of the memory are then the choice."""
        return self.partial and self.dependent is None
