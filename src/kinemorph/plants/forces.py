"""The forces on a robot at one instant, over any scalar type: user forces, elements and damping; rates of extra states.

Elements are evaluated once for each instant (mechanics.elements.instant.SystemInstant), and their loads on links are
passed to the recursions as outside wrenches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import plus
from kinemorph.algebra.vectors import matvec, sub
from kinemorph.mechanics.elements.instant import Gathered, SystemInstant, generalized
from kinemorph.mechanics.elements.law import Stiff
from kinemorph.mechanics.elements.places import Frame, Motions
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.recursions.momentum import kinetic_energy, potential_energy
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.user_laws import checked_length, of_groups


class Acting(NamedTuple):
    """The forces at one instant: generalized forces (nv,) of inputs and user laws (`pushed`), the effects of elements
    and the damping of joints, both on all joints, and `stiff` forces of elements, where they are listed separately.
    """

    pushed: list[Any]
    elements: Gathered
    damped: list[Any]
    stiff: Mapping[int, Stiff]  # forces that are kept apart, by the index of their element
    every: AllJoints
    world: SystemInstant  # the system as elements see it

    @property
    def tau(self) -> list[Any]:
        """The generalized forces (nv,), without the contribution of loads on links."""
        return summed(summed(self.pushed, self.of_state(self.elements.torques)), self.of_state(self.damped))

    @property
    def explicit(self) -> list[Any]:
        """The forces on all joints of inputs, user laws and elements, without damping and loads on links."""
        more = [0.0] * (len(self.elements.torques) - len(self.pushed))
        return summed([*self.pushed, *more], self.elements.torques)

    def of_state(self, forces: Sequence[Any]) -> Sequence[Any]:
        """The generalized forces (nv,) of the state, from forces on all joints, driven ones included."""
        return self.every.forces(forces)

    @property
    def loads(self) -> tuple[Mapping[int, Wrench], ...]:
        """The loads on links as a tuple of arguments for a recursion: one mapping, or empty without loads."""
        return (self.elements.loads,) if self.elements.loads else ()


def acting(
    loaded: LoadedRobot,
    tree: Tree,
    at: Instant,
    *,
    stiff: bool = False,
    given: Mapping[str, Any] | None = None,
    tables: bool = False,
) -> Acting:
    """The forces at an instant, with loads on the links of `tree`.

    With `stiff`, forces that a step may evaluate at its end, and damping, are listed separately: neither they nor
    their power are added to the others. `given` are values of signals, by full name, that are not to be computed.
    With `tables`, elements may compute many points at once (`algebra.rows`), as in steps and energies.
    """
    pushed: list[Any] = list(at.u[: loaded.nv]) if loaded.added.pushed else [0.0] * loaded.nv
    if loaded.added.forces is not None:
        law = of_groups(loaded.added.forces, loaded.user_groups(at), "forces")
        pushed = summed(pushed, checked_length(law, loaded.nv, "the law of forces"))
    world = loaded.seen(tree, at, given=given, tables=tables)
    damped = [0.0 if stiff else -d * rate for d, rate in zip(damping(loaded, at.p), world.v, strict=True)]
    apart = world.stiff() if stiff else {}
    return Acting(pushed, world.gathered(apart), damped, apart, loaded.all_joints(tree, at), world)


def damping(loaded: LoadedRobot, p: Any) -> list[Any]:
    """The coefficients of viscous damping of the velocities of all joints [N m s/rad or N s/m], those of v first."""
    lookup, robot = loaded.lookup(p), loaded.dynamics.robot
    own = [joint for joint in robot.joints if not joint.driven]
    return [evaluate(d, lookup) for joint in (*own, *robot.driven) for d in joint.damping]


def all_forces(tree: Tree, at: Instant, found: Acting) -> list[Any]:
    """All generalized forces, shape (nv,), including the contribution of loads on links."""
    if not found.elements.loads:
        return found.tau
    motions = Motions(tree.of_joints, found.every.q, found.every.v)
    return summed(found.tau, found.of_state(generalized(motions, found.elements.loads)))


def extra_rates(
    loaded: LoadedRobot, tree: Tree, at: Instant, found: Acting, driven: Any = 0.0, lost: Any = 0.0
) -> list[Any]:
    """The rates dx/dt, shape (nx,), of the further states x: those of the user, those of elements, and two energies.

    The energies are there if the plant records them (`account`); their rates are the supplied and the dissipated power.
    `driven` [W], the power supplied by constraints that depend on time, is part of the supplied power, and `lost` [W],
    that of the friction of rigid contacts, of the dissipated power.
    """
    rates: list[Any] = []
    if loaded.added.state_rates is not None:
        law = of_groups(loaded.added.state_rates, loaded.user_groups(at), "state_rates")
        rates = checked_length(law, loaded.added.states, "the law of state rates")
    rates = [*rates, *found.elements.rates]
    if loaded.account:
        rates += [
            plus(power(tree, found.pushed, at.v) + found.elements.supplied, driven),
            plus(found.elements.dissipated - power(tree, found.damped, found.every.v), lost),
        ]
    return rates


def summed(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """The sum a + b, entry by entry."""
    return [one + other for one, other in zip(a, b, strict=True)]


def power(tree: Tree, forces: Sequence[Any], v: Sequence[Any]) -> Any:
    """The power [W] of generalized forces (nv,) at velocities (nv,): their scalar product, over all limbs."""
    return tree.total(enumerate(force * rate for force, rate in zip(forces, v, strict=True)))


# ── laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def efforts(loaded: LoadedRobot, at: LocalInstant) -> dict[str, list[Any]]:
    """The generalized forces (nv,): `supplied`, by inputs, user laws and elements, and `damping`, by joint damping."""
    tree = loaded.tree(at.p, at.t)
    now = loaded.instant(at)
    found = acting(loaded, tree, now)
    damped = found.of_state(found.damped)
    return {"supplied": list(sub(all_forces(tree, now, found), damped)), "damping": list(damped)}


def bodies(loaded: LoadedRobot, at: LocalInstant) -> dict[str, list[Any]]:
    """The configuration q (nq,) and the motion of all bodies, one row each, in world axes.

    `position` (3,) [m] and `velocity` (3,) [m/s] are those of the body's origin, `rotation` (9,) is the matrix R_WB row
    by row, `turning` (3,) [rad/s] is the angular velocity.
    """
    tree, now = loaded.tree(at.p, at.t), loaded.instant(at)
    now = now._replace(q=charts.finished(loaded.bare, now.q))
    every = loaded.all_joints(tree, now)
    motions = Motions(tree.of_joints, every.q, every.v)
    frames = [Frame(motions, motions.attachment(name)) for name in loaded.dynamics.robot.body_names]
    return {
        "q": list(now.q),
        "position": [list(frame.pose.p) for frame in frames],
        "rotation": [[entry for row in frame.pose.R for entry in row] for frame in frames],
        "velocity": [list(matvec(frame.pose.R, frame.velocity)) for frame in frames],
        "turning": [list(matvec(frame.pose.R, frame.turning)) for frame in frames],
    }


def stored(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The energy that elements store [J], shape (1,)."""
    tree = loaded.tree(at.p, at.t)
    return [acting(loaded, tree, loaded.instant(at), tables=True).elements.stored]


