"""Bad data through Python: whatever stands in a field of an element, it is right, or told by the field's name."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pytest

from kinemorph import elements
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.elements import FILES
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal, HuntCrossley, Regularized
from kinemorph.model.system import System
from support.cases.element_laws import arm
from support.tools.each_case import each_case

GROUND = EasyDynNormal(1e4, 10.0)
NQ, NV = arm().nq, arm().nv
SAMPLED: dict[str, Any] = {"every": 0.1, "delay": 0.05}
LIMITED: dict[str, Any] = {"reference": 0.1, "lower": -1.0, "upper": 1.0}


def law(t: Any, q: Any) -> Any:
    return q


GOOD: tuple[Any, ...] = (
    elements.Spring("e", "tool", "world", 1.0, 0.1, 0.1),
    elements.Damper("e", "tool", "world", 0.1),
    elements.Rope("e", "tool", "world", 1.0, 0.1, 0.1),
    elements.Bumper("e", "tool", "world", 1.0, 0.1, 0.1),
    elements.Bushing("e", "tool", "world", (1.0, 1.0, 1.0)),
    elements.Pull("e", 1.0, "tool", 0.1),
    elements.TorsionSpring("e", "hinge", 1.0, 0.0, 0.1),
    elements.JointFriction("e", ("hinge",), coulomb=0.1),
    elements.JointLimits("e", ("hinge",), stiffness=1.0, damping=1.0),
    elements.AppliedWrench("e", "tool", (0.0, 0.0, 1.0)),
    elements.AppliedEffort("e", "hinge", 1.0),
    elements.Gravity("e", (0.0, 0.0, 1.0), ("tool",)),
    elements.WeightSupport("e", 0.5, ("tool",)),
    elements.Fluid("e", (elements.DragBox("tool", (0.1, 0.1, 0.2)),), 1000.0, 1e-3),
    elements.CentralGravity("e", 1.0, bodies=("tool",)),
    elements.Contact("e", "tool", GROUND, Regularized(0.5), radius=0.1, end=(0.0, 0.0, 0.1), samples=3),
    elements.Contact("e", "tool", HuntCrossley(1e4, 0.1), Anchor(0.5, 0.4, 1e4)),
    elements.PairContact("e", "tool", "upper", GROUND, 0.1, 0.1),
    elements.SpringLeg("e", "tool", 1.0, 1.0),
    elements.Actuator("e", "hinge", control="position", gain=1.0, lower=-1.0, upper=1.0, effort=1.0),
    elements.Actuator("e", frame="tool", gear=(0.0, 0.0, 1.0, 0.0, 0.0, 0.1), activation=elements.Lag(0.1)),
    elements.Tendon("e", ("hinge", "slide"), (1.0, -0.5), stiffness=1.0, damping=0.1, upper=1.0, friction=0.1),
    elements.DCMotor("e", "hinge", 1.0, 0.1, 0.1, inductance=0.1, inertia=0.1, stiffness=10.0, backlash=0.1),
    elements.Encoder("e", "hinge", counts=100.0, noise=0.1, **SAMPLED),
    elements.IMU("e", "tool", accelerometer_noise=0.1, accelerometer_walk=0.1, **SAMPLED),
    elements.ForceTorqueSensor("e", "hinge", force_noise=0.1, **SAMPLED),
    elements.ContactSwitch("e", "q.hinge", 0.1, 0.1, **SAMPLED),
    elements.Integral("e", "v.hinge", "square", 2.0),
    elements.Probe("e", "tool", noise=0.1, **SAMPLED),
    elements.Meter("e", "q.hinge", noise=0.1, **SAMPLED),
    elements.MassCenter("e", "tool", noise=0.1, **SAMPLED),
    elements.PD("e", ("hinge",), kp=1.0, kd=1.0, quantum=0.1, **LIMITED, **SAMPLED),
    elements.PID("e", ("hinge",), kp=1.0, ki=1.0, kd=1.0, filter=0.1, **LIMITED),
    elements.FuzzyRules("e", "hinge", centers=((0.0, 1.0),), widths=((1.0, 2.0),), consequents=((1.0, 0.0),) * 2),
    elements.GravityCompensation("e", ("hinge",)),
    elements.StateFeedback("e", "hinge", ((1.0,) * 2 * NV,), ((0.0,) * NQ,), ((0.0,) * NV,), inputs=((0.0,),)),
    elements.Sampled("e", law, reads=("q.hinge",), drives=("hinge",), every=0.1),
    elements.CController("e", "law.c", "law", reads=("q.hinge",), drives=("hinge",), every=0.1, memory={"n": 1.0}),
    elements.Sinusoid("e", 1.0, 1.0, joints=("hinge",)),
    elements.Rhythmic("e", ("hinge", "slide")),
    elements.Serpenoid("e", ("hinge", "slide"), layout="alternating"),
    elements.PhaseOscillators("e", ("hinge", "slide"), adapt=1.0),
    elements.CoupledMaps("e", ("hinge", "slide"), settle=10),
    elements.SplinePath("e", (0.0, 1.0, 2.0), (0.0, 1.0, 2.0), ("hinge",)),
    elements.MinimumJerk("e", (0.0, 1.0, 2.0), (0.0, 1.0, 2.0)),
    elements.FourierSeries("e", 2.0, ((2.0,), (-1.0,)), ((4.0,), (-1.0,)), joints=("hinge",)),
    elements.TorqueSpline("e", ("hinge",), ((0.0, 1.0, 2.0, 3.0),)),
    elements.VirtualConstraints("e", ("hinge",), ((0.0, 1.0, 2.0),), ("slide",)),
    elements.Constraint("e", "q.hinge - a * t", known={"a": 1.0}),
    elements.Constraint("e", law, reads="q.hinge"),
    elements.VelocityConstraint("e", "v.hinge - a * t", known={"a": 1.0}),
    elements.DistanceConstraint("e", "tool", "world", 1.0),
    elements.PointOnPlane("e", "tool"),
    elements.PointOnLine("e", "tool"),
    elements.PointOnSurface("e", "tool", "x - a", known={"a": 1.0}),
    elements.PointOnCurve("e", "tool", ((0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (2.0, 0.0, 0.0))),
    elements.KnifeEdge("e", "tool", normal=(0.0, 0.0, 1.0)),
    elements.RollingDisc("e", "tool", 0.1),
    elements.RollingSphere("e", "tool", 0.1),
    elements.PrescribedMotion("e", "hinge", "a * t", known={"a": 1.0}),
)
CASES = [(element, field.name) for element in GOOD for field in fields(element) if field.init]


@each_case("element, field", CASES, ids=[f"{type(one).__name__}.{name}" for one, name in CASES])
def test_data_that_are_none_are_named(element: Any, field: str) -> None:
    """What is never right is told by the field's name; all else at least never ends inside a law."""
    robot = arm()
    assert ensemble(robot, (element,))
    for bad in (math.nan, object()):
        with pytest.raises(ModelError, match=f"{field}|reads|'e'") as told:
            ensemble(robot, System(robot, (replace(element, **{field: bad}),)).elements)
        assert field in str(told.value) or field in ("name", "bodies", "joints", "point", "end", "point_a", "end_a")
    for bad in (None, "x", [1.0], -1.0, math.inf, (1.0, 2.0), True):
        try:
            ensemble(robot, System(robot, (replace(element, **{field: bad}),)).elements)
        except KinemorphError as error:
            assert str(error).endswith((".", "]", "?")), error


