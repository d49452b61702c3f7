"""The laws of sensors: the true values that each sensor measures. `sensor_readings` turns them into readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinemorph.algebra.groups import compose, inverse
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.algebra.scalar import S, div, less, where
from kinemorph.algebra.vectors import add, cross, matvec, matvec_transposed, scale, sub
from kinemorph.mechanics.elements.checks import known_body, nearest, one_axis, wrong
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Change, Jump, Slot, register
from kinemorph.mechanics.elements.places import Frame
from kinemorph.mechanics.elements.sensing.sensor_readings import Channel, SensorLaw, three_channels
from kinemorph.mechanics.recursions.newton_euler import carried_point, ground_flow, outward
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.tree import WORLD
from kinemorph.model.body import Body
from kinemorph.model.elements.sensing.sensors import (
    IMU,
    ContactSwitch,
    Encoder,
    ForceTorqueSensor,
    MassCenter,
    Meter,
    Probe,
)
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD as WORLD_NAME

PROBED = {
    "position": ("x y z", "m"),
    "velocity": ("vx vy vz", "m/s"),
    "acceleration": ("ax ay az", "m/s^2"),
    "orientation": ("qw qx qy qz", ""),
    "rate": ("wx wy wz", "rad/s"),
}  # names and unit of each quantity


class EncoderLaw(SensorLaw[Encoder]):
    """The position of a joint in whole steps, and its velocity from the difference of two samples."""

    def problems(self, element: Encoder, robot: Robot) -> list[str]:
        found = one_axis(element, "joint", element.joint, robot)
        if element.counts and element.resolution:
            problem = "counts and resolution are both given; expected one of them"
            found.append(wrong(element.name, problem, "Remove one of them.", "counts"))
        kinds = {joint.name: joint.kind for joint in robot.joints}
        if element.counts and kinds.get(element.joint) == "prismatic":
            problem = f"counts per turn are given, but joint '{element.joint}' is prismatic; expected a step in meters"
            found.append(wrong(element.name, problem, "Give `resolution` in place of counts.", "counts"))
        return found or super().problems(element, robot)

    def jumps(self, element: Encoder) -> Sequence[Jump]:
        found = Jump("its readings are rounded", "Leave out `counts` and `resolution`.", signal=True)
        return (found,) if element.step else ()

    def channels(self, element: Encoder) -> tuple[Channel, ...]:
        """The position as a channel in whole steps, so that differences are exact."""
        step = element.step
        return (Channel("position", "", element.noise / (step or 1.0), step=1.0 if step else 0.0),)

    def true(self, element: Encoder, view: ElementView) -> Sequence[S]:
        return (div(view.hinge(element.joint).q + element.offset, element.step or 1.0),)

    def signals(self, element: Encoder) -> tuple[Slot, ...]:
        rate = () if element.every is None else (Slot("velocity", f"v.{element.joint}"),)
        return (Slot("position", f"q.{element.joint}"), *rate)

    def outputs(self, element: Encoder) -> tuple[str, ...]:
        return ("steps", "change")

    def own(self, element: Encoder) -> tuple[Slot, ...]:
        return (Slot("begun"), Slot("last steps"), *super().own(element))

    def publish(self, element: Encoder, view: ElementView) -> Mapping[str, S]:
        step = element.step or 1.0
        if element.every is None:
            return {"position": step * super().publish(element, view)["position"]}
        return {"position": step * view.m[0], "velocity": view.m[1] * (step / element.every)}

    def read(self, element: Encoder, view: ElementView, own: Sequence[S]) -> tuple[list[S], list[S]]:
        begun, last = own[:2]
        (steps,), after = super().read(element, view, own[2:])
        return [steps, where(begun, steps - last, 0.0)], [1.0, steps, *after]


class IMULaw(SensorLaw[IMU]):
    """The accelerometer and the gyroscope of an IMU."""

    def problems(self, element: IMU, robot: Robot) -> list[str]:
        return known_body(element, "body", element.body, robot) + super().problems(element, robot)

    def channels(self, element: IMU) -> tuple[Channel, ...]:
        e = element
        felt = (e.accelerometer_noise, e.accelerometer_bias, e.accelerometer_walk, e.accelerometer_range)
        turned = (e.gyroscope_noise, e.gyroscope_bias, e.gyroscope_walk, e.gyroscope_range)
        return (*three_channels("a", "m/s^2", *felt), *three_channels("w", "rad/s", *turned))

    def true(self, element: IMU, view: ElementView) -> Sequence[S]:
        frame, instant = view.frame(element.body), view.instant
        felt = felt_acceleration(frame, view)
        body = next((one.body for one in view.robot.frames if one.name == element.body), element.body)
        for member, there in zip(instant.ensemble.members, instant.views, strict=True):
            field = member.law.field(member.element, there, body)
            if field is not None:  # it accelerates sensor and body equally, so the sensor does not measure it
                felt = sub(felt, matvec_transposed(frame.pose.R, field))
        return (*felt, *frame.turning)


class ForceTorqueLaw(SensorLaw[ForceTorqueSensor]):
    """The wrench that a joint transmits."""

    def problems(self, element: ForceTorqueSensor, robot: Robot) -> list[str]:
        names = [joint.name for joint in (*robot.joints, *robot.loops)]
        found = []
        if element.joint not in names:
            problem = f"joint is '{element.joint}', and robot '{robot.name}' has no such joint"
            found.append(wrong(element.name, problem, nearest(element.joint, names), "joint"))
        elif element.frame:
            child = next(one.child for one in (*robot.joints, *robot.loops) if one.name == element.joint)
            known = [frame.name for frame in robot.frames if frame.body == child]
            if element.frame not in known:
                problem = f"frame is '{element.frame}', and the child '{child}' of its joint has no such frame"
                found.append(wrong(element.name, problem, nearest(element.frame, known), "frame"))
        return found + super().problems(element, robot)

    def channels(self, element: ForceTorqueSensor) -> tuple[Channel, ...]:
        e = element
        return (
            *three_channels("f", "N", e.force_noise, e.force_bias, 0.0, e.force_range),
            *three_channels("m", "N m", e.torque_noise, e.torque_bias, 0.0, e.torque_range),
        )

    def true(self, element: ForceTorqueSensor, view: ElementView) -> Sequence[S]:
        wrench = view.instant.reactions[element.joint]
        if not element.frame:
            return wrench
        frame = next(one for one in view.robot.frames if one.name == element.frame)
        joint = next(one for one in (*view.robot.joints, *view.robot.loops) if one.name == element.joint)
        T = compose(inverse(view.value(frame.placement)), view.value(joint.child_placement))  # from joint to frame
        force, moment = matvec(T.R, wrench[:3]), matvec(T.R, wrench[3:])
        return (*force, *add(moment, cross(T.p, force)))


class ProbeLaw(SensorLaw[Probe]):
    """One quantity (position, velocity, ...) of a point of a body."""

    def problems(self, element: Probe, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot)
        if element.quantity == "orientation" and element.noise:
            found.append(
                wrong(element.name, "noise is given for an orientation; expected no noise", "Leave it out.", "noise")
            )
        return found + super().problems(element, robot)

    def channels(self, element: Probe) -> tuple[Channel, ...]:
        names, unit = PROBED.get(element.quantity, ("", ""))
        return tuple(Channel(name, unit, element.noise) for name in names.split())

    def true(self, element: Probe, view: ElementView) -> Sequence[S]:
        frame, point = view.frame(element.body), view.point(element.body, element.point)
        found = _probed(element.quantity, frame, point, view, element.point)
        turned = element.axes == "own" and element.quantity not in ("position", "orientation")
        return matvec_transposed(frame.pose.R, found) if turned else found


def _probed(quantity: str, frame: Frame, point: PointState, view: ElementView, offset: Any) -> Sequence[S]:
    R = frame.pose.R
    table: dict[str, Callable[[], Any]] = {
        "position": lambda: point.position,
        "velocity": lambda: point.out(point.velocity),
        "acceleration": lambda: add(matvec(R, felt_acceleration(frame, view, view.value(offset))), view.gravity),
        "orientation": lambda: rotation_to_quat(R),
        "rate": lambda: matvec(R, frame.turning),
    }
    found: Sequence[S] = table[quantity]()
    return found


class MeterLaw(SensorLaw[Meter]):
    """One signal."""

    def reads(self, element: Meter) -> tuple[str, ...]:
        return (element.signal,)

    def signals(self, element: Meter) -> tuple[Slot, ...]:
        return (Slot("", element.signal),)

    def channels(self, element: Meter) -> tuple[Channel, ...]:
        return (Channel("", element.signal, element.noise),)

    def true(self, element: Meter, view: ElementView) -> Sequence[S]:
        return (view.signal(element.signal),)


class MassCenterLaw(SensorLaw[MassCenter]):
    """The center of mass of a body and of those that it carries."""

    def problems(self, element: MassCenter, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot, frames=False) if element.body != WORLD_NAME else []
        if not found and not any(float(evaluate(body.mass)) > 0.0 for body in _carried(element.body, robot)):
            problem = f"body is '{element.body}', and neither it nor a body that it carries has a mass"
            found = [wrong(element.name, problem, "Name a body with a mass.", "body")]
        return found + super().problems(element, robot)

    def channels(self, element: MassCenter) -> tuple[Channel, ...]:
        names, unit = PROBED.get(element.quantity, ("", ""))
        return tuple(Channel(name, unit, element.noise) for name in names.split())

    def true(self, element: MassCenter, view: ElementView) -> Sequence[S]:
        total, mass = ZERO3, 0.0
        for body in _carried(element.body, view.robot):
            own, point = view.value(body.mass), view.point(body.name, body.com)
            part = point.position if element.quantity == "position" else point.out(point.velocity)
            total, mass = add(total, scale(own, part)), mass + own
        return scale(div(1.0, mass), total)


def _carried(body: str, robot: Robot) -> list[Body]:
    """A body and all bodies that it carries; all bodies for the world."""
    found = {body}
    for joint in robot.order:
        if joint.parent in found:
            found.add(joint.child)
    return [one for one in robot.bodies if one.name in found]


class ContactSwitchLaw(SensorLaw[ContactSwitch]):
    """A switch that is 1 where a signal is above a threshold, with hysteresis, else 0."""

    def jumps(self, element: ContactSwitch) -> Sequence[Jump]:
        return (Jump("its signal jumps", "Read the signal itself.", signal=True),)

    def reads(self, element: ContactSwitch) -> tuple[str, ...]:
        return (element.signal,)

    def signals(self, element: ContactSwitch) -> tuple[Slot, ...]:
        return (Slot(""),)

    def channels(self, element: ContactSwitch) -> tuple[Channel, ...]:
        return ()

    def outputs(self, element: ContactSwitch) -> tuple[str, ...]:
        return ("",)

    def own(self, element: ContactSwitch) -> tuple[Slot, ...]:
        return (Slot("on"),)

    def memory(self, element: ContactSwitch) -> tuple[Slot, ...]:
        return self.own(element) if self.settles(element) else super().memory(element)

    def publish(self, element: ContactSwitch, view: ElementView) -> Mapping[str, S]:
        return {"": view.m[0] if view.m else less(element.threshold, view.signal(element.signal))}

    def read(self, element: ContactSwitch, view: ElementView, own: Sequence[S]) -> tuple[list[S], list[S]]:
        beyond = where(own[0], element.threshold - element.hysteresis, element.threshold)
        on = less(beyond, view.signal(element.signal))
        return [on], [on]

    def settles(self, element: ContactSwitch) -> bool:
        return element.every is None and element.hysteresis > 0.0

    def settle(self, element: ContactSwitch, view: ElementView) -> Change:
        return Change(self.read(element, view, view.m)[1])


def felt_acceleration(frame: Frame, view: ElementView, point: Sequence[S] = (0.0, 0.0, 0.0)) -> Sequence[S]:
    """The acceleration a - g [m/s^2] that an accelerometer at a point [m] of a frame measures, in the frame's axes."""
    motions, link = frame.motions, frame.at.link
    if link == WORLD:
        flow = ground_flow(motions.tree)
    else:
        flow = outward(motions.tree, motions.moves, motions.v, view.instant.accelerations)[link]
    r = add(frame.at.pose.p, matvec(frame.at.pose.R, point))
    felt: Sequence[S] = matvec_transposed(frame.at.pose.R, carried_point(flow.a, flow.U, r))
    return felt


register(Encoder, EncoderLaw())
register(IMU, IMULaw())
register(ForceTorqueSensor, ForceTorqueLaw())
register(Probe, ProbeLaw())
register(Meter, MeterLaw())
register(MassCenter, MassCenterLaw())
register(ContactSwitch, ContactSwitchLaw())