def energy(loaded: LoadedRobot, at: LocalInstant) -> Any:
    """The kinetic energy, the potential energy of gravity and the energy that elements store [J], in one sum."""
    kinetic, potential, held = _energies(loaded, at)
    return plus(kinetic + potential, held)


def mechanical(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The kinetic energy, and the potential energy of gravity and of elements [J], shape (2,)."""
    kinetic, potential, held = _energies(loaded, at)
    return [kinetic, plus(potential, held)]


def _energies(loaded: LoadedRobot, at: LocalInstant) -> tuple[Any, Any, Any]:
    """The kinetic energy, the potential energy of gravity and the energy that elements store [J]."""
    tree, now = loaded.prepared(loaded.tree(at.p, at.t)), loaded.instant(at)
    every = loaded.all_joints(tree, now)
    own = kinetic_energy(tree.of_joints, every.q, every.v), potential_energy(tree.of_joints, every.q)
    return *own, loaded.seen(tree, now, tables=True).gathered({}).stored


def places(loaded: LoadedRobot, at: LocalInstant) -> list[list[Any]]:
    """The origins of all bodies and frames (`place_names`) in world axes [m], shape (places, 3)."""
    tree, now = loaded.tree(at.p, at.t), loaded.instant(at)
    every = loaded.all_joints(tree, now._replace(q=charts.finished(loaded.bare, now.q)))
    poses = forward_kinematics(tree.of_joints, every.q, place_names(loaded.dynamics.robot))
    return [list(pose.p) for pose in poses]


def place_names(robot: Robot) -> list[str]:
    """The names of all bodies and frames of a robot, each once."""
    return [*dict.fromkeys((*robot.body_names, *(frame.name for frame in robot.frames)))]
