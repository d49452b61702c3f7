"""Expressions of model files: what they mean, how they print, and that nothing but a sentence comes out of bad ones."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinemorph.model.expressions import ExpressionError, names_in, number, parse_expression, written
from kinemorph.model.parameter import Formula, Parameter, Value, applied, evaluate
from kinemorph.vocabulary.ops import OPS
from support.tools.each_case import each_case

A, B, ODD = Parameter("a", 2.0), Parameter("b_1", 0.3), Parameter("odd `name` *", 5.0)
NAMES: dict[str, Value] = {parameter.name: parameter for parameter in (A, B, ODD)}


@each_case(
    ("text", "value"),
    [
        ("2 * a", 2.0 * A),
        ("a - b_1 - 1", (A - B) - 1.0),
        ("a - (b_1 - 1)", A - (B - 1.0)),
        ("-a**2", -(A**2.0)),
        ("(-a)**2", (-A) ** 2.0),
        ("2**a**b_1", 2.0 ** (A**B)),
        ("a**-1", A**-1.0),
        ("a / b_1 * 2", (A / B) * 2.0),
        ("--a", A),
        ("atan2(a, 1)", A.atan2(1.0)),
        ("where(lt(a, 1), 2, b_1)", (A < 1.0).where(2.0, B)),
        ("min(2, a)", Formula("min", (2.0, A))),
        ("`odd ``name`` *` + 1", ODD + 1.0),
        ("0 * a", 0.0),
        ("1 * a", A),
        ("pi / 2", math.pi / 2),
        ("2**3**2", 512.0),
        ("sqrt(2)", math.sqrt(2.0)),
        ("1 / 0", math.inf),
        (" 1e3 ", 1000.0),
    ],
)
def test_meaning(text: str, value: Value) -> None:
    assert parse_expression(text, NAMES) == value


def test_a_parameter_may_have_the_name_of_a_constant_or_a_function() -> None:
    names: dict[str, Value] = {"pi": Parameter("pi", 3.0), "sin": Parameter("sin", 4.0)}
    value = parse_expression("pi + sin * sin(sin)", names)
    assert evaluate(value) == 3.0 + 4.0 * math.sin(4.0)
    assert parse_expression(written(value), names) == value


@each_case(
    ("text", "said"),
    [
        ("", "column 1: found the end, expected a number, a name or '('"),
        ("a +", "column 4: found the end"),
        ("a b_1", "column 3: found 'b_1', expected the end, or an operator between two values"),
        ("c", "column 1: there is no parameter 'c'"),
        ("b1", "Did you mean 'b_1'?"),
        ("sine(a)", "there is no function 'sine'. Did you mean 'sin'?"),
        ("zzzz(a)", "Known are add"),
        ("sin(a, a)", "sin has 2 arguments, expected 1"),
        ("sin(a", "column 6: found the end, expected ')'"),
        ("(a", "expected ')'"),
        ("a $ 2", "column 3: found '$'"),
        ("`a", "column 1: found '`'"),
        ("a.b", "column 1: there is no parameter 'a.b'"),
        ("a.2", "column 2: found '.2'"),
        ("a .b", "column 3: found '.'"),
        ("a[0]", "column 2: found '['"),
        ("__import__('os')", 'column 12: found "\'"'),
        ("(" * 100 + "a" + ")" * 100, "nested more than 60 levels deep"),
        ("2**" * 100 + "2", "nested more than 60 levels deep"),
        ("+".join(["a"] * 500), "expected at most 20000 operations and a depth of 200"),
        ("a" * 30_000, "the expression has 30000 characters"),
    ],
)
def test_mistakes_are_said_with_their_column(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, NAMES)
    assert said in str(caught.value)


def test_shared_parts_cannot_grow_without_bound() -> None:
    names: dict[str, Value] = dict(NAMES)
    with pytest.raises(ExpressionError, match="the formula has 32767 operations"):
        for _ in range(40):
            names["a"] = parse_expression("a * a", names)
    value: Value = A
    for _ in range(30):
        value = value * value
    with pytest.raises(ValueError, match="expected at most 20000"):
        written(value)


def test_names_in_an_expression() -> None:
    assert names_in("a * sin(b) + `c d` - a + pi") == ("a", "b", "c d", "pi")


def _grown(children: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    rows = [st.tuples(st.just(op.name), *[children] * op.arity) for op in OPS.values()]
    return st.one_of(rows).map(lambda row: applied(*row))


PLAIN = st.floats(allow_nan=False).map(float)
VALUES = st.recursive(st.one_of(st.sampled_from([A, B, ODD]), PLAIN), _grown, max_leaves=12).filter(
    lambda value: isinstance(value, (Parameter, Formula)) or not math.isnan(value)
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_what_is_written_reads_back_the_same(value: Value) -> None:
    assume_no_nan = not isinstance(value, Formula) or "nan" not in str(value)
    if assume_no_nan:
        assert parse_expression(written(value), NAMES) == value


@given(st.floats(allow_nan=False))
def test_numbers_keep_their_bits(value: float) -> None:
    back = float(number(value))
    assert back == value
    assert math.copysign(1.0, back) == math.copysign(1.0, value)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1_0.9e+-*/() ,`pisnx\t\n$é", max_size=40))
def test_any_text_gives_a_value_or_a_sentence(text: str) -> None:
    try:
        value = parse_expression(text, NAMES)
    except ExpressionError as error:
        assert str(error)
    else:
        evaluate(value)
