"""Outputs that are sampled and held: the stages between a sampled controller and its targets.

    sample at phase + k every ─► law ─► round to quantum ─► limit ─► delay ─► hold

A delay consists of n whole periods, for which a register shifts at every sample, and a remainder, for which a second
clock of the same period releases the output that much later. The memory consists of the held output of each channel,
then of the registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from kinemorph.algebra.scalar import S, floor
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.law import Clock, Jump, Slot
from kinemorph.mechanics.elements.saturation import limited
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate

WHOLE = 1e-9  # share of a period: a delay this near to whole periods counts as whole


def delayed(element: Any) -> tuple[int, float]:
    """(whole periods, remainder [s]) of the element's delay."""
    periods = element.delay / element.every
    if abs(periods - round(periods)) < WHOLE * max(1.0, periods):
        return round(periods), 0.0
    whole = math.floor(periods)
    return whole, float(_meant(element.delay) - whole * _meant(element.every))


def _meant(x: float) -> Fraction:
    """The fraction with a small denominator that equals x up to rounding, or else x itself; differences are exact."""
    found = Fraction(x).limit_denominator(10**6)
    return found if abs(float(found) - x) <= 4e-16 * abs(x) else Fraction(x)


def clocks_of(element: Any) -> tuple[Clock, ...]:
    """The clock of an element's samples, and the clock that releases delayed outputs, where it ticks at other times."""
    if not element.every:
        return ()
    _, rest = delayed(element)
    sampling = Clock(element.every, element.phase)
    return (sampling, Clock(element.every, element.phase + rest)) if rest else (sampling,)


def held_slots(element: Any, channels: Sequence[str]) -> tuple[Slot, ...]:
    """The memory slots of the held outputs of all channels, then of outputs that are still delayed."""
    if not element.every:
        return ()
    units = [below(str(element.name), channel).removesuffix(".") for channel in channels]  # those of the outputs
    words = ["held", *(f"waiting{k + 1}" for k in range(_places(element)))]
    return tuple(
        Slot(below(channel, word), unit) for word in words for channel, unit in zip(channels, units, strict=True)
    )


def held_count(element: Any, channels: int) -> int:
    """The number of values that a sampled element with so many channels keeps in its memory, see `held_slots`."""
    return channels * (1 + _places(element)) if element.every else 0


def _places(element: Any) -> int:
    """The number of samples that the delay register holds."""
    periods, rest = delayed(element)
    return periods + (1 if rest else 0)


def let_in(memory: Sequence[S], outputs: Sequence[S]) -> list[S]:
    """The memory of `held_slots` after a sample that gives `outputs`."""
    waiting = memory[len(outputs) :]
    moved = [*outputs, *waiting]
    # where there is a second clock, the oldest sample is held already
    return [*moved[len(waiting) :], *moved[: len(waiting)]]


def let_out(memory: Sequence[S], count: int) -> list[S]:
    """The memory of `held_slots` after a tick of the second clock: the oldest sample becomes the held output."""
    return [*memory[len(memory) - count :], *memory[count:]]


def converted(u: S, lower: Any, upper: Any, quantum: float) -> S:
    """The output u, rounded to whole multiples of `quantum` (0: not rounded), then limited to [lower, upper]."""
    if quantum:
        u = quantum * floor(u / quantum + 0.5)
    return limited(u, lower, upper)


def output_jumps(element: Any) -> list[Jump]:
    """What jumps in an element with these stages: rounded outputs, and a continuous integral that stops at a limit."""
    found = []
    if element.quantum:
        found.append(Jump("its outputs are rounded", "Leave out `quantum`."))
    bounded = any(math.isfinite(evaluate(x)) for x in (*element.lower, *element.upper))
    if getattr(element, "anti_windup", "none") == "clamp" and bounded and not element.every:
        found.append(Jump("the rate of its integral jumps where it stops", "Use another `anti_windup`."))
    return found


def sampling_problems(element: Any) -> list[str]:
    """A problem for each field that only a sampled element can have, and where limits are not in order."""
    found = []
    for name in ("phase", "delay", "quantum"):
        if (value := getattr(element, name)) and not element.every:
            problem = f"{name} is {value:g}, but the element is not sampled; expected `every`, its sample time [s]"
            found.append(wrong(element.name, problem, "Give `every` too.", name))
    for lower, upper in zip(*_paired(element.lower, element.upper), strict=False):
        if not evaluate(lower) < evaluate(upper):
            problem = f"lower is {evaluate(lower):g} and upper {evaluate(upper):g}; expected lower below upper"
            found.append(wrong(element.name, problem, "Exchange them.", "lower"))
    return found


def _paired(one: Sequence[Any], other: Sequence[Any]) -> tuple[Sequence[Any], ...]:
    count = max(len(one), len(other))
    return tuple(tuple(values) * count if len(values) == 1 else values for values in (one, other))
