"""The channels of controllers: measured signals, references with their rates, and numbers such as gains and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, maximum, minimum
from kinemorph.mechanics.elements.checks import one_axis, one_or_each, wrong
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.model.elements.control.wiring import channel_names, choices, measured
from kinemorph.model.robot import Robot
from kinemorph.words import counted, listed


class Wish(NamedTuple):
    """The desired position, velocity and acceleration of a channel or joint; 0 where a rate is not known."""

    position: S
    velocity: S = 0.0
    acceleration: S = 0.0


def ramped(wish: Wish, t: S, ramp: float, initial: S) -> Wish:
    """A path that is at rest at `initial` at t = 0, and changes smoothly into the path `wish` until t = `ramp` [s].

    The difference  wish - initial  is multiplied by s^3 (10 - 15 s + 6 s^2), s = t / ramp, which has the least jerk;
    its rates follow by the product rule. Before t = 0 the path stays at `initial`; without a ramp it is `wish`.
    """
    if not ramp:
        return wish
    s = minimum(maximum(t / ramp, 0.0), 1.0)
    share = s * s * s * (10.0 - s * (15.0 - 6.0 * s))
    rate = s * s * (1.0 - s) * (1.0 - s) * (30.0 / ramp)
    change = s * (1.0 - s) * (1.0 - 2.0 * s) * (60.0 / ramp**2)
    q, v, a = wish.position - initial, wish.velocity, wish.acceleration
    return Wish(initial + share * q, rate * q + share * v, change * q + 2.0 * rate * v + share * a)


def each(values: Sequence[Any], count: int) -> Sequence[Any]:
    """One number for each of `count` channels: a single number is repeated."""
    return tuple(values) * count if len(values) == 1 else values


def wishes(element: Any, view: ElementView) -> list[Wish]:
    """The desired position, velocity and acceleration of each channel at this instant."""
    return [_wish(view, target) for target in choices(element)]


def _wish(view: ElementView, target: Any) -> Wish:
    if not isinstance(target, str):
        return Wish(view.value(target))
    ensemble = view.instant.ensemble
    name = ensemble.source(target)
    rates = [f"{name}.velocity", f"{name}.acceleration"]
    if name.startswith("q."):
        rates = [f"v.{name[2:]}", ""]
    return Wish(view.signal(name), *(view.signal(one) if one in ensemble.sources else 0.0 for one in rates))


def added(element: Any, view: ElementView) -> list[S]:
    """The feedforward that is added to each output at this instant."""
    return [
        view.signal(target) if isinstance(target, str) else view.value(target)
        for target in choices(element, "feedforward")
    ]


def rate_of(view: ElementView, name: str) -> S:
    """The rate of a coordinate of the robot, by the name of its signal, such as "q.hip"."""
    return view.signal(f"v.{name[2:]}")


def followed(element: Any) -> tuple[str, ...]:
    """The names of the signals in the fields `reference` and `feedforward`."""
    fields = [name for name in ("reference", "feedforward") if hasattr(element, name)]
    return tuple(one for name in fields for one in choices(element, name) if isinstance(one, str))


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def channel_problems(element: Any, robot: Robot) -> list[str]:
    """A problem for each joint that does not exist, and where joints, `reads` and `drives` differ in number."""
    joints = getattr(element, "joints", ())
    found = [problem for joint in joints for problem in one_axis(element, "joints", joint, robot)]
    if found:
        return found
    counts = {"joints": len(joints), "reads": len(getattr(element, "reads", ())), "drives": len(element.drives)}
    if not measured(element):
        problem = "it reads nothing; expected one or more signals"
        return [wrong(element.name, problem, "Give `joints`, or `reads` and `drives`.", "reads")]
    if len({count for count in counts.values() if count}) > 1:
        found_counts = listed(f"{counted(count, 'name')} in {name}" for name, count in counts.items() if count)
        problem = f"it has {found_counts}; expected the same number in each"
        return [wrong(element.name, problem, "Give one of each for every channel.")]
    return []


def count_problems(element: Any, *fields: str) -> list[str]:
    """A problem for each of these fields with too few or too many numbers for the channels."""
    return one_or_each(element, len(channel_names(element)), "channel", *fields)
