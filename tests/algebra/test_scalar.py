"""Scalars: one function, four kinds of number, the same answer; and IEEE results where mathematics has none."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinemorph.algebra import scalar as s
from kinemorph.algebra.dual import Dual
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.vocabulary.ops import OPS
from support.tools.each_case import each_case

ONE = {name: getattr(s.f, name) for name, row in OPS.items() if row.arity == 1}
TWO = {name: getattr(s.f, name) for name, row in OPS.items() if row.arity == 2}
EDGES = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 1e308, -1e308, math.inf, -math.inf, math.nan)
anything = st.floats(allow_nan=True, allow_infinity=True)


def same(a, b):
    return np.allclose(a, b, rtol=1e-14, atol=0.0, equal_nan=True)


def test_the_namespace_holds_the_whole_vocabulary():
    assert set(vars(s.f)) == set(OPS)


@pytest.mark.parametrize("name", ONE)
@given(x=st.one_of(st.sampled_from(EDGES), anything))
def test_functions_of_one_argument_mean_what_the_table_says_on_every_float(name, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = ONE[name](x)
        batch = np.atleast_1d(ONE[name](np.array([x, x])))
    with np.errstate(all="ignore"):
        expected = OPS[name].meaning(x)
    assert type(y) is float
    assert same(y, expected) or (name in ("sin", "cos", "tan") and abs(x) > 1e15)
    if name != "neg":
        assert same(batch, [expected, expected])


@pytest.mark.parametrize("name", [name for name in TWO if name not in ("add", "sub", "mul")])
@given(a=anything, b=anything)
def test_functions_of_two_arguments_mean_what_the_table_says_on_every_float(name, a, b):
    check_two(name, a, b)


@pytest.mark.parametrize("name", [name for name in TWO if name not in ("add", "sub", "mul")])
def test_functions_of_two_arguments_at_every_pair_of_edges(name):
    for a, b in itertools.product(EDGES, EDGES):
        check_two(name, a, b)


def check_two(name, a, b):
    if name == "pow" and (a, b) == (-math.inf, 0.5):
        return  # NumPy takes the square root here and gives nan, IEEE 754 says inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = TWO[name](a, b)
        batch = TWO[name](np.array([a, a]), b)
    with np.errstate(all="ignore"):
        expected = OPS[name].meaning(a, b)
    assert type(y) is float
    assert same(y, expected)
    assert same(batch, [expected, expected])


def test_named_ieee_results():
    assert math.isnan(s.sqrt(-1.0))
    assert s.log(0.0) == -math.inf
    assert s.div(1.0, 0.0) == math.inf and s.div(-1.0, 0.0) == -math.inf and math.isnan(s.div(0.0, 0.0))
    assert s.exp(1000.0) == math.inf and s.power(0.0, -1.0) == math.inf and math.isnan(s.power(-8.0, 1.0 / 3.0))
    assert math.isnan(s.asin(2.0)) and math.isnan(s.sin(math.inf)) and math.isnan(s.floor(math.nan))


@pytest.mark.parametrize("number", [2, np.float64(2.0), np.int64(2), np.float32(2.0), True + 1])
def test_every_plain_number_counts_as_a_float(number):
    results = [s.sqrt(number), s.div(1, number), s.atan2(number, 3), s.less(number, 5), s.power(number, -1)]
    assert results == [math.sqrt(2.0), 0.5, math.atan2(2.0, 3.0), 1.0, 0.5]
    assert {type(r) for r in results} == {float}
    assert s.where(number, "chosen", "otherwise") == "chosen"


@each_case("name", [name for name in OPS if OPS[name].arity == 1])
def test_graph_nodes_agree_with_floats_of_one_argument(name, through_graph):
    for x in (0.3, 0.9):
        assert same(through_graph(lambda v: ONE[name](v[0]), (x,)), ONE[name](x))


@each_case("name", TWO)
def test_graph_nodes_agree_with_floats_of_two_arguments_on_either_side(name, through_graph):
    op = TWO[name]
    for a, b in ((0.3, 0.9), (0.9, 0.3), (0.5, 0.5)):
        for traced in (lambda v: op(v[0], v[1]), lambda v: op(v[0], b), lambda v: op(a, v[1])):  # noqa: B023
            assert same(through_graph(traced, (a, b)), op(a, b))


@pytest.mark.parametrize("number", [np.int64(3), np.uint8(3), np.float32(0.1), np.bool_(True)])
def test_a_traced_number_combines_with_every_plain_number_as_with_its_float(number):
    def nodes(c):
        x = (graph := Graph()).input("x")
        results = [x + c, c + x, x - c, c - x, x * c, c * x, x / c, c / x, x**c, c**x]
        return graph.nodes, [(type(y), getattr(y, "ref", y)) for y in results]

    assert nodes(number) == nodes(float(number))


def test_where_on_every_kind(through_graph):
    assert s.where(1.0, 2.0, 3.0) == 2.0 and s.where(0.0, 2.0, 3.0) == 3.0 and s.where(math.nan, 2.0, 3.0) == 2.0
    assert s.where(np.array([1.0, 0.0]), np.array([1.0, 2.0]), 7.0).tolist() == [1.0, 7.0]
    for x in (-1.0, 1.0):
        assert through_graph(lambda v: s.where(s.less(v[0], 0.0), v[0], 5.0), (x,)) == (x if x < 0.0 else 5.0)
    chosen = s.where(np.array([1.0, 0.0]), Dual(np.array([1.0, 2.0]), 1.0, 0), 7.0)
    assert chosen.value.tolist() == [1.0, 7.0] and chosen.tangent.tolist() == [1.0, 0.0]


def test_structural_zeros_stay_float_zero_against_everything():
    x = Graph().input("x")
    for other in (x, math.nan, math.inf, np.ones(3), Dual(1.0, 1.0, 0)):
        assert s.times(0.0, other) == 0.0 and type(s.times(0.0, other)) is float
        assert type(s.times(other, 0.0)) is float
        assert s.plus(0.0, other) is other and s.plus(other, 0.0) is other and s.minus(other, 0.0) is other
    assert not s.is_zero(np.zeros(1)) and not s.is_zero(x) and s.is_zero(-0.0)


def test_the_truth_of_a_traced_number_is_not_known():
    for x in (Graph().input("x"), Dual(1.0, 1.0, 0)):
        with pytest.raises(TypeError):
            bool(s.less(x, 1.0) if not isinstance(x, Dual) else x)
        with pytest.raises(TypeError):
            float(x)
