"""The law of the reference generator of pantograph legs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from kinemorph.algebra.scalar import S, atan2, cos, div, floor, maximum, sin
from kinemorph.algebra.tables import lookup, through
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import Wish, each
from kinemorph.mechanics.elements.control.path_curves import stepped
from kinemorph.mechanics.elements.control.references import PathLaw, differentiated
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Jump, register
from kinemorph.model.elements.gaits.pantograph_gait import PantographGait
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.words import counted


class PantographGaitLaw(PathLaw):
    """The desired position, velocity and acceleration of each drive of pantograph legs at a time.

    The feet move along straight lines, one after the other, as the element's table `sequences` says; the inverse
    kinematics of a leg gives the positions of its three drives.
    """

    def problems(self, element: Any, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        legs, rest = divmod(len(element.joints), 3)
        if rest or not legs:
            problem = f"joints has {counted(len(element.joints), 'name')}; expected three for each leg"
            found.append(wrong(element.name, problem, "Name rotation, vertical and horizontal drive.", "joints"))
        for name, width, what in (("sequences", 3, "a duration [s], s and u"), ("feet", 2, "x and y [m]"),
                                  ("strides", 2, "x and y [m]")):  # fmt: skip
            for k, row in enumerate(getattr(element, name)):
                if len(row) != width:
                    problem = f"{name}[{k}] is {tuple(map(evaluate, row))}; expected {width} numbers: {what}"
                    found.append(wrong(element.name, problem, "Correct that row.", name))
        for name in ("starts", "feet", "strides"):
            count = len(getattr(element, name))
            if count not in (1, legs):
                problem = f"{name} has {counted(count, 'entry', 'entries')}; expected 1, or {legs}, one for each leg"
                found.append(wrong(element.name, problem, f"Give 1, or {legs}.", name))
        if not element.sequences or any(not evaluate(row[0]) > 0.0 for row in element.sequences if row):
            problem = "sequences is empty or has a duration that is not above 0; expected positive times [s]"
            found.append(wrong(element.name, problem, "Give each row a duration above 0.", "sequences"))
        return found

    def per_joint(self, element: Any) -> Mapping[str, int]:
        return {"joints": 1, "starts": 3, "feet": 3, "strides": 3}

    def jumps(self, element: Any) -> Sequence[Jump]:
        moved = (element.starts, tuple(row[0] for row in element.sequences))
        return (Jump("the velocity of a foot jumps between sequences", "Make these times plain numbers.", moved),)

    def path(self, element: PantographGait, view: ElementView, k: int) -> Wish:
        leg, drive = divmod(k, 3)
        return differentiated(lambda t: drive_positions(element, view, leg, t)[drive], view.t)


def drive_positions(element: Any, view: ElementView, leg: int, t: S) -> tuple[S, S, S]:
    """(a, b, c): the positions of the drives of a leg of a PantographGait at the time t [s].

    They are the rotation a [rad] of the leg, the vertical drive b [m] and the horizontal drive c [m].
    """
    legs = len(element.joints) // 3
    (fx, fy), (dx, dy), begin = (
        view.value(each(values, legs)[leg]) for values in (element.feet, element.strides, element.starts)
    )
    height, lift, offset, ratio = view.value((element.height, element.lift, element.offset, element.ratio))
    s, u = _progress(view.value(element.sequences), maximum(t - element.settle, 0.0) + begin)
    x, y, z = fx + s * dx, fy + s * dy, u * lift - height
    sine, cosine, angle = TRIGONOMETRY[element.trigonometry]
    a = angle(y, x)
    return a, div(-1.0 * z, ratio - 1.0), div(x * cosine(a) + y * sine(a) - offset, ratio)


def _progress(rows: Sequence[Sequence[S]], t: S) -> tuple[S, S]:
    """(s, u) of a foot of a PantographGait at the time t [s] in its cycle, from the rows of its sequences.

    s is its position along the stride, in parts of the stride; u is its height, in parts of the lift.
    """
    ends = list(accumulate((row[0] for row in rows), initial=0.0))
    local = t - ends[-1] * floor(t / ends[-1])
    plain = all(isinstance(x, float) for row in rows for x in row)
    s, u = (
        lookup(through(ends, values), local) if plain else stepped(local, ends, values)
        for values in ([rows[-1][k], *(row[k] for row in rows)] for k in (1, 2))
    )
    return s, u


TRIGONOMETRY: dict[str, tuple[Any, Any, Any]] = {
    "exact": (sin, cos, atan2),
    "polynomial": (
        lambda x: x * (1.0 - x * x / 6.0),
        lambda x: 1.0 - 0.5 * x * x,
        lambda y, x: (r := div(y, x)) * (1.0 - r * r / 3.0),
    ),
}  # sine, cosine, and the angle of a direction from (y, x)

register(PantographGait, PantographGaitLaw())
