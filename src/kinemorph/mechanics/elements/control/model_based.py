"""The laws of controllers that use a model of the robot: inverse dynamics as part of the controller."""

from __future__ import annotations

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import channel_problems, count_problems, each, followed, wishes
from kinemorph.mechanics.elements.control.controllers import ChannelLaw
from kinemorph.mechanics.elements.control.sample_hold import sampling_problems
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import register
from kinemorph.mechanics.recursions.newton_euler import gravity_forces, inverse_dynamics
from kinemorph.model.elements.control.model_based import ComputedTorque, GravityCompensation
from kinemorph.model.robot import Robot


class ComputedTorqueLaw(ChannelLaw):
    """Computed torque: tau = M(q) (a_ref + kd e' + kp e) + h(q, v), by one recursive Newton-Euler computation.

    e is the error of a joint, a_ref the acceleration of its reference.
    """

    accelerations = True

    def problems(self, element: ComputedTorque, robot: Robot) -> list[str]:
        found = channel_problems(element, robot) or count_problems(element, "kp", "kd", "reference", "lower", "upper")
        if found:
            return found
        if not robot.is_open:
            return [_closed(element, robot, "computed torque")]
        if robot.driven:
            problem = f"computed torque does not support driven joints, and robot '{robot.name}' has some"
            return [wrong(element.name, problem, "Use PD with GravityCompensation.")]
        idle = [joint.name for joint in robot.joints if not {*joint.v_names} <= {*element.joints}]
        if idle:
            problem = (
                f"computed torque has to drive every joint that moves, but joint '{idle[0]}' of robot '{robot.name}' "
                "is not in `joints`; expected all joints that move"
            )
            remedy = "For a robot with a free base or passive joints, use PD with GravityCompensation."
            return [wrong(element.name, problem, remedy)]
        return sampling_problems(element)

    def reads(self, element: ComputedTorque) -> tuple[str, ...]:
        return followed(element)

    def outputs(self, element: ComputedTorque, view: ElementView) -> list[S]:
        instant, n = view.instant, len(element.joints)
        kp, kd = each(view.value(element.kp), n), each(view.value(element.kd), n)
        a: list[S] = [0.0] * view.robot.nv
        hinges = [view.hinge(joint) for joint in element.joints]
        for k, (hinge, wish) in enumerate(zip(hinges, wishes(element, view), strict=True)):
            e, rate = wish.position - hinge.q, wish.velocity - hinge.v
            a[hinge.place] = wish.acceleration + kd[k] * rate + kp[k] * e
        tau = inverse_dynamics(instant.motions.tree, instant.q, instant.v, a)
        damping = [d for joint in view.robot.joints for d in view.value(joint.damping)]
        return [tau[hinge.place] + damping[hinge.place] * hinge.v for hinge in hinges]


class GravityCompensationLaw(ChannelLaw):
    """The gravity forces g(q) of some joints, times a factor."""

    def problems(self, element: GravityCompensation, robot: Robot) -> list[str]:
        found = channel_problems(element, robot) or count_problems(element, "lower", "upper")
        if found:
            return found
        return sampling_problems(element) if robot.is_open else [_closed(element, robot, "gravity compensation")]

    def outputs(self, element: GravityCompensation, view: ElementView) -> list[S]:
        tau = gravity_forces(view.instant.motions.tree, view.instant.q)
        return [element.scale * tau[view.hinge(joint).place] for joint in element.joints]


def _closed(element: ComputedTorque | GravityCompensation, robot: Robot, what: str) -> str:
    problem = (
        f"robot '{robot.name}' has loops or coupled joints, for which {what} is not unique; expected a robot without "
        "loops and couplings"
    )
    return wrong(element.name, problem, "Use PD or PID.")


register(ComputedTorque, ComputedTorqueLaw())
register(GravityCompensation, GravityCompensationLaw())
