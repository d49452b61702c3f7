"""One leg of AMRU5 with its hip fixed, which follows the reference of the walk while its foot carries a load.

The leg is leg 1 with the motors, the reference and the controller of `amru_walk`. While its foot stands, the ground
pushes it upward by a third of the robot's weight, as in a tripod; the force changes within 50 ms when the foot is set
down or lifted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, get_args

from kinemorph.errors import ModelError
from kinemorph.model.elements.control.controllers import PID
from kinemorph.model.elements.control.fuzzy_rules import FuzzyRules
from kinemorph.model.elements.forces.applied import AppliedWrench, Table
from kinemorph.model.elements.gaits.pantograph_gait import PantographGait
from kinemorph.model.library import amru, amru_walk
from kinemorph.model.positions.position_builder import PositionBuilder
from kinemorph.model.system import Element, Settings, System

LegController = Literal["pid", "initial rules", "trained rules"]
LEG, CYCLES = 1, 2
WEIGHT = 9.81 * (amru.BODY_MASS + 6.0 * 3.6)  # of the whole robot [N]
LOAD = WEIGHT / 3.0  # on a foot of a tripod [N]
CHANGE = 0.05  # [s] in which the load rises or falls
DURATION = amru_walk.SETTLE + CYCLES * amru_walk.PERIOD  # [s]
# low and high reference [rad or m], and an error [rad or m], of the membership functions of the three drives
SPREADS = ((-0.11, 0.11, 2e-3), (0.0667, 0.08, 2e-4), (0.1, 0.1035, 2e-4))
# the numbers that `train_rules` finds from the initial rules, sampled, under LOAD; 4 digits
TRAINED: dict[str, dict[str, Any]] = {
    "rules_rotation": {
        "consequents": (
            (340.8, 440.6, 42.82, 0.04656, 11.1, -0.08171),
            (206.3, 409.5, 15.75, -0.6785, 6.141, -0.05902),
            (204.9, 413.2, 18.89, -0.2346, 1.194, 0.04099),
            (236.0, 417.0, 32.28, 0.02649, 2.956, 0.08525),
        ),
        "centers": ((-0.001948, 0.002044), (), (), (-0.1095, 0.1103), ()),
        "widths": ((0.002062, 0.001959), (), (), (0.08888, 0.08773), ()),
    },
    "rules_vertical": {
        "consequents": (
            (13900.0, 47690.0, 69.39, -29.73, 158.7, -1.976),
            (10050.0, 48030.0, 154.3, -19.56, 155.7, -1.659),
            (9716.0, 48020.0, 156.7, 16.77, 137.6, 1.096),
            (15720.0, 51680.0, 248.4, 33.02, 135.4, 2.569),
        ),
        "centers": ((-0.0002027, 0.0002016), (), (), (0.0667, 0.08), ()),
        "widths": ((0.0001959, 0.0001957), (), (), (0.005326, 0.005329), ()),
    },
    "rules_horizontal": {
        "consequents": (
            (9780.0, 47450.0, 127.4, -2.09, 118.5, -0.2119),
            (16830.0, 62630.0, 253.8, -3.244, 1066.0, -0.3281),
            (10040.0, 47710.0, 131.0, 1.531, 128.7, 0.1511),
            (20800.0, 70970.0, 331.4, 1.041, 1282.0, 0.1087),
        ),
        "centers": ((-0.0002005, 0.0001998), (), (), (0.1, 0.1034), ()),
        "widths": ((0.0001993, 0.0002), (), (), (0.0014, 0.00154), ()),
    },
}


def amru5_leg(
    controller: LegController = "pid", sampling: amru_walk.Controller = "sampled", *, load: float = LOAD
) -> System:
    """Leg 1 of AMRU5 with a fixed hip: the reference "gait", the motors and the `load` [N] of `amru5_walk`.

    `controller`    "pid", the element "pid" of `amru5_walk`; "initial rules", an element FuzzyRules for each drive,
                    "rules_rotation", "rules_vertical" and "rules_horizontal", that gives the same voltages as the PID;
                    "trained rules", the same after training with the load `LOAD`
    `sampling`      "sampled": every 10 ms; "continuous"

    The elements also include the force "load" on the foot. The run lasts for 1 s of settling and two cycles of 4 s.
    """
    for name, value, choices in (
        ("controller", controller, LegController),
        ("sampling", sampling, amru_walk.Controller),
    ):
        if value not in get_args(choices):
            expected = ", ".join(map(repr, get_args(choices)))
            raise ModelError(f"amru5_leg: {name} is {value!r}, expected {expected}.")
    if not 0.0 <= load < math.inf:
        raise ModelError(f"amru5_leg: load is {load:g} N, expected a finite force of at least 0.")
    builder = PositionBuilder("amru5_leg")
    amru.add_leg(builder, LEG, amru.hip(LEG))
    walk = amru_walk.amru5_walk(controller=sampling)
    coordinates, n = amru.leg_coordinates(LEG), 3 * LEG
    gait, pid = walk.element("gait"), walk.element("pid")
    assert isinstance(gait, PantographGait) and isinstance(pid, PID)
    of_leg: dict[str, Any] = {name: getattr(gait, name)[LEG - 1 : LEG] for name in ("starts", "strides")}
    of_drives: dict[str, Any] = {name: getattr(pid, name)[n - 3 : n] for name in ("joints", "drives", "kp", "ki", "kd")}
    controllers: list[Element] = [one_leg := replace(pid, **of_drives)]
    if controller != "pid":
        rules = initial_rules(one_leg)
        trained = controller == "trained rules"
        controllers = [replace(one, **TRAINED[one.name]) if trained else one for one in rules]
    motors = [amru_walk.leg_motor(LEG, k) for k in range(3)]
    elements: list[Element] = [replace(gait, joints=coordinates, **of_leg), *controllers, *motors, _load(load)]
    q = amru_walk.initial_configuration()[3 + n : 6 + n]
    return System(builder.build(), tuple(elements), Settings(q=q, time=DURATION))


def _load(load: float) -> AppliedWrench:
    """The force of the ground on the foot: it stands in the first half of each cycle, and before the first cycle."""
    times, forces = [0.0], [load]
    for cycle in range(CYCLES):
        begin = amru_walk.SETTLE + cycle * amru_walk.PERIOD
        lifted, set_down = begin + 0.5 * amru_walk.PERIOD, begin + amru_walk.PERIOD
        times += [lifted, lifted + CHANGE, set_down - CHANGE, set_down]
        forces += [load, 0.0, 0.0, load]
    table = Table(tuple(times), tuple((0.0, 0.0, force) for force in forces))
    return AppliedWrench("load", f"foot{LEG}", force=table)


def initial_rules(pid: PID) -> list[FuzzyRules]:
    """Fuzzy rules for each drive of the leg, equal to the PID. Their premises are the error and the reference."""
    found = []
    for k, (joint, drive) in enumerate(zip(pid.joints, amru.DRIVES, strict=True)):
        low, high, error = SPREADS[k]
        found.append(
            FuzzyRules.from_pid(
                f"rules_{drive}",
                pid,
                joint,
                inputs=(f"gait.{joint}", f"gait.{joint}.velocity"),
                centers=((-error, error), (), (), (low, high), ()),
                widths=((error, error), (), (), (0.4 * (high - low),) * 2, ()),
            )
        )
    return found
