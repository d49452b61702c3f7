"""Position matrices as text: what is written parses to the same factors, and nothing but transforms is accepted."""

from __future__ import annotations

import pytest

from kinemorph.model.expressions import ExpressionError, in_order, parse_expression, written
from kinemorph.model.parameter import Coordinate, Parameter, Value
from kinemorph.model.positions.position_text import parse_position, written_position
from kinemorph.notation import TIME, Tdisp, Tquat, Trotn, Trotx, Troty, Trotz, acos, cos, mth, sin, trot, vec
from support.tools.each_case import each_case

Q, L = Coordinate("q0"), Parameter("l0", 1.2)
NAMES: dict[str, Value] = {"q0": Q, "l0": L, "t": TIME, "odd name": Parameter("odd name", 2.0)}
PRODUCTS = [
    Trotz(Q) * Tdisp(0, -L / 2, 0),
    Trotx(-Q) * Troty(2.0 * Q - L) * Tdisp(NAMES["odd name"], -(Q + L), -1.5e-7),
    Trotn((0.6, 0.0, 0.8), Q**2 / 3.0) * Tquat(cos(Q / 2), 0.0, sin(Q / 2), 0.0),
    mth(trot(((cos(Q), -sin(Q), 0.0), (sin(Q), cos(Q), 0.0), (0.0, 0.0, 1.0))), vec(L, TIME, 0.0)),
    mth(factors=()) * Tdisp(0, 0, 0),
]


@each_case("product", PRODUCTS)
def test_what_is_written_parses_to_the_same_factors(product: mth) -> None:
    assert parse_position(written_position(product.factors), NAMES).factors == product.factors


def test_names_stand_for_formulas() -> None:
    gamma = acos(Q / L)
    text = written_position((Trotz(gamma + 1.0) * Trotx(gamma)).factors, {gamma: "gamma"})
    assert text == "Trotz(gamma + 1) * Trotx(gamma)"
    assert parse_position(text, {**NAMES, "gamma": gamma}).factors == (Trotz(gamma + 1.0) * Trotx(gamma)).factors
    assert parse_expression(written(2.0 * gamma, {gamma: "`my gamma`"}), {"my gamma": gamma}) == 2.0 * gamma


@each_case(
    ("text", "problem"),
    [
        ("q0", "it is a number, expected a product of transforms"),
        ("Trotz(q0, 1)", "column 1: Trotz has 2 arguments, expected 1. Give 1 argument."),
        ("Trotz(q0) + Tdisp(0, 0, 0)", "'add' is applied to a transform"),
        ("2 * Trotz(q0)", "'mul' is applied to a transform"),
        ("Trotz(Trotx(q0))", "an argument of Trotz is a transform"),
        ("sin(Trotz(q0)) * Trotx(q0)", "'sin' is applied to a transform"),
        ("Trotq(q0)", "there is no function 'Trotq'. Did you mean 'Trotz'?"),
        ("Trotz(q1)", "there is no coordinate, dependent or parameter 'q1'"),
        ("Trotz(q0).inv()", "found '.'"),
        ("__import__('os').system('true')", 'found "\'"'),
        ("Trotz(q0", "found the end, expected ')'"),
    ],
)
def test_anything_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_position(text, NAMES)
    assert problem in str(caught.value)


def test_names_are_put_in_order() -> None:
    assert in_order({"c": ("b", "known"), "a": (), "b": ("a", "a")}) == (["a", "b", "c"], [])
    ready, circle = in_order({"x": ("y",), "y": ("z",), "z": ("y",), "w": ()})
    assert (ready, circle) == (["w"], ["y", "z", "y"])
