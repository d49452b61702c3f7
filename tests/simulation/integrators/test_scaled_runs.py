"""The run of a scaled system is the scaled run: every column differs by the factor of its unit, at fixed steps."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kinemorph import Body, Parameter, RobotBuilder, System, library
from kinemorph.algebra.scalar import sin
from kinemorph.elements import (
    PD,
    PID,
    Actuator,
    Anchor,
    AppliedWrench,
    Automaton,
    Bushing,
    ComputedTorque,
    Constraint,
    Contact,
    ContactSwitch,
    Continuous,
    DCMotor,
    EasyDynNormal,
    Edge,
    Encoder,
    FuzzyRules,
    HeightFunction,
    HeightMap,
    HuntCrossley,
    Integral,
    JointFriction,
    JointLimits,
    Phase,
    PhaseOscillators,
    PrescribedMotion,
    Probe,
    Profile,
    Regularized,
    Rhythmic,
    Rope,
    Sampled,
    Setpoint,
    SplinePath,
    Spring,
    Table,
    TorqueSpline,
    TorsionSpring,
)
from kinemorph.model.system import Settings
from support.tools.scaled_runs import worst_column

ODD = {"length": 3.0, "mass": 0.7, "time": 1.9, "voltage": 1.3}  # no power of 2, so that rounding errors show too
CLOSE = 1e-10
BEAT: Any = {
    "period": Parameter("beat_period", 0.25, "s"),
    "shift": Parameter("ahead", 0.317),  # no sample falls on an instant at which the acceleration jumps
    "duty": 0.5,
    "stance": 0.4,
}


def machine(*elements: Any, automaton: Any = None, v: tuple[float, ...] = (0.2, 1.0, -0.1)) -> System:
    """A slide with a pole on it, and a second slide on the pole."""
    builder = RobotBuilder("machine")
    builder.add(Body.box("cart", 2.0, (0.3, 0.2, 0.1)), Body.rod("pole", 0.5, 0.8, (0.0, 0.0, 0.4)))
    builder.add(Body.sphere("ring", 0.2, 0.05))
    builder.joint("slide", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), lower=-0.02, upper=2.0, friction=0.3)
    builder.joint("hinge", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0), lower=-1.0, upper=0.35, friction=0.05)
    builder.joint("lift", "prismatic", "pole", "ring", translation=(0.0, 0.0, 0.6), damping=1.0)
    start = Settings(q=(0.05, 0.3, 0.01), v=v)
    return System(builder.build(), elements, start, automaton=automaton)


def ball(*elements: Any) -> System:
    """A ball that flies low over the ground."""
    builder = RobotBuilder("ball")
    builder.add(Body.sphere("ball", 0.3, 0.1))
    builder.joint("root", "free", "world", "ball")
    q, v = (0.0, 0.0, 0.105, 1.0, 0.0, 0.0, 0.0), (0.8, 0.1, -0.5, 0.0, 2.0, 0.3)
    return System(builder.build(), elements, Settings(q=q, v=v))


def push(t: Any) -> Any:
    return [2.0 * sin(5.0 * t), 0.0, 0.3]


def spring_and_memory(t: Any, x: Any, states: Any) -> Any:
    return -4.0 * x + 0.1 * states[0] + t, [x - 0.2 * states[0]]


def counting(t: Any, x: Any, memory: Any) -> Any:
    return 0.5 - x - 0.02 * memory[0], [memory[0] + 1.0]


def hills(x: Any, y: Any) -> Any:
    return 0.02 * sin(9.0 * x) + 0.1 * y


def wave(t: Any) -> Any:
    return [0.1 * sin(6.0 * t), 0.2 * sin(3.0 * t)]


def below(t: Any, q: Any) -> Any:
    return 0.55 - q[1]


def bounced(v: Any) -> Any:
    return {"v": [v[0], -0.5 * v[1], v[2]]}


SCREW = {"resistance": 2.0, "torque_constant": 0.05, "inductance": 1e-3, "inertia": 1e-5, "ratio": 3.0}
HEIGHTS = tuple(tuple(0.02 * math.sin(i + 2 * j) for j in range(4)) for i in range(5))
SYSTEMS = {
    "a motor with a screw, a sampled PID and an encoder": machine(
        DCMotor("screw", "slide", **SCREW, lead=0.05, viscous=1e-5, coulomb=1e-3, voltage_limit=20.0),
        Encoder("encoder", "slide", every=0.01, resolution=0.002),
        PID("pid", reads="encoder.position", drives="screw", reference=0.2, kp=40.0, ki=20.0, kd=3.0, every=0.01),
        DCMotor("gear", "hinge", 1.0, 0.1, ratio=20.0, stiffness=40.0, damping=0.5, backlash=0.01, inertia=1e-5),
        PID("turn", "hinge", drives="gear", reference=0.1, kp=9.0, ki=2.0, kd=0.5, filter=0.02, upper=5.0, lower=-5.0),
        FuzzyRules("rules", "lift", ("error", "rate"), ((-0.1, 0.1), ()), ((0.1, 0.2), ()), ((9.0, 1.0, 0.5),) * 2),
    ),
    "springs, stops, friction and forces over time": machine(
        Spring("spring", "world", "ring", 30.0, 0.4, 1.0, point_a=(0.3, 0.0, 1.0)),
        Rope("rope", "world", "pole", 80.0, 0.2, 2.0, point_b=(0.0, 0.0, 0.8)),
        Bushing("bushing", "cart", "pole", (0.0, 0.0, 0.0), turning_stiffness=(0.0, 3.0, 0.0)),
        TorsionSpring("in_lift", "lift", 60.0, 0.01, 2.0),
        JointLimits("stops"),
        JointFriction("rub"),
        AppliedWrench("push", "cart", push, Table((0.0, 0.1, 0.4), ((0.0, 1.0, 0.0), (0.0, 3.0, 0.0), (0.0,) * 3))),
    ),
    "references, functions and sums": machine(
        Rhythmic("wave", ("slide", "hinge"), (0.2, 0.4), 1.5, offset=(0.1, 0.0), ramp=0.1),
        PhaseOscillators("swing", ("lift", "hinge"), (0.02, 0.3), (1.0, 1.2), adapt=2.0),
        PD("follow", ("slide", "hinge"), 50.0, 4.0, reference="wave", upper=8.0),
        Profile("profile", wave, ("slide", "hinge")),
        SplinePath("path", (0.0, 0.1, 0.4), (0.0, 0.05, -0.02)),
        SplinePath("beat", (0.0, 0.1, 0.3), (0.0, 0.05, 0.0), **BEAT),
        PD("beaten", "hinge", kp=0.3, reference="beat"),
        Actuator("pull", "lift", gear=2.0, control="position", gain=30.0, damping=2.0, effort=5.0),
        PID("lifted", reads="q.lift", drives="pull", reference="path", kp=1.0, every=0.02),
        Continuous("law", spring_and_memory, ("q.lift",), ("lift",), states=("sum",)),
        Sampled("count", counting, ("q.slide",), ("slide",), every=0.03, memory=("n",)),
        Integral("work", ("v.slide", "v.hinge"), "square", unit="J"),
        Probe("tip", "ring", "acceleration"),
        ContactSwitch("far", "q.slide", threshold=0.08, every=0.01),
    ),
    "constraints with numbers in their texts": machine(
        Constraint("linked", "q.lift - 0.01 - 0.05 * (q.hinge - 0.3)"),
        PrescribedMotion("driven", "slide", "0.05 + 0.1 * sin(4 * t)"),
        TorqueSpline("torque", ("hinge",), ((0.5, 1.0, -1.0, 0.3),), 0.2),
        v=(0.4, 1.0, 0.05),
    ),
    "computed torque": machine(
        ComputedTorque("control", ("slide", "hinge", "lift"), 100.0, 20.0, reference=(0.1, "wish", 0.0), every=0.01),
        Setpoint("wish", 0.2),
    ),
    "phases": machine(
        TorsionSpring("pull", "hinge", 2.0, -0.4),
        automaton=Automaton(
            (Phase("free"), Phase("pulled", elements=("pull",), locked=("lift",))),
            (
                Edge("far", "free", "pulled", "0.07 - q.slide", when="v.hinge - 0.1"),
                Edge("near", "pulled", "free", below, reset=bounced, impact="none"),
                Edge("turned", "free", "free", "-0.1 - v.hinge", reset={"v.slide": "-0.3 * v.slide - 0.1"}),
            ),
        ),
    ),
    "stick and slip on the ground": ball(
        Contact("foot", "ball", EasyDynNormal(4e4, 300.0, 1.4, 1.2), Anchor(0.5, 0.4, 2e3, 5.0), radius=0.1),
        Contact("side", "ball", HuntCrossley(1e4, 0.5), Regularized(0.3, 1e-2), HeightFunction(hills), radius=0.1),
    ),
    "terrain": ball(
        Contact(
            "foot",
            "ball",
            HuntCrossley(1e4, 0.5),
            Regularized(0.3, 1e-2),
            HeightMap(
                tuple(tuple(0.02 * math.sin(i + 2 * j) for j in range(4)) for i in range(5)), (0.1, 0.2), (-0.2,) * 2
            ),
            radius=0.1,
        ),
    ),
}


BRIEF = ("springs, stops, friction and forces over time", "phases")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in BRIEF)) for name in SYSTEMS]
)
def test_the_run_of_the_scaled_system_is_the_scaled_run(name: str) -> None:
    column, error = worst_column(SYSTEMS[name], 0.25, 1e-3, events=3 if name == "phases" else 0, **ODD)
    assert error < CLOSE, column


LIBRARY = {
    **{"n_four_bar": (0.3, 1e-3), "amru5_leg": (0.3, 1e-3), "amru5_walk": (0.2, 1e-3), "cockroach": (0.02, 1e-4)},
    **{"raibert_hopper": (0.5, 1e-3), "rabbit": (0.3, 1e-3), "compass_walker": (0.3, 1e-3), "crawler": (0.3, 1e-3)},
    **{"planar_bike": (0.3, 1e-3), "flyball_governor": (0.05, 1e-5)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARY)
def test_machines_and_animals_of_the_library(name: str) -> None:
    """Four times as long, Froude similarity: half the frequency."""
    model = getattr(library, name)()
    system = model if isinstance(model, System) else System(model)
    column, error = worst_column(system, *LIBRARY[name], length=4.0)
    assert error < CLOSE, column
