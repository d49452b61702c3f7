"""References and gaits, which controllers follow."""

from __future__ import annotations

from typing import Any

from kinemorph import System
from kinemorph.algebra.scalar import cos, sin
from kinemorph.elements import (
    ComputedTorque,
    CoupledMaps,
    FourierSeries,
    MinimumJerk,
    PantographGait,
    PhaseOscillators,
    Profile,
    Rhythmic,
    Serpenoid,
    Setpoint,
    Sinusoid,
    SplinePath,
    TorqueSpline,
    VirtualConstraints,
)
from support.specimens.specimen import (
    JOINTS,
    MOVING,
    Specimen,
    arm,
    on_arm,
)

CURVE = ((0.1, 0.2, 0.3), (0.4, 0.1, -0.2), (0.2, 0.5, 0.1), (0.3, 0.2, 0.6))


def followed(reference: Any, *leave: str) -> Specimen:
    """A reference "g" of three joints, which computed torques follow: its accelerations act too."""
    controller = ComputedTorque("c", JOINTS, 80.0, 15.0, reference="g")
    steps = {"method": "rk4", "step": 1e-3} if isinstance(reference, PantographGait) else {}  # from jump to jump
    return Specimen(lambda: System(arm(), (reference, controller)), 0.3, {**MOVING, **steps}, leave)


PATHS: dict[str, Specimen] = {
    # references
    "setpoint": followed(Setpoint("g", (0.3, -0.2, 0.4), JOINTS)),
    "sinusoid": followed(Sinusoid("g", (0.3, 0.2, 0.4), (1.1, 0.7, 2.0), (0.1, 0.2, -0.1), (0.3, 0.5, 0.7), JOINTS)),
    "spline path": followed(SplinePath("g", (-0.1, 0.13, 0.21, 0.5), CURVE, JOINTS), "SplinePath.times"),
    "spline path, linear": followed(
        SplinePath("g", (-0.1, 0.13, 0.21, 0.5), CURVE, JOINTS, method="linear"), "SplinePath.times"
    ),
    "spline path, monotone": followed(
        SplinePath("g", (-0.1, 0.13, 0.21, 0.5), CURVE, JOINTS, method="monotone"),
        "SplinePath.times",
        "SplinePath.points",
    ),
    "spline path, periodic": followed(
        SplinePath("g", (0.0, 0.3, 0.6, 0.9), (*CURVE[:3], CURVE[0]), JOINTS, period=0.8, shift=(0.11, 0.23, 0.31)),
        "SplinePath.times",
    ),
    "spline path, stance": followed(
        SplinePath(
            "g",
            (0.0, 0.3, 0.6, 0.9),
            (*CURVE[:3], CURVE[0]),
            JOINTS,
            period=0.8,
            shift=(0.02, 0.11, 0.62),
            duty=(0.55, 0.6, 0.57),
            stance=0.5,
        ),
        "SplinePath.times",
    ),
    "minimum jerk": followed(MinimumJerk("g", (0.02, 0.13, 0.5), CURVE[:3], JOINTS), "MinimumJerk.times"),
    "minimum jerk, times": followed(MinimumJerk("g", (-0.2, 0.4, 0.7), CURVE[:3], JOINTS)),
    "fourier series": followed(
        FourierSeries(
            "g",
            0.7,
            ((0.2, 0.1, 0.3), (-0.1, -0.05, -0.15)),
            ((0.4, 0.2, 0.12), (-0.1, -0.05, -0.03)),
            (0.1, 0.2, 0.3),
            JOINTS,
        )
    ),
    "profile": followed(Profile("g", lambda t: [sin(3.0 * t), t * t * t, cos(t)], JOINTS)),
    # gaits
    "rhythmic": followed(Rhythmic("g", JOINTS, 0.3, 1.2, 0.7, 0.1, initial=(0.2, 0.1, 0.3), ramp=0.5)),
    "rhythmic, phases": followed(Rhythmic("g", JOINTS, 0.3, 1.2, 0.7, 0.1, phases=(0.3, 0.5, 0.9), ramp=0.2)),
    "serpenoid": followed(Serpenoid("g", JOINTS, 0.3, 1.1, 0.8, (0.1, 0.2), "alternating", 1.3, 0.5, (0.2, 0.1, 0.3))),
    "phase oscillators": followed(
        PhaseOscillators(
            "g",
            JOINTS,
            0.3,
            (1.1, 1.2, 0.9),
            0.7,
            0.1,
            coupling=3.0,
            adapt=0.8,
            rate=6.0,
            start=(0.1, 0.9, 2.0),
            initial=(0.2, 0.1, 0.3),
        )
    ),
    "phase oscillators, phases": followed(
        PhaseOscillators("g", JOINTS, 0.3, (1.1, 1.2, 0.9), 0.7, 0.1, phases=(0.3, 0.5, 0.9))
    ),
    "coupled maps": followed(
        CoupledMaps(
            "g",
            JOINTS,
            r=3.2,
            epsilon=0.2,
            every=0.1,
            amplitude=0.3,
            offset=0.1,
            start=(0.3, 0.5, 0.8),
            settle=3,
            ramp=0.2,
            initial=(0.2, 0.1, 0.3),
        )
    ),
    "coupled maps, spline": followed(
        CoupledMaps(
            "g",
            JOINTS,
            map="sine",
            r=0.8,
            epsilon=0.2,
            every=0.1,
            interpolation="spline",
            start=(0.3, 0.5, 0.8),
            settle=3,
        )
    ),
    "pantograph gait": followed(
        PantographGait(
            "g",
            JOINTS,
            sequences=((0.07, -0.5, 1.0), (0.11, 0.5, 0.9), (0.06, 0.4, 0.1), (0.2, -0.4, 0.2)),
            starts=0.02,
            settle=0.03,
            feet=((0.45, 0.1),),
            strides=((0.02, 0.1),),
        )
    ),
    "pantograph gait, exact": followed(
        PantographGait("g", JOINTS, settle=0.03, strides=((0.02, 0.1),), starts=0.3, trigonometry="exact")
    ),
    "torque spline": on_arm(
        TorqueSpline("g", JOINTS, ((1.0, -2.0, 3.0, 0.5), (0.7, 0.2, -0.3, 0.4), (0.1, 0.3, 0.2, -0.4)), 0.4)
    ),
    "virtual constraints": on_arm(
        VirtualConstraints(
            "g", ("q2", "q3"), ((0.4, 0.5, 0.2), (-0.5, 0.1, 0.3)), ("q1",), 1.1, -0.2, 0.9, kp=90.0, kd=12.0
        )
    ),
    "virtual constraints, pd": on_arm(
        VirtualConstraints(
            "g",
            ("q2", "q3"),
            ((0.4, 0.5, 0.2), (-0.5, 0.1, 0.3)),
            ("q1",),
            1.1,
            -0.2,
            0.9,
            kp=9.0,
            kd=2.0,
            control="pd",
        )
    ),
}
