"""The laws of sensors.

A sensor has channels. Each reads a true number and makes a reading of it:

    reading = step floor(clip(true + bias + walk + noise) / step)

Without `every` the reading is a function of the state. With it, readings are memory (see `holding`, which delays them),
and so are the biases that walk and the state of the random numbers (see `randomness`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.algebra.scalar import S, div, floor, less, where
from kinemorph.algebra.vectors import add, matvec, matvec_transposed
from kinemorph.mechanics.elements import randomness
from kinemorph.mechanics.elements.actuators import limited
from kinemorph.mechanics.elements.checks import known_body, not_negative, one_axis
from kinemorph.mechanics.elements.holding import clocks_of, held_slots, let_in, let_out
from kinemorph.mechanics.elements.law import Change, Clock, ElementLaw, Slot, register
from kinemorph.mechanics.elements.places import Frame
from kinemorph.mechanics.elements.scene import Scene
from kinemorph.mechanics.newton_euler import carried_point, ground_flow, outward
from kinemorph.mechanics.point_states import PointState
from kinemorph.mechanics.tree import WORLD
from kinemorph.model.elements.sensors import IMU, ContactSwitch, Encoder, ForceTorqueSensor, Probe, Sensor
from kinemorph.model.robot import Robot

E = TypeVar("E", bound=Sensor)
PROBED = {
    "position": ("x y z", "m"),
    "velocity": ("vx vy vz", "m/s"),
    "acceleration": ("ax ay az", "m/s^2"),
    "orientation": ("qw qx qy qz", ""),
    "rate": ("wx wy wz", "rad/s"),
}  # names and unit of each quantity


class Channel(NamedTuple):
    """A number that is read. `noise` is the deviation of a reading, `walk` that of its bias after a second."""

    name: str
    unit: str
    noise: float = 0.0
    bias: Any = 0.0
    walk: float = 0.0
    range: float = math.inf
    step: float = 0.0


class SensorLaw(ElementLaw[E]):
    """Abstract: a sensor of several channels."""

    def channels(self, element: E) -> tuple[Channel, ...]:
        """What it reads."""
        raise AssertionError(f"{type(self).__name__} has no `channels`")

    def true(self, element: E, scene: Scene) -> Sequence[S]:
        """The numbers of its channels as they are."""
        raise AssertionError(f"{type(self).__name__} has no `true`")

    def problems(self, element: E, robot: Robot) -> list[str]:
        what = f"element '{element.name}'"
        found = []
        if element.every is not None and not 0.0 < element.every < math.inf:
            found.append(
                f"{what}: every is {element.every:g} s; expected a finite time above 0. Enlarge it, or leave it out."
            )
        if not 0.0 <= element.phase < math.inf:
            found.append(f"{what}: phase is {element.phase:g} s; expected a finite time of at least 0. Mend its sign.")
        if not 0.0 <= element.delay < math.inf:
            found.append(f"{what}: delay is {element.delay:g} s; expected a finite time of at least 0. Mend its sign.")
        if element.delay and element.every is None:
            found.append(f"{what}: it has a delay and is read at every instant; expected a time between. Give `every`.")
        for channel in self.channels(element):
            for name, value, least in (("noise", channel.noise, 0.0), ("walk", channel.walk, 0.0)):
                if not least <= value < math.inf:
                    found.append(f"{what}: {name} is {value:g}; expected a finite number of at least 0. Mend its sign.")
            if not channel.range > 0.0:
                found.append(f"{what}: the range of {channel.name} is {channel.range:g}; expected above 0. Enlarge it.")
        if element.every is None and any(channel.noise or channel.walk for channel in self.channels(element)):
            found.append(f"{what}: it has noise and is read at every instant; expected a time between. Give `every`.")
        return list(dict.fromkeys(found))

    def signals(self, element: E) -> tuple[Slot, ...]:
        return tuple(Slot(channel.name, channel.unit) for channel in self.channels(element))

    def clocks(self, element: E) -> tuple[Clock, ...]:
        return clocks_of(element) if _samples(element) else ()

    def memory(self, element: E) -> tuple[Slot, ...]:
        return (*held_slots(element, self.outputs(element)), *self.own(element)) if _samples(element) else ()

    def outputs(self, element: E) -> tuple[str, ...]:
        """Names of the numbers that are held."""
        return tuple(channel.name for channel in self.channels(element))

    def own(self, element: E) -> tuple[Slot, ...]:
        """Memory besides: biases that walk, and the random numbers."""
        channels = self.channels(element)
        walks = tuple(Slot(f"{channel.name}.bias", channel.unit) for channel in channels if channel.walk)
        random = any(channel.noise or channel.walk for channel in channels)
        return (*walks, *(randomness.slots(element.name, element.seed) if random else ()))

    def publish(self, element: E, scene: Scene) -> Mapping[str, S]:
        channels = self.channels(element)
        if element.every is not None:
            return {channel.name: value for channel, value in zip(channels, scene.m, strict=False)}
        pairs = zip(channels, self.true(element, scene), strict=True)
        return {channel.name: _read(channel, scene.value(channel.bias) + true) for channel, true in pairs}

    def sample(self, element: E, scene: Scene, clock: int) -> Sequence[S]:
        names = self.outputs(element)
        count = len(held_slots(element, names))
        held, own = scene.m[:count], scene.m[count:]
        if clock:  # what has waited comes out
            return [*let_out(held, len(names)), *own]
        outputs, after = self.read(element, scene, own)
        return [*let_in(held, outputs), *after]

    def read(self, element: E, scene: Scene, own: Sequence[S]) -> tuple[list[S], list[S]]:
        """(what is to be held, `own` memory after it)."""
        assert element.every is not None
        channels = self.channels(element)
        walking = [channel for channel in channels if channel.walk]
        walks, state = list(own[: len(walking)]), tuple(own[len(walking) :])
        noisy = [channel for channel in channels if channel.noise]
        if state:
            drawn, state = randomness.normals(state, len(walking) + len(noisy))
            steps = [channel.walk * math.sqrt(element.every) for channel in walking]
            walks = [walk + step * one for walk, step, one in zip(walks, steps, drawn, strict=False)]
            noise = dict(zip(noisy, drawn[len(walking) :], strict=True))
        readings = []
        for channel, true in zip(channels, self.true(element, scene), strict=True):
            value = true + scene.value(channel.bias)
            if channel.walk:
                value = value + walks[walking.index(channel)]
            if channel.noise:
                value = value + channel.noise * noise[channel]
            readings.append(_read(channel, value))
        return readings, [*walks, *state]


def _samples(element: Sensor) -> bool:
    """Whether its times make sense, and there are some."""
    return element.every is not None and 0.0 < element.every < math.inf and 0.0 <= element.delay < math.inf


def _read(channel: Channel, value: S) -> S:
    """Clipped and in whole steps."""
    value = limited(value, -channel.range, channel.range)
    return channel.step * floor(div(value, channel.step)) if channel.step else value


class EncoderLaw(SensorLaw[Encoder]):
    """Position of a joint; velocity by differences."""

    def problems(self, element: Encoder, robot: Robot) -> list[str]:
        found = one_axis(element, "joint", element.joint, robot) + not_negative(element, "counts", "resolution")
        what = f"element '{element.name}'"
        if element.counts and element.resolution:
            found.append(f"{what}: counts and resolution are both given; expected one of them. Remove the other.")
        if not 0.0 < element.ratio < math.inf:
            found.append(f"{what}: ratio is {element.ratio:g}; expected a finite number above 0. Give turns per turn.")
        kinds = {joint.name: joint.kind for joint in robot.joints}
        if element.counts and kinds.get(element.joint) == "prismatic":
            found.append(
                f"{what}: counts of a turn are given and joint '{element.joint}' is prismatic; expected the step in "
                "meters. Give `resolution`."
            )
        if not math.isfinite(element.offset):
            found.append(f"{what}: offset is {element.offset:g}; expected a finite number. Correct it.")
        return found or super().problems(element, robot)

    def channels(self, element: Encoder) -> tuple[Channel, ...]:
        """In steps, whole numbers: their differences are exact."""
        step = element.step
        return (Channel("position", "", element.noise / (step or 1.0), step=1.0 if step else 0.0),)

    def true(self, element: Encoder, scene: Scene) -> Sequence[S]:
        return (div(scene.hinge(element.joint).q + element.offset, element.step or 1.0),)

    def signals(self, element: Encoder) -> tuple[Slot, ...]:
        return (*super().signals(element), *(() if element.every is None else (Slot("velocity"),)))

    def outputs(self, element: Encoder) -> tuple[str, ...]:
        return ("steps", "change")

    def own(self, element: Encoder) -> tuple[Slot, ...]:
        return (Slot("begun"), Slot("last steps"), *super().own(element))

    def publish(self, element: Encoder, scene: Scene) -> Mapping[str, S]:
        step = element.step or 1.0
        if element.every is None:
            return {"position": step * super().publish(element, scene)["position"]}
        return {"position": step * scene.m[0], "velocity": scene.m[1] * (step / element.every)}

    def read(self, element: Encoder, scene: Scene, own: Sequence[S]) -> tuple[list[S], list[S]]:
        begun, last = own[:2]
        (steps,), after = super().read(element, scene, own[2:])
        return [steps, where(begun, steps - last, 0.0)], [1.0, steps, *after]


class IMULaw(SensorLaw[IMU]):
    """Accelerometer and gyroscope."""

    def problems(self, element: IMU, robot: Robot) -> list[str]:
        return known_body(element, "body", element.body, robot) + super().problems(element, robot)

    def channels(self, element: IMU) -> tuple[Channel, ...]:
        e = element
        felt = (e.accelerometer_noise, e.accelerometer_bias, e.accelerometer_walk, e.accelerometer_range)
        turned = (e.gyroscope_noise, e.gyroscope_bias, e.gyroscope_walk, e.gyroscope_range)
        return (*_three("a", "m/s^2", *felt), *_three("w", "rad/s", *turned))

    def true(self, element: IMU, scene: Scene) -> Sequence[S]:
        frame = scene.frame(element.body)
        return (*felt_acceleration(frame, scene), *frame.turning)


class ForceTorqueLaw(SensorLaw[ForceTorqueSensor]):
    """What passes through a joint."""

    def problems(self, element: ForceTorqueSensor, robot: Robot) -> list[str]:
        what, names = f"element '{element.name}'", [joint.name for joint in robot.joints]
        found = []
        if element.joint not in names:
            found.append(
                f"{what}: joint is '{element.joint}', and the tree of robot '{robot.name}' has no such joint. Known: "
                f"{', '.join(names[:16])}."
            )
        if not robot.is_open:
            found.append(
                f"{what}: robot '{robot.name}' has loops or coupled joints, so that the motion does not decide what "
                "each joint bears; expected an open tree. Remove the sensor."
            )
        return found + super().problems(element, robot)

    def channels(self, element: ForceTorqueSensor) -> tuple[Channel, ...]:
        e = element
        return (
            *_three("f", "N", e.force_noise, e.force_bias, 0.0, e.force_range),
            *_three("m", "N m", e.torque_noise, e.torque_bias, 0.0, e.torque_range),
        )

    def true(self, element: ForceTorqueSensor, scene: Scene) -> Sequence[S]:
        return scene.world.reactions[element.joint]


class ProbeLaw(SensorLaw[Probe]):
    """One quantity of a point."""

    def problems(self, element: Probe, robot: Robot) -> list[str]:
        what = f"element '{element.name}'"
        if element.quantity not in PROBED:
            known = ", ".join(PROBED)
            return [f"{what}: quantity is '{element.quantity}'; expected one of {known}. Choose one of these."]
        found = known_body(element, "body", element.body, robot)
        if element.quantity == "orientation" and element.noise:
            found.append(f"{what}: noise is given for an orientation; expected none. Leave it out.")
        return found + super().problems(element, robot)

    def channels(self, element: Probe) -> tuple[Channel, ...]:
        names, unit = PROBED.get(element.quantity, ("", ""))
        return tuple(Channel(name, unit, element.noise) for name in names.split())

    def true(self, element: Probe, scene: Scene) -> Sequence[S]:
        frame, point = scene.frame(element.body), scene.point(element.body, element.point)
        return _probed(element.quantity, frame, point, scene, element.point)


def _probed(quantity: str, frame: Frame, point: PointState, scene: Scene, offset: Any) -> Sequence[S]:
    R = frame.pose.R
    table: dict[str, Callable[[], Any]] = {
        "position": lambda: point.position,
        "velocity": lambda: point.out(point.velocity),
        "acceleration": lambda: add(matvec(R, felt_acceleration(frame, scene, scene.value(offset))), scene.gravity),
        "orientation": lambda: rotation_to_quat(R),
        "rate": lambda: matvec(R, frame.turning),
    }
    found: Sequence[S] = table[quantity]()
    return found


class ContactSwitchLaw(SensorLaw[ContactSwitch]):
    """A threshold with hysteresis."""

    def problems(self, element: ContactSwitch, robot: Robot) -> list[str]:
        found = not_negative(element, "hysteresis") + super().problems(element, robot)
        if not math.isfinite(element.threshold):
            found.append(
                f"element '{element.name}': threshold is {element.threshold:g}; expected a finite number. Correct it."
            )
        return found

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

    def publish(self, element: ContactSwitch, scene: Scene) -> Mapping[str, S]:
        return {"": scene.m[0] if scene.m else less(element.threshold, scene.signal(element.signal))}

    def read(self, element: ContactSwitch, scene: Scene, own: Sequence[S]) -> tuple[list[S], list[S]]:
        beyond = where(own[0], element.threshold - element.hysteresis, element.threshold)
        on = less(beyond, scene.signal(element.signal))
        return [on], [on]

    def settles(self, element: ContactSwitch) -> bool:
        return element.every is None and element.hysteresis > 0.0

    def settle(self, element: ContactSwitch, scene: Scene) -> Change:
        return Change(self.read(element, scene, scene.m)[1])


def felt_acceleration(frame: Frame, scene: Scene, point: Sequence[S] = (0.0, 0.0, 0.0)) -> Sequence[S]:
    """a - g [m/s^2] of a point of a frame, in the frame's axes: what an accelerometer there feels."""
    motions, link = frame.motions, frame.at.link
    if link == WORLD:
        flow = ground_flow(motions.tree)
    else:
        flow = outward(motions.tree, motions.moves, motions.v, scene.world.accelerations)[link]
    r = add(frame.at.pose.p, matvec(frame.at.pose.R, point))
    felt: Sequence[S] = matvec_transposed(frame.at.pose.R, carried_point(flow.a, flow.U, r))
    return felt


def _three(letter: str, unit: str, noise: float, bias: Any, walk: float, most: float) -> tuple[Channel, ...]:
    return tuple(Channel(f"{letter}{axis}", unit, noise, bias[k], walk, most) for k, axis in enumerate("xyz"))


register(Encoder, EncoderLaw())
register(IMU, IMULaw())
register(ForceTorqueSensor, ForceTorqueLaw())
register(Probe, ProbeLaw())
register(ContactSwitch, ContactSwitchLaw())
