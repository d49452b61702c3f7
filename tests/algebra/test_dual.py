"""Dual numbers: the tangent is the derivative, at every order, through every op and safely through `where`."""

import math

import numpy as np
import pytest

from kinemorph.algebra import scalar as s
from kinemorph.algebra.dual import Direction, Dual, derivative, gradient, value_and_derivative, with_derivative
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.vocabulary.ops import OPS
from support.tools.each_case import each_case

ANALYTIC = {
    "sqrt": s.sqrt, "exp": s.exp, "log": s.log, "sin": s.sin, "cos": s.cos, "tan": s.tan, "asin": s.asin,
    "acos": s.acos, "neg": lambda x: -x,
}  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "pow", "atan2", "min", "max")


@each_case("name", ANALYTIC)
@each_case("x", [0.1, 0.37, 0.9])
def test_the_tangent_is_the_complex_step(name, x):
    h = 1e-30
    expected = np.imag(OPS[name].meaning(np.complex128(x + 1j * h))) / h
    value, slope = value_and_derivative(ANALYTIC[name], x)
    assert value == pytest.approx(ANALYTIC[name](x), rel=1e-15)
    assert slope == pytest.approx(float(expected), rel=1e-13)


@each_case("name", BINARY)
@each_case("point", [(0.7, 1.9), (1.9, 0.7), (0.4, -0.3)])
def test_the_gradient_is_the_central_difference(name, point):
    op, h = getattr(s.f, name), 1e-6
    a, b = point
    slopes = gradient(lambda v: op(*v), point)
    expected = ((op(a + h, b) - op(a - h, b)) / (2 * h), (op(a, b + h) - op(a, b - h)) / (2 * h))
    assert slopes == pytest.approx(expected, rel=1e-8, abs=1e-8)
    # one argument dual, the other a plain number, on either side
    assert derivative(lambda x: op(x, b), a) == pytest.approx(slopes[0])
    assert derivative(lambda x: op(a, x), b) == pytest.approx(slopes[1])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "neg"])
def test_the_arithmetic_written_out_agrees_with_its_row(name):
    args = [Dual(0.3, 1.7, 0), Dual(-1.1, 0.6, 0)][: OPS[name].arity]
    by_row, written = args[0].apply(name, *args), getattr(s.f, name)(*args)
    assert (written.value, written.tangent) == pytest.approx((by_row.value, by_row.tangent))


def test_steps_have_no_slope_and_kinks_have_the_side_they_are_on():
    for step in (s.sign, s.floor):
        assert derivative(step, 0.4) == 0.0
    assert derivative(s.absolute, -2.0) == -1.0
    assert s.less(Dual(1.0, 1.0, 0), 2.0) == 1.0 and s.less_equal(2.0, Dual(1.0, 1.0, 0)) == 0.0
    assert s.equal(Dual(1.0, 5.0, 0), Dual(1.0, 3.0, 0)) == 1.0 and type(s.equal(Dual(1.0, 5.0, 0), 1)) is float
    assert (Dual(1.0, 1.0, 0) > 0.5) == 1.0 and (Dual(1.0, 1.0, 0) >= 1.5) == 0.0


SECOND = [
    (lambda x: s.sin(x) * x, lambda x: 2 * math.cos(x) - x * math.sin(x)),
    (lambda x: s.exp(x * x), lambda x: (2 + 4 * x * x) * math.exp(x * x)),
    (lambda x: s.div(1.0, x), lambda x: 2 / x**3),
    (lambda x: s.sqrt(x), lambda x: -0.25 * x**-1.5),
    (lambda x: s.power(x, 3.0), lambda x: 6 * x),
    (lambda x: x**3, lambda x: 6 * x),
    (lambda x: s.atan2(x, 2.0), lambda x: -2 * 2 * x / (4 + x * x) ** 2),
    (lambda x: s.log(s.cos(x)), lambda x: -1 / math.cos(x) ** 2),
]


@each_case(("function", "expected"), SECOND)
@each_case("x", [0.3, 1.2])
def test_nesting_gives_the_second_derivative(function, expected, x):
    assert derivative(lambda y: derivative(function, y), x) == pytest.approx(expected(x), rel=1e-12)
    by_hand = function(Dual(Dual(x, 1.0, 0), Dual(1.0, 0.0, 0), 1))
    assert by_hand.tangent.tangent == pytest.approx(expected(x), rel=1e-12)


def test_third_derivative():
    third = derivative(lambda x: derivative(lambda y: derivative(s.sin, y), x), 0.8)
    assert third == pytest.approx(-math.cos(0.8), rel=1e-14)


def test_nested_derivatives_do_not_take_each_other_for_their_own():
    assert derivative(lambda x: x * derivative(lambda y: x + y, 1.0), 1.0) == 1.0
    assert derivative(lambda x: x * derivative(lambda y: x * y, 3.0), 2.0) == 4.0
    outer, inner = Dual(3.0, 1.0, level=0), Dual(2.0, 1.0, level=1)
    product = outer * inner
    assert product.level == 1 and product.value.value == 6.0 and product.value.tangent == 2.0
    assert product.tangent.value == 3.0 and product.tangent.tangent == 1.0


