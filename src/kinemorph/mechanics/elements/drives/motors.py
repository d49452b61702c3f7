"""The law of motors.

The rotor has the speed w, the joint the velocity v, and n is the reduction. Where the transmission is rigid, w = n v,
and dry friction is proportional to the torque |T| that enters the gears; where it has a stiffness, rotor and joint
differ by a twist d, and friction is proportional to the transmitted force |F|, as in a screw. s(w) is the smoothed sign
of w, and J the inertia of the rotor:

    rigid       T_out = T - s |T| (1 - efficiency)              motor drives, T w > 0
                T_out = T - s |T| (1/back_efficiency - 1)       joint drives
    elastic     dd/dt = w/n - v,    F = stiffness z + damping dd/dt,    z the part of d beyond the backlash
                J dw/dt = T - F/n - s |F/n| c,      c = 1/efficiency - 1, or 1 - back_efficiency where F w < 0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minimum, sign, where
from kinemorph.mechanics.elements.drives.motor_checks import back_efficiency, motor_problems
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, Stiff, register
from kinemorph.mechanics.elements.saturation import limited
from kinemorph.mechanics.steps.point_states import JointForce, JointState, joint_slope
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.parameter import Value
from kinemorph.model.robot import Robot

SETTING_IN = 0.1  # share of half the backlash: the compression of teeth at which their damping is full
QUICK = 0.1  # share of L/R: the time constant with which an amplifier limits the current


class Electric(NamedTuple):
    """The state of the windings: current [A], voltage at the terminals [V], rate of the current [A/s]."""

    current: S
    voltage: S
    rate: S


class Mechanic(NamedTuple):
    """The effort of shaft and transmission on the joint [N m or N], the rates of their states, the power lost [W] and
    the energy stored [J].
    """

    force: S
    rates: tuple[S, ...]
    lost: S
    stored: S


class DCMotorLaw(ElementLaw[DCMotor]):
    """The law of a DC motor: windings, shaft and transmission."""

    def problems(self, element: DCMotor, robot: Robot) -> list[str]:
        return motor_problems(element, robot)

    def armature(self, element: DCMotor) -> dict[str, Value]:
        if not element.is_rigid:
            return {}
        n = element.reduction
        return {element.joint: element.inertia * n * n}

    def states(self, element: DCMotor) -> tuple[Slot, ...]:
        current = (Slot("current", "A"),) if element.has_inductance else ()
        rotor = () if element.is_rigid else (Slot("twist", "m" if element.has_screw else "rad"), Slot("rotor", "rad/s"))
        return (*current, *rotor)

    def inputs(self, element: DCMotor) -> tuple[Slot, ...]:
        return (Slot("voltage", "V"),)

    def signals(self, element: DCMotor) -> tuple[Slot, ...]:
        named = {"current": "A", "voltage": "V", "torque": "N" if element.has_screw else "N m", "speed": "rad/s"}
        shown = tuple(Slot(name, unit) for name, unit in (*named.items(), ("power", "W")))
        return shown

    def publish(self, element: DCMotor, view: ElementView) -> dict[str, S]:
        w = _speed(element, view)
        coil = _windings(element, view, w)
        force = _transmission(element, view, w, coil.current).force
        power = coil.voltage * coil.current
        return {"current": coil.current, "voltage": coil.voltage, "torque": force, "speed": w, "power": power}

    def effort(self, element: DCMotor, view: ElementView) -> Effort:
        R, L, K_m, K_b = _constants(element, view)
        w = _speed(element, view)
        coil = _windings(element, view, w)
        gear = _transmission(element, view, w, coil.current)
        i = coil.current
        return Effort(
            torques={view.hinge(element.joint).place: gear.force},
            rates=(*((coil.rate,) if element.has_inductance else ()), *gear.rates),
            supplied=coil.voltage * i,
            dissipated=R * i * i + (K_b - K_m) * w * i + gear.lost,
            stored=0.5 * L * i * i + gear.stored,
        )

    def late_rates(self, element: DCMotor, view: ElementView, velocities: Sequence[S], h: S) -> Sequence[S] | None:
        v = velocities[view.hinge(element.joint).place]
        if element.is_rigid:
            shaft: tuple[S, ...] = ()
            w = view.value(element.reduction) * v
        else:
            late = _late_rotor(element, view, v, h)
            w, shaft = late.speed, (late.slip, div(late.speed - view.x[-1], h))
        if not element.has_inductance:
            return shaft
        return (div(_late_current(element, view, w, h)[0] - view.x[0], h), *shaft)

    def stiff(self, element: DCMotor, view: ElementView) -> Stiff:
        law = Drive(element, view) if element.is_rigid else ElasticDrive(element, view)
        return Stiff(joints=(JointForce(view.hinge(element.joint).place, law),))


@dataclass(frozen=True, eq=False)
class Drive:
    """The effort on a joint of a motor with a rigid transmission, as a function of the joint's velocity.

    An implicit step evaluates it with the velocity at the end of the step (see `mechanics.steps.implicit_forces`).
    """

    element: DCMotor
    view: ElementView

    @property
    def affine(self) -> bool:
        """Whether its derivatives are the same everywhere: where it has neither dry friction nor a current limit."""
        motor = self.element
        plain = (motor.efficiency, motor.coulomb, motor.current_limit) == (1.0, 0.0, math.inf)
        return plain and motor.back_efficiency in (None, 1.0)

    def force(self, joint: JointState) -> S:
        """The effort on the joint [N m or N]."""
        w = self.view.value(self.element.reduction) * joint.velocity
        return _transmission(self.element, self.view, w, _windings(self.element, self.view, w).current).force

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(effort, pivot) for a step of h [s]; the pivot is the inertia that the effort adds to the joint.

        The pivot has the derivatives of back-EMF and viscous friction, and the secant of dry friction, so that a step
        does not jump over standstill.
        """
        element, view = self.element, self.view
        K_m = _constants(element, view)[2]
        viscous, coulomb, slow, n = view.value((element.viscous, element.coulomb, element.slow, element.reduction))
        forth, back = (view.value(one) for one in _losses(element))
        w = n * joint.velocity
        current, braking = _late_current(element, view, w, h)
        way, secant = gentle_sign(w, slow), gentle_secant(w, slow)
        T = K_m * current - viscous * w - coulomb * way
        lost = where(less(T * w, 0.0), back, forth)
        slope = viscous + coulomb * secant + K_m * braking
        pivot = n * n * (slope * (1.0 - way * sign(T) * lost) + absolute(T) * lost * secant)
        return n * (T - way * absolute(T) * lost), h * pivot


