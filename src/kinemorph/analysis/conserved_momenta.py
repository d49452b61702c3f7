"""Which momenta a run has to conserve, and how well it did.

A floating robot exchanges momentum with gravity alone: linear momentum grows by m g t, angular momentum about the
center of mass is constant. A tree on the ground conserves momentum along the axes of its first joint along which
neither gravity nor a force acts: (M v)_k of a joint with axes; on a ball joint, the component along gravity of the
angular momentum about its center.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.plant_derivatives import of_robot
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.mechanics.constraints.closures import constraint_names
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import coordinates_of, evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD
from kinemorph.simulation.results.trajectory import Segment

# kind of joint -> the velocities along which it may conserve momentum
CYCLIC = {
    "revolute": (0,),
    "prismatic": (0,),
    "helical": (0,),
    "cylindrical": (0, 1),
    "universal": (0,),
    "gimbal": (0,),
}
CYCLIC |= {"point_on_line": (0,), "point_on_plane": (0, 1)}
NO_FORCE = 1e-12  # a gravity force below this, relative to the largest, counts as zero


@dataclass(frozen=True, eq=False)
class Ledger:
    """Momenta, forces and energies at the n samples of one segment of a run, each computed when it is first used.

    A segment is a part of a run without resets and changes of the system; a plain run has one.
    """

    segment: Segment
    dynamics: Dynamics

    @classmethod
    def of(cls, segment: Segment) -> Ledger:
        """The ledger of one segment of a run, whose plant has to contain a robot."""
        assert segment.plant.dynamics is not None
        return cls(segment, segment.plant.dynamics)

    @property
    def robot(self) -> Robot:
        """The robot that moves in this segment of the run."""
        return self.dynamics.robot

    def _at(self, name: str, *state: Array) -> Array:
        found: Array = of_robot(getattr(self.dynamics, name), self.dynamics, self.segment.p, *state)
        return found

    @property
    def kinetic(self) -> Array:
        """Kinetic energy [J], shape (n,)."""
        return self.segment.energy[:, 0]

    @property
    def forces(self) -> Array:
        """Generalized forces [N m or N] of inputs, force laws and damping, shape (n, nv)."""
        return self.segment.tau

    @cached_property
    def momentum(self) -> Array:
        """Linear momentum [N s], then angular momentum about the center of mass [N m s], world axes, shape (n, 6)."""
        return self._at("momentum", self.segment.q, self.segment.v)

    @cached_property
    def center(self) -> Array:
        """The center of mass of the robot in the world [m], shape (n, 3)."""
        return self._at("center_of_mass", self.segment.q)

    @cached_property
    def gravity_forces(self) -> Array:
        """The gravity term g(q) of the equations of motion [N m or N], shape (n, nv)."""
        return self._at("gravity_forces", self.segment.q)

    @cached_property
    def joint_momentum(self) -> Array:
        """M v, shape (n, nv), computed as inverse dynamics at rest with v as the acceleration and without gravity."""
        part, still = self.segment, np.zeros_like(self.segment.v)
        outside = [np.zeros((len(self.dynamics.wrenches), 6))] if self.dynamics.wrenches else []
        whole = self._at("inverse_dynamics", part.q, still, part.v, *outside)
        return whole - self._at("inverse_dynamics", part.q, still, still, *outside)

    @cached_property
    def field(self) -> tuple[Array, float]:
        """(gravity (3,) [m/s^2], mass of all bodies [kg]) with the parameter values of the run."""
        names = [parameter.name for parameter in self.dynamics.parameters]
        lookup = dict(zip(names, map(float, self.segment.p), strict=True))
        gravity = np.array([evaluate(entry, lookup) for entry in self.robot.gravity], dtype=float)
        return gravity, float(sum(evaluate(body.mass, lookup) for body in self.robot.bodies))

    @property
    def impulse_scale(self) -> float:
        """sqrt(2 m T) [N s], with the largest kinetic energy T: the size of the linear momentum that bodies exchange.

        It is a size to compare errors with where the total momentum is 0.
        """
        return float(np.sqrt(2.0 * self.field[1] * self.kinetic.max()))

    @property
    def spin_scale(self) -> float:
        """2 T / w [N m s], with T the kinetic energy about the center of mass and w the largest joint speed [rad/s].

        It is a size to compare errors of angular momentum with; 0 where nothing turns.
        """
        turning = [k for k, column in enumerate(self.segment.plant.v) if column.unit == "rad/s"]
        fastest = np.abs(self.segment.v[:, turning]).max(initial=0.0)
        inner = self.kinetic - 0.5 * np.sum(self.momentum[:, :3] ** 2, axis=1) / self.field[1]
        return float(2.0 * inner.max() / fastest) if fastest > 0.0 else 0.0


class Drift(NamedTuple):
    """The error of a momentum, the size of the momentum to compare it with, and the unit of both."""

    drift: float
    scale: float
    unit: str


@dataclass(frozen=True)
class Conserved:
    """A momentum that has to be conserved: the rule as a sentence, and the function that measures its drift."""

    says: str
    drift: Callable[[Ledger], Drift]


def conserved(ledgers: Sequence[Ledger]) -> tuple[Mapping[str, Conserved], str]:
    """(momenta that have to be conserved in a run, by name; "" or the reason why there is no such momentum).

    `ledgers` has one Ledger for each segment of the run, all with the same system.
    """
    robot, columns = ledgers[0].robot, ledgers[0].segment.plant.v
    roots = [joint for joint in robot.joints if _hangs_on_ground(robot, joint)]
    pushed = [k for k in range(robot.nv) if any(_is_pushed(ledger, k) for ledger in ledgers)]
    if any(WORLD in cycle for cycle in robot.cycles.values()) or robot.couplings:
        return {}, "loops to the ground or coupled joints act on the robot from outside"
    if len(ledgers[0].segment.plant.constraint_names) > len(constraint_names(robot)):
        return {}, "constraints of elements, such as rolling wheels, act on the robot"
    if floats(robot):
        outside = [k for joint in roots for k in _places(robot, joint) if k in pushed]
        if outside:
            return {}, f"a force acts from outside along '{columns[outside[0]].name}'"
        return _floating(ledgers[0]), ""
    kept: dict[str, Conserved] = {}
    for joint in roots:
        for local in CYCLIC.get(joint.kind, ()):
            k = _places(robot, joint)[local]
            if k not in pushed and not any(_has_weight(ledger, k) for ledger in ledgers):
                name = columns[k].name
                says = f"the momentum along '{name}' is constant, as no force acts along it"
                kept[f"momentum of '{name}'"] = Conserved(says, _of_joint(k))
        alone = joint.kind == "spherical" and len(roots) == 1 and joint.parent == WORLD
        if alone and not any(k in pushed for k in _places(robot, joint)):
            says = "the component along gravity of the angular momentum about the ball joint is constant"
            kept[f"momentum about '{joint.name}'"] = Conserved(says, _about_point(joint))
    return kept, "the ground, gravity or a force acts along the first joint of every tree"


def floats(robot: Robot) -> bool:
    """Whether nothing connects a robot to the ground: its first joints are free joints, and no loop includes it."""
    roots = [joint for joint in robot.joints if _hangs_on_ground(robot, joint)]
    grounded = any(WORLD in cycle for cycle in robot.cycles.values())
    return bool(roots) and not grounded and all(joint.kind == "free" for joint in roots)


def momentum_leap(before: Segment, after: Segment) -> tuple[Drift, Drift]:
    """The jumps of linear momentum, and of angular momentum about the world's origin, between two segments.

    Each jump is from the last sample of `before` to the first sample of `after`.
    """
    ends = []
    for segment, k in ((before, slice(-1, None)), (after, slice(0, 1))):
        t, q, v, x, m, u = (getattr(segment, group)[k] for group in ("t", "q", "v", "x", "m", "u"))
        ends.append(Ledger.of(Segment(segment.plant, t, q, v, x, m, u, segment.p)))
    P = np.array([ledger.momentum[0, :3] for ledger in ends])
    H = np.array([one.momentum[0, 3:] + np.cross(one.center[0], one.momentum[0, :3]) for one in ends])
    impulse = max(ledger.impulse_scale for ledger in ends)
    arm = max(_longest(ledger.center) for ledger in ends)
    spin = max(ledger.spin_scale for ledger in ends)
    return (
        Drift(_longest(P[1:] - P[:1]), max(_longest(P), impulse), "N s"),
        Drift(_longest(H[1:] - H[:1]), max(_longest(H), spin, arm * impulse), "N m s"),
    )


def _hangs_on_ground(robot: Robot, joint: Joint) -> bool:
    """Whether a joint can move, no other movable joint is between it and the world, and it drives no other joint."""
    driving = {leaf.name for leaf in coordinates_of(tuple(one.driven for one in robot.driven))}
    if not joint.nv or driving.intersection(joint.q_names):
        return False
    parent = joint.parent
    while parent != WORLD:
        above = robot.parent_joint[parent]
        if above.motion.nv:
            return False
        parent = above.parent
    return True


def _places(robot: Robot, joint: Joint) -> list[int]:
    part = robot.v_slice(joint.name)
    return list(range(part.start, part.stop))


def _is_pushed(ledger: Ledger, k: int) -> bool:
    return k in ledger.segment.plant.locked or bool(ledger.forces[:, k].any())


def _has_weight(ledger: Ledger, k: int) -> bool:
    forces = np.abs(ledger.gravity_forces)
    return bool(forces[:, k].max(initial=0.0) > NO_FORCE * max(forces.max(initial=0.0), 1e-300))


def _floating(ledger: Ledger) -> dict[str, Conserved]:
    falls = bool(ledger.field[0].any())
    about = "angular momentum about the world's origin is constant"
    return {
        "linear momentum": Conserved(f"linear momentum {'grows by m g t' if falls else 'is constant'}", _linear),
        "angular momentum": Conserved("angular momentum about the center of mass is constant", _angular),
        "angular momentum, origin": Conserved(
            f"the component along gravity of the {about}" if falls else about, _about_origin
        ),
    }


def _linear(ledger: Ledger) -> Drift:
    gravity, mass = ledger.field
    t, P = ledger.segment.t, ledger.momentum[:, :3]
    off = P - P[0] - mass * np.outer(t - t[0], gravity)
    return Drift(_longest(off), max(_longest(P), ledger.impulse_scale), "N s")


def _angular(ledger: Ledger) -> Drift:
    H = ledger.momentum[:, 3:]
    return Drift(_longest(H - H[0]), max(_longest(H), ledger.spin_scale), "N m s")


def _about(ledger: Ledger, point: Array) -> Drift:
    """The drift of angular momentum about a fixed point (3,) [m]; with gravity, of its component along gravity only."""
    arm = ledger.center - point
    H = ledger.momentum[:, 3:] + np.cross(arm, ledger.momentum[:, :3])
    scale = max(_longest(H), ledger.spin_scale, _longest(arm) * ledger.impulse_scale)
    gravity, _ = ledger.field
    size = float(np.linalg.norm(gravity))
    if size > 0.0:
        H = H @ (gravity[:, None] / size)
    return Drift(_longest(H - H[0]), scale, "N m s")


def _about_origin(ledger: Ledger) -> Drift:
    return _about(ledger, np.zeros(3))


def _about_point(joint: Joint) -> Callable[[Ledger], Drift]:
    def drift(ledger: Ledger) -> Drift:
        names = [parameter.name for parameter in ledger.dynamics.parameters]
        lookup = dict(zip(names, map(float, ledger.segment.p), strict=True))
        return _about(ledger, np.array([evaluate(entry, lookup) for entry in joint.placement.p], dtype=float))

    return drift


def _of_joint(k: int) -> Callable[[Ledger], Drift]:
    def drift(ledger: Ledger) -> Drift:
        values = ledger.joint_momentum[:, k]
        turns = ledger.segment.plant.v[k].unit == "rad/s"
        scale = ledger.spin_scale if turns else ledger.impulse_scale
        return Drift(
            float(np.abs(values - values[0]).max()),
            max(float(np.abs(values).max()), scale),
            "N m s" if turns else "N s",
        )

    return drift


def _longest(vectors: Array) -> float:
    return float(np.linalg.norm(vectors.reshape(len(vectors), -1), axis=1).max())