def test_a_dual_number_has_a_level_and_is_made_of_lower_ones():
    with pytest.raises(TypeError, match="level"):
        Dual(1.0, 1.0)
    outer, inner = Direction(), Direction()
    x = outer.moved(2.0)
    assert inner.tangent(outer.tangent(inner.moved(x * x, x) * x)) == 0.0  # read from the outside first: nothing there
    with pytest.raises(TypeError, match="Use `derivative`, or open the Direction after those of the numbers inside"):
        outer.moved(inner.moved(2.0))
    with pytest.raises(TypeError, match="expected lower levels"):
        outer.moved(1.0, inner.moved(2.0))
    with pytest.raises(TypeError, match="expected lower levels"):
        outer.moved(x)  # two derivatives along one direction


def test_directions_read_their_own_rates_only():
    first, second = Direction(), Direction()
    x, y, z = first.moved(3.0), second.moved(5.0), 7.0
    assert first.tangents([x, y, z]) == [1.0, 0.0, 0.0] and second.tangents([x, y, z]) == [0.0, 1.0, 0.0]
    assert first.values([x, z]) == [3.0, 7.0] and first.value(y) is y
    assert first.tangent(second.tangent(x * y)) == 1.0 and first.tangent(second.value(x * y)) == 5.0
    assert first.moved(2.0, 0.0) == 2.0


def test_a_known_derivative_keeps_what_else_the_function_depends_on():
    """x^k with the slope written by hand, moved along x and k at once, and along two directions."""
    along, slow = Direction(), Direction()
    for x, k in (
        (along.moved(1.3, 2.0), along.moved(3.0, 5.0)),
        (slow.moved(along.moved(1.3, 2.0), 0.5), along.moved(3.0, 5.0)),
    ):
        known = with_derivative(lambda x, k=k: s.power(x, k), lambda x, k=k: k * s.power(x, k - 1.0), x)
        plain = s.power(x, k)
        for part in (slow.value, slow.tangent):
            assert along.value(part(known)) == pytest.approx(along.value(part(plain)), rel=1e-14)
            assert along.tangent(part(known)) == pytest.approx(along.tangent(part(plain)), rel=1e-14)


EDGES = {
    "sqrt at 0": lambda x: s.where(s.less(0.0, x), s.sqrt(x), 0.0),
    "log at 0": lambda x: s.where(s.less(0.0, x), s.log(x), 0.0),
    "div at 0": lambda x: s.where(s.less(0.0, x), s.div(1.0, x), 0.0),
    "atan2 at 0, 0": lambda x: s.where(s.less(0.0, x), s.atan2(x, x), 0.0),
    "pow at 0": lambda x: s.where(s.less(0.0, x), s.power(x, -0.5), 0.0),
    "acos at 1": lambda x: s.where(s.less(0.0, x), s.acos(1.0 - x), 0.0),
}


@pytest.mark.parametrize("edge", EDGES)
def test_the_branch_not_taken_leaves_no_trace(edge):
    function = EDGES[edge]
    assert function(0.0) == 0.0
    assert derivative(function, 0.0) == 0.0
    assert derivative(lambda y: derivative(function, y), 0.0) == 0.0
    value, slope = value_and_derivative(function, np.array([0.0, 0.5, 0.0]))
    assert np.isfinite(value).all() and np.isfinite(slope).all()
    assert slope[1] == pytest.approx(derivative(function, 0.5))


def test_a_condition_that_is_dual_chooses_by_its_value():
    x = Dual(Dual(2.0, 1.0, 0), 1.0, 1)
    assert s.where(x, 3.0, 4.0) == 3.0 and s.where(x - 2.0, 3.0, 4.0) == 4.0
    assert s.where(x, x, 0.0) is x


def test_a_constant_argument_does_not_poison_the_tangent():
    assert (s.sqrt(Dual(0.0, 0.0, 0))).tangent == 0.0  # inf * structural zero
    assert derivative(lambda x: s.power(x, 2.0), -3.0) == -6.0  # log of a negative base meets a zero tangent
    assert derivative(lambda x: x**0, 0.0) == 0.0


def test_dual_numbers_of_graph_nodes_give_the_derivative_as_an_expression(through_graph):
    def slope(v):
        return derivative(lambda x: s.sin(x) * s.exp(v[1] * x), v[0])

    a, b = 0.7, -0.4
    expected = math.exp(a * b) * (math.cos(a) + b * math.sin(a))
    assert through_graph(slope, (a, b)) == pytest.approx(expected, rel=1e-14)
    x, y = (graph := Graph()).input("x"), graph.input("y")
    for op in (s.atan2, s.minimum, s.maximum, s.power, s.div):
        for mixed in (
            op(Dual(x, 1.0, 0), y),
            op(y, Dual(x, 1.0, 0)),
            op(Dual(x, 1.0, 0), 2.0),
            op(2.0, Dual(x, 1.0, 0)),
        ):
            assert isinstance(mixed, Dual)
    assert derivative(lambda v: v[0] * 3.0 + v[1], (x, y), (0.0, 1.0)) == 1.0  # structure stays structure


def test_tuples_of_any_nesting_go_in_and_come_out():
    value, slope = value_and_derivative(lambda v: (v[0], (v[1][0] * v[0], 5.0)), (2.0, (3.0,)), (1.0, (0.5,)))
    assert value == (2.0, (6.0, 5.0)) and slope == (1.0, (4.0, 0.0))
