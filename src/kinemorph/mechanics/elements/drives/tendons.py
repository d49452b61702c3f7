"""The law of tendons: forces along a length that is a sum of joint coordinates.

The forces of springs, friction and stops in joints act along the tendon's length in place of a coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from kinemorph.algebra.scalar import S, times
from kinemorph.mechanics.elements.checks import one_axis, wrong
from kinemorph.mechanics.elements.drives.strokes import Stroke, summed_stroke, tendon_arms
from kinemorph.mechanics.elements.forces.joint_forces import impedance_stops, inertia_along
from kinemorph.mechanics.elements.forces.joint_laws import Elastic, Friction, JointLaw, Stops
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, Stiff, register
from kinemorph.mechanics.steps.point_states import JointForce, JointState
from kinemorph.model.building.part_checks import USUAL_STOP, stop_problems
from kinemorph.model.elements.drives.tendons import Tendon
from kinemorph.model.robot import Robot
from kinemorph.words import counted

ONSET = 1e-3  # [rad or m] over which the damping of a stop sets in


class TendonLaw(ElementLaw[Tendon]):
    """A tendon over joints with one axis each."""

    steady = True

    def problems(self, element: Tendon, robot: Robot) -> list[str]:
        found = []
        if not element.joints or len(element.joints) != len(element.coefficients):
            counts = f"{counted(len(element.joints), 'joint')} and {counted(len(element.coefficients), 'coefficient')}"
            problem = f"it has {counts}; expected at least one joint, and a coefficient for each"
            found.append(wrong(element.name, problem, "Give as many coefficients as joints.", "coefficients"))
        for name in element.joints:
            found += one_axis(element, "joints", name, robot)
        for key, (low, high) in (("rest", element.rests), ("effort", element.efforts)):
            if not low <= high:
                problem = f"{key} is {getattr(element, key)}; expected rising numbers"
                found.append(wrong(element.name, problem, "Exchange them.", key))
        if not element.lower <= element.upper:
            problem = f"lower is {element.lower:g} and upper {element.upper:g}; expected lower not above upper"
            found.append(wrong(element.name, problem, "Exchange them.", "lower"))
        clauses = [] if element.stop is None else stop_problems(element.stop)
        return found + [wrong(element.name, f"stop: {what}", USUAL_STOP, "stop") for what in clauses]

    def signals_on(self, element: Tendon, robot: Robot) -> tuple[Slot, ...]:
        """Length, rate and tension: those of a slide where a joint of the tendon slides, else those of a hinge."""
        slides = any(robot.axis_places[name].kind == "prismatic" for name in element.joints)
        units = ("m", "m/s", "N") if slides else ("rad", "rad/s", "N m")
        return tuple(map(Slot, ("length", "rate", "tension"), units))

    def publish(self, element: Tendon, view: ElementView) -> Mapping[str, S]:
        """The length, its rate, and the tension of spring, damper, friction and stops, without that of actuators."""
        stroke = _stroke(element, view)
        at = JointState(stroke.length, stroke.rate)
        tension = -sum((law.force(at) for law in _laws(element, view)), 0.0)
        return {"length": stroke.length, "rate": stroke.rate, "tension": tension}

    def effort(self, element: Tendon, view: ElementView) -> Effort:
        stroke, laws = _stroke(element, view), _laws(element, view)
        at = JointState(stroke.length, stroke.rate)
        force = sum((law.force(at) for law in laws), 0.0)
        return Effort(
            torques={v: times(arm, force) for v, arm in stroke.arms.items()} if laws else {},
            dissipated=sum((law.dissipated(at) for law in laws), 0.0),
            stored=sum((law.stored(at) for law in laws), 0.0),
        )

    def stiff(self, element: Tendon, view: ElementView) -> Stiff:
        arms = {place.v: arm for place, arm in tendon_arms(element, view.robot)}
        return Stiff(joints=[JointForce(next(iter(arms)), law, arms) for law in _laws(element, view)])


def _stroke(element: Tendon, view: ElementView) -> Stroke:
    """The length of a tendon, its rate, and the arms of its joints."""
    return summed_stroke(tendon_arms(element, view.robot), view.instant.q, view.instant.v)


def _laws(element: Tendon, view: ElementView) -> list[JointLaw]:
    """The force laws along the length of a tendon."""
    found: list[JointLaw] = []
    if element.stiffness or element.damping or element.curve or element.damping_curve:
        shortest, longest = element.rests
        curves = (element.curve, element.damping_curve)
        found.append(Elastic(element.stiffness, shortest, element.damping, *curves, longest - shortest))
    if element.friction:
        found.append(Friction(element.friction, 0.0, 1.0, 1.0, element.smoothing))
    if math.isfinite(element.lower) or math.isfinite(element.upper):
        lower = element.lower if math.isfinite(element.lower) else None
        upper = element.upper if math.isfinite(element.upper) else None
        arms = {place.v: arm for place, arm in tendon_arms(element, view.robot) if place.v < view.robot.nv}
        inertia = (element.stop.inertia if element.stop else None) or inertia_along(view.robot, arms)
        if element.stop is None:
            found.append(Stops(lower, upper, inertia / element.time**2, 2.0 * inertia / element.time, ONSET))
        else:
            found.append(impedance_stops(element.stop, lower, upper, inertia))
    return found


register(Tendon, TendonLaw())
