"""Every number of a robot and of its elements states its kind of quantity, so that it can be scaled."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from kinemorph import load_text
from kinemorph.conventions import Scales
from kinemorph.errors import ModelError
from kinemorph.formats.toml import fields as rows
from kinemorph.mechanics.scaling.parts import units_of
from kinemorph.model import elements, shapes
from kinemorph.model.body import Body
from kinemorph.model.elements.fields import is_part
from kinemorph.model.joint import Joint
from kinemorph.model.modules.module_types import JointModule, ModuleType
from kinemorph.model.parameter import Formula, Parameter
from kinemorph.model.robot import Coupling, Dependent, Frame, Robot
from kinemorph.model.system import Settings
from kinemorph.model.units import KINDS

LISTED = [name for table in (elements.FILES, elements.PARTS) for names in table.values() for name in names]
CLASSES = [one for one in (getattr(elements, name) for name in LISTED) if dataclasses.is_dataclass(one)]
CLASSES += [Body, Joint, Coupling, Dependent, Frame, Robot, Settings, JointModule, ModuleType, *shapes.SHAPE_FIELDS]
TEXTS = ("known",)  # names in texts, which are scaled with the text
WORDS = {word: ["rad"] for word in ("in", "out", "own", "signal", "gain", "input", "effort", "leader", "field")}
WORDS |= {word: ["rad"] for word in ("drive", "gear", "gains", "bias", "curve", "damping_curve", "length", "tension")}


def leaves(hint: Any) -> Iterator[Any]:
    """The types inside a type hint."""
    parts = get_args(hint)
    yield from (leaf for part in parts for leaf in leaves(part)) if parts else (hint,)


def holds_numbers(hint: Any) -> bool:
    return any(leaf in (float, Parameter, Formula, np.float64) for leaf in leaves(hint) if not is_part(leaf))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_field_with_numbers_states_its_kind(kind: type[Any]) -> None:
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name in TEXTS or not holds_numbers(hints[field.name]) or hints[field.name] == tuple[Parameter, ...]:
            continue
        units = units_of(field.metadata, {**WORDS, "joint": ["m"], "coordinates": ["rad", "m"]})
        assert units is not None, f"{kind.__name__}.{field.name} has numbers without a kind of quantity"
        assert all(Scales(2.0).factor(unit) > 0.0 for unit in units)


def test_the_walk_sees_numbers() -> None:
    """It finds the numbers of a field of each form: a plain number, a vector, rows, a union, an array."""
    fields = {(kind.__name__, field.name) for kind in CLASSES for field in dataclasses.fields(kind) if field.metadata}
    expected = {("DCMotor", "lead"), ("Plane", "point"), ("SplinePath", "points"), ("AppliedWrench", "force")}
    assert len(CLASSES) > 80 and expected | {("HeightMap", "heights"), ("Joint", "lower")} <= fields

    @dataclasses.dataclass(frozen=True)
    class Forgotten:
        name: str
        size: tuple[float, ...] = (1.0,)

    assert holds_numbers(get_type_hints(Forgotten)["size"]) and not dataclasses.fields(Forgotten)[1].metadata


# ── factors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        *[("m", 4.0), ("kg", 64.0), ("s", 2.0), ("rad", 1.0), ("", 1.0), ("mm", 4.0), ("Hz", 0.5), ("rad/s", 0.5)],
        *[("m/s", 2.0), ("m/s^2", 1.0), ("N", 64.0), ("N m", 256.0), ("N m s/rad", 512.0), ("N/m", 16.0)],
        *[("J", 256.0), ("W", 128.0), ("Pa", 4.0), ("V", 1.0), ("A", 128.0), ("ohm", 1 / 128), ("N m/A", 2.0)],
        *[("V s/rad", 2.0), ("H", 2 / 128), ("kg m^2", 1024.0)],
    ],
)
def test_froude_similarity_of_an_animal_four_times_as_long(unit: str, factor: float) -> None:
    """Hand-made: mass 4^3, time 2, so gravity is the same, force 4^3, power 4^3.5, and the voltage stays."""
    assert Scales(length=4.0).factor(unit) == pytest.approx(factor, rel=1e-15)


def test_torque_constant_and_back_emf_stay_one_number() -> None:
    """Both constants of a motor are the same number in SI, in every size."""
    scales = Scales(length=2.7, mass=0.3, time=1.9, voltage=12.0)
    assert scales.factor("N m/A") == pytest.approx(scales.factor("V s/rad"), rel=1e-14)
    assert scales.factor("V") == pytest.approx(12.0, rel=1e-15)
    assert scales.factor("V") * scales.factor("A") == pytest.approx(scales.factor("W"), rel=1e-14)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_all_units_of_a_rotation_or_a_slide_have_one_factor(kind: str) -> None:
    """The units of a kind differ only between joints that turn and joints that slide."""
    found = {round(np.log(Scales(2.0, 3.0, 5.0, 7.0).factor(unit)), 9) for unit in KINDS[kind]}
    assert len(found) == (2 if kind.startswith("joint ") else 1)


@pytest.mark.parametrize("value", [0.0, -2.0, float("nan"), float("inf"), "4", True, None])
def test_factors_that_are_no_scale_are_refused(value: Any) -> None:
    with pytest.raises(ModelError, match="expected a finite number above 0"):
        Scales(length=value if value is not None else 0)


# ── model files ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_model_files_and_classes_state_the_same_kinds() -> None:
    """The keys of bodies, joints, settings and shapes in TOML have the kinds of the fields of their classes."""
    tables = [(Body, rows.BODY), (Joint, rows.JOINT), (Settings, rows.SETTINGS), *rows.SHAPES.values()]
    compared = 0
    for kind, table in tables:
        stated = {field.name: field.metadata.get("kind", "") for field in dataclasses.fields(kind)}
        for row in table:
            if row.kind and row.name in stated:
                compared += 1
                assert row.kind == stated[row.name], f"{kind.__name__}.{row.name}"
    assert compared > 30


@pytest.mark.parametrize(
    ("text", "good"), [('"2 Hz"', True), ("2", True), ('"2 m"', False), ('"2 N m/rad"', False), ('"30 1/min"', True)]
)
def test_frequencies_of_gaits_have_units_in_files(text: str, good: bool) -> None:
    model = f"""
        kinemorph = 1
        [bodies.link]
        solid = {{ kind = "rod", length = 1, axis = "x" }}
        mass = 1
        [joints.hinge]
        kind = "revolute"
        parent = "world"
        child = "link"
        [elements.swing]
        kind = "rhythmic"
        joints = ["hinge"]
        frequency = {text}
    """
    found = examine_text(model)
    assert (found == []) == good, found


def examine_text(text: str) -> list[str]:
    """The errors that reading this text as TOML gives."""
    try:
        load_text(text, "toml")
    except ModelError as error:
        return [str(problem) for problem in error.problems]
    return []
