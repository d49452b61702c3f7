"""A specimen of every kind of element, reference, gait and controller, for laws about all of their numbers.

Together they give each field that takes Parameters (`varied_numbers.numeric_fields`) a number that acts on the motion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from kinemorph import System
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.rotations import rotation
from kinemorph.algebra.scalar import cos, sin
from kinemorph.elements import (
    IMU,
    PD,
    PID,
    Actuator,
    AppliedEffort,
    AppliedWrench,
    Automaton,
    Bumper,
    Bushing,
    CentralGravity,
    ComputedTorque,
    Constraint,
    Contact,
    Continuous,
    Coulomb,
    CoupledMaps,
    Damper,
    DCMotor,
    DistanceConstraint,
    DragBox,
    DragEllipsoid,
    EasyDynNormal,
    Edge,
    Encoder,
    Energetic,
    Fluid,
    ForceTorqueSensor,
    FourierSeries,
    FuzzyRules,
    Gravity,
    GravityCompensation,
    HeightFunction,
    HeightMap,
    Hold,
    HuntCrossley,
    ImpedanceNormal,
    Integral,
    JointFriction,
    JointLimits,
    KnifeEdge,
    Lag,
    MassCenter,
    Meter,
    MinimumJerk,
    Newton,
    PairContact,
    PantographGait,
    Phase,
    PhaseOscillators,
    Plane,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointOnSurface,
    Poisson,
    PrescribedMotion,
    Probe,
    Profile,
    Pull,
    Regularized,
    Rhythmic,
    Rigid,
    RollingDisc,
    RollingSphere,
    Rope,
    Sampled,
    Serpenoid,
    Setpoint,
    Sinusoid,
    SplinePath,
    Spring,
    SpringLeg,
    Tendon,
    Tire,
    TorqueSpline,
    TorsionSpring,
    VelocityConstraint,
    VirtualConstraints,
    WeightSupport,
)
from kinemorph.model import shapes
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from support.robots.varied_numbers import with_parameters

# ── specimens ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass(frozen=True)
class Specimen:
    """A system, the time [s] over which it is simulated, and options of the run: q, v, u.

    `leave` are the fields, as "PD.kp", whose numbers stay plain; with `only`, those of all other fields do.
    """

    make: Callable[[], System]
    until: float = 0.3
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    leave: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def varied(self) -> tuple[System, dict[str, str]]:
        """(the system with Parameters, the field of each Parameter); see `with_parameters`."""
        return with_parameters(self.make(), lambda field: field not in self.leave and field in (self.only or (field,)))


def arm() -> Robot:
    """Three links, hinged about y, z and y, that move in space; the joints are q1, q2, q3 and the bodies a, b, c."""
    builder = RobotBuilder("arm")
    for name, length in (("a", 0.5), ("b", 0.4), ("c", 0.3)):
        builder.add(Body.box(name, 0.5 + length, (length, 0.1, 0.06), (0.5 * length, 0.02, 0.01)))
    builder.joint("q1", "revolute", "world", "a", axis=(0, 1, 0), lower=-0.2, upper=0.2, friction=0.3)
    builder.joint("q2", "revolute", "a", "b", translation=(0.5, 0, 0), axis=(0, 0, 1), friction=0.2)
    builder.joint("q3", "revolute", "b", "c", translation=(0.4, 0, 0), axis=(0, 1, 0), friction=0.1)
    return builder.build()


def slider() -> Robot:
    """A cart on a rail along x with a pendulum; the joints are x and swing."""
    builder = RobotBuilder("slider").add(Body.box("cart", 2.0, (0.3, 0.2, 0.1)), Body.rod("bob", 1.0, 0.5, axis="z"))
    builder.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0), lower=-1.0, upper=0.05, friction=0.4)
    return builder.joint("swing", "revolute", "cart", "bob", axis=(0, 1, 0)).build()


def flyer() -> Robot:
    """A body in free flight, with a hinge that carries another one."""
    builder = RobotBuilder("flyer").add(
        Body.box("hull", 1.5, (0.4, 0.3, 0.2), (0.01, 0.02, 0.03)),
        Body.box("fin", 0.4, (0.3, 0.1, 0.05), (0.15, 0.0, 0.0)),
    )
    builder.joint("root", "free", "world", "hull")
    return builder.joint("hinge", "revolute", "hull", "fin", translation=(0.2, 0.0, 0.0), axis=(0, 1, 0)).build()


JOINTS = ("q1", "q2", "q3")
CURVE = ((0.1, 0.2, 0.3), (0.4, 0.1, -0.2), (0.2, 0.5, 0.1), (0.3, 0.2, 0.6))
MOVING = {"q": {"q1": 0.1, "q2": 0.4, "q3": -0.5}, "v": {"q1": 0.5, "q2": -0.7, "q3": 0.9}}
FLYING = {
    "q": {
        "root.x": 0.1,
        "root.y": -0.2,
        "root.z": 0.3,
        "root.qw": 0.8,
        "root.qx": 0.0,
        "root.qy": 0.6,
        "root.qz": 0.0,
        "hinge": 0.3,
    },
    "v": {
        "root.wx": 0.5,
        "root.wy": -0.8,
        "root.wz": 0.6,
        "root.vx": 1.0,
        "root.vy": 0.4,
        "root.vz": -0.3,
        "hinge": 0.7,
    },
}


def on_arm(*elements: Any, until: float = 0.3, **options: Any) -> Specimen:
    return Specimen(lambda: System(arm(), elements), until, {**MOVING, **options})


def on_flyer(*elements: Any, until: float = 0.3, **options: Any) -> Specimen:
    return Specimen(lambda: System(flyer(), elements), until, {**FLYING, **options})


def followed(reference: Any, *leave: str) -> Specimen:
    """A reference "g" of three joints, which computed torques follow: its accelerations act too."""
    controller = ComputedTorque("c", JOINTS, 80.0, 15.0, reference="g")
    steps = {"method": "rk4", "step": 1e-3} if isinstance(reference, PantographGait) else {}  # from jump to jump
    return Specimen(lambda: System(arm(), (reference, controller)), 0.3, {**MOVING, **steps}, leave)


def turned(angle: str, value: float, axis: tuple[float, float, float], p: tuple[float, float, float]) -> Pose:
    return Pose(rotation(axis, Parameter(angle, value)), p)


def held(*elements: Any) -> Specimen:
    """Constraints on the arm: of the initial state q1 is given, as far as it can be, and the others follow."""
    return Specimen(lambda: System(arm(), elements), 0.3, {"q": {"q2": 0.4}, "v": {"q2": -0.7}})


def on_flying(*elements: Any) -> Specimen:
    """Constraints on the flyer: the hinge is given, and the pose of the hull follows."""
    return Specimen(lambda: System(flyer(), elements), 0.3, {"q": {"hinge": 0.3}, "v": {"hinge": 0.7}})


def wheel() -> Robot:
    builder = RobotBuilder("wheel").add(Body.box("rim", 20.0, (0.4, 0.1, 0.5)))
    return builder.joint("root", "free", "world", "rim").build()


ROLLING = {
    "q": {
        "root.x": 0.1,
        "root.y": 0.2,
        "root.z": 0.28,
        "root.qw": 1.0,
        "root.qx": 0.03,
        "root.qy": 0.02,
        "root.qz": 0.1,
    },
    "v": {"root.vx": 1.0, "root.vy": 0.05, "root.vz": 0.0, "root.wx": 0.1, "root.wy": 3.6, "root.wz": 0.2},
}


def puck() -> Robot:
    builder = RobotBuilder("puck").add(Body.box("puck", 1.0, (0.2, 0.25, 0.15)))
    return builder.joint("root", "free", "world", "puck").build()


def on_ground(element: Any, *only: str) -> Specimen:
    """A puck that touches during the whole run and slides fast, so that no force has a kink."""
    return Specimen(lambda: System(puck(), (element,)), 0.02, SLIDING, only=only)


SLIDING = {
    "q": {
        "root.x": 0.05,
        "root.y": 0.02,
        "root.z": 0.2,
        "root.qw": 1.0,
        "root.qx": 0.04,
        "root.qy": -0.05,
        "root.qz": 0.1,
    },
    "v": {"root.vx": 1.2, "root.vy": 0.7, "root.vz": -0.2, "root.wx": 0.3, "root.wy": -0.4, "root.wz": 0.2},
}
BOUNCING = {"q": {"root.z": 0.4, "root.qw": 1.0}, "v": {"root.vx": 0.7, "root.vy": 0.2, "root.wy": 2.0}}
STRIKING = {
    "q": {"root.z": 0.1, "root.qw": 0.8, "root.qy": 0.6, "hinge": 0.3},
    "v": {"root.wx": 0.5, "root.wy": -0.8, "root.vx": 3.0, "root.vz": -0.6, "hinge": 0.7},
}


def collision(law: Any) -> System:
    """A body in flight strikes with a point that is held in a phase of its own: it bounces, slides, and flies on."""
    edge = Edge(
        "strikes", "flies", "flies", "q.root.z - low", "late - t", impact=law, friction=Coulomb(0.05), during="meets"
    )  # fmt: skip
    automaton = Automaton((Phase("flies"), Phase("meets", "d")), (edge,), known={"low": 0.05, "late": 0.15})
    return System(flyer(), (Hold("d", "hull", (0.1, 0.2, 0.05)),), automaton=automaton)


def hop() -> System:
    """A body lands on a spring leg, which an automaton puts down."""
    leg = SpringLeg(
        "leg", "puck", 900.0, 0.6, (0.2, 0.05, -1.0), Plane((0.0, 0.0, 0.05), (0.03, 0.02, 1.0)), (0.02, 0.01, -0.03)
    )
    lands = Edge("lands", "flies", "stands", "q.root.z - low", impact="none")
    automaton = Automaton((Phase("flies"), Phase("stands", "leg")), (lands,), known={"low": 0.61})
    return System(puck(), (leg,), automaton=automaton)


HERE = Pose(IDENTITY.R, (0.01, 0.02, 0.03))
SOLIDS = {
    "box": shapes.Box((0.4, 0.3, 0.2), HERE),
    "ellipsoid": shapes.Ellipsoid((0.2, 0.25, 0.3), HERE),
    "sphere": shapes.Sphere(0.2, HERE),
    "capsule": shapes.Capsule(0.1, 0.2, HERE),
    "cylinder": shapes.Cylinder(0.2, 0.3, HERE),
    "frustum": shapes.Frustum(0.2, 0.15, 0.3, HERE),
    "frustum, turned": shapes.Frustum(
        0.15, 0.2, 0.3, Pose(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)), HERE.p)
    ),
    "half ellipsoid": shapes.HalfEllipsoid((0.2, 0.25, 0.3), Pose(IDENTITY.R, (0.01, 0.02, -0.1))),
    "mesh": shapes.Mesh(((0.1, 0.1, -0.15), (-0.1, 0.1, -0.14), (0.0, -0.1, -0.16)), ((0, 1, 2),), placement=HERE),
}


def hills(x: Any, y: Any) -> Any:
    return 0.1 * sin(2.0 * x) * cos(1.5 * y)


SPECIMENS: dict[str, Specimen] = {
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
    # forces
    "torsion spring": on_arm(TorsionSpring("s", "q1", 12.0, 0.2, 0.7, (3.0, 5.0), (0.3, 0.1))),
    "joint friction": on_arm(JointFriction("f", JOINTS, 0.3, 0.2, 1.5, 0.2, 0.05)),
    "joint friction, slides too": Specimen(
        lambda: System(slider(), (JointFriction("f", ("x", "swing"), 0.4, 0.2, 1.5, (0.3, 0.2), (0.04, 0.05)),)),
        0.3,
        {"v": {"x": 0.5, "swing": 1.0}},
    ),
    "joint limits": on_arm(JointLimits("l", ("q1",), 900.0, 20.0, onset=0.02)),
    "joint limits, slide too": Specimen(
        lambda: System(slider(), (JointLimits("l", (), 900.0, 20.0, onset=(0.01, 0.02)),)), 0.3, {"v": {"x": 1.0}}
    ),
    "spring": on_arm(Spring("s", "world", "c", 90.0, 0.3, 2.0, (0.7, 0.4, 0.9), (0.2, 0.05, 0.1))),
    "damper": on_arm(Damper("d", "world", "c", 9.0, (0.7, 0.4, 0.9), (0.2, 0.05, 0.1))),
    "rope": on_arm(Rope("r", "world", "c", 90.0, 0.8, 3.0, 0.9, (0.3, 0.4, 1.0), (0.2, 0.05, 0.1))),
    "bumper": on_arm(Bumper("b", "world", "c", 90.0, 1.4, 3.0, 0.9, (1.2, 0.4, -0.6), (0.2, 0.05, 0.1))),
    "bushing": on_flyer(
        Bushing(
            "b",
            "world",
            "hull",
            (90.0, 120.0, 150.0),
            (3.0, 2.0, 1.0),
            (5.0, 6.0, 7.0),
            (0.3, 0.2, 0.1),
            (2.0, 1.0, 3.0),
            (0.3, 0.2, 0.1),
            placement_a=turned("turn a", 0.3, (0.0, 0.0, 1.0), (0.1, 0.2, 0.3)),
            placement_b=turned("turn b", 0.2, (1.0, 0.0, 0.0), (0.1, 0.05, 0.02)),
        )
    ),
    "bushing, angles": on_flyer(
        Bushing(
            "b",
            "world",
            "hull",
            (90.0, 120.0, 150.0),
            turning_stiffness=(5.0, 6.0, 7.0),
            turning="zyx",
            turning_damping=(0.3, 0.2, 0.1),
        )
    ),
    "applied wrench": on_flyer(
        AppliedWrench("w", "hull", (1.0, 2.0, 3.0), (0.1, 0.2, -0.3), (0.1, 0.2, 0.05)),
        AppliedWrench("b", "hull", (1.0, 2.0, 3.0), (0.1, 0.2, -0.3), (0.1, 0.2, 0.05), "body"),
    ),
    "applied effort": on_arm(AppliedEffort("e", "q2", 1.3)),
    "gravity": on_flyer(Gravity("g", (0.5, -0.3, 1.2))),
    "central gravity": on_flyer(CentralGravity("g", 30.0, "fin", (0.1, 2.0, -1.5))),
    "weight support": on_arm(WeightSupport("w", 0.7, ("b",))),
    "fluid": on_flyer(
        Fluid(
            "f",
            (
                DragBox("hull", (0.2, 0.15, 0.1), turned("turn a", 0.3, (0.0, 0.0, 1.0), (0.1, 0.2, 0.3))),
                DragEllipsoid(
                    "fin",
                    (0.15, 0.05, 0.02),
                    turned("turn b", 0.4, (1.0, 0.0, 0.0), (0.1, 0.02, 0.03)),
                    added_mass=(0.001, 0.002, 0.003),
                    added_inertia=(1e-4, 2e-4, 3e-4),
                ),
            ),
            900.0,
            0.1,
            (0.4, 0.3, -0.2),
        )
    ),
    "pull": on_arm(
        Pull("p", 300.0, "c", 4.0, (0.2, 0.05, 0.1)), u={"p.x": 0.9, "p.y": 0.3, "p.z": 0.1, "p.share": 0.7}
    ),
    "tire": Specimen(
        lambda: System(
            wheel(),
            (
                Tire(
                    "wheel",
                    "rim",
                    0.3,
                    2e4,
                    300.0,
                    4000.0,
                    3000.0,
                    500.0,
                    300.0,
                    0.1,
                    1.1,
                    0.7,
                    0.85,
                    0.75,
                    0.65,
                    0.01,
                    (0.02, 1.0, 0.03),
                    (0.01, 0.02, 0.005),
                    Plane((0.0, 0.0, 0.001), (0.02, 0.01, 1.0)),
                ),
            ),
        ),
        0.003,
        ROLLING,
    ),
    "tire, slow": Specimen(
        lambda: System(wheel(), (Tire("wheel", "rim", 0.3, 2e4, 300.0, 4000.0, 3000.0, 500.0, 300.0, 0.1, slow=3.0),)),
        0.02,
        {"q": ROLLING["q"], "v": {"root.vx": 0.3, "root.wy": 0.9, "root.vy": 0.05}},
        only=("Tire.slow",),
    ),
    "tire on hills": Specimen(
        lambda: System(
            wheel(),
            (
                Tire(
                    "wheel",
                    "rim",
                    0.3,
                    2e4,
                    300.0,
                    4000.0,
                    3000.0,
                    500.0,
                    300.0,
                    0.1,
                    ground=HeightFunction(lambda x, y: 0.2 * hills(x, y)),
                ),
            ),
        ),
        0.003,
        ROLLING,
    ),
    # contacts
    "contact": on_ground(
        Contact(
            "c",
            "puck",
            EasyDynNormal(5000.0, 40.0, 1.3, 1.2),
            Regularized(0.4, 0.1),
            Plane((0.0, 0.0, 0.02), (0.1, 0.05, 1.0)),
            (0.1, 0.02, -0.1),
            0.15,
        )
    ),
    "contact, creeping": on_ground(
        Contact(
            "c",
            "puck",
            HuntCrossley(5000.0, 0.3, 1.4),
            Regularized(0.4, 9.0),
            HeightFunction(hills),
            (0.1, 0.02, -0.1),
            0.15,
        )
    ),
    "contact, capsule": on_ground(
        Contact(
            "c",
            "puck",
            HuntCrossley(5000.0, 0.3, 1.4),
            Regularized(0.4, 0.1),
            Plane(),
            (0.1, 0.02, -0.1),
            0.15,
            (-0.15, 0.03, -0.16),
        )
    ),
    "contact, impedance": on_ground(
        Contact(
            "c",
            "puck",
            ImpedanceNormal(500.0, 40.0, width=0.2),
            None,
            HeightMap(((0.03, 0.02, 0.01), (0.02, 0.04, 0.02), (0.01, 0.03, 0.02)), (1.0, 1.1), (-0.9, -1.2)),
            (0.1, 0.02, -0.1),
            0.15,
        )
    ),
    **{
        f"shape, {name}": on_ground(
            Contact("c", "puck", HuntCrossley(5000.0, 0.3, 1.5), ground=Plane((0.0, 0.0, 0.15)), shape=shape),
            "HuntCrossley.exponent",
            *(
                f"{type(shape).__name__}.{field}"
                for field in ("size", "radius", "length", "radii", "bottom", "top", "height", "vertices", "placement")
            ),
        )
        for name, shape in SOLIDS.items()
    },
    "pair contact": on_ground(
        PairContact(
            "p",
            "world",
            "puck",
            HuntCrossley(5000.0, 0.3, 1.4),
            0.15,
            0.1,
            Regularized(0.4, 0.1),
            (-0.3, 0.0, -0.06),
            (0.05, -0.3, -0.05),
            (0.5, 0.1, -0.09),
            (-0.02, 0.4, -0.02),
        )
    ),
    **{
        f"rigid contact, {law}": Specimen(
            lambda law=law: System(
                puck(), (Contact("c", "puck", Rigid(0.6, law), Coulomb(0.3), point=(0.03, 0.0, 0.02), radius=0.1),)
            ),
            0.4,
            BOUNCING,
            only=("Rigid.restitution", "Contact.radius", *(["Coulomb.coefficient"] * (law == "energetic"))),
        )
        for law in ("energetic", "newton", "poisson")
    },
    "rigid pair": Specimen(
        lambda: System(
            puck(),
            (
                PairContact(
                    "c", "world", "puck", Rigid(0.6), 0.3, 0.1, Coulomb(0.2), (0.02, 0.03, -0.3), (0.01, 0.0, 0.0)
                ),
            ),
        ),
        0.4,
        BOUNCING,
        only=("Rigid.restitution", "Coulomb.coefficient", "PairContact.radius_a"),
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
    # constraints
    "distance": held(DistanceConstraint("d", "world", "c", 0.7, (0.6, 0.3, 0.5), (0.2, 0.05, 0.1))),
    "point on plane": held(PointOnPlane("d", "c", (0.2, 0.05, 0.1), origin=(0.7, 0.3, 0.1), normal=(0.2, 0.3, 1.0))),
    "point on line": on_flying(
        PointOnLine("d", "fin", (0.2, 0.05, 0.1), origin=(0.3, -0.2, 0.1), direction=(1.0, 0.3, 0.2))
    ),
    "point on surface": held(
        PointOnSurface("d", "c", "x**2 + y**2 + w * z**2 - r**2", (0.2, 0.05, 0.1), known={"r": 0.9, "w": 1.3})
    ),
    "point on curve": held(
        PointOnCurve(
            "d",
            "c",
            ((0.0, 0.0, 0.1), (0.5, 0.1, 0.2), (1.0, 0.0, -0.1), (1.5, 0.2, 0.1)),
            (0.2, 0.05, 0.1),
            planar=True,
        )
    ),
    "constraint": held(
        Constraint("d", ("q.q1 + k * sin(q.q2) - wish",), known={"k": 0.7}), Sinusoid("wish", 0.2, 1.1, 0.3, 0.4)
    ),
    "velocity constraint": held(VelocityConstraint("d", ("v.q1 + k * cos(q.q2) * v.q2 - 0.1",), known={"k": 0.7})),
    "prescribed motion": held(
        PrescribedMotion("d", "q1", "a * sin(w * t) + wish", known={"a": 0.3, "w": 4.0}),
        Sinusoid("wish", 0.2, 1.1, 0.3, 0.4),
    ),
    "prescribed position": held(PrescribedMotion("d", "q1", 0.3)),
    "knife edge": on_flying(KnifeEdge("d", "hull", (0.1, 1.0, 0.2), (0.1, 0.02, -0.05), normal=(0.1, 0.05, 1.0))),
    "rolling disc": on_flying(
        RollingDisc(
            "d", "hull", 0.3, (0.02, 0.01, 0.03), (0.1, 1.0, 0.05), origin=(0.0, 0.0, 0.1), normal=(0.1, 0.05, 1.0)
        )
    ),
    "rolling sphere": on_flying(
        RollingSphere("d", "hull", 0.3, (0.02, 0.01, 0.03), origin=(0.0, 0.0, 0.1), normal=(0.1, 0.05, 1.0))
    ),
    "hold": Specimen(
        lambda: System(flyer(), (Hold("d", "hull", (0.1, 0.2, 0.05)),)),
        0.3,
        {"q": FLYING["q"], "v": {"hinge": 0.7, "root.wx": 0.5, "root.wy": -0.8, "root.wz": 0.6}},
    ),
    **{
        f"impact, {type(law).__name__}": Specimen(lambda law=law: collision(law), 0.2, STRIKING)
        for law in (Energetic(0.5), Newton(0.4), Poisson(0.6))
    },
    "edge": Specimen(lambda: hop(), 0.35, {"q": {"root.z": 0.72, "root.x": 0.0}, "v": {"root.vx": 0.8}}),
    # sensors, which controllers read
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
}
