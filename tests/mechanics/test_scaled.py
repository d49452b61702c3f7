"""`scaled`: dimensions of formulas and texts, sizes one after the other, and what cannot be scaled."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, Parameter, RobotBuilder, System, library, scaled
from kinemorph.conventions import Scales
from kinemorph.elements import (
    PD,
    AppliedEffort,
    Automaton,
    Constraint,
    Continuous,
    Edge,
    Integral,
    JointFriction,
    JointLimits,
    Phase,
    Setpoint,
    Sinusoid,
)
from kinemorph.errors import ModelError
from kinemorph.mechanics.scaling.elements import Rescaled
from kinemorph.mechanics.scaling.values import Names, homogeneous, scaled_text, scaled_value
from kinemorph.model.expressions import written
from kinemorph.model.parameter import evaluate
from kinemorph.vocabulary.frozen_array import FrozenArray

FACTORS = {"length": 3.0, "mass": 5.0, "time": 1.7}
MODELS = ["double_pendulum", "four_bar", "amru5_leg", "raibert_hopper", "rabbit", "planar_bike", "cockroach"]


def differences(a: Any, b: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """All places where two nested data differ by more than rounding."""
    if isinstance(a, float) and isinstance(b, (float, int)):
        if a != b and not math.isclose(a, b, rel_tol=1e-12):
            yield where, a, b
    elif isinstance(a, (tuple, FrozenArray)) and isinstance(b, (tuple, FrozenArray)) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{where}[{k}]")
    elif dataclasses.is_dataclass(a) and type(a) is type(b):
        for field in dataclasses.fields(a):
            yield from differences(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif a != b:
        yield where, a, b


@pytest.mark.parametrize("name", MODELS)
def test_sizes_are_a_group(name: str) -> None:
    """The size 1 changes nothing, two sizes one after the other are one, and the inverse leads back."""
    model = getattr(library, name)()
    assert scaled(model, length=1.0) == model
    one = scaled(model, **FACTORS)
    assert one != model
    half = {key: math.sqrt(value) for key, value in FACTORS.items()}
    assert not list(differences(one, scaled(scaled(model, **half), **half)))
    assert not list(differences(model, scaled(one, **{key: 1.0 / value for key, value in FACTORS.items()})))


def test_an_animal_keeps_its_formulas() -> None:
    """Formulas of parameters with units stay the same formulas; only nominal values change."""
    model = library.cockroach()
    large = scaled(model, length=15.0)
    texts, same = ([written(body.inertia[0][0]) for body in one.robot.bodies] for one in (model, large))
    assert texts == same and "front_coxa_mass * " in texts[1]
    assert large.robot.total_mass == pytest.approx(15.0**3 * model.robot.total_mass, rel=1e-12)
    assert large.robot.gravity == model.robot.gravity


# ── formulas and texts ────────────────────────────────────────────────────────────────────────────────────────────────

LENGTH, WEIGHT = Parameter("l", 2.0, "m"), Parameter("w", 3.0, "kg")


@pytest.mark.parametrize(
    ("value", "factor"),
    [
        *[(WEIGHT * LENGTH**2, 45.0), (LENGTH + 2.0 * LENGTH, 3.0), ((LENGTH * LENGTH).sqrt(), 3.0)],
        *[((LENGTH / LENGTH).sin(), 1.0), (LENGTH.atan2(LENGTH), 1.0), (LENGTH.maximum(0.0), 3.0)],
        *[((LENGTH < 2.0 * LENGTH).where(WEIGHT, 0.0), 5.0), (abs(-LENGTH) / WEIGHT, 0.6), (LENGTH.sign(), 1.0)],
        *[(LENGTH + 1.0, None), (LENGTH + WEIGHT, None), (LENGTH.exp(), None), (LENGTH**WEIGHT, None)],
        *[(LENGTH.floor(), None), ((LENGTH < 2.0).where(WEIGHT, 0.0), None)],
    ],
)
def test_dimensions_of_formulas(value: Any, factor: float | None) -> None:
    names = Names(Scales(**FACTORS))
    found = homogeneous(value, names.factor)
    assert found == (None if factor is None else pytest.approx(factor))
    for wanted in (1.0, 7.0):  # whatever the field, the new value is that of the field, also at other values
        new = scaled_value(value, wanted, names)
        given = {"l": 1.3, "w": 0.4}
        renewed = {"l": 1.3 * 3.0, "w": 0.4 * 5.0}
        assert evaluate(new, renewed) == pytest.approx(wanted * evaluate(value, given), rel=1e-13)


def test_texts_with_numbers_are_evaluated_in_the_old_units() -> None:
    scales, names = Scales(4.0), {"foot.z": 4.0, "v.hip": 0.5, "l": 4.0}
    assert scaled_text("foot.z - 0.01", None, names, scales) == "foot.z / 4 - 0.01"
    assert scaled_text("foot.z - 0.5 * l", None, names, scales) == "foot.z - 0.5 * l"
    assert scaled_text("-0.5 * v.hip", 0.5, names, scales) == "-0.5 * v.hip"
    assert scaled_text("v.hip + 1", 0.5, names, scales) == "0.5 * (v.hip / 0.5 + 1)"
    back = scaled_text("foot.z / 4 - 0.01", None, {"foot.z": 0.25}, Scales(0.25))
    assert back == "foot.z - 0.01"


# ── what each number belongs to ───────────────────────────────────────────────────────────────────────────────────────


def cart(**changes: Any) -> System:
    """A cart that slides and a pole that turns."""
    builder = RobotBuilder("cart_and_pole")
    builder.add(Body.box("cart", 2.0, (0.3, 0.2, 0.1)))
    builder.add(Body.rod("pole", 0.5, 0.8, (0.0, 0.0, 0.4)))
    limits = {"lower": -1.0, "upper": 2.0, "friction": 0.3}
    builder.joint("slide", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), **limits)
    builder.joint("hinge", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0), **limits)
    return System(builder.build(), **changes)


def test_one_gain_for_joints_that_turn_and_slide_becomes_one_for_each() -> None:
    pd = PD("pd", ("slide", "hinge"), 10.0, 2.0, reference=(0.1, "wish"))
    system = cart(elements=(pd, Setpoint("wish", 0.2)))
    new: Any = scaled(system, length=4.0).element("pd")
    assert new.kp == (160.0, 2560.0) and new.kd == (64.0, 1024.0)
    assert new.reference == (0.4, "wish")


def test_the_unit_of_a_path_without_joints_is_that_of_its_follower() -> None:
    path = Sinusoid("wish", 0.1, 2.0)
    on_slide = scaled(cart(elements=(PD("pd", "slide", 10.0, reference="wish"), path)), length=4.0)
    on_hinge = scaled(cart(elements=(PD("pd", "hinge", 10.0, reference="wish"), path)), length=4.0)
    assert on_slide.element("wish") == Sinusoid("wish", 0.4, 1.0)
    assert on_hinge.element("wish") == Sinusoid("wish", 0.1, 1.0)


def test_a_parameter_without_a_unit_is_scaled_by_the_fields_that_hold_it() -> None:
    k, both = Parameter("k", 10.0), Parameter("both", 2.0)
    elements = (PD("one", "slide", k), PD("two", "slide", both, both), AppliedEffort("more", "slide", 2.0 * k))
    new = scaled(cart(elements=elements), length=4.0)
    one, two, more = new.elements
    assert one.kp[0].value == 160.0  # type: ignore[attr-defined]  # N/m
    assert [evaluate(x) for x in (two.kp[0], two.kd[0])] == [32.0, 64.0]  # type: ignore[attr-defined]
    assert evaluate(more.effort) == pytest.approx(64.0 * 20.0)  # type: ignore[attr-defined]


def test_friction_and_stops_of_all_joints_get_pairs() -> None:
    """One number for rotations and one for slides, which becomes one number again on the way back."""
    system = cart(elements=(JointFriction("rub"), JointLimits("stops")))
    new = scaled(system, length=4.0)
    rub, stops = new.elements
    assert rub.smoothing == (0.5e-3, 2e-3) and rub.stribeck == (0.05, 0.2)  # type: ignore[attr-defined]
    assert stops.onset == (1e-3, 4e-3) and stops.time == 0.02  # type: ignore[attr-defined]
    assert scaled(new, length=0.25) == system


def test_the_weight_of_an_integral_keeps_its_unit() -> None:
    """With a unit the integral is scaled; without one its number stays, because nothing says what it is."""
    work = Integral("work", ("v.slide", "v.hinge"), "square", weights=2.0, unit="J")
    new: Any = scaled(cart(elements=(work,)), length=4.0).element("work")
    assert new.weights == pytest.approx((2.0 * 256.0 / (4.0 * 2.0), 2.0 * 256.0 / (0.25 * 2.0)))
    bare: Any = scaled(cart(elements=(dataclasses.replace(work, unit=""),)), length=4.0).element("work")
    assert bare.weights == pytest.approx((2.0 / (4.0 * 2.0), 2.0 / (0.25 * 2.0)))


def test_functions_are_called_in_the_old_units_and_never_wrapped_twice() -> None:
    def law(t: Any, x: Any) -> Any:
        return -3.0 * x + t + 1.0

    system = cart(elements=(Continuous("law", law, ("q.slide",), ("slide",)),))
    new: Any = scaled(system, length=4.0).element("law")
    assert new.law(2.0, 8.0) == pytest.approx(64.0 * law(1.0, 2.0))
    again: Any = scaled(scaled(system, length=2.0), length=2.0).element("law")
    assert isinstance(again.law, Rescaled) and again.law.function is law
    assert again.law(2.0, 8.0) == pytest.approx(64.0 * law(1.0, 2.0))
    assert scaled(scaled(system, length=4.0), length=0.25) == system


def test_a_rack_follows_its_pinion_in_another_size() -> None:
    """A slide that follows a hinge has a multiplier in m/rad and an offset in m; a hinge that follows it has 1/m."""
    builder = RobotBuilder("rack").add(*(Body.box(name, 1.0, (0.1, 0.1, 0.1)) for name in ("gear", "bar", "dial")))
    builder.joint("turn", "revolute", "world", "gear").joint("slide", "prismatic", "world", "bar", axis=(1, 0, 0))
    builder.joint("pointer", "revolute", "world", "dial").couple("slide", "turn", 0.1, 0.02)
    builder.couple("pointer", "turn", 3.0, 0.5)
    rack, dial = scaled(builder.build(), length=4.0).couplings
    assert (rack.multiplier, rack.offset) == pytest.approx((0.4, 0.08))
    assert (dial.multiplier, dial.offset) == (3.0, 0.5)


def test_modules_stay_beside_each_other_in_another_size() -> None:
    """The robot that the scaled assembly makes is the scaled robot; its modules are farther apart."""
    organism = library.organism9()
    large = scaled(organism, length=4.0)
    assert organism.assembly is not None and large.assembly is not None
    assert not list(differences(large.assembly.system().robot.joints, large.robot.joints))
    for old, new in zip(organism.assembly.modules, large.assembly.modules, strict=True):
        assert new.type.pitch == pytest.approx(4.0 * old.type.pitch)


def test_factors_may_be_numbers_of_numpy_and_must_not_overflow() -> None:
    model = library.double_pendulum()
    assert scaled(model, length=np.int64(4)) == scaled(model, length=4.0)
    for size in (1e200, 1e-200):
        with pytest.raises(ModelError, match=r"scaled: length is .*expected a finite number above 0, from 1e-12 to"):
            scaled(model, length=size)


# ── what cannot be scaled ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass(frozen=True)
class Magnet:
    """An element of a user that states no kinds."""

    name: str
    joint: str
    strength: float = 2.0


class MagnetLaw(kinemorph.elements.ElementLaw[Magnet]):
    """Does nothing."""


kinemorph.elements.register(Magnet, MagnetLaw())


def guard_of_memory(m: Any) -> Any:
    return m[0]


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (lambda: cart(elements=(Magnet("magnet", "slide"),)), "Magnet 'magnet': strength has no kind of quantity"),
        (
            lambda: cart(elements=(JointFriction("rub", viscous=0.1),)),
            "JointFriction 'rub': viscous is one number for joints that turn and joints that slide",
        ),
        (
            lambda: cart(elements=(Constraint("rod", "q.slide - 0.1"), Integral("sum", "rod.force"))),
            "element 'rod': its signal 'rod.force' is a force whose unit is not known",
        ),
        (
            lambda: cart(elements=(kinemorph.lqr(cart(), 1.0, 1.0, leave_out=True).element(),)),
            "StateFeedback 'lqr': its gains mix states of many dimensions",
        ),
        (
            lambda: cart(automaton=Automaton(Phase("a"), Edge("go", "a", "a", guard_of_memory))),
            "edge 'go': guard is a function of 'm'",
        ),
    ],
)
def test_what_cannot_be_scaled_is_named(system: Any, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        scaled(system(), length=4.0)
    assert str(caught.value).startswith(said) and str(caught.value).count(". ") <= 2


@pytest.mark.parametrize("factors", [{"length": 0.0}, {"mass": -1.0}, {"time": math.nan}, {"voltage": 0.0}, {}])
def test_bad_factors_are_one_sentence(factors: dict[str, float]) -> None:
    with pytest.raises(ModelError, match=r"^scaled: ") as caught:
        scaled(library.double_pendulum(), **factors)
    assert len(str(caught.value)) < 200


def test_only_robots_and_systems_are_scaled() -> None:
    with pytest.raises(ModelError, match="expected a Robot or a System"):
        scaled("arm.urdf", length=2.0)  # type: ignore[type-var]
