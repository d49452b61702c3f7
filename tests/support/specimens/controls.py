"""Controllers, sensors that they read, and drives."""

from __future__ import annotations

from kinemorph import System
from kinemorph.algebra.scalar import sin
from kinemorph.elements import (
    IMU,
    PD,
    PID,
    Actuator,
    ComputedTorque,
    Continuous,
    DCMotor,
    Encoder,
    ForceTorqueSensor,
    FuzzyRules,
    GravityCompensation,
    Integral,
    Lag,
    MassCenter,
    Meter,
    Observer,
    Probe,
    Sampled,
    Setpoint,
    StateFeedback,
    Tendon,
)
from support.specimens.specimen import (
    JOINTS,
    MOVING,
    Specimen,
    arm,
    on_arm,
    slider,
)

GAINS = tuple(tuple(20.0 * (i == j) + 2.0 * (i + 3 == j) + 0.1 for j in range(6)) for i in range(3))
ABOUT = {"gains": GAINS, "q": ((0.3, 0.1, -0.2),), "v": ((0.0, 0.1, 0.0),), "inputs": ((0.4, 0.2, 0.1),)}
SEEN = Observer(
    tuple(f"q.{joint}" for joint in JOINTS),
    tuple(f"{kind}.{joint}" for kind in "wv" for joint in JOINTS),
    A=tuple(tuple(0.9 * (i == j) + 0.05 * (i + 3 == j) for j in range(6)) for i in range(6)),
    B=tuple(tuple(0.01 * (i == j + 3) for j in range(3)) for i in range(6)),
    L=tuple(tuple(0.2 * (i % 3 == j) for j in range(3)) for i in range(6)),
    C=tuple(tuple(1.0 * (i == j) for j in range(6)) for i in range(3)),
    D=((0.01,) * 3,) * 3,
    measured=(0.3, 0.1, -0.2),
)

