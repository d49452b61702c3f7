"""AMRU5 walking: motors, controllers, a reference generator, and contacts of its feet with the ground.

Section 6.2 and 7 of the paper give the laws, the supply of 12 V, the time of 1 s in which the robot settles and the
creeping speed 0.1 mm/s of friction. All other numbers are assumptions: the motors are those of 20 W at 12 V, and the
gains were tuned on this model.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from kinemorph.errors import ModelError
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.control.controllers import PID
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.gaits.pantograph_gait import PantographGait
from kinemorph.model.library import amru as robot
from kinemorph.model.system import Element, Settings, System

MotorOrder = Literal["first", "second"]
Controller = Literal["sampled", "continuous"]
Trigonometry = Literal["polynomial", "exact"]
Screws = Literal["ideal", "self-locking"]

# all numbers up to GAINS are assumptions, except SUPPLY, SETTLE and CREEP
RESISTANCE, CONSTANT, INDUCTANCE = 2.3, 0.0235, 0.24e-3  # [ohm], K_m = K_b [N m/A], [H]
SUPPLY, SETTLE, CREEP = 12.0, 1.0, 1e-4  # [V], [s], [m/s]
EFFICIENCY, STIFFNESS, DAMPING, STANDSTILL = 0.35, 2e6, 4e3, 0.1  # of a real screw: -, [N/m], [N s/m], [rad/s]
STIFF_SOIL = 5e4  # [N/m]
SOIL, GRIP = EasyDynNormal(STIFF_SOIL, 1e5, 1.0, 1.0), Regularized(0.6, CREEP)
STEP, LIFT, PERIOD = 0.10, 0.04, 4.0  # [m], [m], [s]
SAMPLE, FILTER, BANDWIDTH = 0.01, 0.02, 400.0  # [s], Kd/N [s], w0 of eq. 23 [rad/s]
TRIPODS = ((1, 3, 5), (2, 4, 6))
REACH = robot.OUTWARD + robot.RATIO * robot.STANDING_REACH  # of the feet from the axes of their hips [m]
# (kp, ki, kd) in V per rad or m, of the rotation, vertical and horizontal drives
GAINS = ((200.0, 400.0, 15.0), (9000.0, 45000.0, 120.0), (9000.0, 45000.0, 120.0))


def amru5_walk(
    motor: MotorOrder = "first",
    controller: Controller = "sampled",
    trigonometry: Trigonometry = "polynomial",
    *,
    screws: Screws = "ideal",
    step: float = STEP,
    turn: float = 0.0,
) -> System:
    """AMRU5 walking along +y on flat ground, by tripods of legs 1, 3, 5 and 2, 4, 6; it settles for 1 s first.

    `motor`         "first": the current follows the voltage without delay (eq. 18); "second": with an inductance
    `controller`    "sampled": a PID every 10 ms, with anti-windup; "continuous": eqs 21 to 23
    `trigonometry`  of the inverse kinematics in the reference generator
    `screws`        "ideal": without friction; "self-locking": of efficiency 0.35, and elastic
    `step`          the length of a step [m], half the distance that the robot travels in a cycle of 4 s

    `turn`          the angle [rad] by which the robot turns to the left in a step

    The elements are "gait", "pid", the motors "motor<k>_rotation", "_vertical" and "_horizontal" of leg k, and the
    contacts "foot1" to "foot6".
    """
    for name, value, choices in (
        ("motor", motor, MotorOrder),
        ("controller", controller, Controller),
        ("trigonometry", trigonometry, Trigonometry),
        ("screws", screws, Screws),
    ):
        if value not in get_args(choices):
            expected = " or ".join(map(repr, get_args(choices)))
            raise ModelError(f"amru5_walk: {name} is {value!r}, expected {expected}.")
    if not 0.0 <= step <= 0.2:
        raise ModelError(f"amru5_walk: step is {step:g} m, expected 0 to 0.2 m, which the legs can reach.")
    if not abs(turn) <= 0.2:
        raise ModelError(f"amru5_walk: turn is {turn:g} rad, expected -0.2 to 0.2 rad, which the legs can reach.")
    coordinates = [name for leg in robot.LEGS for name in robot.leg_coordinates(leg)]
    gait = PantographGait(
        "gait",
        tuple(coordinates),
        starts=tuple(0.5 * PERIOD * (leg in TRIPODS[0]) for leg in robot.LEGS),
        settle=SETTLE,
        feet=((REACH, 0.0),),
        strides=tuple(stride(leg, step, turn) for leg in robot.LEGS),
        height=robot.standing_height(),
        lift=LIFT,
        offset=robot.OUTWARD,
        ratio=robot.RATIO,
        trigonometry=trigonometry,
    )
    motors = [leg_motor(leg, k, motor, screws) for leg in robot.LEGS for k in range(3)]
    feet = [Contact(f"foot{leg}", f"foot{leg}", SOIL, GRIP) for leg in robot.LEGS]
    elements: list[Element] = [gait, _pid(controller, coordinates, [one.name for one in motors]), *motors, *feet]
    return System(
        robot.amru5(elastic_screws=screws == "self-locking"),
        tuple(elements),
        Settings(q=initial_configuration(step, turn), time=26.0),
    )


def stride(leg: int, step: float = STEP, turn: float = 0.0) -> tuple[float, float]:
    """The vector (x, y) [m] from the rear to the front end of a foot's motion, in the axes of its leg.

    In a step the body moves by `step` [m] along y and turns by `turn` [rad]. Feet that stand move the opposite way.
    """
    x, y = robot.HIPS[leg - 1]
    side = math.copysign(1.0, x)  # the axes of left legs are turned by 180 degrees
    return -side * turn * y, side * (step + turn * (x + side * REACH))


def initial_configuration(step: float = STEP, turn: float = 0.0) -> tuple[float, ...]:
    """The configuration q (24,) at the start of the walk: feet of the first tripod half a stride ahead, others back."""
    weight = 9.81 * (robot.BODY_MASS + 6.0 * robot.LEG_MASS)
    q = [0.0, 0.0, robot.standing_height() - weight / 6.0 / STIFF_SOIL, 0.0, 0.0, 0.0]
    for leg in robot.LEGS:
        part = 0.5 if leg in TRIPODS[0] else -0.5
        dx, dy = stride(leg, step, turn)
        x, y = REACH + part * dx, part * dy
        outer = (math.hypot(x, y) - robot.OUTWARD) / robot.RATIO
        q += [math.atan2(y, x), robot.STANDING_HEIGHT, outer]
    return tuple(q)


def leg_motor(leg: int, k: int, order: MotorOrder = "first", screws: Screws = "ideal") -> DCMotor:
    """The motor of drive k of a leg. Its rotor is a body of the robot, except behind an elastic screw."""
    gears: dict[str, float] = {"ratio": robot.GEAR}
    if k > 0:
        gears = {"ratio": robot.SCREW_GEAR, "lead": robot.LEAD}
        if screws == "self-locking":
            elastic = {"inertia": robot.ROTOR_INERTIA, "stiffness": STIFFNESS, "damping": DAMPING, "slow": STANDSTILL}
            gears |= {"efficiency": EFFICIENCY, **elastic}
    return DCMotor(
        f"motor{leg}_{robot.DRIVES[k]}",
        robot.leg_coordinates(leg)[k],
        RESISTANCE,
        CONSTANT,
        inductance=INDUCTANCE if order == "second" else 0.0,
        voltage_limit=SUPPLY,
        **gears,
    )


def _pid(controller: Controller, coordinates: list[str], motors: list[str]) -> PID:
    kp, ki, kd = (tuple(gains) * 6 for gains in zip(*GAINS, strict=True))
    return PID(
        "pid",
        tuple(coordinates),
        drives=tuple(motors),
        reference="gait",
        kp=kp,
        ki=ki,
        kd=kd,
        filter=FILTER,
        lower=-SUPPLY,
        upper=SUPPLY,
        anti_windup="clamp",
        every=SAMPLE if controller == "sampled" else None,
        bandwidth=math.inf if controller == "sampled" else BANDWIDTH,
    )
