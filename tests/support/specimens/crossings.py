"""Specimens whose motion crosses a kink: a place where a force is continuous, and its slope is not.

Each crosses one kind, once or more; derivatives of the motion have no jump there.
"""

from __future__ import annotations

from typing import Any

from kinemorph import System
from kinemorph.elements import (
    PD,
    Contact,
    DCMotor,
    EasyDynNormal,
    HuntCrossley,
    ImpedanceNormal,
    JointFriction,
    JointLimits,
    MinimumJerk,
    PairContact,
    Plane,
    Regularized,
    Tire,
    TorqueSpline,
)
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import ImpedanceStop
from kinemorph.model.robot import Robot
from support.specimens.forces import wheel
from support.specimens.specimen import JOINTS, Specimen, on_arm, puck, slider

CURVE = ((0.1, 0.4, -0.5), (0.3, 0.2, -0.3), (0.2, 0.3, 0.1))
FIXED = {"method": "rk4", "step": 1e-4}  # where derivatives themselves jump, steps that adapt become too short
DROPPED = {
    "q": {"root.z": 0.16, "root.qw": 1.0, "root.qx": 0.04, "root.qy": -0.05, "root.qz": 0.1},
    "v": {"root.vx": 0.4, "root.vy": 0.2, "root.vz": -0.6, "root.wx": 0.3, "root.wy": -0.4, "root.wz": 0.2},
}


def dropped(normal: Any, friction: Any = None, **options: Any) -> Specimen:
    """A puck that falls onto the ground with a ball, and leaves it again."""
    contact = Contact("c", "puck", normal, friction, Plane(), (0.05, 0.02, -0.05), 0.1)
    return Specimen(lambda: System(puck(), (contact,)), 0.15, {**DROPPED, **options})


def rail() -> Robot:
    """A cart on a rail whose end is a stop as MJCF files state it."""
    builder = RobotBuilder("rail").add(Body.box("cart", 2.0, (0.3, 0.2, 0.1)))
    stop = ImpedanceStop(0.02, 1.0, 0.9, 0.95, 0.01, 0.5, 2.0, 0.0, 2.0)
    return builder.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0), lower=-1.0, upper=0.05, stop=stop).build()


CROSSINGS: dict[str, Specimen] = {
    "a contact touches, HuntCrossley": dropped(HuntCrossley(2000.0, 0.3)),
    "a contact touches, exponent 1": dropped(HuntCrossley(2000.0, 0.3, 1.0), **FIXED),
    "a contact touches, EasyDyn": dropped(EasyDynNormal(2000.0, 20.0, 1.3, 1.2), Regularized(0.3, 0.1)),
    "a contact touches, impedance": dropped(ImpedanceNormal(500.0, 40.0, width=0.02), **FIXED),
    "balls touch": Specimen(
        lambda: System(
            puck(),
            (PairContact("p", "world", "puck", HuntCrossley(2000.0, 0.3), 0.1, 0.1, None, (0.08, 0.03, -0.1)),),
        ),
        0.15,
        DROPPED,
    ),
    "a tire touches": Specimen(
        lambda: System(wheel(), (Tire("wheel", "rim", 0.3, 2e4, 300.0, 4000.0, 3000.0, 500.0),)),
        0.03,
        {
            "q": {"root.z": 0.305, "root.qw": 1.0, "root.qx": 0.03},
            "v": {"root.vx": 1.0, "root.vy": 0.05, "root.vz": -0.5, "root.wy": 3.6},
            **FIXED,
        },
    ),
    "a stop is met and left": Specimen(
        lambda: System(slider(), (JointLimits("l", ("x",), 900.0, 20.0, onset=0.01),)), 0.3, {"v": {"x": 1.0}}
    ),
    "a stop by impedance is met": Specimen(lambda: System(rail(), (JointLimits("l"),)), 0.1, {"v": {"x": 1.0}}),
    "friction turns round": on_arm(JointFriction("f", JOINTS, 0.3, 0.2, 1.5, 0.2, 0.05), v={"q1": 0.2, "q2": -0.1}),
    "backlash is crossed": on_arm(
        DCMotor("drive", "q1", 1.2, 0.05, inertia=2e-4, ratio=30.0, stiffness=300.0, damping=3.0, backlash=0.01),
        until=0.1,
        u={"drive": 6.0},
        x={"drive.twist": -0.02},
        **FIXED,
    ),
    "a torque reaches its limit": on_arm(PD("c", JOINTS, 20.0, 2.0, (0.6, 0.1, -0.2), lower=-1.5, upper=2.0)),
    "a knot whose time varies": on_arm(
        MinimumJerk("g", (0.02003, 0.13004, 0.5), CURVE, JOINTS), PD("c", JOINTS, 20.0, 2.0, "g"), **FIXED
    ),
    "a knot of torques": on_arm(TorqueSpline("g", JOINTS, CURVE, 0.4, degree=1)),
}
