"""Quaternions wxyz: the same group as the rotation matrices, twice covered."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinemorph.algebra import quaternions as quat
from kinemorph.algebra import vectors as la
from kinemorph.algebra.dual import derivative
from kinemorph.algebra.groups import exp_so3
from support.tools.each_case import each_case

rng = np.random.default_rng(5)


def some_quaternion():
    return la.normalize(tuple(float(x) for x in rng.normal(size=4)))


def some_vector():
    return tuple(float(x) for x in rng.normal(size=3))


def close(a, b, tolerance=1e-13):
    np.testing.assert_allclose(np.array(a), np.array(b), rtol=tolerance, atol=tolerance)


@pytest.fixture(params=range(4), autouse=True)
def trial(request):
    return request.param


def test_they_multiply_as_rotations_do():
    a, b, c = some_quaternion(), some_quaternion(), some_quaternion()
    R = quat.quat_to_rotation
    close(R(quat.quat_multiply(a, b)), la.matmul(R(a), R(b)))
    left, right = quat.quat_multiply(quat.quat_multiply(a, b), c), quat.quat_multiply(a, quat.quat_multiply(b, c))
    close(left, right)
    close(quat.quat_multiply(a, quat.quat_conjugate(a)), quat.QUAT_IDENTITY)
    assert la.norm(quat.quat_multiply(a, b)) == pytest.approx(1.0, abs=1e-14)
    close(R(la.neg(a)), R(a))


def test_the_order_is_w_first():
    q = some_quaternion()
    reference = Rotation.from_quat([*q[1:], q[0]])
    close(quat.quat_to_rotation(q), reference.as_matrix())
    close(quat.quat_normalize(la.scale(3.0, q)), q)


@each_case("angle", [0.0, 1e-9, 1.0, 3.0, math.pi - 1e-8, math.pi])
def test_a_matrix_gives_its_quaternion_back(angle):
    q = quat.quat_exp(la.scale(angle, la.normalize(some_vector())))
    back = quat.rotation_to_quat(quat.quat_to_rotation(q))
    close(abs(la.dot(q, back)), 1.0)
    assert max(back, key=abs) > 0.0


def test_exp_and_log_are_those_of_the_matrices():
    w = la.scale(float(rng.uniform(0.0, 3.1)), la.normalize(some_vector()))
    close(quat.quat_to_rotation(quat.quat_exp(w)), exp_so3(w))
    close(quat.quat_log(quat.quat_exp(w)), w, 1e-12)
    close(quat.quat_log(la.neg(quat.quat_exp(w))), quat.quat_log(quat.quat_exp(w)), 1e-12)  # q and -q: one rotation
    close(quat.quat_log(la.scale(0.7, quat.quat_exp(w))), quat.quat_log(quat.quat_exp(w)), 1e-12)


def test_the_rate_is_that_of_a_body_turning_at_w():
    q, w = some_quaternion(), some_vector()
    moving = derivative(lambda t: quat.quat_multiply(q, quat.quat_exp(la.scale(t, w))), 0.0)
    close(quat.quat_rate(q, w), moving)


def test_zeros_stay_structural():
    assert quat.quat_multiply(quat.QUAT_IDENTITY, (0.5, 0.0, 0.0, 0.5)) == (0.5, 0.0, 0.0, 0.5)
    assert quat.quat_to_rotation(quat.QUAT_IDENTITY) == la.identity(3)