def test_most_kinds_are_tried() -> None:
    known = {name for names in FILES.values() for name in names}
    assert len(known - {type(element).__name__ for element in GOOD}) <= 8


@pytest.mark.parametrize(
    "element, says",
    [
        (elements.Contact("e", "tool", EasyDynNormal("hard")), "normal: stiffness is 'hard'; expected a number"),  # type: ignore[arg-type]
        (elements.AppliedWrench("e", "tool", axes="tool"), "axes is 'tool'; expected one of world, body"),  # type: ignore[arg-type]
        (elements.Spring("e", "tool", "world", 1.0, point_a=(1.0, 2.0)), r"point_a is \(1.0, 2.0\); expected three"),  # type: ignore[arg-type]
        (elements.TorsionSpring("e", "hinge", 1.0, rest=math.inf), "rest is inf; expected finite numbers"),
        (elements.PD("e", 3, kp=1.0), "joints is 3|joints is .3,.*expected a name"),  # type: ignore[arg-type]
        (elements.Actuator("e", "hinge", lower=2.0, upper=1.0), "lower is 2 and upper 1; expected lower below upper"),
        (elements.Actuator("e", "hinge", effort=-1.0), "effort is -1; expected a number above 0"),
    ],
)
def test_sentences(element: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        ensemble(arm(), (element,))
