"""The running cockroach: feet on given paths, joint angles from them, and a PD at every joint that follows the angles.

The legs run by tripods: front left, hind left and middle right stand while the other three swing. Relative to the
trunk, in a stance of the share `duty` of a stride, with s from 0 to 1, a foot is at

    x    X + L/2 - (L - spread) s                       L = speed duty / frequency
    out  constant
    z    -height - press (1 - dip (2 s - 1)^2)          below the ground, so that the elastic legs bear the weight

and it swings back with the same velocity at both ends, raised by `lift`. A foot that stands does not move on the
ground, so that `spread`, which is positive for the front and negative for the hind legs, makes front legs brake and
hind legs drive. The angles follow from `leg_angles` in closed form: the plane of each leg stays vertical, its coxa at
one slope. They are points of a periodic spline, whose period, phases of the legs and duty factor may be parameters. No
force acts on the trunk but those of the legs and the weight.

Speed, frequency and duty factor are those of measurements; all other numbers were tuned, see `cockroach_data`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real

from kinemorph.errors import ModelError
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.references import SplinePath
from kinemorph.model.library.animals.cockroach import ANGLES, LEGS, LegAngles, Trunk, cockroach, leg_angles
from kinemorph.model.library.animals.cockroach_data import number
from kinemorph.model.library.bars import positive
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import Element, Settings, System

SPEED, FREQUENCY, DUTY = number("gait_speed"), number("gait_frequency"), number("gait_duty")
STIFFNESS, DAMPING, LIFT = (number(f"running_{name}") for name in ("stiffness", "damping", "lift"))
TRIPOD = ("front_left", "hind_left", "middle_right")  # its feet touch down at t = 0, the others half a stride later
AHEAD = {leg: 0.0 if leg in TRIPOD else 0.5 for leg in LEGS}  # the touchdown of each leg before t = 0, in strides
POINTS = 60  # of the spline in a stride
LONGEST = 1e-4  # [s] the longest step of a run by default: feet land and slip within milliseconds
STRIDES, SAMPLES = 12, 200  # of the run, and samples in each of them
TINY = 1e-6  # of a stride, for the velocities at the start


def running_cockroach(
    speed: float = SPEED,
    frequency: float = FREQUENCY,
    duty: float = DUTY,
    trunk: Trunk = "rigid",
    *,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    lift: float = LIFT,
    adjustable: bool = False,
) -> System:
    """The cockroach running forward, along x, by tripods: `cockroach` with a reference "gait" for the PD "posture".

    `speed`         of the feet on the ground, relative to the trunk [m/s]
    `frequency`     strides per second [Hz]
    `duty`          the share of its stride in which the reference of a foot stands
    `trunk`         as for `cockroach`
    `stiffness`     [N m/rad] and `damping` [N m s/rad] of the PD at every joint
    `lift`          the height by which the reference of a foot is raised as it swings [m]
    `adjustable`    makes Parameters of the numbers of the gait: "gait_period" [s]; "gait_duty"; and for each leg
                    "<leg>_phase", the share of a stride by which its touchdown is ahead of t = 0, at first 0 or 0.5.
                    The paths of the feet stay: a longer stance is a slower one

    The run begins with the touchdown of the first tripod, at the given speed. The other elements and all names are
    those of `cockroach`. Runs with rtol=1e-9 and atol=1e-11 have converged; fixed steps of 0.1 ms, which do not resolve
    the dampers of the joints, run sooner, with fore-aft impulses that are off by a tenth.
    """
    numbers = (speed, frequency, stiffness, damping, lift)
    positive("running_cockroach", "speed, frequency, stiffness, damping and lift", numbers, 5)
    if not (isinstance(duty, Real) and 0.3 <= duty <= 0.8):
        raise ModelError(
            f"running_cockroach: duty is {duty!r}, expected the share of a stance in a stride, 0.3 to 0.8."
        )
    standing = cockroach("gimbal", trunk, stiffness=stiffness, damping=damping)
    robot, period, excursion = standing.robot, 1.0 / frequency, speed * duty / frequency
    axes = [name for leg in LEGS for name in (*(f"{leg}_body_coxa.{angle}" for angle in ANGLES), *_hinges(leg))]

    def angles(stride: float, ahead: Mapping[str, float] = AHEAD) -> list[float]:
        found = (running_angles(leg, stride + ahead[leg], excursion, duty, lift) for leg in LEGS)
        return [angle for leg in found for angle in leg]

    phases = [k / POINTS for k in range(POINTS)]
    points = [tuple(angles(phase, dict.fromkeys(LEGS, 0.0) if adjustable else AHEAD)) for phase in phases]
    times = tuple(period * phase for phase in (*phases, 1.0))
    gait = SplinePath("gait", times, (*points, points[0]), tuple(axes), period=period)
    if adjustable:
        ahead = {leg: Parameter(f"{leg}_phase", share) for leg, share in AHEAD.items()}
        shift = tuple(ahead[leg] for leg in LEGS for _ in (*ANGLES, *_hinges(leg)))
        share = Parameter("gait_duty", duty)
        gait = replace(gait, period=Parameter("gait_period", period, "s"), shift=shift, duty=(share,), stance=duty)
    q = dict(zip(robot.q_names, standing.initial_state()[0].tolist(), strict=True))
    v = dict.fromkeys(robot.v_names, 0.0)
    for name, angle, later in zip(axes, angles(0.0), angles(TINY), strict=True):
        q[name], v[name] = angle, (later - angle) / (TINY * period)
    q["body_root.z"] = number("running_height") - number("ground_depth")
    v["body_root.vx"] = speed
    elements: list[Element] = [gait]
    for element in standing.elements:
        elements.append(replace(element, reference="gait") if isinstance(element, PD) else element)
    settings = Settings(tuple(q.values()), tuple(v.values()), STRIDES * period, period / SAMPLES, max_step=LONGEST)
    return System(robot, tuple(elements), settings)


def running_angles(leg: str, stride: float, excursion: float, duty: float = DUTY, lift: float = LIFT) -> LegAngles:
    """The angles of a leg [rad] at a time in strides since its touchdown.

    `excursion` is the way of a foot that stands [m].
    """
    x, out, z = foot_path(leg, stride % 1.0, excursion, duty, lift)
    return leg_angles(leg, (x, out, z - number("running_height")))


def foot_path(
    leg: str, phase: float, excursion: float, duty: float = DUTY, lift: float = LIFT
) -> tuple[float, float, float]:
    """The reference of a foot: x and out from the middle of the trunk, and its height above the ground [m].

    `phase` is the time since touchdown in strides, from 0 to 1, and `excursion` the way of a foot that stands [m].
    """
    pair = leg.partition("_")[0]
    middle, out, press, spread = (
        number(f"{pair}_running_{name}") for name in ("foot_x", "foot_out", "press", "spread")
    )
    dip = number("running_dip")
    first, last = 0.5 * excursion, -0.5 * excursion + spread
    if phase < duty:
        s = phase / duty
        return middle + first + (last - first) * s, out, -press * (1.0 - dip * (2.0 * s - 1.0) ** 2)
    u = (phase - duty) / (1.0 - duty)
    rate = (last - first) * (1.0 - duty) / duty
    # the cubic from `last` to `first` with this rate at both ends
    x = last + (first - last) * u * u * (3.0 - 2.0 * u) + rate * u * (1.0 - u) * (1.0 - 2.0 * u)
    return middle + x, out, -press * (1.0 - dip) + (lift + press) * math.sin(math.pi * u) ** 1.5


def _hinges(leg: str) -> tuple[str, str]:
    return f"{leg}_coxa_femur", f"{leg}_femur_tibia"
