"""The law of actuators.

An actuator has a stroke s (see `strokes`) and a force f along it. Its own limits bound f, those of its tendon bound the
sum of the forces of all actuators on the tendon, and those of a joint bound the sum of the efforts of all actuators
that act along this joint, by a tendon or on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinemorph.algebra.scalar import S, div, maximum, plus, times, where
from kinemorph.mechanics.elements.checks import known_body, known_joint, nearest, one_axis, wrong
from kinemorph.mechanics.elements.drives.strokes import axis_arms, pushed, stroke_of, tendon_arms, tendon_of
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, Stiff, register
from kinemorph.mechanics.elements.saturation import is_open, limited, saturated, share_within, winds_up
from kinemorph.mechanics.steps.point_states import JointForce, JointState
from kinemorph.model.elements.drives.actuators import Actuator, Integrating, Lag
from kinemorph.model.elements.drives.tendons import Tendon
from kinemorph.model.robot import AxisPlace, Robot
from kinemorph.words import counted

TARGETS = ("joint", "tendon", "frame")


class ActuatorLaw(ElementLaw[Actuator]):
    """An actuator: the force along its stroke that follows from its input `command`."""

    steady = True

    def problems(self, element: Actuator, robot: Robot) -> list[str]:
        found = _target_problems(element, robot)
        if not element.lower < element.upper:
            problem = f"lower is {element.lower:g} and upper {element.upper:g}; expected lower below upper"
            found.append(wrong(element.name, problem, "Exchange them.", "lower"))
        if isinstance(element.effort, tuple):
            if not element.effort[0] < element.effort[1]:
                problem = f"effort is {element.effort}; expected a pair of rising numbers, the limits of the force"
                found.append(wrong(element.name, problem, "Exchange them.", "effort"))
        elif not element.effort > 0.0:
            problem = f"effort is {element.effort:g}; expected a number above 0, the largest effort of the actuator"
            found.append(wrong(element.name, problem, "Give a number above 0, or leave `effort` out.", "effort"))
        return found + _activation_problems(element)

    def problems_among(self, element: Actuator, ensemble: Ensemble) -> list[str]:
        if not element.tendon or tendon_of(element, ensemble) is not None:
            return []
        known = [member.element.name for member in ensemble.members if isinstance(member.element, Tendon)]
        problem = f"tendon is '{element.tendon}', and the system has no such tendon"
        return [wrong(element.name, problem, nearest(element.tendon, known), "tendon")]

    def states(self, element: Actuator) -> tuple[Slot, ...]:
        if not isinstance(element.activation, (Lag, Integrating)):
            return ()
        start = limited(0.0, element.activation.lower, element.activation.upper)
        return (Slot("activation", _units(element)[1], float(start)),)

    def inputs(self, element: Actuator) -> tuple[Slot, ...]:
        return (Slot("command", _units(element)[0]),)

    def signals(self, element: Actuator) -> tuple[Slot, ...]:
        return (Slot("force", _units(element)[2]),)

    def publish(self, element: Actuator, view: ElementView) -> Mapping[str, S]:
        """The force or torque f [N or N m] along the stroke, before the gear."""
        return {"force": _own_force(element, view)}

    def effort(self, element: Actuator, view: ElementView) -> Effort:
        stroke, force = stroke_of(element, view), _own_force(element, view)
        ensemble = view.instant.ensemble
        limits = {arm.place.v: _joint_limit(arm.place) for arm in axis_arms(element, ensemble)}
        torques = {}
        for v, arm in stroke.arms.items():
            torques[v] = times(arm, force)
            if (limit := limits.get(v, math.inf)) < math.inf:
                whole = _efforts_along(v, element, view)
                torques[v] = times(torques[v], share_within(whole, -limit, limit))
        supplied = sum((torque * view.instant.v[v] for v, torque in torques.items()), 0.0)
        if stroke.wrenches:
            supplied = times(force, stroke.rate)
        return Effort(
            torques=torques,
            wrenches=[pushed(wrench, force) for wrench in stroke.wrenches],
            rates=_rates(element, view),
            supplied=supplied,
        )

    def stiff(self, element: Actuator, view: ElementView) -> Stiff | None:
        arms = axis_arms(element, view.instant.ensemble)
        if not arms or any(_limited_by_several(place.v, element, view) for place, _ in arms):
            return None
        drives = _drives(element, view)
        if drives[0].element.name != element.name:  # the first actuator of a joint or tendon acts for all of them
            return Stiff()
        if not element.tendon:
            place = arms[0].place
            return Stiff(joints=(JointForce(place.v, Drives(drives, _joint_limit(place))),))
        tendon = tendon_of(element, view.instant.ensemble)
        assert tendon is not None
        along = {place.v: arm for place, arm in tendon_arms(tendon, view.robot)}
        return Stiff(joints=(JointForce(arms[0].place.v, Drives(drives, math.inf), along),))


@dataclass(frozen=True, eq=False)
class Drive:
    """One actuator as a law for its effort along its joint, or its pull along its tendon."""

    element: Actuator
    drive: S  # the number w that drives the actuator
    share: S = 1.0  # of the force that the limit of the tendon leaves, at the start of a step

    @property
    def gear(self) -> float:
        """The stroke per unit of the joint's coordinate or of the tendon's length."""
        assert not isinstance(self.element.gear, tuple)
        return self.element.gear

    def free(self, joint: JointState) -> S:
        """The force or torque [N m or N] along the stroke, without the limits of the actuator."""
        needs = self.element.control in ("position", "affine")
        stroke = times(self.gear, joint.coordinate(self.element.name)) if needs else 0.0
        return free_force(self.element, self.drive, stroke, times(self.gear, joint.velocity))

    def force(self, joint: JointState) -> S:
        """The effort on the joint [N m or N]."""
        return times(times(self.gear, self.share), limited(self.free(joint), *self.element.efforts))

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(effort, pivot) for a step of h [s]; the pivot is the inertia that the effort adds to the joint."""
        along, against = slopes(self.element, self.drive)
        f, pivot = saturated(self.free(joint), *self.element.efforts, times(h, plus(against, times(h, along))))
        share = times(self.gear, self.share)
        return times(share, f), times(times(self.gear, share), pivot)