@dataclass(frozen=True, eq=False)
class ElasticDrive:
    """The effort on a joint of a motor with an elastic transmission, as a function of the joint's velocity.

    An implicit step evaluates it with the velocity at the end of the step (see `mechanics.steps.implicit_forces`).
    The rotor moves on its own within the step, by one implicit step (`_late_rotor`); the effort on the joint is that
    after this motion.
    """

    element: DCMotor
    view: ElementView
    affine: bool = True  # it is linearized once in a step

    def force(self, joint: JointState) -> S:
        """The effort on the joint [N m or N]."""
        w = _speed(self.element, self.view)
        current = _windings(self.element, self.view, w).current
        return _transmission(self.element, self.view, w, current, joint.velocity).force

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(effort, pivot) for a step of h [s], after the motion of the rotor in this step.

        The pivot is the inertia that the effort adds to the joint in an implicit step; see `point_states.joint_slope`.
        """
        return joint_slope(lambda at: _late_rotor(self.element, self.view, at.velocity, h).force, joint, h)


# ── windings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _constants(element: DCMotor, view: ElementView) -> tuple[S, S, S, S]:
    """(R, L, K_m, K_b): resistance [ohm], inductance [H], torque constant [N m/A], back-EMF constant [V s/rad]."""
    back = element.torque_constant if element.back_emf is None else element.back_emf
    R, L, K_m, K_b = view.value((element.resistance, element.inductance, element.torque_constant, back))
    return R, L, K_m, K_b


def _windings(element: DCMotor, view: ElementView, w: S) -> Electric:
    """The current in the windings, its voltage and its rate, at the speed w [rad/s] of the shaft."""
    R, L, _, K_b = _constants(element, view)
    most = element.current_limit
    u = limited(view.input("voltage"), -element.voltage_limit, element.voltage_limit)
    if not element.has_inductance:
        i = limited(div(u - K_b * w, R), -most, most)
        return Electric(i, u if most == math.inf else R * i + K_b * w, 0.0)
    i = view.x[0]
    if most < math.inf:  # di/dt brings the current to the limit with the time constant QUICK L/R
        still = R * i + K_b * w
        u = minimum(maximum(u, still - (most + i) * R / QUICK), still + (most - i) * R / QUICK)
    return Electric(i, u, div(u - R * i - K_b * w, L))


def _late_current(element: DCMotor, view: ElementView, w: S, h: S) -> tuple[S, S]:
    """(current [A] at the end of a step, its decrease per unit of shaft speed [A s/rad]), by the implicit Euler method.

    h [s] is the step size, and w [rad/s] the speed of the shaft at the end of the step.
    """
    R, L, _, K_b = _constants(element, view)
    most = element.current_limit
    u = limited(view.input("voltage"), -element.voltage_limit, element.voltage_limit)
    if element.has_inductance:
        i, less_for = div(L * view.x[0] + h * (u - K_b * w), L + h * R), div(h * K_b, L + h * R)
    else:
        i, less_for = div(u - K_b * w, R), div(K_b, R)
    if most == math.inf:
        return i, less_for
    return limited(i, -most, most), where(less(absolute(i), most), less_for, 0.0)


# ── shaft and transmission ────────────────────────────────────────────────────────────────────────────────────────────


def _speed(element: DCMotor, view: ElementView) -> S:
    """The speed w of the shaft [rad/s]."""
    if element.is_rigid:
        return view.value(element.reduction) * view.hinge(element.joint).v
    return view.x[-1]


def _transmission(element: DCMotor, view: ElementView, w: S, current: S, v: S | None = None) -> Mechanic:
    """The effort on the joint that a current [A] causes at the speed w [rad/s] of the shaft, with rates and energy.

    v is the velocity of the joint, by default its present velocity.
    """
    K_m = _constants(element, view)[2]
    viscous, coulomb, slow, n = view.value((element.viscous, element.coulomb, element.slow, element.reduction))
    way = gentle_sign(w, slow)
    friction = viscous * w + coulomb * way
    T = K_m * current - friction
    forth, back = (view.value(one) for one in _losses(element))
    if element.is_rigid:
        taken = way * absolute(T) * where(less(T * w, 0.0), back, forth)
        return Mechanic(n * (T - taken), (), (friction + taken) * w, 0.0)
    K, D, J = view.value((element.stiffness, element.damping, element.inertia))
    twist = view.x[-2]
    slip = div(w, n) - (view.hinge(element.joint).v if v is None else v)
    pressed, D = _teeth(element, view, twist, D)
    force = K * pressed + D * slip
    load = div(force, n)
    taken = way * absolute(load) * where(less(load * w, 0.0), back, forth)
    rates = (slip, div(T - load - taken, J))
    return Mechanic(
        force, rates, (friction + taken) * w + D * slip * slip, 0.5 * K * pressed * pressed + 0.5 * J * w * w
    )


class Rotor(NamedTuple):
    """The state of the rotor of an elastic drive at the end of a step."""

    speed: S  # w [rad/s]
    slip: S  # dd/dt, the rate of the twist [rad/s or m/s]
    force: S  # on the joint [N m or N]


def _late_rotor(element: DCMotor, view: ElementView, v: S, h: S) -> Rotor:
    """The rotor after a step of size h [s], at the end of which the joint has the velocity v.

    Its speed makes one linearly implicit Euler step. Whether teeth touch is decided as if the rotor kept its speed; dry
    friction enters by its secant.
    """
    K_m = _constants(element, view)[2]
    viscous, coulomb, slow, n = view.value((element.viscous, element.coulomb, element.slow, element.reduction))
    K, damping, J = view.value((element.stiffness, element.damping, element.inertia))
    w, twist = view.x[-1], view.x[-2]
    slip = div(w, n) - v
    pressed, D = _teeth(element, view, twist + h * slip, damping)
    presses = 1.0
    if element.has_backlash:
        presses = less(0.0, absolute(pressed))
    force = K * pressed + D * slip
    current, braking = _late_current(element, view, w, h)
    forth, back = (view.value(one) for one in _losses(element))
    load = div(force, n)
    rubbing = (coulomb + absolute(load) * where(less(load * w, 0.0), back, forth)) * gentle_secant(w, slow)
    grip = h * K * presses + D
    pushed = K_m * current - (viscous + rubbing) * w - load
    change = div(h * pushed, J + h * (K_m * braking + viscous + rubbing + div(grip, n * n)))
    return Rotor(w + change, slip + div(change, n), force + grip * div(change, n))


def _teeth(element: DCMotor, view: ElementView, twist: S, damping: S) -> tuple[S, S]:
    """(compression of the teeth, which is the twist beyond the backlash [rad or m], damping at this compression).

    The damping grows with the compression, so that the force does not jump.
    """
    if not element.has_backlash:
        return twist, damping
    half = 0.5 * view.value(element.backlash)
    pressed = twist - minimum(maximum(twist, -half), half)
    return pressed, damping * minimum(div(absolute(pressed), SETTING_IN * half), 1.0)


def _losses(element: DCMotor) -> tuple[Value, Value]:
    """(share lost to friction while the motor drives, share lost while the joint drives).

    For a rigid transmission it is a share of the torque that enters the gears, else of the transmitted force.
    """
    good, back = element.efficiency, back_efficiency(element)
    if element.is_rigid:
        return 1.0 - good, 1.0 / back - 1.0
    return 1.0 / good - 1.0, 1.0 - back


def gentle_sign(speed: S, slow: S) -> S:
    """The smoothed sign of a speed: +-1 where it is at least `slow`, a cubic with continuous derivative between."""
    part = minimum(maximum(div(speed, slow), -1.0), 1.0)
    return part * (1.5 - 0.5 * part * part)


def gentle_secant(speed: S, slow: S) -> S:
    """The result of `gentle_sign` divided by the speed; finite at 0."""
    size = maximum(absolute(speed), slow)
    part = div(speed, size)
    return div(1.5 - 0.5 * part * part, size)


register(DCMotor, DCMotorLaw())
