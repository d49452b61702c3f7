"""The laws of PID and PD controllers.

    continuous      J' = ki e,  z' = (e - z) / Tf,          u = kp e + J + kd (e - z) / Tf
    sampled         J += T ki e,  d = (Tf d + kd (e - e_before)) / (Tf + T),      u = kp e + J + d

e is the error, J the integral term, Tf the time constant of the derivative's filter, z the filtered error and T the
time between samples. The continuous controller is U = kp E + ki E / s + kd s E / (1 + Tf s), that is eq. 21 of the
EasyDyn paper as corrected in docs/errata.md, with Tf = kd / N; solved for u it is its eq. 22. A `bandwidth` w0 puts the
filter w0 / (s + w0) of its eq. 23 before it. The sampled controller has backward differences in place of derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, where
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import (
    Wish,
    added,
    channel_problems,
    count_problems,
    each,
    followed,
    rate_of,
    wishes,
)
from kinemorph.mechanics.elements.control.sample_hold import (
    clocks_of,
    converted,
    held_count,
    held_slots,
    let_in,
    let_out,
    output_jumps,
    sampling_problems,
)
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Clock, Effort, ElementLaw, Jump, Slot, Stiff, register
from kinemorph.mechanics.elements.saturation import is_open, limited, saturated, winds_up
from kinemorph.mechanics.steps.point_states import JointForce, JointState
from kinemorph.model.elements.control.controllers import PD, PID
from kinemorph.model.elements.control.wiring import below, channel_names, driven, measured
from kinemorph.model.robot import Robot

PER_CHANNEL = ("joints", "reads", "drives", "reference", "kp", "ki", "kd", "feedforward", "lower", "upper")


class ChannelLaw(ElementLaw[Any]):
    """The abstract base of laws of controllers with channels, whose outputs are continuous, or sampled and held."""

    def outputs(self, element: Any, view: ElementView) -> list[S]:
        """The outputs at this instant, before limits and sampling, one number per channel."""
        raise AssertionError(f"{type(self).__name__} does not define its method `outputs`. Define it.")

    def signals(self, element: Any) -> tuple[Slot, ...]:
        pairs = zip_longest(channel_names(element), driven(element), fillvalue="")  # it may drive nothing
        return tuple(Slot(channel, f"tau.{target}") for channel, target in pairs)

    def drives(self, element: Any) -> Mapping[str, str]:
        return dict(zip(driven(element), channel_names(element), strict=False))

    def jumps(self, element: Any) -> Sequence[Jump]:
        return output_jumps(element)

    def clocks(self, element: Any) -> tuple[Clock, ...]:
        return clocks_of(element)

    def memory(self, element: Any) -> tuple[Slot, ...]:
        return held_slots(element, channel_names(element))

    def publish(self, element: Any, view: ElementView) -> Mapping[str, S]:
        names = channel_names(element)
        u = view.m[: len(names)] if element.every else self._converted(element, view)
        return dict(zip(names, u, strict=True))

    def sample(self, element: Any, view: ElementView, clock: int) -> Sequence[S]:
        if clock == 1:
            return let_out(view.m, len(channel_names(element)))
        return let_in(view.m, self._converted(element, view))

    def _converted(self, element: Any, view: ElementView) -> list[S]:
        lower, upper = limits(element, view)
        ends = zip(self.outputs(element, view), lower, upper, strict=True)
        return [converted(u, low, high, element.quantum) for u, low, high in ends]


def limits(element: Any, view: ElementView) -> tuple[Sequence[Any], Sequence[Any]]:
    """(lower limits, upper limits) of the outputs, one number per channel each."""
    n = len(channel_names(element))
    return each(view.value(element.lower), n), each(view.value(element.upper), n)


# ── PD ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Pull:
    """The force more + kp (r - q) + kd (dr/dt - v), limited, along one velocity, with the reference r = `wish`.

    `more` is the feedforward. An implicit step evaluates the force at the end of the step (see
    `mechanics.steps.implicit_forces`).
    """

    kp: S
    kd: S
    wish: Wish
    more: S
    lower: Any
    upper: Any

    @property
    def affine(self) -> bool:
        """Whether its derivatives are the same everywhere: where it has no limits."""
        return is_open(self.lower) and is_open(self.upper)

    def free(self, joint: Any) -> S:
        """The force [N m or N] that the controller asks for at the state of the joint, before it is limited."""
        stretch, rate = self.wish.position - joint.position, self.wish.velocity - joint.velocity
        return self.more + self.kp * stretch + self.kd * rate

    def force(self, joint: Any) -> S:
        return limited(self.free(joint), self.lower, self.upper)

    def linear(self, joint: Any, h: S) -> tuple[S, S]:
        """(force, pivot) for a step of h [s]; see `saturated` for the limits, and for what a pivot is."""
        return saturated(self.free(joint), self.lower, self.upper, h * (self.kd + h * self.kp))


class GainLaw(ChannelLaw):
    """The abstract base of laws of controllers whose channels do not depend on each other."""

    steady = True

    def per_joint(self, element: Any) -> Mapping[str, int]:
        """All fields that may have an entry for each channel."""
        return {name: 1 for name in PER_CHANNEL if hasattr(element, name)} if element.joints else {}


class PDLaw(GainLaw):
    """A PD controller: springs and dampers towards a reference.

    Where it acts on joints without sampling, implicit steps evaluate its forces at the end of the step (see
    `mechanics.steps.implicit_forces`).
    """

    def problems(self, element: PD, robot: Robot) -> list[str]:
        found = channel_problems(element, robot) or count_problems(
            element, "kp", "kd", "reference", "feedforward", "lower", "upper"
        )
        return found or sampling_problems(element)

    def reads(self, element: PD) -> tuple[str, ...]:
        return followed(element)

    def drives(self, element: PD) -> Mapping[str, str]:
        return {} if _acts_itself(element) else super().drives(element)

    def outputs(self, element: PD, view: ElementView) -> list[S]:
        hinges = [view.hinge(joint) for joint in element.joints]
        pairs = zip(self._pulls(element, view), hinges, strict=True)
        return [pull.free(JointState(hinge.q, hinge.v)) for pull, hinge in pairs]

    def _pulls(self, element: PD, view: ElementView) -> list[Pull]:
        n = len(element.joints)
        gains = (each(view.value(values), n) for values in (element.kp, element.kd))
        columns = (*gains, wishes(element, view), added(element, view), *limits(element, view))
        return [Pull(*row) for row in zip(*columns, strict=True)]

    def effort(self, element: PD, view: ElementView) -> Effort:
        if not _acts_itself(element):
            return Effort()
        hinges = [view.hinge(joint) for joint in element.joints]
        u = self._converted(element, view)
        power = sum((force * hinge.v for force, hinge in zip(u, hinges, strict=True)), 0.0)
        return Effort(torques={h.place: force for h, force in zip(hinges, u, strict=True)}, supplied=power)

    def stiff(self, element: PD, view: ElementView) -> Stiff | None:
        if not _acts_itself(element):
            return None
        places = [view.hinge(joint).place for joint in element.joints]
        return Stiff(joints=[JointForce(*pair) for pair in zip(places, self._pulls(element, view), strict=True)])


def _acts_itself(element: PD) -> bool:
    """Whether the PD acts on its joints directly, without sampling, so that its force depends on the present state."""
    return not element.every and not element.drives


# ── PID ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Terms(NamedTuple):
    """The terms of a PID that need states or memory."""

    prefilter: bool
    integral: bool
    derivative: bool  # a filtered derivative, or differences of samples

    @property
    def size(self) -> int:
        """The number of states of a continuous channel."""
        return sum(self)


def terms(element: PID) -> Terms:
    """The terms with states or memory that a PID has; a term with gains of zero is left out."""
    derivative = not _absent(element.kd) and bool(element.filter or element.every)
    return Terms(element.bandwidth < math.inf, not _absent(element.ki), derivative)


def _absent(gains: Any) -> bool:
    return all(isinstance(gain, float) and gain == 0.0 for gain in gains)


class Channel(NamedTuple):
    """One channel of a PID at one instant: its gains and limits, its error and the derivative of its error."""

    kp: S
    ki: S
    kd: S
    lower: Any
    upper: Any
    tracking: S  # [s] time constant of back calculation
    more: S  # feedforward
    error: S
    sloped: S  # the quantity whose derivative is taken: the error, or minus the measurement
    slope: S  # the rate of `sloped`, where it is measured

    def limited(self, u: S) -> S:
        """The output u, limited to [lower, upper]."""
        return limited(u, self.lower, self.upper)

    def winds_up(self, u: S) -> S:
        """1 where the output u is beyond a limit and the integral term drives it further, else 0."""
        return winds_up(u, self.ki * self.error, self.lower, self.upper)


class PIDLaw(GainLaw):
    """A PID controller, continuous or sampled."""

    def problems(self, element: PID, robot: Robot) -> list[str]:
        found = channel_problems(element, robot) or count_problems(
            element, "kp", "ki", "kd", "reference", "feedforward", "lower", "upper"
        )
        if found:
            return found
        found = sampling_problems(element)
        if element.every and element.bandwidth < math.inf:
            problem = f"bandwidth is {element.bandwidth:g} and the PID is sampled; expected only one of the two"
            found.append(wrong(element.name, problem, "Leave out bandwidth, or every.", "bandwidth"))
        untimed = element.anti_windup == "back_calculation" and not element.tracking
        if untimed and (_absent(element.kp) or _absent(element.ki)):
            problem = "back_calculation uses the time constant kp / ki, but kp or ki is 0; expected a time constant"
            found.append(wrong(element.name, problem, "Give `tracking` [s]."))
        blind = [name for name in measured(element) if name[2:] not in robot.all_v_names or not name.startswith("q.")]
        if not _absent(element.kd) and not element.every and not element.filter and blind:
            problem = (
                f"kd needs the rate of '{blind[0]}', which only joint coordinates have; expected such a coordinate"
            )
            found.append(wrong(element.name, problem, "Give `filter` [s], or `every`.", "kd"))
        return found

    def reads(self, element: PID) -> tuple[str, ...]:
        return (*measured(element), *followed(element))

    def signals(self, element: PID) -> tuple[Slot, ...]:
        names = channel_names(element)
        errors = zip(names, measured(element), strict=True)
        return (*super().signals(element), *(Slot(below(name, "error"), signal) for name, signal in errors))

    def publish(self, element: PID, view: ElementView) -> Mapping[str, S]:
        names = channel_names(element)
        errors = [channel.error for channel in self._channels(element, view)]
        return {**super().publish(element, view), **dict(zip([below(n, "error") for n in names], errors, strict=True))}

    def _channels(self, element: PID, view: ElementView) -> list[Channel]:
        n = len(channel_names(element))
        kp, ki, kd = (each(view.value(gains), n) for gains in (element.kp, element.ki, element.kd))
        lower, upper = limits(element, view)
        more, names, found = added(element, view), measured(element), []
        rated = not _absent(element.kd) and not terms(element).derivative
        for k, wish in enumerate(wishes(element, view)):
            y = view.signal(names[k])
            tracking = (
                element.tracking if element.tracking or element.anti_windup != "back_calculation" else kp[k] / ki[k]
            )
            of_error = element.derivative == "error"
            slope = (wish.velocity if of_error else 0.0) - rate_of(view, names[k]) if rated else 0.0
            sloped = wish.position - y if of_error else -y
            found.append(
                Channel(kp[k], ki[k], kd[k], lower[k], upper[k], tracking, more[k], wish.position - y, sloped, slope)
            )
        return found

    # ── continuous ────────────────────────────────────────────────────────────────────────────────────────────────

    def states(self, element: PID) -> tuple[Slot, ...]:
        if element.every:
            return ()
        kept = [name for name, there in zip(("smooth", "integral", "lag"), terms(element), strict=True) if there]
        return tuple(slot for slots in _own_slots(element, kept) for slot in slots)

    def outputs(self, element: PID, view: ElementView) -> list[S]:
        return [u for u, _ in self._continuous(element, view)]

    def effort(self, element: PID, view: ElementView) -> Effort:
        if element.every:
            return Effort()
        return Effort(rates=[rate for _, rates in self._continuous(element, view) for rate in rates])

    def _continuous(self, element: PID, view: ElementView) -> list[tuple[S, list[S]]]:
        """(output before its limits, rates of its states) for each channel of a continuous PID."""
        kept, found = terms(element), []
        for k, channel in enumerate(self._channels(element, view)):
            x = list(view.x[k * kept.size : (k + 1) * kept.size])
            rates: list[S] = []
            if kept.prefilter:
                smooth = x.pop(0)
                rates.append(element.bandwidth * (channel.error - smooth))
                channel = channel._replace(error=smooth, sloped=smooth, slope=rates[0])
            J = x.pop(0) if kept.integral else 0.0
            slope = (channel.sloped - x[0]) / element.filter if kept.derivative else channel.slope
            u = channel.more + channel.kp * channel.error + J + channel.kd * slope
            if kept.integral:
                rates.append(self._wound(element, channel, u, channel.ki * channel.error))
            if kept.derivative:
                rates.append(slope)
            found.append((u, rates))
        return found

    def _wound(self, element: PID, channel: Channel, u: S, rate: S) -> S:
        """The rate of the integral term with anti-windup; u is the output before its limits, and `rate` is ki e."""
        if element.anti_windup == "clamp":
            return where(channel.winds_up(u), 0.0, rate)
        if element.anti_windup == "back_calculation":
            return rate + (channel.limited(u) - u) / channel.tracking
        return rate

    # ── sampled ───────────────────────────────────────────────────────────────────────────────────────────────────

    def memory(self, element: PID) -> tuple[Slot, ...]:
        if not element.every:
            return ()
        kept = terms(element)
        own = [name for name, there in (("integral", kept.integral), *_differences(kept)) if there]
        return (*super().memory(element), *(slot for slots in _own_slots(element, own) for slot in slots))

    def sample(self, element: PID, view: ElementView, clock: int) -> Sequence[S]:
        n, kept, T = len(channel_names(element)), terms(element), element.every or 0.0
        front = held_count(element, n)
        if clock == 1:
            return [*let_out(view.m[:front], n), *view.m[front:]]
        size = kept.integral + 3 * kept.derivative
        outputs, memory = [], []
        for k, channel in enumerate(self._channels(element, view)):
            own = list(view.m[front + k * size : front + (k + 1) * size])
            J = own.pop(0) if kept.integral else 0.0
            d: S = 0.0
            if kept.derivative:
                before, d, begun = own
                before = where(begun, before, channel.sloped)  # the first sample has no sample before it
                d = (element.filter * d + channel.kd * (channel.sloped - before)) / (element.filter + T)
            rest = channel.more + channel.kp * channel.error + d
            grown = J + T * (channel.ki * channel.error)
            if kept.integral and element.anti_windup == "clamp":
                grown = where(channel.winds_up(rest + grown), J, grown)
            u = rest + grown
            outputs.append(converted(u, channel.lower, channel.upper, element.quantum))
            if kept.integral and element.anti_windup == "back_calculation":
                grown = grown + T / channel.tracking * (channel.limited(u) - u)
            memory += [grown] * kept.integral + [channel.sloped, d, 1.0] * kept.derivative
        return [*let_in(view.m[:front], outputs), *memory]


def _own_slots(element: PID, kept: Sequence[str]) -> list[list[Slot]]:
    """The states or the memory of each channel: terms of the output, errors, and marks without a unit."""
    found = []
    for channel, signal in zip(channel_names(element), measured(element), strict=True):
        output = below(str(element.name), channel).removesuffix(".")
        units = {"integral": output, "difference": output, "begun": ""}
        found.append([Slot(below(channel, name), units.get(name, signal)) for name in kept])
    return found


def _differences(kept: Terms) -> tuple[tuple[str, bool], ...]:
    return tuple((name, kept.derivative) for name in ("before", "difference", "begun"))


register(PD, PDLaw())
register(PID, PIDLaw())
