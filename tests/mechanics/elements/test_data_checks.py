"""Data that are not what their type hints say are refused with a sentence, whatever the kind of element."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from kinemorph import Parameter, RobotBuilder, System, elements
from kinemorph.elements import DragBox, ElementLaw, register
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.model.elements.fields import Field, element_fields
from kinemorph.model.library import LIBRARY
from support.tools.each_case import each_case

ARM = LIBRARY["double_pendulum"]()
HARD = elements.HuntCrossley(1e3)
ODD: tuple[Any, ...] = (
    *(-1.0, 0.0, math.nan, math.inf, 10**30, True, None, "", "nothing", "q1", object(), {}, abs),
    *(
        (),
        (1.0,),
        (1.0, math.nan, 2.0),
        ("q1", "nothing"),
        ("q1", 1.0),
        ((1.0, 2.0),),
        ((1.0,), (2.0, 3.0)),
        [1.0, 2.0],
    ),
)


def example(field: Field) -> Any:
    """Something for a field that has to be given."""
    if field.form == "part":
        return {"normal": HARD, "parts": DragBox("link1", (0.1, 0.1, 0.1))}[field.name]
    if field.form == "list":
        return tuple(example(field.inner[0]._replace(name=field.name)) for _ in range(field.inner[1] or 2))
    if field.form == "either":
        return example(field.inner[0]._replace(name=field.name))
    names = {"joint": "q1", "joints": "q1", "signal": "q.q1"}
    return {"text": names.get(field.name, "link1"), "vector": (0.0, 0.0, 1.0)}.get(field.form, 1.0)


@each_case("kind", ELEMENT_KINDS)
def test_no_odd_data_end_in_anything_but_a_sentence(kind: str) -> None:
    made = ELEMENT_KINDS[kind]
    needed = {field.name: example(field) for field in element_fields(made) if field.required}
    refused = 0
    for field in element_fields(made):
        for odd in ODD:
            try:
                ensemble(ARM, (made(**{"name": "e", **needed, field.name: odd}),))
            except KinemorphError as error:
                refused += 1
                assert "element 'e'" in str(error)
    assert refused


@pytest.mark.parametrize(
    ("element", "says"),
    [
        (lambda: elements.TorsionSpring("e", "q1", "hard"), "stiffness is 'hard'; expected a number"),  # type: ignore[arg-type]
        (lambda: elements.Contact("e", "link1", HARD, point=(0.0, 1.0)), r"point is \(0.0, 1.0\); expected three"),  # type: ignore[arg-type]
        (lambda: elements.Contact("e", "link1", elements.Regularized(0.5)), "normal is .*; expected one of EasyDynN"),
        (
            lambda: elements.Contact("e", "link1", elements.HuntCrossley("1e5")),
            "normal: stiffness is '1e5'; expected a",
        ),
        (lambda: elements.PD("e", 3.0, kp=1.0), r"joints is 3.0; expected a name or a tuple of names"),
        (lambda: elements.PID("e", "q1", anti_windup="clmp"), "anti_windup is 'clmp'; expected one of"),
        (lambda: elements.Encoder("e", None), "joint is None; expected a name"),
        (
            lambda: elements.PD("e", "q1", reference={}, kp=1.0),
            "expected a number, a name, or a tuple of numbers or names",
        ),  # type: ignore[arg-type]
        (lambda: elements.PointOnCurve("e", "link2", ((0, 1), (1, 2))), "expected a tuple of rows of 3 numbers"),  # type: ignore[arg-type]
        (lambda: elements.Constraint("e", 3.0), "rows is 3.0; expected a text with an expression or a tuple of texts"),  # type: ignore[arg-type]
        (lambda: elements.AppliedEffort("e", "q1", "x"), "effort is 'x'; expected a number or a Table"),  # type: ignore[arg-type]
        (lambda: elements.Sampled("e", abs, "q.q1", "q1", every=0.1, memory=3), "memory is 3; expected a dict"),
    ],
)
def test_the_sentence_names_field_value_and_expectation(element: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        ensemble(ARM, (element(),))


def test_what_numbers_may_be() -> None:
    k = Parameter("k", 3.0)
    for number in (1, 1.5, np.float32(2.0), np.int64(3), np.array(4.0), k, 2.0 * k):
        ensemble(ARM, (elements.TorsionSpring("e", "q1", number),))
    hill = elements.HeightMap(np.zeros((3, 2)))  # type: ignore[arg-type]
    foot = elements.Contact("e", "link1", HARD, ground=hill, point=np.zeros(3))  # type: ignore[arg-type]
    system = System(ARM, [foot, elements.PD("pd", ["q1"], kp=np.ones(1))])  # type: ignore[arg-type]
    ensemble(ARM, system.elements)
    tidy = system.elements[0]
    assert isinstance(tidy, elements.Contact)
    assert (
        tidy.point == (0.0, 0.0, 0.0) and tuple(tidy.ground.heights) == ((0.0, 0.0),) * 3
    )  # data that can be compared, hashed
    assert System(ARM, system.elements).elements[0] is tidy
    assert System(ARM, tidy).elements == (tidy,)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="is given as an element, expected an object with a name"):
        System(ARM, (tidy, [tidy]))  # type: ignore[arg-type]


def test_a_law_with_problems_is_asked_nothing_more_and_others_are() -> None:
    """Who reads or drives what is broken is not blamed for it; whose own wiring is wrong is told as well."""
    broken = elements.DCMotor("motor", "q1", -1.0, 0.02)
    follower = elements.PID("follower", reads="motor.speed", drives="motor", kp=1.0)
    lost = elements.PID("lost", reads="q.q3", drives="q1", kp=1.0)
    with pytest.raises(ModelError) as error:
        ensemble(ARM, (broken, follower, lost))
    first, second = error.value.problems
    assert "resistance is -1" in first
    assert "element 'lost': it reads 'q.q3'" in second


@dataclasses.dataclass(frozen=True)
class Sloppy:
    name: str
    size: float = None  # type: ignore[assignment]
    other: Unknown = 3  # type: ignore[name-defined] # noqa: F821


def test_hints_that_cannot_be_resolved_say_nothing() -> None:
    register(Sloppy, ElementLaw())
    robot = RobotBuilder("one").body("b", 1.0).joint("q1", "prismatic", "world", "b").build()
    assert len(ensemble(robot, System(robot, (Sloppy("e"),)).elements).members) == 1
