"""Outputs that are sampled and held: the stages between a digital law and its targets.

    sample at phase + k every ─► law ─► round to quantum ─► limit ─► delay ─► hold

A delay consists of n whole periods, by a register that shifts at every sample, and a rest, by a second clock of the
same period that releases the output that much later. All of it is memory: the held output of each channel, then the
registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from kinemorph.algebra.scalar import S, floor
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.law import Clock, Slot
from kinemorph.mechanics.elements.saturation import limited
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate

WHOLE = 1e-9  # of a period: a delay this near to whole periods counts as whole


def delayed(element: Any) -> tuple[int, float]:
    """(whole periods, rest [s]) of the delay."""
    periods = element.delay / element.every
    if abs(periods - round(periods)) < WHOLE * max(1.0, periods):
        return round(periods), 0.0
    whole = math.floor(periods)
    return whole, float(_meant(element.delay) - whole * _meant(element.every))


def _meant(x: float) -> Fraction:
    """The ratio of small whole numbers nearest to x, so that a difference has no rounding in it; else x itself."""
    found = Fraction(x).limit_denominator(10**6)
    return found if abs(float(found) - x) <= 4e-16 * abs(x) else Fraction(x)


def clocks_of(element: Any) -> tuple[Clock, ...]:
    """The clock of its samples, and the clock that releases them where that is at other times."""
    if not element.every:
        return ()
    _, rest = delayed(element)
    sampling = Clock(element.every, element.phase)
    return (sampling, Clock(element.every, element.phase + rest)) if rest else (sampling,)


def held_slots(element: Any, channels: Sequence[str]) -> tuple[Slot, ...]:
    """The memory slots of held outputs, then of delayed ones."""
    if not element.every:
        return ()
    held = [Slot(below(channel, "held")) for channel in channels]
    waiting = [Slot(below(channel, f"waiting{k + 1}")) for k in range(_places(element)) for channel in channels]
    return (*held, *waiting)


def held_count(element: Any, channels: int) -> int:
    """The number of slots in `held_slots`."""
    return channels * (1 + _places(element)) if element.every else 0


def _places(element: Any) -> int:
    """The number of samples in the register."""
    periods, rest = delayed(element)
    return periods + (1 if rest else 0)


def let_in(memory: Sequence[S], outputs: Sequence[S]) -> list[S]:
    """The memory of `held_slots` after a sample that gives `outputs`."""
    waiting = memory[len(outputs) :]
    moved = [*outputs, *waiting]
    # where there is a second clock, the oldest sample is held already
    return [*moved[len(waiting) :], *moved[: len(waiting)]]


def let_out(memory: Sequence[S], count: int) -> list[S]:
    """The memory of `held_slots` when the second clock ticks: the oldest sample is held."""
    return [*memory[len(memory) - count :], *memory[count:]]


def converted(u: S, lower: Any, upper: Any, quantum: float) -> S:
    """An output in whole quanta, where there is a quantum, and within its limits."""
    if quantum:
        u = quantum * floor(u / quantum + 0.5)
    return limited(u, lower, upper)


def sampling_problems(element: Any) -> list[str]:
    """Problems of times, quantum and limits."""
    found = []
    if element.every is not None and not 0.0 < element.every < math.inf:
        problem = f"every is {element.every:g}; expected a finite time above 0 [s]"
        found.append(wrong(element.name, problem, "Enlarge it, or leave it out.", "every"))
    for name in ("phase", "delay", "quantum"):
        value = getattr(element, name)
        if not 0.0 <= value < math.inf:
            found.append(
                wrong(element.name, f"{name} is {value:g}; expected a finite number of at least 0", "Mend it.", name)
            )
        elif value and not element.every:
            problem = f"{name} is {value:g}, and it is not sampled; expected a time between samples [s]"
            found.append(wrong(element.name, problem, "Give `every`, too.", name))
    for lower, upper in zip(*_paired(element.lower, element.upper), strict=False):
        if not evaluate(lower) < evaluate(upper):
            problem = f"lower is {evaluate(lower):g} and upper {evaluate(upper):g}; expected lower below upper"
            found.append(wrong(element.name, problem, "Exchange them.", "lower"))
    return found


def _paired(one: Sequence[Any], other: Sequence[Any]) -> tuple[Sequence[Any], ...]:
    count = max(len(one), len(other))
    return tuple(tuple(values) * count if len(values) == 1 else values for values in (one, other))
