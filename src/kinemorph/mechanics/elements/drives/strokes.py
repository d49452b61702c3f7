"""How an actuator acts on a robot: its stroke, the rate of its stroke, and the loads of a unit force along it.

The stroke s of an actuator on joints or tendons is a sum of arms times coordinates; by the principle of virtual power
its force f gives the effort arm * f along each velocity. On a frame, f gives a wrench along the gear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import relative
from kinemorph.algebra.quaternions import quat_log, quat_to_rotation
from kinemorph.algebra.rotations import log_so3
from kinemorph.algebra.scalar import S, plus, times
from kinemorph.algebra.vectors import add, cross, dot, matvec, matvec_transposed, neg, sub
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Wrench
from kinemorph.mechanics.elements.places import Frame
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.tendons import Tendon
from kinemorph.model.robot import AxisPlace, Robot


class Stroke(NamedTuple):
    """The stroke of an actuator, its rate, and the loads of a unit force: efforts by index in v, and wrenches."""

    length: S
    rate: S
    arms: dict[int, S]
    wrenches: Sequence[Wrench] = ()


class Arm(NamedTuple):
    """One joint axis that a stroke depends on, and the stroke per unit of its coordinate."""

    place: AxisPlace
    arm: float


def tendon_of(element: Actuator, ensemble: Ensemble) -> Tendon | None:
    """The tendon that an actuator acts on; None where it acts on something else, or no tendon has this name."""
    named = (member.element for member in ensemble.members if element.tendon and member.element.name == element.tendon)
    return next((one for one in named if isinstance(one, Tendon)), None)


def tendon_arms(tendon: Tendon, robot: Robot, gear: float = 1.0) -> list[Arm]:
    """The joint axes that the length of a tendon depends on, with `gear` times its coefficients; each axis once."""
    found: dict[str, float] = {}
    for joint, coefficient in zip(tendon.joints, tendon.coefficients, strict=True):
        found[joint] = found.get(joint, 0.0) + gear * coefficient
    return [Arm(robot.axis_places[joint], arm) for joint, arm in found.items()]


def axis_arms(element: Actuator, ensemble: Ensemble) -> list[Arm]:
    """The joint axes that the stroke of an actuator depends on; none for a spherical joint or a frame."""
    robot, tendon = ensemble.robot, tendon_of(element, ensemble)
    if tendon is not None:
        assert isinstance(element.gear, float)
        return tendon_arms(tendon, robot, element.gear)
    if element.joint in robot.axis_places:
        assert isinstance(element.gear, float)
        return [Arm(robot.axis_places[element.joint], element.gear)]
    return []


def stroke_of(element: Actuator, view: ElementView) -> Stroke:
    """The stroke of an actuator at this instant."""
    instant = view.instant
    arms = axis_arms(element, instant.ensemble)
    if arms:
        return summed_stroke(arms, instant.q, instant.v)
    if element.joint:
        return _spherical(element, view)
    return _between(element, view) if element.reference else _on_frame(element, view)


def summed_stroke(arms: Sequence[Arm], q: Sequence[S], v: Sequence[S]) -> Stroke:
    """The stroke that is a sum of arms times coordinates."""
    length: S = 0.0
    rate: S = 0.0
    for place, arm in arms:
        length, rate = plus(length, times(arm, q[place.q])), plus(rate, times(arm, v[place.v]))
    return Stroke(length, rate, {place.v: arm for place, arm in arms})


def _gear(element: Actuator) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(the force, the moment) of a unit force of an actuator on a frame, in the axes of its gear."""
    assert isinstance(element.gear, tuple)
    return element.gear[:3], element.gear[3:]


def _spherical(element: Actuator, view: ElementView) -> Stroke:
    assert isinstance(element.gear, tuple)
    robot = view.robot
    quaternion, first = view.instant.finished_q[robot.q_slice(element.joint)], robot.v_slice(element.joint).start
    gear: Sequence[S] = element.gear
    length = dot(gear, quat_log(quaternion))
    if element.axes == "parent":  # the velocities of the joint are along the axes of its child
        gear = matvec_transposed(quat_to_rotation(quaternion), gear)
    return Stroke(length, dot(gear, view.instant.v[first : first + 3]), {first + k: gear[k] for k in range(3)})


def _on_frame(element: Actuator, view: ElementView) -> Stroke:
    frame, (force, moment) = view.frame(element.frame), _gear(element)
    if element.axes == "parent":
        force, moment = (matvec_transposed(frame.pose.R, vector) for vector in (force, moment))
    rate = plus(dot(force, frame.velocity), dot(moment, frame.turning))
    return Stroke(0.0, rate, {}, (Wrench(frame, force, moment),))


def _between(element: Actuator, view: ElementView) -> Stroke:
    """The stroke of a frame relative to its reference, along a gear in the axes of the reference.

    The force acts on both at the origin of the frame, so that a motion that carries both does no work.
    """
    frame, other, (force, moment) = view.frame(element.frame), view.frame(element.reference), _gear(element)
    R, p = relative(other.pose, frame.pose)
    length = plus(dot(force, p), dot(moment, log_so3(R)) if any(moment) else 0.0)
    velocity = sub(matvec(R, frame.velocity), add(other.velocity, cross(other.turning, p)))
    turning = sub(matvec(R, frame.turning), other.turning)
    on_frame = Wrench(frame, matvec_transposed(R, force), matvec_transposed(R, moment))
    on_other = Wrench(other, neg(force), neg(add(cross(p, force), moment)))
    return Stroke(length, plus(dot(force, velocity), dot(moment, turning)), {}, (on_frame, on_other))


def pushed(wrench: Wrench, force: S) -> Wrench:
    """The wrench of a unit force, times a force."""
    frame: Frame = wrench.frame
    return Wrench(frame, [times(force, x) for x in wrench.force], [times(force, x) for x in wrench.moment])