CONTROLS: dict[str, Specimen] = {
    # controllers
    "pd": on_arm(PD("c", JOINTS, (20.0, 15.0, 5.0), (1.0, 2.0, 0.5), (0.3, 0.1, -0.2), feedforward=(0.4, 0.2, 0.1))),
    "pd at its limits": on_arm(
        PD("c", JOINTS, 200.0, 1.0, (0.9, -0.9, 1.9), lower=(-1.5, -0.8, -0.5), upper=(1.2, 0.7, 0.4))
    ),
    "pd, sampled": on_arm(
        PD("c", JOINTS, (20.0, 15.0, 5.0), (1.0, 2.0, 0.5), 0.3, feedforward=0.4, every=0.05, delay=0.02)
    ),
    "pid": on_arm(
        PID("c", JOINTS, kp=20.0, ki=30.0, kd=2.0, reference=0.3, filter=0.01, bandwidth=60.0, feedforward=0.2)
    ),
    "pid at its limits": on_arm(
        PID(
            "c",
            JOINTS,
            kp=20.0,
            ki=30.0,
            kd=2.0,
            filter=0.01,
            reference=0.9,
            lower=-0.4,
            upper=0.5,
            anti_windup="back_calculation",
            tracking=0.1,
        )
    ),
    "pid, clamped": on_arm(
        PID("c", JOINTS, kp=20.0, ki=30.0, kd=2.0, reference=0.9, lower=-0.4, upper=0.5, anti_windup="clamp")
    ),
    "pid, sampled": on_arm(
        PID("c", JOINTS, kp=20.0, ki=30.0, kd=0.2, reference=0.3, every=0.04, feedforward=0.1, delay=0.05)
    ),
    "fuzzy rules": on_arm(
        FuzzyRules(
            "c",
            "q1",
            ("error", "integral", "rate", "v.q2"),
            ((-0.5, 0.5), (), (-1.0, 1.0), ()),
            ((0.6, 0.7), (), (1.5, 1.3), ()),
            (
                (5.0, 2.0, 0.5, 0.3, 0.1),
                (6.0, 1.0, 0.4, 0.2, -0.1),
                (3.0, 2.0, 0.7, 0.1, 0.2),
                (4.0, 1.5, 0.6, 0.2, 0.3),
            ),
            reference=0.3,
        )
    ),
    "fuzzy rules at limits": on_arm(
        FuzzyRules(
            "c", "q1", ("error",), ((-0.5, 0.5),), ((0.6, 0.7),), ((50.0, 0.3), (60.0, 0.2)), reference=0.9, upper=0.8
        ),
        FuzzyRules(
            "d", "q2", ("error",), ((-0.5, 0.5),), ((0.6, 0.7),), ((50.0, 0.3), (60.0, 0.2)), reference=-0.9, lower=-0.7
        ),
    ),
    "state feedback": on_arm(StateFeedback("k", JOINTS, **ABOUT)),
    "state feedback, sampled": on_arm(
        StateFeedback("k", JOINTS, **ABOUT, lower=-2.0, upper=1.5, every=0.05, delay=0.02)
    ),
    "state feedback of a current": on_arm(
        DCMotor("drive", "q1", 1.2, 0.05, inductance=0.01, ratio=30.0),
        StateFeedback(
            *("k", "drive", ((20.0, 1.0, 0.5, 3.0, 0.2, 0.1, 0.4),), ABOUT["q"], ABOUT["v"]),
            states="drive.current",
            x=((0.3,),),
            inputs=((0.4,),),
        ),
        until=0.1,
    ),
    "state feedback along a motion": Specimen(
        lambda: System(
            arm(),
            (
                StateFeedback(
                    "k",
                    JOINTS,
                    [*GAINS, *GAINS, *GAINS],
                    q=((0.3, 0.1, -0.2), (0.5, 0.0, -0.1), (0.2, 0.3, 0.1)),
                    v=((0.0,) * 3, (0.1, -0.1, 0.2), (0.0,) * 3),
                    inputs=((0.1, 0.2, 0.3), (0.2, 0.1, 0.0), (0.0,) * 3),
                    times=(0.0, 0.4, 1.0),
                ),
            ),
        ),
        options=MOVING,
        only=("StateFeedback.lower",),
    ),
    "observer": on_arm(StateFeedback("k", JOINTS, GAINS, inputs=((0.1, 0.2, 0.3),), observer=SEEN)),
    "observer, sampled": on_arm(
        StateFeedback("k", JOINTS, GAINS, inputs=((0.1, 0.2, 0.3),), observer=SEEN, every=0.05, upper=1.0)
    ),
    "computed torque at limits": on_arm(
        ComputedTorque("c", JOINTS, 80.0, 15.0, (0.3, -1.5, 1.9), lower=(-99.0, -0.1, -0.2), upper=(99.0, 0.8, 0.05))
    ),
    "gravity compensation": on_arm(GravityCompensation("c", JOINTS, lower=(-3.0, -9.0, -9.0), upper=(3.0, 9.0, -0.9))),
    "sampled function": on_arm(
        Sampled("c", lambda t, q, v: -30.0 * q - 3.0 * v * v, ("q.q1", "v.q1"), "q1", 0.05, lower=-1.2, upper=1.1),
        Sampled("d", lambda t, q: 9.0 * q, "q.q2", "q2", 0.05, upper=1.1),
    ),
    "continuous function": on_arm(
        Continuous("c", lambda t, q, s, x: ([-s * q + x[0]], [sin(q)]), ("q.q1", "wish"), "q1", {"sum": 0.1}),
        Setpoint("wish", 7.0),
    ),
    # sensors
    "encoder and meter": on_arm(
        Encoder("e", joint="q1"),
        Meter("w", "v.q1"),
        PID("c", reads="e.position", drives="q1", kp=20.0),
        PID("d", reads="w", drives="q1", kp=2.0),
    ),
    "mass center": on_arm(MassCenter("s", "b"), PID("c", reads="s.z", drives="q1", kp=20.0, reference=0.1)),
    "integral": on_arm(
        Integral("i", ("v.q1", "q.q2"), "square", (2.0, 3.0)),
        Integral("w", ("v.q1", "q.q2"), weights=0.3, times=("q.q3", "v.q3")),
    ),
    "probe": on_arm(
        Probe("p", "c", quantity="velocity", point=(0.2, 0.1, 0.3)), PID("c", reads="p.vz", drives="q1", kp=20.0)
    ),
    "imu": on_arm(
        IMU("p", "c", accelerometer_bias=(0.1, 0.2, 0.3), gyroscope_bias=(0.1, 0.2, 0.3), every=0.05),
        *(
            PID(f"c{k}", reads=f"p.{name}", drives="q1", kp=0.3 + 0.1 * k)
            for k, name in enumerate(("ax", "ay", "az", "wx", "wy", "wz"))
        ),
    ),
    "force-torque sensor": on_arm(
        ForceTorqueSensor("p", "q3", force_bias=(0.1, 0.2, 0.3), torque_bias=(0.1, 0.2, 0.3), every=0.05),
        *(
            PID(f"c{k}", reads=f"p.{name}", drives="q1", kp=0.01 + 0.01 * k)
            for k, name in enumerate(("fx", "fy", "fz", "mx", "my", "mz"))
        ),
    ),
    # drives
    "dc motor": on_arm(
        DCMotor("drive", "q1", 1.2, 0.05, 0.045, 0.01, 2e-5, 30.0, 0.0, 0.8, 0.6, 1e-5, 0.003, 0.5),
        until=0.1,
        u={"drive": 6.0},
    ),
    "dc motor, driven": on_arm(
        DCMotor(
            "drive",
            "q1",
            1.2,
            0.05,
            0.045,
            inertia=2e-5,
            ratio=30.0,
            efficiency=0.8,
            back_efficiency=0.6,
            coulomb=0.003,
            slow=500.0,
        ),
        until=0.1,
        v={"q1": 3.0, "q2": 0.1},
    ),
    "dc motor, elastic": on_arm(
        DCMotor(
            "drive",
            "q1",
            1.2,
            0.05,
            inertia=2e-4,
            ratio=30.0,
            efficiency=0.8,
            viscous=1e-5,
            coulomb=0.003,
            slow=500.0,
            stiffness=300.0,
            damping=3.0,
            backlash=0.01,
        ),
        until=0.02,
        u={"drive": 6.0},
        x={"drive.twist": 0.02},
    ),
    "dc motor, screw": Specimen(
        lambda: System(slider(), (DCMotor("drive", "x", 1.2, 0.05, inertia=2e-5, ratio=3.0, lead=0.01, viscous=1e-5),)),
        0.2,
        {"v": {"x": 0.003, "swing": 1.0}, "u": {"drive": 1.0}},
    ),
    "actuator and tendon": on_arm(
        Tendon("cable", ("q1", "q2"), (0.5, 0.3), 20.0, 0.1, damping=0.4),
        Actuator("pull", tendon="cable", control="position", gain=50.0, damping=2.0, activation=Lag(0.05)),
        PID("c", reads="q.q1", drives="pull", kp=3.0, reference=0.4),
    ),
}
