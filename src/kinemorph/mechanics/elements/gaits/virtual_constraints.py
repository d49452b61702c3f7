"""The law of virtual constraints: the torques that keep joints on curves over a phase variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.linear import solve_regular
from kinemorph.algebra.scalar import S, div, minus, plus, times, where
from kinemorph.algebra.tables import lookup, spline_basis
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.elements.checks import one_axis, wrong
from kinemorph.mechanics.elements.control.channels import each
from kinemorph.mechanics.elements.control.references import optional_numbers
from kinemorph.mechanics.elements.gaits.torque_splines import coefficient_problems
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ElementLaw, Slot, register
from kinemorph.model.elements.control.wiring import below, channel_names, driven
from kinemorph.model.elements.gaits.virtual_constraints import VirtualConstraints
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.words import counted


class Output(NamedTuple):
    """The output y = q - b(s) of one joint, its rate, and b' and b'', the derivatives of the curve by theta."""

    place: int  # of the velocity of the joint in v
    error: S
    rate: S
    slope: S
    bend: S


class VirtualConstraintsLaw(ElementLaw[VirtualConstraints]):
    """Torques by input-output linearization, or proportional to the errors and their rates."""

    def problems(self, element: VirtualConstraints, robot: Robot) -> list[str]:
        found = coefficient_problems(element, element.joints, "joints")
        for what in ("joints", "phase"):
            found += [text for joint in getattr(element, what) for text in one_axis(element, what, joint, robot)]
        if element.drives and len(element.drives) != len(element.joints):
            both = f"it has {counted(len(element.joints), 'joint')} and drives {counted(len(element.drives), 'target')}"
            found.append(wrong(element.name, f"{both}; expected as many", "Name one for each joint.", "drives"))
        if len(element.weights) not in (1, len(element.phase)):  # type: ignore[arg-type]
            problem = f"phase names {counted(len(element.phase), 'joint')}, and weights has {element.weights}"
            found.append(wrong(element.name, f"{problem}; expected one number for each", "Give them.", "weights"))
        found += optional_numbers(element, "kp", "kd")
        if evaluate(element.start) == evaluate(element.end):
            problem = f"start and end are both {evaluate(element.start):g} rad; expected different angles"
            found.append(wrong(element.name, problem, "Give theta at the start and at the end of a step.", "end"))
        return found

    def signals(self, element: VirtualConstraints) -> tuple[Slot, ...]:
        found = []
        for channel, joint, target in zip(channel_names(element), element.joints, driven(element), strict=True):
            found += [
                Slot(channel, f"tau.{target}"),
                Slot(below(channel, "error"), f"q.{joint}"),
                Slot(below(channel, "error_rate"), f"v.{joint}"),
            ]
        return (*found, Slot("phase"))

    def drives(self, element: VirtualConstraints) -> Mapping[str, str]:
        return dict(zip(driven(element), channel_names(element), strict=True))

    def publish(self, element: VirtualConstraints, view: ElementView) -> Mapping[str, S]:
        s, outputs = _outputs(element, view)
        n = len(outputs)
        gains = each(view.value(element.kp), n), each(view.value(element.kd), n)
        wanted = [-plus(times(kp, one.error), times(kd, one.rate)) for kp, kd, one in zip(*gains, outputs, strict=True)]
        torques = wanted if element.control == "pd" else _linearized(element, view, outputs, wanted)
        found: dict[str, S] = {"phase": s}
        for channel, torque, one in zip(channel_names(element), torques, outputs, strict=True):
            torque = where(view.activity, torque, 0.0)
            found |= {channel: torque, below(channel, "error"): one.error, below(channel, "error_rate"): one.rate}
        return found


def _outputs(element: VirtualConstraints, view: ElementView) -> tuple[S, list[Output]]:
    """(the phase variable s, the outputs of all joints)."""
    rows, start, end = view.value((element.coefficients, element.start, element.end))
    span = minus(end, start)
    s = div(minus(_theta(element, view, "q"), start), span)
    speed = _theta(element, view, "v")
    tables = spline_basis(len(rows[0]), len(rows[0]) - 1)
    values, slopes, bends = (
        [lookup(table, s) for table in group]
        for group in (tables, [one.derivative for one in tables], [one.derivative.derivative for one in tables])
    )
    found = []
    for joint, row in zip(element.joints, rows, strict=True):
        hinge = view.hinge(joint)
        slope, bend = div(dot(row, slopes), span), div(dot(row, bends), times(span, span))
        error, rate = minus(hinge.q, dot(row, values)), minus(hinge.v, times(slope, speed))
        found.append(Output(hinge.place, error, rate, slope, bend))
    return s, found


def _theta(element: VirtualConstraints, view: ElementView, group: str) -> S:
    """The phase variable theta [rad], or its rate with group "v"."""
    weights = each(view.value(element.weights), len(element.phase))
    return dot(weights, [getattr(view.hinge(joint), group) for joint in element.phase])


def _linearized(
    element: VirtualConstraints, view: ElementView, outputs: Sequence[Output], wanted: Sequence[S]
) -> list[S]:
    """The torques for which the second derivatives of the outputs are those that are wanted.

    The accelerations are a linear function of the torques u: those without torques, and the change by each of them,
    give y'' = y''(0) + D u.
    """
    names = [f"{element.name}.{channel}" if channel else element.name for channel in channel_names(element)]
    weights = each(view.value(element.weights), len(element.phase))
    places = [view.hinge(joint).place for joint in element.phase]
    speed = _theta(element, view, "v")

    def bent(a: Sequence[S]) -> list[S]:
        turning = dot(weights, [a[place] for place in places])
        return [minus(a[one.place], times(one.slope, turning)) for one in outputs]

    free = bent(view.instant.response(dict.fromkeys(names, 0.0)))
    columns = [bent(view.instant.response({name: float(name == driven_one) for name in names})) for driven_one in names]
    D = [[minus(column[i], free[i]) for column in columns] for i in range(len(outputs))]
    drift = [minus(free[i], times(one.bend, times(speed, speed))) for i, one in enumerate(outputs)]
    right: Any = [[minus(want, now)] for want, now in zip(wanted, drift, strict=True)]
    return [row[0] for row in solve_regular(D, right)]


register(VirtualConstraints, VirtualConstraintsLaw())
