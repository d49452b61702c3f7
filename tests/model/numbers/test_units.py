"""Quantities as text: the number in SI, and a sentence where the unit does not fit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinemorph.model.units import KINDS, UNITS, is_quantity, parse_unit, quantity, read_quantity, si_unit
from support.tools.each_case import each_case

SIZES = st.floats(1e-6, 1e6)


@each_case(
    ("text", "kind", "expected"),
    [
        ("5 mm", "length", 0.005),
        ("9mm", "length", 0.009),
        ("-3 km", "length", -3000.0),
        ("2 inch", "length", 0.0508),
        ("30 deg", "angle", math.radians(30.0)),
        ("90\N{DEGREE SIGN}", "angle", math.pi / 2),
        ("1 rev", "angle", 2.0 * math.pi),
        ("250 g", "mass", 0.25),
        ("12 V", "voltage", 12.0),
        ("3 kg m^2", "inertia", 3.0),
        ("3 kg m\N{SUPERSCRIPT TWO}", "inertia", 3.0),
        ("2 g*cm**2", "inertia", 2e-7),
        ("0.5 N m", "torque", 0.5),
        ("7 mN*m", "torque", 0.007),
        ("1500 rpm", "rate", 1500.0 * math.pi / 30.0),
        ("5 1/s", "rate", 5.0),
        ("2 N m/(rad/s)", "angular damping", 2.0),
        ("2 N m s", "angular damping", 2.0),
        ("10 mm/rev", "pitch", 0.005 / math.pi),
        ("-9.81 m/s^2", "acceleration", -9.81),
        ("9.81 m s^-2", "acceleration", 9.81),
        ("2 min", "time", 120.0),
        ("1e-3 kg", "mass", 1e-3),
        ("4.7 k\N{OHM SIGN}", "resistance", 4700.0),
        ("0.25", "mass", 0.25),
        ("7 J", "", 7.0),
    ],
)
def test_quantity_in_si(text: str, kind: str, expected: float) -> None:
    assert quantity(text, kind) == pytest.approx(expected, rel=1e-15)


@each_case(
    ("text", "kind", "said"),
    [
        ("5 kg", "length", "'5 kg' has the unit of a mass, expected a length such as '5 mm'"),
        ("5 mm", "pitch", "has the unit of a length, expected a pitch such as '5 mm/rev'"),
        ("30 deg", "number", "expected a number without a unit"),
        ("30 deg", "length", "expected a length"),
        ("5 m^3", "mass", "has a unit of another kind, expected a mass"),
        ("5 meter", "length", "the unit 'meter' is not known, expected one such as"),
        ("5 KG", "mass", "Did you mean 'kg'"),
        ("5 m^", "length", "no one-digit power"),
        ("5 m/(s", "speed", "a bracket that is not closed"),
        ("5 m)", "length", "has ')', expected the name of a unit"),
        ("5 m/", "length", "no name of a unit at its end"),
        ("5 m?", "length", "has '?'"),
        ("5 " + "m*" * 40 + "m", "length", "has 81 characters, expected at most 60"),
        ("5 m*(((m^9)^9)^9)", "length", "too large for any physical quantity"),
        ("5 m*(((((t/kg)^9)^9)^9)^9)", "", "too large for any physical quantity"),
        ("abc", "mass", "'abc' is not a number with a unit such as '250 g'"),
    ],
)
def test_what_does_not_fit_is_said(text: str, kind: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        quantity(text, kind)
    assert said in str(caught.value)


@given(SIZES, st.sampled_from(sorted(set(UNITS) - {"1"})))
def test_a_unit_cancels_against_itself(size: float, unit: str) -> None:
    assert quantity(f"{size!r} {unit}*m/({unit})", "length") == pytest.approx(size)


@given(SIZES, st.sampled_from(sorted(KINDS)))
def test_usual_units_of_a_kind_are_si(size: float, kind: str) -> None:
    for unit in KINDS[kind]:
        assert read_quantity(f"{size!r} {unit}" if unit != "1" else repr(size), kind)[0] == size
        assert si_unit(unit) == unit


def test_degrees_are_those_of_the_math_module() -> None:
    for tenths in range(-7200, 7201, 7):
        assert quantity(f"{tenths / 10} deg") == math.radians(tenths / 10)


def test_si_unit_of_others() -> None:
    assert [si_unit(unit) for unit in ("mm", "deg", "rpm", "g cm^2", "kN", "mm^2", "N m")] == [
        *("m", "rad", "rad/s", "kg m^2", "N", "m^2", "N m")
    ]


@pytest.mark.parametrize("text", ["2 * x", "l1", "2e3", "2", "x / 2 m", "-", "1 + 2 m"])
def test_expressions_are_no_quantities(text: str) -> None:
    assert not is_quantity(text)


@given(st.text(max_size=80))
def test_any_text_gives_a_number_or_a_sentence(text: str) -> None:
    for attempt in (lambda: quantity(text, "length"), lambda: quantity(f"5 {text}"), lambda: parse_unit(text)):
        try:
            attempt()
        except ValueError as error:
            assert str(error)


@each_case(
    ("text", "si"),
    [
        ("1 lb", 0.45359237), ("1 t", 1000.0), ("1 inch", 0.0254), ("1 ft", 0.3048), ("1 g", 0.001), ("1 min", 60.0),
        ("1 h", 3600.0), ("1 rev", math.tau), ("60 rpm", math.tau), ("180 deg", math.pi), ("1 dm", 0.1),
        ("1 um", 1e-6), ("1 nm", 1e-9), ("1 GPa", 1e9), ("1 MW", 1e6), ("1 mH", 1e-3), ("1 g cm^2", 1e-7),
        ("36 km/h", 10.0), ("2 kHz", 2000.0), ("2 N/(m s)", 2.0), ("1 kg/m/s", 1.0), ("5 mm/rev", 0.005 / math.tau),
    ],
)  # fmt: skip
def test_every_unit_has_its_size(text: str, si: float) -> None:
    assert quantity(text) == pytest.approx(si, rel=1e-15)


def test_a_frequency_is_no_rate_of_turning() -> None:
    with pytest.raises(ValueError, match=r"'2 Hz' is not an angular velocity\. Use rev/s"):
        quantity("2 Hz", "rate")
