"""Coefficient functions of rotations: value, slope and curvature hold to rounding from zero on, whatever the branch."""

import math

import mpmath
import numpy as np
import pytest

from kinemorph.algebra.dual import derivative
from kinemorph.algebra.groups import exp_se3
from kinemorph.algebra.quaternions import quat_exp, quat_log
from kinemorph.algebra.scalar import f
from kinemorph.algebra.series import angle_ratio, cotangent_coefficient, rotation_coefficients
from kinemorph.vocabulary.ops import OPS
from support.references.twist_matrices import log_se3
from support.tools.each_case import each_case

EXACT = {
    "a": lambda t: mpmath.sin(t) / t,
    "b": lambda t: (1 - mpmath.cos(t)) / t**2,
    "c": lambda t: (t - mpmath.sin(t)) / t**3,
    "d": lambda t: (t**2 / 2 - 1 + mpmath.cos(t)) / t**4,
    "cotangent": lambda t: (1 - t / 2 * mpmath.cot(t / 2)) / t**2,
    "ratio": lambda t: 2 * mpmath.atan(t) / t,  # cosine 1, sine t
}
POINTS = (1e-12, 1e-6, 1e-3, 0.0099, 0.0101, 0.1, 0.99, 1.01, 2.0, 8.0)


def ours(name, x):
    if name == "cotangent":
        return cotangent_coefficient(x)
    return angle_ratio(x, 1.0) if name == "ratio" else getattr(rotation_coefficients(x), name)


@each_case("name", EXACT)
@each_case("x", POINTS)
def test_value_slope_and_curvature(name, x):
    with mpmath.workdps(80):
        taylor = mpmath.taylor(lambda y: EXACT[name](mpmath.sqrt(y)), mpmath.mpf(x), 2)
        value, slope, curvature = float(taylor[0]), float(taylor[1]), 2.0 * float(taylor[2])
    first = derivative(lambda y: ours(name, y), x)
    second = derivative(lambda z: derivative(lambda y: ours(name, y), z), x)
    assert ours(name, x) == pytest.approx(value, rel=1e-14)
    assert first == pytest.approx(slope, rel=1e-11)
    assert second == pytest.approx(curvature, rel=1e-8)


def test_limits_at_zero():
    assert rotation_coefficients(0.0) == pytest.approx((1.0, 1 / 2, 1 / 6, 1 / 24), rel=1e-15)
    assert cotangent_coefficient(0.0) == pytest.approx(1 / 12, rel=1e-15)
    assert angle_ratio(0.0, 0.5) == pytest.approx(4.0, rel=1e-15)
    assert angle_ratio(1.0, 0.0) == pytest.approx(math.pi, rel=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 0.05, 0.5, 3.0, 1e30])
def test_no_node_of_a_trace_is_ever_infinite_nor_any_of_its_partials(angle, trace_at):
    """Graph derivatives multiply partials along both branches of a `where`: one inf would make a nan of the whole."""
    x = (0.3, -0.2, 0.1, 0.0, 0.6 * angle, 0.8 * angle)
    graph, values = trace_at(lambda v: (log_se3(exp_se3(v)), quat_log(quat_exp(v[3:]))), x)
    for (op, *args), y in zip(graph.nodes, values, strict=True):
        assert np.isfinite(y)
        if op in OPS and OPS[op].derivative:
            arguments = [float(np.sign(ref) * values[abs(ref)]) for ref in args]
            assert np.isfinite(OPS[op].derivative(f, *arguments, float(y))).all(), (op, arguments)