@dataclass(frozen=True, eq=False)
class Drives:
    """The effort of all actuators along one joint together; the joint's limit bounds their sum.

    An implicit step evaluates it at the end of the step (see `mechanics.steps.implicit_forces`).
    """

    drives: tuple[Drive, ...]
    limit: float  # [N m or N]

    @property
    def affine(self) -> bool:
        """Whether its derivatives are the same everywhere: where neither the joint nor an actuator has a limit."""
        return self.limit == math.inf and all(is_open(x) for drive in self.drives for x in drive.element.efforts)

    def force(self, joint: JointState) -> S:
        """The effort on the joint [N m or N]."""
        whole = sum((drive.force(joint) for drive in self.drives), 0.0)
        return limited(whole, -self.limit, self.limit)

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(effort, pivot) for a step of h [s]; the pivot is the inertia that the effort adds to the joint."""
        force: S = 0.0
        pivot: S = 0.0
        for drive in self.drives:
            f, one = drive.linear(joint, h)
            force, pivot = plus(force, f), plus(pivot, one)
        return saturated(force, -self.limit, self.limit, pivot)


# ── the force along the stroke ────────────────────────────────────────────────────────────────────────────────────────


def free_force(element: Actuator, drive: S, stroke: S, rate: S) -> S:
    """The force or torque f [N or N m] of the number w = `drive`, without the limits of f."""
    if element.control == "effort":
        return drive
    if element.control == "velocity":
        return element.gain * (drive - rate)
    if element.control == "position":
        return element.gain * (drive - stroke) - element.damping * rate
    factor, bias = (_affine(numbers, stroke, rate) for numbers in (element.gains, element.bias))
    return plus(times(factor, drive), bias)


def slopes(element: Actuator, drive: S) -> tuple[S, S]:
    """(-df/ds, -df/d(ds/dt)) of the force without its limits, neither below 0."""
    if element.control == "affine":
        (_, *gains), (_, *bias) = element.gains, element.bias
        both = (-plus(times(gain, drive), own) for gain, own in zip(gains, bias, strict=True))
        along, against = (max(x, 0.0) if isinstance(x, float) else maximum(x, 0.0) for x in both)
        return along, against
    if element.control == "velocity":
        return 0.0, element.gain
    return (element.gain, element.damping) if element.control == "position" else (0.0, 0.0)


def _affine(numbers: Sequence[float], stroke: S, rate: S) -> S:
    return plus(numbers[0], plus(times(numbers[1], stroke), times(numbers[2], rate)))


def driving_number(element: Actuator, view: ElementView) -> S:
    """The number w that drives the force: the limited input, or the limited activation."""
    if element.activation is None:
        return limited(view.input("command"), element.lower, element.upper)
    return limited(view.x[0], element.activation.lower, element.activation.upper)


def _rates(element: Actuator, view: ElementView) -> list[S]:
    """The rate of the activation; it is 0 where the activation is at a limit and would go beyond it."""
    if element.activation is None:
        return []
    u, w = limited(view.input("command"), element.lower, element.upper), view.x[0]
    rate = div(u - w, element.activation.time) if isinstance(element.activation, Lag) else u
    stopped = winds_up(w, rate, element.activation.lower, element.activation.upper)
    return [rate if isinstance(stopped, float) and stopped == 0.0 else where(stopped, 0.0, rate)]


def _own_force(element: Actuator, view: ElementView) -> S:
    """The force of an actuator within its own limits and those of its tendon."""
    force = _limited_force(element, view)
    return times(force, _tendon_share(element, view))


def _limited_force(element: Actuator, view: ElementView) -> S:
    stroke = stroke_of(element, view)
    return limited(free_force(element, driving_number(element, view), stroke.length, stroke.rate), *element.efforts)


def _tendon_share(element: Actuator, view: ElementView) -> S:
    """The share of the force of each actuator that the limit of its tendon leaves; 1 where there is none."""
    tendon = tendon_of(element, view.instant.ensemble)
    if tendon is None or all(map(is_open, tendon.efforts)):
        return 1.0
    whole: S = 0.0
    for other, there in _actuators(element, view):
        if other.tendon == element.tendon:
            whole = plus(whole, _limited_force(other, there))
    return share_within(whole, *tendon.efforts)


def _actuators(element: Actuator, view: ElementView) -> list[tuple[Actuator, ElementView]]:
    """All actuators that act in the same phases as this one, each with its view."""
    instant = view.instant
    acts_in, members = instant.ensemble.acts_in, instant.ensemble.members
    return [
        (member.element, instant.views[k])
        for k, member in enumerate(members)
        if isinstance(member.element, Actuator) and acts_in[k] == view.phases
    ]


def _drives(element: Actuator, view: ElementView) -> tuple[Drive, ...]:
    """All actuators on the joint or tendon of this one, as laws."""
    return tuple(
        Drive(other, driving_number(other, there), _tendon_share(other, there))
        for other, there in _actuators(element, view)
        if (other.joint, other.tendon, other.frame) == (element.joint, element.tendon, "")
    )


def _efforts_along(v: int, element: Actuator, view: ElementView) -> S:
    """The sum of the efforts [N m or N] of all actuators along the velocity with index v, without its limit."""
    whole: S = 0.0
    for other, there in _actuators(element, view):
        arms = {place.v: arm for place, arm in axis_arms(other, view.instant.ensemble)}
        if v in arms:
            whole = plus(whole, times(arms[v], _own_force(other, there)))
    return whole


def _limited_by_several(v: int, element: Actuator, view: ElementView) -> bool:
    """Whether the limit of a joint bounds the sum of efforts of a tendon and of others: then steps take their start."""
    ensemble = view.instant.ensemble
    along = [
        other
        for other, _ in _actuators(element, view)
        for place, _ in axis_arms(other, ensemble)
        if place.v == v and _joint_limit(place) < math.inf
    ]
    return any(other.tendon for other in along)


def _joint_limit(place: AxisPlace) -> float:
    """The largest effort [N m or N] of all actuators along an axis together; a driven joint has no limit."""
    return float(place.joint.effort[place.number]) if place.joint.effort else math.inf


# ── checks and units ──────────────────────────────────────────────────────────────────────────────────────────────────


def _target_problems(element: Actuator, robot: Robot) -> list[str]:
    """Problems of what an actuator acts on, and of its gear."""
    given = [what for what in TARGETS if getattr(element, what)]
    if len(given) != 1:
        what = f"it names {' and '.join(given) if given else 'nothing that it acts on'}"
        problem = f"{what}; expected one of joint, tendon and frame"
        return [wrong(element.name, problem, "Name what it acts on.", given[0] if given else "joint")]
    found: list[str] = []
    if element.reference and not element.frame:
        problem = f"reference is '{element.reference}', but it acts on a {given[0]}; expected a frame with a reference"
        found.append(wrong(element.name, problem, "Leave the reference out.", "reference"))
    size = 1
    if element.joint:
        turns = any(joint.name == element.joint and joint.kind == "spherical" for joint in robot.joints)
        found += known_joint(element, "joint", element.joint, robot) if turns else []
        found += [] if turns else one_axis(element, "joint", element.joint, robot)
        size = 3 if turns else 1
    elif element.frame:
        found += known_body(element, "frame", element.frame, robot)
        found += known_body(element, "reference", element.reference, robot) if element.reference else []
        size = 6
    count = len(element.gear) if isinstance(element.gear, tuple) else 1
    if not found and (count != size or (size == 1) != isinstance(element.gear, float | int)):
        what = "a single number" if size == 1 else counted(size, "number")
        problem = f"gear is {element.gear}; expected {what} for a {_kind(element)}"
        found.append(wrong(element.name, problem, f"Give {what}.", "gear"))
    return found


def _kind(element: Actuator) -> str:
    return "frame" if element.frame else "tendon" if element.tendon else "joint of this kind"


def _activation_problems(element: Actuator) -> list[str]:
    activation: Any = element.activation
    if activation is None:
        return []
    if not activation.lower < activation.upper:
        problem = f"its activation has the limits {activation.lower:g} and {activation.upper:g}; expected rising ones"
        return [wrong(element.name, problem, "Exchange them.", "activation")]
    return []


def _units(element: Actuator) -> tuple[str, str, str]:
    """(unit of the input u, unit of the number w, unit of the force f); see `Slot`."""
    if element.tendon:
        stroke, rate, force = (f"{element.tendon}.{word}" for word in ("length", "rate", "tension"))
    elif element.frame:
        slides = any(element.gear[:3]) if isinstance(element.gear, tuple) else True
        stroke, rate, force = ("m", "m/s", "N") if slides else ("rad", "rad/s", "N m")
    elif isinstance(element.gear, tuple):
        stroke, rate, force = "rad", "rad/s", "N m"
    else:
        stroke, rate, force = (f"{letter}.{element.joint}" for letter in ("q", "v", "tau"))
    drive = {"effort": force, "position": stroke, "velocity": rate}.get(element.control, "")
    if not isinstance(element.activation, Integrating):
        return drive, drive, force
    return rate if element.control == "position" else "", drive, force


register(Actuator, ActuatorLaw())
