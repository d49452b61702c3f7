"""The laws of springs, friction and stops in joints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.checks import known_joint, one_axis, wrong
from kinemorph.mechanics.elements.contact.normal_forces import ImpedanceLaw
from kinemorph.mechanics.elements.forces.carried_efforts import carried_efforts
from kinemorph.mechanics.elements.forces.joint_laws import Elastic, Friction, ImpedanceStops, JointLaw, Stops
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, Stiff, register
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.steps.point_states import JointForce, JointState
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.elements.forces.joint_forces import (
    ONE_AXIS,
    JointFriction,
    JointLimits,
    TorsionSpring,
    for_unit,
    has_friction,
    has_limits,
)
from kinemorph.model.joint import ImpedanceStop, Joint
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot

E = TypeVar("E")
STIFFEST = 25.0  # times I / time^2: the largest stiffness that is chosen for a stop, so that steps of 1 ms stay stable

STICKING = 3e3  # [1/s]: a joint that sticks and is held by a larger slope of its friction over its inertia is stiff


class Along(NamedTuple):
    """A force law along one velocity: its index in v, and that of its coordinate in q, None if the law needs none."""

    v: int
    q: int | None
    law: JointLaw


class JointForceLaw(ElementLaw[E]):
    """The abstract base of laws with forces along velocities of joints."""

    steady = True

    def along(self, element: E, view: ElementView) -> Sequence[Along]:
        """The force laws of the element, each along one velocity."""
        raise AssertionError(f"{type(self).__name__} does not define its method `along`. Define it.")

    def velocities(self, element: E, robot: Robot) -> Sequence[int]:
        """The indices in v that the element acts on; where they are given, its efforts are signals by their names."""
        return ()

    def signals_on(self, element: E, robot: Robot) -> tuple[Slot, ...]:
        names = (robot.all_v_names[k] for k in dict.fromkeys(self.velocities(element, robot)))
        return self.signals(element) or tuple(Slot(name, f"tau.{name}") for name in names)

    def publish(self, element: E, view: ElementView) -> Mapping[str, S]:
        """The effort along each velocity, [N m] for a rotation and [N] for a translation."""
        return {view.robot.all_v_names[k]: effort for k, effort in self.effort(element, view).torques.items()}

    def stiff(self, element: E, view: ElementView) -> Stiff:
        return Stiff(joints=[JointForce(v, law) for v, _, law in self.along(element, view)])

    def effort(self, element: E, view: ElementView) -> Effort:
        torques: dict[int, S] = {}
        dissipated: S = 0.0
        stored: S = 0.0
        for v, q, law in self.along(element, view):
            joint = JointState(None if q is None else view.instant.q[q], view.instant.v[v])
            torques[v] = law.force(joint)
            dissipated, stored = dissipated + law.dissipated(joint), stored + law.stored(joint)
        return Effort(torques=torques, dissipated=dissipated, stored=stored)


class TorsionSpringLaw(JointForceLaw[TorsionSpring]):
    """A spring and a damper in a joint."""

    def problems(self, element: TorsionSpring, robot: Robot) -> list[str]:
        return one_axis(element, "joint", element.joint, robot)

    def signals(self, element: TorsionSpring) -> tuple[Slot, ...]:
        return (Slot("force", f"tau.{element.joint}"),)

    def publish(self, element: TorsionSpring, view: ElementView) -> Mapping[str, S]:
        """The torque [N m], or force [N] in a prismatic joint, along the joint."""
        return {"force": next(iter(self.effort(element, view).torques.values()))}

    def along(self, element: TorsionSpring, view: ElementView) -> Sequence[Along]:
        numbers = (element.stiffness, element.rest, element.damping, element.curve, element.damping_curve)
        law = Elastic(*view.value(numbers))
        place = view.robot.axis_places[element.joint]
        return [Along(place.v, place.q, law)]


class JointFrictionLaw(JointForceLaw[JointFriction]):
    """Friction along all velocities of the joints that have friction."""

    def problems(self, element: JointFriction, robot: Robot) -> list[str]:
        found = []
        if element.coulomb is not None and not element.joints:
            problem = "coulomb is given without joints; expected the joints that have this friction"
            remedy = "Name them, or leave coulomb out to use the friction of each joint."
            found.append(wrong(element.name, problem, remedy, "coulomb"))
        for name in element.joints:
            found += known_joint(element, "joints", name, robot)
        return found

    def acts_on(self, element: JointFriction, robot: Robot) -> Sequence[str]:
        return element.joints or [joint.name for joint in robot.joints if has_friction(joint)]

    def limb_by_limb(self, element: JointFriction) -> bool:
        return True

    def velocities(self, element: JointFriction, robot: Robot) -> Sequence[int]:
        return [place for place, _ in _rubbing(element, robot)]

    def is_stiff(self, element: JointFriction, robot: Robot) -> bool:
        """Whether a joint that sticks is held so hard that an explicit method takes steps of a few milliseconds."""
        moved, units = moved_inertias(robot), _units(robot)
        moved = (*moved, *[min(moved, default=0.0)] * (len(units) - robot.nv))  # of driven joints, what is known
        return any(
            evaluate(coulomb) * evaluate(element.breakaway)
            > STICKING * evaluate(for_unit(element.smoothing, units[place])) * moved[place]
            for place, coulomb in _rubbing(element, robot)
        )

    def along(self, element: JointFriction, view: ElementView) -> Sequence[Along]:
        units, laws = _units(view.robot), []
        for place, coulomb in _rubbing(element, view.robot):
            speeds = (for_unit(value, units[place]) for value in (element.stribeck, element.smoothing))
            numbers = view.value((coulomb, element.viscous, element.breakaway, *speeds))
            laws.append(Along(place, None, Friction(*numbers)))
        return laws


def _units(robot: Robot) -> list[str]:
    """The units of the velocities of all joints, driven ones last."""
    return [*robot.v_units, *(unit for joint in robot.driven for unit in joint.motion.v_units)]


def _rubbing(element: JointFriction, robot: Robot) -> Iterator[tuple[int, Any]]:
    """(index in v, Coulomb friction [N m or N]) for all velocities that the element acts on."""
    for joint in robot.joints:
        if element.joints and joint.name not in element.joints:
            continue
        for k, own in enumerate(joint.friction):
            coulomb = own if element.coulomb is None else element.coulomb
            absent = isinstance(coulomb, float) and coulomb == 0.0  # a parameter may change from 0 to another value
            if element.joints or not absent:
                yield robot.v_slice(joint.name).start + k, coulomb


class JointLimitsLaw(JointForceLaw[JointLimits]):
    """Stops at the limits of joints."""

    def problems(self, element: JointLimits, robot: Robot) -> list[str]:
        found = []
        for name in element.joints:
            unknown = known_joint(element, "joints", name, robot)
            found += unknown
            if not unknown and not has_limits(robot.joint(name)):
                joint = robot.joint(name)
                problem = (
                    f"joint '{name}' is {joint.kind} and has no limits; expected a lower or an upper limit of a "
                    "rotation about an axis, or of a translation along an axis"
                )
                found.append(wrong(element.name, problem, "Give it limits, or leave it out of joints.", "joints"))
        return found

    def acts_on(self, element: JointLimits, robot: Robot) -> Sequence[str]:
        return element.joints or [joint.name for joint in robot.joints if has_limits(joint)]

    def limb_by_limb(self, element: JointLimits) -> bool:
        return element.stiffness is not None and element.damping is not None  # else computed from the whole robot

    def velocities(self, element: JointLimits, robot: Robot) -> Sequence[int]:
        return [
            robot.v_slice(joint.name).start + v for joint in _stopped(element, robot) for _, v, *_ in _limited(joint)
        ]

    def along(self, element: JointLimits, view: ElementView) -> Sequence[Along]:
        robot = view.robot
        laws = []
        own = element.stiffness is None and element.damping is None
        for joint in _stopped(element, robot):
            for q, v, lower, upper in _limited(joint):
                place = robot.v_slice(joint.name).start + v
                if own and joint.stop is not None:
                    inertia = joint.stop.inertia or moved_inertias(robot)[place]
                    law: JointLaw = impedance_stops(joint.stop, lower, upper, inertia)
                else:
                    stiffness, damping = stop_numbers(element, robot, place)
                    numbers = view.value((stiffness, damping, for_unit(element.onset, _units(robot)[place])))
                    law = Stops(lower, upper, *numbers)
                laws.append(Along(place, robot.q_slice(joint.name).start + q, law))
        return laws


def _stopped(element: JointLimits, robot: Robot) -> list[Joint]:
    """The joints that the element acts on."""
    return [joint for joint in robot.joints if not element.joints or joint.name in element.joints]


def _limited(joint: Joint) -> Iterator[tuple[int, int, float | None, float | None]]:
    """(index of the coordinate, index of the velocity, lower, upper) for each axis of a joint that has limits."""
    for step in joint.table.primitives:
        q, v = step.q[0], step.v[0]
        if step.kind in ONE_AXIS:
            lower, upper = joint.lower[q], joint.upper[q]
            if lower > -math.inf or upper < math.inf:
                yield q, v, lower if lower > -math.inf else None, upper if upper < math.inf else None


def impedance_stops(stop: ImpedanceStop, lower: float | None, upper: float | None, inertia: float) -> ImpedanceStops:
    """The stops at two limits, where they have this inertia [kg m^2 or kg]."""
    rate = 1.0 / (stop.end * stop.time)
    damping = 2.0 * stop.ratio * math.sqrt(1.0 - stop.end) * inertia * rate
    shape = (stop.width, stop.start, stop.end, stop.midpoint, stop.power)
    begin = None if lower is None else lower + stop.margin
    end = None if upper is None else upper - stop.margin
    return ImpedanceStops(begin, end, ImpedanceLaw(inertia * rate**2, damping, *shape))


def stop_numbers(element: JointLimits, robot: Robot, place: int) -> tuple[Any, Any]:
    """(stiffness, damping) of the stop along the velocity with index `place`.

    They are those of the element, or else computed from its `time` [s], the inertia that this velocity moves, and what
    the joint may have to carry. With the stiffness k = (I + C) / time^2, the damping is critical for the geometric mean
    of I and I + C.
    """
    if element.stiffness is not None and element.damping is not None:
        return element.stiffness, element.damping
    inertia, least = moved_inertias(robot)[place], 1.0 / element.time**2
    wanted = carried_efforts(robot)[place] / for_unit(element.give, robot.v_units[place])
    stiffness = min(max(inertia * least, wanted), STIFFEST * inertia * least)
    damping = 2.0 * inertia * math.sqrt(least) * (stiffness / (inertia * least)) ** 0.75
    stiff: Any = stiffness if element.stiffness is None else element.stiffness
    return stiff, damping if element.damping is None else element.damping


def moved_inertias(robot: Robot) -> tuple[float, ...]:
    """The inertia [kg m^2 or kg], (nv,), that an effort along each single velocity moves: 1 over the diagonal of M^-1.

    It is taken at the initial configuration, with the nominal values of parameters.
    """
    return tuple(float(1.0 / x) for x in np.diag(_inverse_masses(robot)))


def inertia_along(robot: Robot, arms: Mapping[int, float]) -> float:
    """The inertia 1 / (j M^-1 j^T) that a force along the row j moves; `arms` are the entries of j by index in v."""
    row = np.zeros(robot.nv)
    for v, arm in arms.items():
        row[v] = arm
    return float(1.0 / (row @ _inverse_masses(robot) @ row))


@lru_cache(maxsize=16)
def _inverse_masses(robot: Robot) -> Array:
    """The inverse of the mass matrix, (nv, nv), at the initial configuration."""
    q = initial_configuration(robot)
    M = np.array(state_formulation(robot).mass_matrix(resolve(robot), q.tolist()), dtype=float)
    inverse: Array = np.linalg.pinv(M, hermitian=True)
    return inverse


register(TorsionSpring, TorsionSpringLaw())
register(JointFriction, JointFrictionLaw())
register(JointLimits, JointLimitsLaw())
