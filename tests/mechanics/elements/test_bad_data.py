"""Bad data through Python: whatever stands in a field of an element, it is right, or told by the field's name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from kinemorph import Parameter, elements
from kinemorph.algebra.groups import Pose
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.elements import FILES
from kinemorph.model.elements.contact.contact_laws import (
    Anchor,
    EasyDynNormal,
    HuntCrossley,
    ImpedanceNormal,
    Regularized,
)
from kinemorph.model.elements.contact.grounds import HeightMap
from kinemorph.model.elements.declared import Bounds, bounds_of
from kinemorph.model.elements.fields import is_part
from kinemorph.model.system import System
from kinemorph.model.units import KINDS
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
    elements.Tire("e", "tool", 0.3, 2e5, 3e3, 1e5, 8e4),
    elements.Hold("e", "tool"),
    elements.Contact("e", "tool", ImpedanceNormal(1e4, 10.0), Regularized(0.5)),
    elements.Contact("e", "tool", elements.Rigid(0.5), elements.Coulomb(0.5), HeightMap(((0.0, 0.0),) * 2)),
    elements.Setpoint("e", 0.1, "hinge"),
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
    assert len(known - {type(element).__name__ for element in GOOD}) <= 5


# ── every declared field ──────────────────────────────────────────────────────────────────────────────────────────────


def wrong_numbers(field: Any) -> list[float]:
    """Numbers that a field must not have, by what it declares."""
    bounds = bounds_of(field)
    beyond = {"least": -1.0, "above": 0.0, "most": 1.0, "below": 0.0}
    found = [limit + beyond[key] for key, limit in bounds._asdict().items() if key in beyond and limit is not None]
    return [math.nan, *([] if bounds.infinite else [math.inf, 1e200]), *found]


def with_bad_numbers(part: Any) -> Iterator[tuple[Any, Any, float]]:
    """(the part with a wrong number, the field that has it, the number), for all fields, also of parts."""
    for field in fields(part):
        value = getattr(part, field.name)
        if is_part(type(value)) and not isinstance(value, Pose):
            for bad, inner, x in with_bad_numbers(value):
                yield replace(part, **{field.name: bad}), inner, x
        elif isinstance(value, tuple) and value and is_part(type(value[0])):
            for bad, inner, x in with_bad_numbers(value[0]):
                yield replace(part, **{field.name: (bad, *value[1:])}), inner, x
        elif type(value) is float or (isinstance(value, tuple) and value and all(type(x) is float for x in value)):
            for x in wrong_numbers(field):
                yield replace(part, **{field.name: x if type(value) is float else (*value[:-1], x)}), field, x


@each_case("element", GOOD, ids=[type(one).__name__ for one in GOOD])
def test_every_declared_field_tells_its_bounds(element: Any) -> None:
    """One sentence: the element, the field, the number, every bound with the unit, and what to give instead."""
    robot = arm()
    for bad, field, x in with_bad_numbers(element):
        with pytest.raises(ModelError) as told:
            ensemble(robot, (bad,))
        bounds, kind = bounds_of(field), field.metadata.get("kind") or "number"
        limits = [f"{x:g}" for x in (bounds.least, bounds.above, bounds.most, bounds.below) if x is not None]
        place = rf"element 'e': ([a-z_]+: )?{field.name}(\[\d\])? is {re.escape(f'{x:g}')}; expected a"
        mine = [text for text in told.value.problems if re.match(place, text)]
        assert len(mine) == 1, told.value.problems
        what, _, remedy = mine[0].partition(". ")
        assert remedy.startswith("Give ") or field.name == "spacing", remedy
        if abs(x) != 1e200:
            assert all(limit in what.partition("; ")[2].split() for limit in limits), (what, limits)
        if kind != "number":
            assert f"[{KINDS[kind][0]}" in what, what


def test_no_bound_is_lost(request: pytest.FixtureRequest) -> None:
    """The bounds of all fields, as they are stored beside this file: the tests above take them from the fields."""
    parts = {type(one) for element in GOOD for one in parts_of(element)}
    lines = [f"{kind.__name__}.{one.name} {bounds_of(one)}" for kind in parts for one in fields(kind)]
    found = "".join(f"{line}\n" for line in sorted(lines) if not line.endswith(f" {Bounds()}"))
    stored = Path(__file__).with_name("bounds.txt")
    if request.config.getoption("--update-golden"):
        stored.write_text(found, encoding="utf-8")
    assert found == stored.read_text(encoding="utf-8"), "run this test with --update-golden and read what has changed"


def parts_of(element: Any) -> Iterator[Any]:
    """An element and the parts in it."""
    yield element
    for one in fields(element):
        value = getattr(element, one.name)
        for part in value if isinstance(value, tuple) else (value,):
            if is_part(type(part)):
                yield from parts_of(part)


def test_nominal_values_of_parameters_count() -> None:
    stiffness = Parameter("k", -3.0)
    for raw, x in ((stiffness, "k with the nominal value -3"), (2.0 * stiffness, r"mul\(2.0, k\) .* -6")):
        with pytest.raises(ModelError, match=rf"stiffness is {x}; expected a finite number of at least 0 \[N/m\]"):
            ensemble(arm(), (elements.Spring("e", "tool", "world", raw),))


def test_all_problems_of_an_element_are_told_at_once() -> None:
    """Numbers out of bounds, names that the robot does not have, and what two fields have to do with each other."""
    motor = elements.DCMotor("e", "hing", -1.0, 0.1, backlash=0.1, slow=0.0)
    with pytest.raises(ModelError) as told:
        ensemble(arm(), (motor, elements.Damper("other", "tool", "world", -1.0)))
    starts = ("'e': resistance is -1", "'e': slow is 0", "'e': joint is 'hing'", "'e': backlash", "'other': damping")
    assert [start in text for start, text in zip(starts, told.value.problems, strict=True)] == [True] * 5


SENTENCES: tuple[tuple[Any, str], ...] = (
    (
        elements.Damper("e", "tool", "world", -1.0),
        "damping is -1; expected a finite number of at least 0 [N s/m]. Give a number of at least 0.",
    ),
    (
        elements.Rope("e", "tool", "world", 1.0, 1.0, onset=0.0),
        "onset is 0; expected a finite number above 0 [m]. Give a number above 0, or leave `onset` out for "
        "the default 0.001.",
    ),
    (
        elements.Bushing("e", "tool", "world", (1.0, -2.0, 3.0)),
        "stiffness[1] is -2; expected a finite number of at least 0 [N/m]. Give a number of at least 0.",
    ),
    (
        elements.TorsionSpring("e", "hinge", 1.0, rest=math.inf),
        "rest is inf; expected a finite number [rad or m]. Give a finite number, or leave `rest` out for the "
        "default 0.",
    ),
    (
        elements.TorsionSpring("e", "hinge", 1e200),
        "stiffness is 1e+200; expected a number of at most 1e+100 [N m/rad or N/m], so that products do not "
        "overflow. Give a number of at most 1e+100.",
    ),
    (elements.TorsionSpring("e", "hinge", "hard"), "stiffness is 'hard'; expected a number. Give a number."),
    (
        elements.JointFriction("e", breakaway=0.5),
        "breakaway is 0.5; expected a finite number of at least 1. Give the ratio of static to sliding "
        "friction, 1 or more.",
    ),
    (
        elements.JointLimits("e", time=-0.1),
        "time is -0.1; expected a finite number above 0 [s]. Give a number above 0, or leave `time` out for "
        "the default 0.01.",
    ),
    (
        elements.AppliedWrench("e", "tool", (math.nan, 0.0, 0.0)),
        "force[0] is nan; expected a finite number [N]. Give a finite number, or leave `force` out.",
    ),
    (
        elements.Spring("e", "tool", "world", 1.0, point_a=(1.0, 2.0)),
        "point_a is (1.0, 2.0); expected three numbers. Give three numbers, or leave `point_a` out.",
    ),
    (
        elements.Contact("e", "tool", HuntCrossley(1.0, -2.0)),
        "normal: damping is -2; expected a finite number of at least 0 [s/m]. Give a number of at least 0, or "
        "leave `damping` out for the default 0.",
    ),
    (
        elements.Contact("e", "tool", EasyDynNormal(1.0, 1.0, 0.0)),
        "normal: stiffness_power is 0; expected a finite number of at least 1. Give 1 or more, so that the "
        "force has a finite derivative where bodies begin to touch.",
    ),
    (
        elements.Contact("e", "tool", GROUND, Regularized(0.1, 0.0)),
        "friction: speed is 0; expected a finite number above 0 [m/s]. Give a number above 0, or leave "
        "`speed` out for the default 0.0001.",
    ),
    (
        elements.Contact("e", "tool", None),
        "normal is None; expected one of EasyDynNormal, HuntCrossley, ImpedanceNormal, Rigid. Give one of these.",
    ),
    (
        elements.Contact("e", "tool", elements.Rigid(1.2)),
        "normal: restitution is 1.2; expected a number from 0 to 1. Give 0 for a plastic impact, up to 1 for "
        "an elastic one.",
    ),
    (
        elements.Contact("e", "tool", elements.Rigid(shortest=2.0)),
        "normal: shortest is 2; expected a number above 0 and below 1 [s]. Give a number above 0 and below 1, "
        "or leave `shortest` out for the default 1e-06.",
    ),
    (
        elements.PairContact("e", "tool", "upper", GROUND, 0.1, 0.1, Anchor(0.5, 0.4, 1e4)),
        "friction is Anchor(static=0.5, kinetic=0.4, stiffness=10000.0, dampin...; expected one of "
        "Regularized, Coulomb. Give one of these, or leave `friction` out.",
    ),
    (
        elements.Fluid("e", (elements.DragBox("tool", (0.1, 0.0, 0.2)),)),
        "parts: half[1] is 0; expected a finite number above 0 [m]. Give a number above 0.",
    ),
    (
        elements.DCMotor("e", "hinge", 0.0, 0.1),
        "resistance is 0; expected a finite number above 0 [ohm]. Give a number above 0.",
    ),
    (
        elements.DCMotor("e", "hinge", 1.0, 0.1, efficiency=1.1),
        "efficiency is 1.1; expected a number above 0 and at most 1. Give 1 where nothing is lost.",
    ),
    (
        elements.DCMotor("e", "hinge", 1.0, 0.1, voltage_limit=0.0),
        "voltage_limit is 0; expected a number above 0 [V]. Give a number above 0, or leave `voltage_limit` "
        "out for the default inf.",
    ),
    (
        elements.Actuator("e", "hinge", activation=elements.Lag(0.0)),
        "activation: time is 0; expected a finite number above 0 [s]. Give a number above 0.",
    ),
    (
        elements.Encoder("e", "hinge", every=0.1, phase=Parameter("a", 0.05)),
        "phase is a; expected a number, and no Parameter. Give a number, or leave `phase` out for the default 0.",
    ),
    (
        elements.Encoder("e", "hinge", every=-0.1),
        "every is -0.1; expected a finite number above 0 [s]. Give a number above 0, or leave `every` out.",
    ),
    (
        elements.Encoder("e", "hinge", every=0.1, delay=math.inf),
        "delay is inf; expected a finite number of at least 0 [s]. Give a finite number of at least 0, or "
        "leave `delay` out for the default 0.",
    ),
    (
        elements.Probe("e", "tool", quantity="colour"),
        "quantity is 'colour'; expected one of position, velocity, acceleration, orientation, rate. Give one "
        "of these, or leave `quantity` out for the default 'position'.",
    ),
    (
        elements.PD("e", ("hinge", "slide"), kp=(1.0, -1.0)),
        "kp[1] is -1; expected a finite number of at least 0. Give a number of at least 0.",
    ),
    (elements.PD("e", ("hinge",), kp=(1.0, 2.0)), "kp has 2 numbers; expected 1. Give one number."),
    (
        elements.PID("e", ("hinge",), kp="fast"),
        "kp is 'fast'; expected a number or a tuple of numbers. Give a number or a tuple of numbers, or leave "
        "`kp` out for the default 0.",
    ),
    (
        elements.FuzzyRules("e", "hinge", centers=((0.0, 1.0),), widths=((1.0, 0.0),), consequents=((1.0, 0.0),) * 2),
        "widths[0][1] is 0; expected a finite number above 0. Give a number above 0, or leave `widths` out.",
    ),
    (
        elements.CoupledMaps("e", ("hinge", "slide"), settle=-1),
        "settle is -1; expected a whole number from 0 to 100000. Give a whole number from 0 to 100000, or "
        "leave `settle` out for the default 5000.",
    ),
    (
        elements.CoupledMaps("e", ("hinge", "slide"), start=(0.1, 1.5)),
        "start[1] is 1.5; expected a number from 0 to 1. Give a number from 0 to 1, or leave `start` out.",
    ),
    (
        elements.FourierSeries("e", 0.0, ((2.0,), (-1.0,)), ((4.0,), (-1.0,))),
        "period is 0; expected a finite number above 0 [s]. Give a number above 0.",
    ),
    (
        elements.SplinePath("e", (0.0, 1.0), (0.0, 1.0), stance=1.2),
        "stance is 1.2; expected a number of at least 0 and below 1. Give a number of at least 0 and below 1, "
        "or leave `stance` out for the default 0.",
    ),
    (
        elements.Constraint("e", "q.hinge - a", known={"a": math.nan}),
        "known[0]['a'] is nan; expected a finite number. Give a finite number, or leave `known` out.",
    ),
    (
        elements.Integral("e", "t", "cube"),
        "of is 'cube'; expected one of value, square, magnitude. Give one of these, or leave `of` out for the "
        "default 'value'.",
    ),
)


@each_case(("element", "sentence"), SENTENCES, ids=[sentence[:40] for _, sentence in SENTENCES])
def test_sentences(element: Any, sentence: str) -> None:
    with pytest.raises(ModelError) as told:
        ensemble(arm(), (element,))
    assert str(told.value) == f"element 'e': {sentence}"
