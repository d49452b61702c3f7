"""Parameters and formulas: arithmetic is exact, literals keep structure, any scalar can be looked up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.algebra import scalar
from kinemorph.algebra.groups import Pose, compose, turn
from kinemorph.algebra.rotations import rotation
from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.model.parameter import Formula, Parameter, evaluate, evaluate_all, parameters_of
from support.tools.each_case import each_case

M = Parameter("m", 2.0, "kg", "m")
L = Parameter("l", 3.0, "m")

FORMULAS = [
    (M * L, 6.0),
    (M + 1, 3.0),
    (1 - M, -1.0),
    (M / L, 2.0 / 3.0),
    (1.0 / L, 1.0 / 3.0),
    (M**2, 4.0),
    (2.0**L, 8.0),
    (-M, -2.0),
    (abs(-M), 2.0),
    (scalar.sin(L), math.sin(3.0)),
    (scalar.sqrt(M), math.sqrt(2.0)),
    (scalar.atan2(M, L), math.atan2(2.0, 3.0)),
    (scalar.atan2(1.0, L), math.atan2(1.0, 3.0)),
    (scalar.minimum(M, L), 2.0),
    (scalar.where(scalar.less(M, L), M, L), 2.0),
    (scalar.where(L < M, M, L), 3.0),
    (scalar.equal(M, 2.0), 1.0),
]


@each_case(("formula", "expected"), FORMULAS)
def test_a_formula_has_the_value_of_its_numbers(formula: Formula, expected: float) -> None:
    assert evaluate(formula) == pytest.approx(expected, rel=1e-15)


def test_literal_zeros_and_ones_vanish() -> None:
    assert (0.0 * M, M * 0, 0.0 / M) == (0.0, 0.0, 0.0)
    assert M + 0.0 is M and 0 + M is M and M - 0.0 is M and M * 1.0 is M and M / 1 is M and M**1 is M
    opposite = -M
    assert -opposite is M
    assert 0.0 - M == -M


def test_a_parameter_that_happens_to_be_zero_keeps_its_place() -> None:
    zero = Parameter("offset", 0.0)
    assert isinstance(zero * L, Formula)
    assert isinstance(zero + L, Formula)


def test_rotation_by_a_parameter_keeps_structural_zeros() -> None:
    T = compose(Pose(rotation((0.0, 0.0, 1.0), M), (L, 0.0, 0.0)), turn(rotation((0.0, 0.0, 1.0), 0.0)))
    assert T.R[0][2] == 0.0 and T.R[2][2] == 1.0 and isinstance(T.R[0][0], Formula)
    assert np.allclose(evaluate_all(T).R, rotation((0.0, 0.0, 1.0), 2.0))
    assert isinstance(evaluate_all(T), Pose)


def test_lookup_replaces_nominal_values_by_any_scalar() -> None:
    formula = M * L + M
    assert evaluate(formula, {"m": 5.0}) == 20.0
    assert np.array_equal(evaluate(formula, {"l": np.array([0.0, 1.0])}), [2.0, 4.0])
    graph = Graph()
    traced = evaluate(formula, {"m": graph.input("m")})
    assert isinstance(traced, Expr)


def test_shared_parts_are_computed_once() -> None:
    formula = M
    for _ in range(60):  # a tree of 2^60 leaves, a graph of 60 nodes
        formula = formula + formula
    assert evaluate(formula) == 2.0 * 2.0**60 and parameters_of(formula) == (M,)


def test_parameters_come_in_order_of_appearance_each_once() -> None:
    assert parameters_of((L * M, (M, L), 3.0)) == (L, M)


def test_equal_formulas_are_one_key() -> None:
    assert {M * L: "torque"}[Parameter("m", 2.0, "kg", "m") * L] == "torque"
    assert M * L != L * M


def test_truth_and_float_of_a_parameter_are_refused() -> None:
    with pytest.raises(TypeError, match="Compare numbers, such as the `value`"):
        bool(M < L)
    with pytest.raises(TypeError, match="Give a number, such as the `value`"):
        float(M)
    with pytest.raises(TypeError):
        M + "kg"  # type: ignore[operator]
